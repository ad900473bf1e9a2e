"""The cross-paper grid: every rule on every data model, or why that would mean nothing."""

from learnscope.studies.grid.columns import BRIDGES, COLUMNS, Column
from learnscope.studies.grid.pairs import experiment, reason
from learnscope.studies.grid.rows import ROWS, Row
from learnscope.studies.grid.run import MEASURES, run_grid

__all__ = ["BRIDGES", "COLUMNS", "MEASURES", "ROWS", "Column", "Row", "experiment", "reason",
           "run_grid"]  # fmt: skip
