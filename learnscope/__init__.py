"""learnscope: the laboratory for feature-learning theory."""

from learnscope import data, nets, probes, rules, theory
from learnscope.errors import BadInput
from learnscope.lab import Experiment, Record, run, zipped

__all__ = [
    "BadInput",
    "Experiment",
    "Record",
    "data",
    "nets",
    "probes",
    "rules",
    "run",
    "theory",
    "zipped",
]
