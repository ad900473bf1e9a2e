"""The columns of the grid: every data model, small, with what is known of its inputs.

All have two classes (or a number to predict, whose sign counts), so that chance is 1/2 everywhere.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from learnscope.data import (
    AbstractData,
    AbstractViews,
    Augment,
    ClassNoise,
    GaussianParity,
    Images,
    ImageTasks,
    LinearTasks,
    MatrixNoise,
    NoisyViews,
    Patterns,
    Pruned,
    SignalNoise,
    StrongWeak,
    TaskFamily,
    TeacherMixture,
)
from learnscope.nets import FullyConnected

# Data models that are no column of their own: how rules reach those that are.
BRIDGES = {
    "Grouped": "deals the examples of any data model out to tasks, for meta-learning rules",
    "Viewed": "gives any data model positive pairs, for self-supervised rules",
}


@dataclasses.dataclass(frozen=True)
class Column:
    """A data model of the grid.

    `power` is E |x|^2, summed over patches, from which rates follow. `truth` names the directions
    that decide the labels (none: they are not known). `train` counts training examples (0: every
    step draws new ones). `patches` says that an example is several vectors, `tasks` that examples
    come in tasks, `structureless` why no two views share anything, if so.
    """

    data: AbstractData
    power: float
    truth: str | None
    train: int = 20
    patches: bool = False
    tasks: bool = False
    regression: bool = False
    views: AbstractViews | None = None
    structureless: str | None = None

    @property
    def fresh(self) -> bool:
        return self.data.sets > 1

    @property
    def pairs(self) -> AbstractViews:
        """Views of its own or, where it has none, noise as strong as the input itself."""
        if self.views is not None:
            return self.views
        vectors = 2 if self.patches else 1
        return NoisyViews(noise=(self.power / vectors / float(self.data.dim)) ** 0.5)


def _signal_noise(smoke: bool) -> Column:
    """The setting of Meng, Cao, Zou (2023), section 4.1, in half the dimensions."""
    dim, noise = 200, 0.7
    data = SignalNoise(dim=dim, train=20, test=100 if smoke else 400, signal=1.0, noise=noise)
    return Column(data, 1 + noise**2 * (dim - 1), "signal", patches=True)


def _class_noise(smoke: bool, each: int = 10) -> ClassNoise:
    return ClassNoise(
        dim=200, classes=2, train_per_class=each, test=100 if smoke else 400, signal=1.0,
        correlation=4.0, bulk=0.7,
    )  # fmt: skip


def _power_of_class_noise(data: ClassNoise) -> float:
    flat = float(data.dim) - data.classes - 1
    return 1 + flat * float(data.bulk) ** 2 + float(data.spike) ** 2


def _classes(smoke: bool) -> Column:
    data = _class_noise(smoke)
    return Column(data, _power_of_class_noise(data), "features", patches=True)


def _pruned(smoke: bool) -> Column:
    """A third of the examples removed, those of the highest influence: as many are left."""
    data = Pruned(_class_noise(smoke, each=15), removed=1 / 3, by="high")
    return Column(data, _power_of_class_noise(_class_noise(smoke)), "features", patches=True)


def _matrix_noise(smoke: bool) -> Column:
    """Noise in half of the dimensions is common to both classes, in a quarter each one's own."""
    dim, level = 42, 1.6
    kinds = np.repeat([0, 1, 2, 3], [2, 20, 10, 10])  # features, shared, own of each class
    factors = [np.diag(level * np.isin(kinds, (1, 2 + k)).astype(float)) for k in (0, 1)]
    data = MatrixNoise(
        factors=np.stack(factors), train_per_class=10, test=100 if smoke else 400, signal=1.0
    )
    return Column(data, 1 + level**2 * 0.75 * (dim - 2), "features", patches=True)


def _patterns(smoke: bool) -> Column:
    data = Patterns(dim=60, patterns=20, relevant=3, train=200, test=100 if smoke else 400)
    return Column(data, 1.0, "relevant", train=200)


def _gaussian_parity(smoke: bool) -> Column:
    data = GaussianParity(dim=40, factors=2, train=200, test=100 if smoke else 400, noise=1.0)
    return Column(data, 4.0, "axes", train=200)


def _strong_weak(smoke: bool) -> Column:
    """The setting of Figure 7 of Wen and Li (2022), as `studies.pred_head` has it."""
    data = StrongWeak(
        dim=20, patches=16, feature_patches=4, strengths=(3.0, 2.0), noise=1.0,
        batch=32 if smoke else 128, test=200 if smoke else 800,
    )  # fmt: skip
    return Column(data, 4 * (9 + 4) / 2 + 12 * 18, "features", train=0, patches=True)


def _task_family(smoke: bool) -> Column:
    """The theorem regime of `studies.meta_split`, in fewer dimensions."""
    dim, dictionary, squared = 300, 150, 24.0
    data = TaskFamily(
        dim=dim, dictionary=dictionary, tasks=10, samples=4, validation=2, signal=1.0,
        task_signal=0.3, noise=(squared / (dim - dictionary - 1)) ** 0.5,
        test_tasks=20 if smoke else 50,
    )  # fmt: skip
    return Column(data, 1 + 0.3**2 + squared, "shared", patches=True, tasks=True)


def _linear_tasks(smoke: bool) -> Column:
    data = LinearTasks(
        dim=20, tasks=20, samples=4, validation=2, spread=1.0, noise=0.1,
        test_tasks=20 if smoke else 100,
    )  # fmt: skip
    why = "inputs are isotropic noise, so that what two views share says nothing of the labels"
    return Column(data, 20.0, "centroid", 40, tasks=True, regression=True, structureless=why)


def _digits() -> Images:
    """Threes and eights under noise, of which there are few."""
    return Images("digits", train=40, classes=(3, 8), noise=0.5)


def _images(smoke: bool) -> Column:
    return Column(_digits(), 30.0, None, train=40, views=Augment(crop=0.5, flip=0.0))


def _teacher_mixture(smoke: bool) -> Column:
    data = TeacherMixture(
        _digits(), FullyConnected(width=8), teacher_steps=50 if smoke else 200,
        teacher_batch=20,
    )  # fmt: skip
    return Column(data, 30.0, None, train=40, views=Augment(crop=0.5, flip=0.0))


def _image_tasks(smoke: bool) -> Column:
    """Coloured and turned noughts and ones: a label means the same in all tasks."""
    data = ImageTasks(
        "rainbow", source="digits", ways=2, tasks=10, shots=1, validation=1, queries=4,
        test_tasks=8, fresh=False, pixels="unit",
    )  # fmt: skip
    return Column(data, 92.0, None, tasks=True, views=Augment(crop=0.5, flip=0.0))


COLUMNS: dict[str, Callable[[bool], Column]] = {
    "SignalNoise": _signal_noise,
    "ClassNoise": _classes,
    "MatrixNoise": _matrix_noise,
    "Pruned": _pruned,
    "Patterns": _patterns,
    "GaussianParity": _gaussian_parity,
    "StrongWeak": _strong_weak,
    "TaskFamily": _task_family,
    "LinearTasks": _linear_tasks,
    "Images": _images,
    "TeacherMixture": _teacher_mixture,
    "ImageTasks": _image_tasks,
}
