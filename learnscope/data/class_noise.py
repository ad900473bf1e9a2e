"""Class-dependent noise: one patch is the class's feature, the other is the class's noise."""

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from learnscope.data.factors import AbstractFactors, SpikeFactors
from learnscope.data.problem import (
    AbstractData,
    Problem,
    Samples,
    check_batch,
    encode_labels,
    mini_batches,
)
from learnscope.errors import BadInput, refuse
from learnscope.part import Number, choice, count, number
from learnscope.space import random
from learnscope.space.frame import Frame, orthonormal

# Symmetric sub-Gaussian variables of variance 1, by name.
NOISES: dict[str, Callable[[Key[Array, ""], tuple[int, ...]], Array]] = {
    "gaussian": random.normal,
    "uniform": lambda key, shape: random.uniform(key, shape, -(3**0.5), 3**0.5),
    "rademacher": random.signs,
    "triangular": lambda key, shape: random.uniform(key, (2, *shape), -(1.5**0.5), 1.5**0.5).sum(0),
}


class ClassNoise(AbstractData):
    r"""Patches $u_y$ and $\xi = A_y \zeta$ (Xu and Chen 2025, section 2).

    The features $u_1, \dots, u_K$ are orthogonal, $\zeta$ has independent symmetric entries of
    variance 1, and each class's noise is a spike in a flat bulk (section 5.1):

    $$A_k = b (P - v_k v_k^T) + s v_k v_k^T, \quad P = I - \sum_j u_j u_j^T / \|u_j\|^2,$$

    with orthonormal spikes $v_k$, orthogonal to the features. The spike's strength is set by the
    noise correlation ratio of classes of equal size,
    $\Gamma = \|A_k^T A_k\|_F^2 / \|A_k^T A_j\|_F^2$: with $R = d - K$,

    $$s^2 = b^2 \left(\Gamma + \sqrt{(\Gamma - 1)(\Gamma + R - 1)}\right).$$

    $\Gamma = 1$ is noise that all classes share, and the least that spikes can give.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $K$ | `classes` |
    | $\lvert S_k\rvert$ | `train_per_class`: one number, or one per class |
    | $\|u_k\|$ | `signal`: one number, or one per class |
    | $\Gamma$ | `correlation` |
    | $\mathcal{D}_\zeta$ | `noise`: gaussian, uniform, rademacher or triangular |
    | $b$ | `bulk` |
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

    def __check_init__(self):
        super().__check_init__()
        check_classes(self)
        if isinstance(self.dim, int) and self.dim <= 2 * self.classes:
            refuse(self, "dim", f"it must be above {2 * self.classes}, for features and spikes")

    @property
    def labels(self) -> int | None:
        return None if self.classes == 2 else self.classes

    @property
    def sizes(self) -> tuple[int, ...]:
        """|S_k|: the number of training examples of every class."""
        return each_class(self.train_per_class, self.classes)

    @property
    def spike(self) -> Number:
        """s: the standard deviation of the noise along the class's own spike."""
        ratio, rest = self.correlation, self.dim - self.classes
        more = ((ratio - 1) * (ratio + rest - 1)) ** 0.5
        return self.bulk * (ratio + more) ** 0.5

    @property
    def compression(self) -> str:
        return "gaussian_rows" if self.noise == "gaussian" else "rotate"

    @property
    def span(self) -> int:
        return 2 * self.classes + sum(self.sizes)

    def matrices(self, seed: int = 0) -> Float[np.ndarray, "class dim dim"]:
        """The matrices A_k in R^d and float64, for checks."""
        k, d = self.classes, int(self.dim)
        frame = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, 2 * k)))[0].T
        flat = np.eye(d) - frame[:k].T @ frame[:k]
        outer = np.einsum("ki,kj->kij", frame[k:], frame[k:])
        return float(self.bulk) * (flat - outer) + float(self.spike) * outer

    def squares(self) -> Float[np.ndarray, "class class"]:
        r"""$\|A_k^T A_j\|_F^2$ for all pairs of classes, in closed form."""
        rest, b2, s2 = float(self.dim) - self.classes, float(self.bulk) ** 2, float(self.spike) ** 2
        own, other = (rest - 1) * b2**2 + s2**2, (rest - 2) * b2**2 + 2 * b2 * s2
        return np.where(np.eye(self.classes, dtype=bool), own, other)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        turn_key, train_key, test_key, label_key = jax.random.split(key, 4)
        n, k = sum(self.sizes), self.classes
        if self.noise == "gaussian":  # invariant under rotations: any directions will do
            directions, frame = frame.axes(2 * k)
            train, frame = frame.gaussian_rows(train_key, n)
            test = frame.gaussian_points(test_key, self.test)
        else:
            directions = orthonormal(random.normal(turn_key, (2 * k, frame.rank)))
            train = NOISES[self.noise](train_key, (n, frame.rank))
            test = NOISES[self.noise](test_key, (self.test, frame.rank))
        factors = SpikeFactors(directions[:k], directions[k:], self.bulk, self.spike)
        return class_problem(
            directions[:k], jnp.asarray(self.signal, train.dtype), factors, self.sizes, train, test,
            draw_labels(label_key, self.test, self.prior, k), frame, self.span, self.batch,
        )  # fmt: skip

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        point_key, label_key = jax.random.split(key)
        zeta = problem.frame.gaussian_points(point_key, 1)
        labels = draw_labels(label_key, 1, self.prior, self.classes)
        return class_example(zeta, labels, self.signal, problem)


def class_problem(
    features: Float[Array, "class rank"], signal: Array, factors: AbstractFactors,
    sizes: tuple[int, ...], train: Float[Array, "n rank"], test: Float[Array, "t rank"],
    test_labels: Int[Array, " t"], frame: Frame, span: int, batch: int | None,
) -> Problem:  # fmt: skip
    """The problem with given zeta for the training and test examples."""
    classes = jnp.arange(len(sizes))
    train_labels = jnp.repeat(classes, np.asarray(sizes), total_repeat_length=sum(sizes))
    spikes = {"spikes": factors.spikes} if isinstance(factors, SpikeFactors) else {}

    def samples(zeta, labels, width, hidden):
        noise = factors.colour(zeta, labels)
        feature = _strengths(signal, labels) * features[labels]
        if frame.ambient:
            x = jnp.stack([feature, noise], axis=1)
        else:
            x = (feature[:, : len(sizes)], noise[:, :width])
        # Only training examples have their noise as a hidden vector; a test example's is its patch.
        y = encode_labels(labels, len(sizes))
        vectors = {"noise": noise} if hidden else {}
        return Samples(x, y, vectors, aliases=(("noise", 1),) if hidden else ())

    learnt = samples(train, train_labels, span, True)
    held = samples(test, test_labels, frame.rank, False)
    return Problem(
        learnt, held, {"features": features} | spikes, frame, mini_batches(batch),
        factors=factors, widths=(len(sizes), None),
    )  # fmt: skip


def class_example(
    zeta: Float[Array, "1 rank"], labels: Int[Array, " 1"], signal: Any, problem: Problem
) -> Samples:
    """One new example of a problem, with given zeta."""
    assert problem.factors is not None
    noise = problem.factors.colour(zeta, labels)
    feature = _strengths(signal, labels) * problem.directions["features"][labels]
    x = jnp.stack([feature, noise], axis=1) if problem.frame.ambient else (feature, noise)
    y = encode_labels(labels, problem.directions["features"].shape[0])
    return Samples(x=x, y=y).take(jnp.asarray(0))


def draw_labels(key: Key[Array, ""], size: int, prior: Any, classes: int) -> Int[Array, " n"]:
    """Random labels with the probabilities `prior` (none: equal)."""
    chance = jnp.ones(classes) if prior is None else jnp.asarray(prior, float)
    below = jnp.cumsum(chance)[:-1] / chance.sum()
    return jnp.sum(random.uniform(key, (size, 1)) >= below[None], axis=1)


def _strengths(signal: Any, labels: Int[Array, " n"]) -> Float[Array, "n 1"]:
    """||u_y|| of every example."""
    signal = jnp.asarray(signal, float)
    return jnp.broadcast_to(signal if signal.ndim == 0 else signal[labels], labels.shape)[:, None]


def each_class(value: Any, classes: int) -> tuple[Any, ...]:
    """A tuple of one value per class, from such a tuple or one value for all."""
    return value if isinstance(value, tuple) else (value,) * classes


def check_classes(model: Any) -> None:
    """Check the fields that have one value per class, and the batch size."""
    for name in ("train_per_class", "signal", "prior"):
        value = getattr(model, name)
        if isinstance(value, tuple) and len(value) != model.classes:
            given = f"{type(model).__name__}.{name} has {len(value)} values"
            raise BadInput(f"{given}: it must have one per class, {model.classes}.")
    prior = model.prior
    if prior is not None and not isinstance(prior, tuple):
        refuse(model, "prior", "it must have one value per class")
    if prior and all(isinstance(p, float) for p in prior) and not np.isclose(sum(prior), 1):
        refuse(model, "prior", "it must add up to 1")
    check_batch(model, sum(model.sizes))
