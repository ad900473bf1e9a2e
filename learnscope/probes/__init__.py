"""What is watched."""

from learnscope.probes.accuracy import GradientNorm, Loss, TestAccuracy, TestLoss, TrainAccuracy
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.probes.signal_noise import Decomposition, NoiseMemorisation, SignalLearning

__all__ = [
    "AbstractProbe",
    "Decomposition",
    "GradientNorm",
    "Loss",
    "NoiseMemorisation",
    "Output",
    "SignalLearning",
    "TestAccuracy",
    "TestLoss",
    "TrainAccuracy",
]
