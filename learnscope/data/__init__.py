"""Data models: where inputs come from. One file per model."""

from learnscope.data.arrays import Arrays
from learnscope.data.class_noise import ClassNoise
from learnscope.data.factors import (
    AbstractFactors,
    MatrixFactors,
    SpikeFactors,
    noise_correlation_ratio,
    overlaps,
)
from learnscope.data.gaussian_parity import GaussianParity
from learnscope.data.gram import joined, patch_gram, with_gram
from learnscope.data.grouped import Grouped
from learnscope.data.links import JOINT, SHAPES, Link, SignOf, half_space, link_of
from learnscope.data.matrix_noise import MatrixNoise
from learnscope.data.multi_index import FreshRows, MultiIndex
from learnscope.data.patches import AbstractPatches, Examples, off_axes
from learnscope.data.pattern_law import PatternLaw
from learnscope.data.patterns import Patterns
from learnscope.data.problem import (
    AbstractBatches,
    AbstractData,
    AbstractEpisodes,
    Epochs,
    Fresh,
    FullBatch,
    MiniBatch,
    Problem,
    Samples,
)
from learnscope.data.redrawn import Redrawn
from learnscope.data.signal_noise import SignalNoise
from learnscope.data.strong_weak import FreshPairs, StrongWeak
from learnscope.data.tasks import TaskFamily, task_problem
from learnscope.data.viewed import NoisyViews, Viewed
from learnscope.data.views import AbstractViews, HalfMask, Halves
from learnscope.data.xor_clusters import XorClusters
from learnscope.part.moved import moved
from learnscope.space.columns import Columns
from learnscope.space.frame import AbstractTurn, Basis, Frame, Reflections, chi, orthonormal, turn
from learnscope.space.fresh import FreshPatches

__all__ = [
    "JOINT", "SHAPES", "AbstractBatches", "AbstractData", "AbstractEpisodes", "AbstractFactors",
    "AbstractPatches", "AbstractTurn", "AbstractViews", "Arrays", "Basis", "ClassNoise", "Columns",
    "Epochs", "Examples", "Frame", "Fresh", "FreshPairs", "FreshPatches", "FreshRows", "FullBatch",
    "GaussianParity", "Grouped", "HalfMask", "Halves", "Link", "MatrixFactors", "MatrixNoise",
    "MiniBatch", "MultiIndex", "NoisyViews", "PatternLaw", "Patterns", "Problem", "Redrawn",
    "Reflections", "Samples", "SignOf", "SignalNoise", "SpikeFactors", "StrongWeak", "TaskFamily",
    "Viewed", "XorClusters", "chi", "half_space", "joined", "link_of", "noise_correlation_ratio",
    "off_axes", "orthonormal", "overlaps", "patch_gram", "task_problem", "turn", "with_gram",
]  # fmt: skip


__getattr__ = moved(
    __name__,
    {
        "learnscope.images": [
            "AbstractAugment", "Augment", "ImageTasks", "Images", "Pruned", "RandomLabels",
            "Stream", "TeacherMixture", "load_few_shot", "load_images", "square_images", "stream",
        ],
        "learnscope.papers.meta_split.parts": ["LinearTasks"],
    },
)  # fmt: skip
