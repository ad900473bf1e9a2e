"""What is watched."""

from learnscope.probes.accuracy import GradientNorm, Loss, TestAccuracy, TestLoss, TrainAccuracy
from learnscope.probes.balanced import BalancedAccuracy
from learnscope.probes.centroid import CentroidError
from learnscope.probes.class_noise import (
    Activations,
    ActiveNeurons,
    Contributions,
    GradientBalance,
    NoiseSpectrum,
    Residual,
)
from learnscope.probes.features import FeatureCorrelation, LinearProbe
from learnscope.probes.filters import FilterCosines, Filters
from learnscope.probes.long_tail import ClassAccuracy, LongTailAccuracy
from learnscope.probes.meta import (
    AdaptedTasks,
    AdaptedTest,
    Amplification,
    FeatureLearning,
    MetaLoss,
    TaskNoise,
    threshold_time,
)
from learnscope.probes.pairs import HeadOffDiagonal, NeuronCorrelation, PairLoss
from learnscope.probes.parts import PartAccuracy
from learnscope.probes.patterns import (
    Alignment,
    CentreCosines,
    Clusters,
    PatternComponents,
    WeightGradients,
    WeightMap,
    chunk_alignment,
)
from learnscope.probes.preferred import PreferredImages
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.probes.readout import BestReadout, KernelFit, ReadoutNorm
from learnscope.probes.response import LearntResponse
from learnscope.probes.signal_noise import Decomposition, NoiseMemorisation, SignalLearning
from learnscope.probes.strong_weak import (
    FeatureShares,
    FeatureStrengths,
    Phase,
    PopulationMoments,
)

__all__ = [
    "AbstractProbe",
    "Activations",
    "ActiveNeurons",
    "AdaptedTasks",
    "AdaptedTest",
    "Alignment",
    "Amplification",
    "BalancedAccuracy",
    "BestReadout",
    "CentreCosines",
    "CentroidError",
    "ClassAccuracy",
    "Clusters",
    "Contributions",
    "Decomposition",
    "FeatureCorrelation",
    "FeatureLearning",
    "FeatureShares",
    "FeatureStrengths",
    "FilterCosines",
    "Filters",
    "GradientBalance",
    "GradientNorm",
    "HeadOffDiagonal",
    "KernelFit",
    "LearntResponse",
    "LinearProbe",
    "LongTailAccuracy",
    "Loss",
    "MetaLoss",
    "NeuronCorrelation",
    "NoiseMemorisation",
    "NoiseSpectrum",
    "Output",
    "PairLoss",
    "PartAccuracy",
    "PatternComponents",
    "Phase",
    "PopulationMoments",
    "PreferredImages",
    "ReadoutNorm",
    "Residual",
    "SignalLearning",
    "TaskNoise",
    "TestAccuracy",
    "TestLoss",
    "TrainAccuracy",
    "WeightGradients",
    "WeightMap",
    "chunk_alignment",
    "threshold_time",
]
