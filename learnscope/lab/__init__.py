"""How an experiment runs."""

from learnscope.engine.experiment import Experiment, Record
from learnscope.engine.one_run import draw, one_run
from learnscope.lab.boundary import boundary
from learnscope.lab.crossing import CROSSED
from learnscope.lab.run import Report, report_of, run
from learnscope.lab.store.folder import load
from learnscope.lab.sweep import Axis, zipped

__all__ = [
    "CROSSED", "Axis", "Experiment", "Record", "Report", "boundary", "draw", "load", "one_run",
    "report_of", "run", "zipped",
]  # fmt: skip
