"""The columns of the grid: a small example of every registered data model.

Data models of the package have presets, all with two classes (or a number to predict, whose sign
counts), so that chance is 1/2 everywhere. For any other data model, a user's own included, the
column is an example of its kind, and its numbers come from a draw.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from learnscope.data import (
    AbstractData,
    Arrays,
    ClassNoise,
    GaussianParity,
    Grouped,
    MatrixNoise,
    MultiIndex,
    NoisyViews,
    Patterns,
    Problem,
    Redrawn,
    SignalNoise,
    StrongWeak,
    TaskFamily,
    Viewed,
    XorClusters,
)
from learnscope.errors import unknown
from learnscope.images import (
    AbstractAugment,
    Augment,
    Images,
    ImageTasks,
    Pruned,
    RandomLabels,
    TeacherMixture,
)
from learnscope.nets import FullyConnected
from learnscope.papers.meta_split.parts.linear_tasks import LinearTasks
from learnscope.part import example_of, kinds

# Data models without a column: a user's own arrays, and wrappers that columns are put into.
NOT_SHOWN = (Arrays, Grouped, RandomLabels, Redrawn, Viewed)


@dataclasses.dataclass(frozen=True)
class Column:
    """A data model of the grid. `power` is E |x|^2, summed over patches, which sets the rates.
    `truth` names the directions that decide the labels (none: they are not known). `structureless`
    is the reason if no two views have anything in common."""

    data: AbstractData
    power: float
    truth: str | None
    regression: bool = False
    views: AbstractAugment | None = None
    structureless: str | None = None

    @functools.cached_property
    def problem(self) -> Problem:
        """The shapes of a draw."""
        return jax.eval_shape(lambda: self.data.sample(jax.random.key(0)))

    @property
    def vectors(self) -> int:
        """The number of patches of an example."""
        x = jax.tree.leaves(self.problem.train.x)[0]
        return x.shape[1] if x.ndim == 3 else 1

    @property
    def rate(self) -> float:
        """The standard rate, which the grid multiplies by a factor: 2 / P, or 1/2 / P for the
        squared loss."""
        return (0.5 if self.regression else 2.0) / self.power

    @property
    def pairs(self) -> AbstractData:
        """The data model with positive pairs: random views (of images), or else the same signal
        with fresh noise, or (if the signal is not known) with added noise as strong as the input.
        An example's own noise in both views would have to be memorised."""
        if self.problem.batches.fresh:
            return self.data
        if self.views is None and self.truth is not None:
            return Redrawn(self.data, self.truth)
        each = self.power / self.vectors / float(self.data.dim)
        return Viewed(self.data, self.views or NoisyViews(noise=each**0.5))


def all_data() -> dict[str, type[AbstractData]]:
    """Every data model by name: those with presets first."""
    found = kinds(AbstractData).values()
    return {k.__name__: k for k in (*_presets(True), *found) if k not in NOT_SHOWN}


def column(name: str, smoke: bool = False) -> Column:
    """The column of a name."""
    known = all_data()
    if name not in known:
        raise unknown("data model of the grid", name, known)
    return _presets(smoke).get(known[name]) or _found(known[name], smoke)


@functools.lru_cache(maxsize=64)
def _found(kind: type[AbstractData], smoke: bool) -> Column:
    """A data model without a preset."""
    usual: dict[str, Any] = {"dim": 40, "train": 20, "test": 100 if smoke else 400, "classes": 2}
    data = example_of(kind, usual | dict(kind.typical))
    drawn = jax.jit(lambda: data.sample(jax.random.key(0)))()
    squares = sum(float((leaf**2).sum()) for leaf in jax.tree.leaves(drawn.train.x))
    y, names = drawn.train.y, list(drawn.directions)
    truth = names[0] if len(names) == 1 else "signal" if "signal" in names else None
    regression = bool(jnp.issubdtype(y.dtype, jnp.floating) and (jnp.abs(y) != 1).any())
    return Column(data, squares / drawn.train.size, truth, regression)


@functools.cache
def _presets(smoke: bool) -> dict[type[AbstractData], Column]:
    test = 100 if smoke else 400
    crops = Augment(crop=0.5, flip=0.0)
    classes: dict[str, Any] = {"dim": 200, "classes": 2, "test": test, "signal": 1.0,
                               "correlation": 4.0, "bulk": 0.7}  # fmt: skip
    class_noise = ClassNoise(train_per_class=10, **classes)
    class_power = 1 + (200 - 2 - 1) * 0.7**2 + float(class_noise.spike) ** 2
    # Noise in half of the dimensions is common to both classes, in a quarter each one's own.
    axes = np.repeat([0, 1, 2, 3], [2, 20, 10, 10])  # features, shared, own of each class
    factors = [np.diag(1.6 * np.isin(axes, (1, 2 + k)).astype(float)) for k in (0, 1)]
    isotropic = "inputs of {} are isotropic: what two views share says nothing of the labels"
    digits = Images("digits", train=40, classes=(3, 8), noise=0.5)
    listed = [
        # Meng, Cao, Zou (2023), section 4.1, in half the dimensions.
        Column(SignalNoise(dim=200, train=20, test=test, signal=1.0, noise=0.7),
               1 + 0.7**2 * (200 - 1), "signal"),
        Column(class_noise, class_power, "features"),
        Column(MatrixNoise(factors=np.stack(factors), train_per_class=10, test=test, signal=1.0),
               1 + 1.6**2 * 0.75 * (42 - 2), "features"),
        # A third of the examples removed, those of the highest influence: as many are left.
        Column(Pruned(ClassNoise(train_per_class=15, **classes), removed=1 / 3, by="high"),
               class_power, "features"),
        Column(Patterns(dim=60, patterns=20, relevant=3, train=200, test=test), 1.0, "relevant"),
        Column(GaussianParity(dim=40, factors=2, train=200, test=test, noise=1.0), 4.0, "axes"),
        Column(XorClusters(dim=200, train=40, test=test, signal=4.0, noise=0.3),
               2 * 4.0**2 + 0.3**2 * (200 - 2), "centres"),
        # Half-spaces, from a fixed training set.
        Column(MultiIndex(dim=40, directions=1, link="erf", train=200, test=test, signs=True),
               40.0, "teacher", structureless=isotropic.format("MultiIndex")),
        # Figure 7 of Wen and Li (2022), as `studies.pred_head` has it.
        Column(StrongWeak(dim=20, patches=16, feature_patches=4, strengths=(3.0, 2.0), noise=1.0,
                          batch=32 if smoke else 128, test=200 if smoke else 800),
               4 * (9 + 4) / 2 + 12 * 18, "features"),
        # The theorem regime of `papers.meta_split`, in fewer dimensions.
        Column(TaskFamily(dim=300, dictionary=150, tasks=10, samples=4, validation=2, signal=1.0,
                          task_signal=0.3, noise=(24.0 / (300 - 150 - 1)) ** 0.5,
                          test_tasks=20 if smoke else 50),
               1 + 0.3**2 + 24.0, "shared"),
        Column(LinearTasks(dim=20, tasks=20, samples=4, validation=2, spread=1.0, noise=0.1,
                           test_tasks=20 if smoke else 100),
               20.0, "centroid", regression=True, structureless=isotropic.format("LinearTasks")),
        # Threes and eights under noise, of which there are few.
        Column(digits, 30.0, None, views=crops),
        Column(TeacherMixture(digits, FullyConnected(width=8), teacher_batch=20,
                              teacher_steps=50 if smoke else 200),
               30.0, None, views=crops),
        # Coloured and turned noughts and ones: a label means the same in all tasks.
        Column(ImageTasks("rainbow", source="digits", ways=2, tasks=10, shots=1, validation=1,
                          queries=4, test_tasks=8, fresh=False, pixels="unit"),
               92.0, None, views=crops),
    ]  # fmt: skip
    return {type(each.data): each for each in listed}
