"""What is watched."""

from learnscope.probes.accuracy import GradientNorm, Loss, TestAccuracy, TestLoss, TrainAccuracy
from learnscope.probes.class_noise import (
    Activations,
    ActiveNeurons,
    Contributions,
    GradientBalance,
    NoiseSpectrum,
    Residual,
)
from learnscope.probes.long_tail import ClassAccuracy, LongTailAccuracy
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.probes.signal_noise import Decomposition, NoiseMemorisation, SignalLearning

__all__ = [
    "AbstractProbe",
    "Activations",
    "ActiveNeurons",
    "ClassAccuracy",
    "Contributions",
    "Decomposition",
    "GradientBalance",
    "GradientNorm",
    "LongTailAccuracy",
    "Loss",
    "NoiseMemorisation",
    "NoiseSpectrum",
    "Output",
    "Residual",
    "SignalLearning",
    "TestAccuracy",
    "TestLoss",
    "TrainAccuracy",
]
