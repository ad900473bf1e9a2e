"""A report of what studies found: one self-contained HTML file, and tables for a paper."""

from learnscope.views.report.contents import Contents, read_contents
from learnscope.views.report.latex import ledger_table, write_paper
from learnscope.views.report.page import page

__all__ = ["Contents", "ledger_table", "page", "read_contents", "write_paper"]
