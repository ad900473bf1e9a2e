"""How one run runs: an experiment, its coordinates, its draw, its steps."""

from learnscope.engine.experiment import Experiment, Record

__all__ = ["Experiment", "Record"]
