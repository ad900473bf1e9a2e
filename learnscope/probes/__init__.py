"""Probes: what is watched."""

from learnscope.part.moved import moved
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
from learnscope.probes.filters import FilterCosines, Filters, InputDirections
from learnscope.probes.long_tail import ClassAccuracy, LongTailAccuracy
from learnscope.probes.meta import (
    AdaptedTasks,
    AdaptedTest,
    Amplification,
    FeatureLearning,
    MetaLoss,
    TaskNoise,
)
from learnscope.probes.overlap_means import (
    fixed_layer,
    generalisation,
    link_nodes,
    misclassification,
    output_means,
    sum_obstacle,
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
    WeightMap,
    chunk_alignment,
)
from learnscope.probes.preferred import PreferredImages
from learnscope.probes.probe import AbstractProbe, Output, filters_of, hidden
from learnscope.probes.readout import BestReadout, KernelFit, ReadoutNorm
from learnscope.probes.response import LearntResponse
from learnscope.probes.signal_noise import Decomposition, NoiseMemorisation, SignalLearning
from learnscope.probes.teacher import GeneralisationError, Misclassification, Overlaps, SecondLayer

__all__ = [
    "DEFAULT", "AbstractProbe", "Activations", "ActiveNeurons", "AdaptedTasks", "AdaptedTest",
    "Alignment", "Amplification", "BalancedAccuracy", "BestReadout", "CentreCosines",
    "ClassAccuracy", "Clusters", "Contributions", "Decomposition", "FeatureCorrelation",
    "FeatureLearning", "FilterCosines", "FilterMap", "Filters", "GeneralisationError",
    "GradientBalance", "GradientNorm", "HeadOffDiagonal", "InputDirections", "KernelFit",
    "LearntResponse", "LinearProbe", "LongTailAccuracy", "Loss", "MetaLoss", "Misclassification",
    "NeuronCorrelation", "NoiseMemorisation", "NoiseSpectrum", "Output", "Overlaps", "PairLoss",
    "PartAccuracy", "PatternComponents", "PreferredImages", "ReadoutNorm", "Residual",
    "SecondLayer", "SignalLearning", "TaskNoise", "TestAccuracy", "TestLoss", "TrainAccuracy",
    "WeightMap", "chunk_alignment", "correlations", "effective_rank", "filters_of", "fixed_layer",
    "generalisation", "hidden", "landmarks", "link_nodes", "misclassification", "output_means",
    "siamese", "sum_obstacle",
]  # fmt: skip


__getattr__ = moved(  # to a paper's own folder
    __name__,
    {
        "learnscope.papers.meta_split.parts": ["CentroidError"],
        "learnscope.papers.pegr.parts": ["TrainingOverlaps"],
        "learnscope.papers.pred_head.parts": [
            "FeatureShares", "FeatureStrengths", "Phase", "PopulationMoments",
        ],
    },
)  # fmt: skip
