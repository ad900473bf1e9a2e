"""Where inputs come from: one file a data model."""

from learnscope.data.frame import Frame, basis, chi, project
from learnscope.data.problem import (
    AbstractBatches,
    AbstractData,
    Fresh,
    FullBatch,
    MiniBatch,
    Problem,
    Samples,
)
from learnscope.data.signal_noise import SignalNoise

__all__ = [
    "AbstractBatches",
    "AbstractData",
    "Frame",
    "Fresh",
    "FullBatch",
    "MiniBatch",
    "Problem",
    "Samples",
    "SignalNoise",
    "basis",
    "chi",
    "project",
]
