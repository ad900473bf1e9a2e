"""The cross-paper grid: every rule on every data model, or why the pair does not fit."""

from learnscope.grid.columns import Column, all_data, column
from learnscope.grid.rows import all_rules, experiment, reason
from learnscope.grid.run import MEASURES, run_grid, untrained

__all__ = ["MEASURES", "Column", "all_data", "all_rules", "column", "experiment", "reason",
           "run_grid", "untrained"]  # fmt: skip
