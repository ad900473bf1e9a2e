"""Probes: what is watched."""

from importlib import import_module

from learnscope.probes.accuracy import (
    DEFAULT,
    BalancedAccuracy,
    GradientNorm,
    Loss,
    TestAccuracy,
    TestLoss,
    TrainAccuracy,
)
from learnscope.probes.class_noise import (
    Activations,
    ActiveNeurons,
    Contributions,
    GradientBalance,
    NoiseSpectrum,
    Residual,
)
from learnscope.probes.features import FeatureCorrelation, LinearProbe
from learnscope.probes.filter_map import FilterMap, landmarks
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
from learnscope.probes.pairs import (
    HeadOffDiagonal,
    NeuronCorrelation,
    PairLoss,
    correlations,
    effective_rank,
    siamese,
)
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
from learnscope.probes.probe import AbstractProbe, Output, filters_of, hidden
from learnscope.probes.readout import BestReadout, KernelFit, ReadoutNorm
from learnscope.probes.response import LearntResponse
from learnscope.probes.signal_noise import Decomposition, NoiseMemorisation, SignalLearning
from learnscope.probes.teacher import GeneralisationError, Overlaps, fixed_layer, generalisation

__all__ = [
    "DEFAULT", "AbstractProbe", "Activations", "ActiveNeurons", "AdaptedTasks", "AdaptedTest",
    "Alignment", "Amplification", "BalancedAccuracy", "BestReadout", "CentreCosines",
    "ClassAccuracy", "Clusters", "Contributions", "Decomposition", "FeatureCorrelation",
    "FeatureLearning", "FilterCosines", "FilterMap", "Filters", "GeneralisationError",
    "GradientBalance", "GradientNorm", "HeadOffDiagonal", "KernelFit", "LearntResponse",
    "LinearProbe", "LongTailAccuracy", "Loss", "MetaLoss", "NeuronCorrelation", "NoiseMemorisation",
    "NoiseSpectrum", "Output", "Overlaps", "PairLoss", "PartAccuracy", "PatternComponents",
    "PreferredImages", "ReadoutNorm", "Residual", "SignalLearning", "TaskNoise", "TestAccuracy",
    "TestLoss", "TrainAccuracy", "WeightGradients", "WeightMap", "chunk_alignment",
    "correlations", "effective_rank", "filters_of", "fixed_layer", "generalisation", "hidden",
    "landmarks", "siamese", "threshold_time",
]  # fmt: skip


# Names of a paper's own folder; imported when first used.
_MOVED = {
    "CentroidError": "learnscope.papers.meta_split.parts",
    "FeatureShares": "learnscope.papers.pred_head.parts",
    "FeatureStrengths": "learnscope.papers.pred_head.parts",
    "Phase": "learnscope.papers.pred_head.parts",
    "PopulationMoments": "learnscope.papers.pred_head.parts",
    "TrainingOverlaps": "learnscope.papers.pegr.parts",
}


def __getattr__(name: str):
    if name in _MOVED:
        return getattr(import_module(_MOVED[name]), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
