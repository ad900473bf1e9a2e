"""Where inputs come from: one file a data model."""

from learnscope.data.augment import AbstractAugment, Augment
from learnscope.data.class_noise import ClassNoise
from learnscope.data.columns import Columns
from learnscope.data.factors import (
    AbstractFactors,
    MatrixFactors,
    SpikeFactors,
    noise_correlation_ratio,
    overlaps,
)
from learnscope.data.frame import AbstractTurn, Basis, Frame, Reflections, chi, orthonormal, turn
from learnscope.data.fresh import FreshPatches
from learnscope.data.gaussian_parity import GaussianParity
from learnscope.data.gram import joined, patch_gram, with_gram
from learnscope.data.grouped import Grouped
from learnscope.data.image_data import Images
from learnscope.data.image_tasks import ImageTasks
from learnscope.data.images import (
    ImageInfo,
    image_info,
    image_shape,
    load_few_shot,
    load_images,
)
from learnscope.data.linear_tasks import LinearTasks
from learnscope.data.matrix_noise import MatrixNoise
from learnscope.data.pattern_law import PatternLaw
from learnscope.data.patterns import Patterns
from learnscope.data.problem import (
    AbstractBatches,
    AbstractData,
    AbstractEpisodes,
    Fresh,
    FullBatch,
    MiniBatch,
    Problem,
    Samples,
)
from learnscope.data.pruned import Pruned
from learnscope.data.rainbow import rainbow_mnist
from learnscope.data.signal_noise import SignalNoise
from learnscope.data.square import square_images
from learnscope.data.stream import Stream, stream
from learnscope.data.strong_weak import StrongWeak
from learnscope.data.tasks import TaskFamily, task_problem
from learnscope.data.teacher_mixture import TeacherMixture
from learnscope.data.viewed import NoisyViews, Viewed
from learnscope.data.views import AbstractViews, HalfMask, Halves

__all__ = [
    "AbstractAugment",
    "AbstractBatches",
    "AbstractData",
    "AbstractEpisodes",
    "AbstractFactors",
    "AbstractTurn",
    "AbstractViews",
    "Augment",
    "Basis",
    "ClassNoise",
    "Columns",
    "Frame",
    "Fresh",
    "FreshPatches",
    "FullBatch",
    "GaussianParity",
    "Grouped",
    "HalfMask",
    "Halves",
    "ImageInfo",
    "ImageTasks",
    "Images",
    "LinearTasks",
    "MatrixFactors",
    "MatrixNoise",
    "MiniBatch",
    "NoisyViews",
    "PatternLaw",
    "Patterns",
    "Problem",
    "Pruned",
    "Reflections",
    "Samples",
    "SignalNoise",
    "SpikeFactors",
    "Stream",
    "StrongWeak",
    "TaskFamily",
    "TeacherMixture",
    "Viewed",
    "chi",
    "image_info",
    "image_shape",
    "joined",
    "load_few_shot",
    "load_images",
    "noise_correlation_ratio",
    "orthonormal",
    "overlaps",
    "patch_gram",
    "rainbow_mnist",
    "square_images",
    "stream",
    "task_problem",
    "turn",
    "with_gram",
]
