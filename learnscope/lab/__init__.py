"""How an experiment runs."""

from learnscope.lab.boundary import boundary
from learnscope.lab.experiment import Experiment, Record
from learnscope.lab.run import run
from learnscope.lab.store import load
from learnscope.lab.sweep import zipped

__all__ = ["Experiment", "Record", "boundary", "load", "run", "zipped"]
