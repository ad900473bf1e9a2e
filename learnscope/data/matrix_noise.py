"""Class-dependent noise with explicit matrices."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from learnscope.data.class_noise import NOISES, AbstractClassNoise, draw_labels
from learnscope.data.factors import MatrixFactors, overlaps
from learnscope.data.patches import Directions
from learnscope.data.problem import Problem, Samples
from learnscope.errors import BadInput
from learnscope.part import Number, choice, count, number
from learnscope.space import Space
from learnscope.space.frame import Frame


def _as_matrices(given: Any) -> Any:
    try:
        return np.asarray(given) if np.iscomplexobj(given) else np.asarray(given, float)
    except (TypeError, ValueError):
        return given


class MatrixNoise(AbstractClassNoise):
    r"""Patches $u_y$ and $\xi = A_y \zeta$ with any matrices $A_1, \dots, A_K$.

    Like `ClassNoise`, but with given matrices instead of a spike and a bulk (Xu and Chen 2025,
    section 2). They must leave K dimensions free of noise, $u_k^T A_j = 0$: the features are an
    orthonormal basis of these dimensions, times their strengths.

    | symbol | argument |
    |---|---|
    | $A_1, \dots, A_K$ | `factors`: K matrices, d x d |
    | $\lvert S_k\rvert$ | `train_per_class`: one number, or one per class |
    | $\|u_k\|$ | `signal`: one number, or one per class |
    | $\mathcal{D}_\zeta$ | `noise`: gaussian, uniform, rademacher or triangular |
    | $\mathcal{K}$ | `prior`: the test labels' distribution (none: equal) |

    >>> import jax, numpy as np
    >>> factors = [np.diag([0, 0, 1, 1, 2.0]), np.diag([0, 0, 2, 1, 1.0])]
    >>> model = MatrixNoise(factors=factors, train_per_class=4, test=3, signal=1)
    >>> model.sample(jax.random.key(0)).train.x.shape
    (8, 2, 5)
    """

    papers: ClassVar = ("xu2025benign",)

    factors: Float[np.ndarray, "class dim dim"] = eqx.field(converter=_as_matrices)
    train_per_class: int | tuple[int, ...] = count(each=True)
    test: int = count()
    signal: Number | tuple[Number, ...] = number(low=0, each=True)
    noise: str = choice(*NOISES, default="gaussian")
    prior: tuple[Number, ...] | None = number(None, low=0, each=True, optional=True)
    batch: int | None = count(None, optional=True)

    def __check_init__(self):
        given = self.factors
        if isinstance(given, np.ndarray):
            shape = given.shape
            if given.dtype.kind != "f" or len(shape) != 3 or shape[1] != shape[2] or len(given) < 2:
                must = "it must be two or more square matrices of one size"
                raise BadInput(f"MatrixNoise.factors has the shape {shape}: {must}.")
            if not np.isfinite(given).all():
                raise BadInput("MatrixNoise.factors has entries that are not finite numbers.")
            free = np.linalg.eigvalsh(_outer_sum(given, np))[: len(given)]
            if free[-1] > 1e-9 * max(1e-300, np.abs(given).max()) ** 2 * shape[1]:
                raise BadInput(
                    f"MatrixNoise.factors must leave {len(given)} dimensions free for the features "
                    "(u_k^T A_j = 0): the sum of A_j A_j^T has too high a rank."
                )
        elif not isinstance(given, jax.Array):
            raise BadInput("MatrixNoise.factors must be square matrices of numbers, one per class.")
        super().__check_init__()  # which counts the classes

    @property
    def classes(self) -> int:
        return self.factors.shape[0]

    @property
    def dim(self) -> int:
        return self.factors.shape[1]

    @property
    def axes(self) -> int:
        return self.classes

    @property
    def space(self) -> Space:
        return Space(self.axes + self.train, "rotate")

    def squares(self) -> Float[np.ndarray, "class class"]:
        r"""$\|A_k^T A_j\|_F^2$ for all pairs of classes."""
        return overlaps(self.factors)

    def factors_of(self, directions: Directions | None = None) -> MatrixFactors:
        return MatrixFactors(jnp.asarray(self.factors, float))

    def directions(self, axes: Array | None = None) -> Directions:
        """The features: an orthonormal basis of the free dimensions. Eigenvectors of a repeated
        eigenvalue depend on rounding; the basis nearest to fixed vectors does not."""
        free = jnp.linalg.eigh(_outer_sum(self.factors_of().matrices, jnp))[1][:, : self.classes]
        fixed = np.random.default_rng(0).normal(size=(self.dim, self.classes))
        basis, triangle = jnp.linalg.qr(free @ (free.T @ jnp.asarray(fixed, free.dtype)))
        return {"features": (basis * jnp.sign(jnp.diag(triangle))[None]).T}

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        train_key, test_key, label_key = jax.random.split(key, 3)
        draw, keys = NOISES[self.noise], (label_key, label_key)
        train, test = draw(train_key, (self.train, self.dim)), draw(test_key, (self.test, self.dim))
        return self.problem(keys, train, test, self.directions(), Frame.of_dimension(self.dim))

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        point_key, label_key = jax.random.split(key)
        zeta = NOISES[self.noise](point_key, (1, self.dim))
        labels = draw_labels(label_key, 1, self.prior, self.classes)
        drawn = self.coloured(labels, zeta, problem.directions, problem.factors)
        return self.samples(drawn, problem.frame, problem.frame.rank).take(jnp.asarray(0))


def _outer_sum(matrices: Any, library: Any) -> Any:
    """The sum of A_k A_k^T."""
    return library.einsum("kij,klj->il", matrices, matrices)
