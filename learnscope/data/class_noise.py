"""Class-dependent noise: one patch is the class's feature, the other is the class's noise."""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from learnscope.data.factors import AbstractFactors, SpikeFactors
from learnscope.data.patches import AbstractPatches, Directions, Examples
from learnscope.data.problem import Problem, encode_labels
from learnscope.errors import BadInput, refuse
from learnscope.part import Number, choice, count, number
from learnscope.space import Space, random
from learnscope.space.frame import Frame, orthonormal

# Symmetric sub-Gaussian variables of variance 1, by name.
NOISES: dict[str, Callable[[Key[Array, ""], tuple[int, ...]], Array]] = {
    "gaussian": random.normal,
    "uniform": lambda key, shape: random.uniform(key, shape, -(3**0.5), 3**0.5),
    "rademacher": random.signs,
    "triangular": lambda key, shape: random.uniform(key, (2, *shape), -(1.5**0.5), 1.5**0.5).sum(0),
}


class AbstractClassNoise(AbstractPatches):
    """Patches u_y and A_y zeta: a feature and coloured noise, both of the class. Training examples
    are ordered by class."""

    keys: ClassVar = (1, 2, 3, 3)  # training labels are not drawn

    if TYPE_CHECKING:  # fields or properties of the model
        classes: ClassVar[Any]
        train_per_class: ClassVar[Any]
        signal: ClassVar[Any]
        prior: ClassVar[Any]

    def __check_init__(self):
        super().__check_init__()
        for name in ("train_per_class", "signal", "prior"):
            value = getattr(self, name)
            if isinstance(value, tuple) and len(value) != self.classes:
                given = f"{type(self).__name__}.{name} has {len(value)} values"
                raise BadInput(f"{given}: it must have one per class, {self.classes}.")
        prior = self.prior
        if prior is not None and not isinstance(prior, tuple):
            refuse(self, "prior", "it must have one value per class")
        if prior and all(isinstance(p, float) for p in prior) and not np.isclose(sum(prior), 1):
            refuse(self, "prior", "it must add up to 1")

    @property
    def labels(self) -> int | None:
        return None if self.classes == 2 else self.classes

    @property
    def sizes(self) -> tuple[int, ...]:
        """|S_k|: the number of training examples of every class."""
        given = self.train_per_class
        return given if isinstance(given, tuple) else (given,) * self.classes

    @property
    def train(self) -> int:
        """The number of training examples."""
        return sum(self.sizes)

    @property
    def widths(self) -> tuple[int | None, ...]:
        return self.classes, None

    @abstractmethod
    def factors_of(self, directions: Directions) -> AbstractFactors:
        """The matrices A_k."""

    def learnt(self, key: Key[Array, ""], normal: Array, directions: Directions) -> Examples:
        classes, sizes = jnp.arange(self.classes), np.asarray(self.sizes)
        labels = jnp.repeat(classes, sizes, total_repeat_length=self.train)
        return self.coloured(labels, normal, directions)

    def examples(self, key: Key[Array, ""], normal: Array, directions: Directions) -> Examples:
        labels = draw_labels(key, normal.shape[0], self.prior, self.classes)
        return self.coloured(labels, normal, directions)

    def coloured(
        self, labels: Int[Array, " n"], zeta: Array, directions: Directions, factors: Any = None
    ) -> Examples:
        """Examples of given classes, with given zeta, in the coordinates of given directions."""
        factors = self.factors_of(directions) if factors is None else factors
        strength = jnp.asarray(self.signal, float)
        strength = jnp.broadcast_to(strength[labels] if strength.ndim else strength, labels.shape)
        feature = strength[:, None] * directions["features"][labels]
        patches = feature, factors.colour(zeta, labels)
        return Examples(encode_labels(labels, self.classes), patches, factors=factors)


class ClassNoise(AbstractClassNoise):
    r"""Patches $u_y$ and $\xi = A_y \zeta$ (Xu and Chen 2025, section 2).

    The features $u_1, \dots, u_K$ are orthogonal, $\zeta$ has independent symmetric entries of
    variance 1, and each class's noise is a spike in a flat bulk (section 5.1):

    $$A_k = b (P - V_k V_k^T) + s V_k V_k^T, \quad P = I - \sum_j u_j u_j^T / \|u_j\|^2,$$

    where the columns of $V_1, V_2, \dots$ are orthonormal spikes, p for each class (one in the
    paper), orthogonal to the features. Their strength is set by the noise correlation ratio of
    classes of equal size, $\Gamma = \|A_k^T A_k\|_F^2 / \|A_k^T A_j\|_F^2$: with $R = d - K$,

    $$s^2 = b^2 \left(\Gamma + \sqrt{(\Gamma - 1)(\Gamma + R / p - 1)}\right).$$

    $\Gamma = 1$ is noise that all classes share, and the least that spikes can give.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $K$ | `classes` |
    | $\lvert S_k\rvert$ | `train_per_class`: one number, or one per class |
    | $\|u_k\|$ | `signal`: one number, or one per class |
    | $\Gamma$ | `correlation` |
    | $\mathcal{D}_\zeta$ | `noise`: gaussian, uniform, rademacher or triangular |
    | $b, p$ | `bulk`, `block` |
    | $\mathcal{K}$ | `prior`: the test labels' distribution, one number per class (none: equal) |

    Training examples are ordered by class. Two classes have the labels -1 and +1, more have 0, 1,
    ... `batch` is the mini-batch size (none: the full batch). `example` draws Gaussian noise only.

    >>> import jax
    >>> model = ClassNoise(dim=50, classes=3, train_per_class=4, test=9, signal=1, correlation=5)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.x.shape, problem.train.y.tolist()
    ((12, 2, 50), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """

    papers: ClassVar = ("xu2025benign",)

    dim: Number = number(low=2, high=1e12, whole=True, shape=True)
    classes: int = count(low=2, high=10**6)
    train_per_class: int | tuple[int, ...] = count(each=True)
    test: int = count()
    signal: Number | tuple[Number, ...] = number(low=0, each=True)
    correlation: Number = number(1.0, low=1)
    noise: str = choice(*NOISES, default="gaussian")
    bulk: Number = number(0.5, above=0)
    prior: tuple[Number, ...] | None = number(None, low=0, each=True, optional=True)
    batch: int | None = count(None, optional=True)
    block: int = count(1)

    def __check_init__(self):
        super().__check_init__()
        if isinstance(self.dim, int) and self.dim <= self.axes:
            refuse(self, "dim", f"it must be above {self.axes}, for features and spikes")

    @property
    def axes(self) -> int:
        return (1 + self.block) * self.classes

    @property
    def spike(self) -> Number:
        """s: the standard deviation of the noise along the class's own spikes."""
        ratio, rest = self.correlation, self.dim - self.classes
        more = ((ratio - 1) * (ratio + rest / self.block - 1)) ** 0.5
        return self.bulk * (ratio + more) ** 0.5

    @property
    def space(self) -> Space:
        compression = "gaussian_rows" if self.noise == "gaussian" else "rotate"
        return Space(self.axes + self.train, compression)

    def matrices(self, seed: int = 0) -> Float[np.ndarray, "class dim dim"]:
        """The matrices A_k in R^d and float64, for checks."""
        k, d = self.classes, int(self.dim)
        frame = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, self.axes)))[0].T
        flat = np.eye(d) - frame[:k].T @ frame[:k]
        own = frame[k:].reshape(k, -1, d)
        outer = np.einsum("kpi,kpj->kij", own, own)
        return float(self.bulk) * (flat - outer) + float(self.spike) * outer

    def squares(self) -> Float[np.ndarray, "class class"]:
        r"""$\|A_k^T A_j\|_F^2$ for all pairs of classes, in closed form."""
        rest, b2, s2 = float(self.dim) - self.classes, float(self.bulk) ** 2, float(self.spike) ** 2
        p = self.block
        own, other = (rest - p) * b2**2 + p * s2**2, (rest - 2 * p) * b2**2 + 2 * p * b2 * s2
        return np.where(np.eye(self.classes, dtype=bool), own, other)

    def directions(self, axes: Array) -> Directions:
        return {"features": axes[: self.classes], "spikes": axes[self.classes :]}

    def factors_of(self, directions: Directions) -> SpikeFactors:
        return SpikeFactors(directions["features"], directions["spikes"], self.bulk, self.spike)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        if self.noise == "gaussian":
            return super().sample(key, frame)
        # Not invariant under rotations: the directions are not the first coordinates.
        turn_key, train_key, test_key, label_key = jax.random.split(key, 4)
        frame, draw = Frame.of_dimension(int(self.dim)), NOISES[self.noise]
        axes = orthonormal(random.normal(turn_key, (self.axes, frame.rank)))
        train = draw(train_key, (self.train, frame.rank))
        test = draw(test_key, (self.test, frame.rank))
        return self.problem((label_key, label_key), train, test, self.directions(axes), frame)


def draw_labels(key: Key[Array, ""], size: int, prior: Any, classes: int) -> Int[Array, " n"]:
    """Random labels with the probabilities `prior` (none: equal)."""
    chance = jnp.ones(classes) if prior is None else jnp.asarray(prior, float)
    below = jnp.cumsum(chance)[:-1] / chance.sum()
    return jnp.sum(random.uniform(key, (size, 1)) >= below[None], axis=1)
