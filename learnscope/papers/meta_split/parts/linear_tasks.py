"""Linear regression tasks with a common centroid."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data import AbstractData, Problem, Samples
from learnscope.errors import refuse
from learnscope.part import Number, count, number
from learnscope.space import Frame, Space, random


class LinearTasks(AbstractData):
    r"""Task k has $y = \langle x, w_k \rangle + \sigma \epsilon$, $x \sim N(0, I)$, with
    $w_k \sim N(w_\star, \frac{R^2}{d} I)$ around a centroid $w_\star$ of norm 1 (Bai et al. 2021,
    section 4). $\sigma = 0$ is their realisable case.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $T$ | `tasks` |
    | $n$ | `samples` |
    | $n_2$ | `validation` |
    | $R$ | `spread` |
    | $\sigma$ | `noise` |

    >>> import jax
    >>> model = LinearTasks(dim=6, tasks=3, samples=4, validation=2, spread=1.0, test_tasks=2)
    >>> model.sample(jax.random.key(0)).train.x.shape
    (6, 6)
    """

    papers: ClassVar = ("bai2021split",)

    dim: Number = number(low=1, high=1e12, whole=True, shape=True)
    tasks: int = count()
    samples: int = count(low=2)
    validation: int = count()
    spread: Number = number(low=0)
    test_tasks: int = count()
    noise: Number = number(0.0, low=0)

    def __check_init__(self):
        super().__check_init__()
        if self.validation >= self.samples:
            refuse(self, "validation", f"it must be below samples = {self.samples}")

    @property
    def space(self) -> Space:
        # In the cases of interest there are as many tasks as dimension: not compressed.
        return Space(1 + self.tasks * self.samples)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        dim = int(self.dim)
        train_key, test_key, centroid_key = jax.random.split(key, 3)
        centroid = random.normal(centroid_key, (dim,))
        centroid = centroid / jnp.linalg.norm(centroid)
        x, y = self._draw(train_key, centroid, self.tasks)
        first = self.samples - self.validation
        test_x, test_y = self._draw(test_key, centroid, self.test_tasks)
        fold = lambda x, y: Samples(x.reshape(-1, dim), y.reshape(-1), groups=x.shape[0])  # noqa: E731
        return Problem(
            train=fold(x[:, :first], y[:, :first]),
            test=fold(test_x, test_y),
            directions={"centroid": centroid},
            frame=Frame.of_dimension(dim),
            validation=fold(x[:, first:], y[:, first:]),
        )

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        x, y = self._draw(key, problem.directions["centroid"], 1)
        return Samples(x[0, 0], y[0, 0])

    def _draw(self, key: Key[Array, ""], centroid: Array, tasks: int) -> tuple[Array, Array]:
        """Inputs and labels, with leading axes (task, sample)."""
        a, b, c = jax.random.split(key, 3)
        dim = centroid.shape[0]
        own = self.spread / jnp.sqrt(jnp.asarray(dim, float)) * random.normal(a, (tasks, dim))
        x = random.normal(b, (tasks, self.samples, dim))
        noise = self.noise * random.normal(c, (tasks, self.samples))
        return x, jnp.einsum("tnd,td->tn", x, centroid[None] + own) + noise
