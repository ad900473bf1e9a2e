"""A family of tasks with one feature in common, and problems of a user's own tasks."""

import dataclasses
import warnings
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data import task_law
from learnscope.data.gram import patch_gram, with_gram
from learnscope.data.problem import AbstractData, Problem, Samples
from learnscope.errors import BadInput, refuse
from learnscope.part import Number, count, flag, number
from learnscope.space import Space, random
from learnscope.space.frame import Frame


class TaskFamily(AbstractData):
    r"""Task k has the feature $\nu_k = \nu + z_k$ (Zuo et al. 2023, Definitions 3.1 and 3.2).

    $z_k$ is a random element of a dictionary $z_1, \dots, z_M$, which is drawn once:
    $z_i \sim N(0, \sigma_s^2 (I - \nu\nu^T/\|\nu\|^2))$. An example of task k has the patches
    $y \nu_k$ and $\xi \sim N(0, \sigma_\xi^2 (I - P))$, P the projection onto the span of $\nu$ and
    the *whole* dictionary. `train` holds the first $n_1$ examples of every observed task,
    `validation` the other $n_2$; `test` holds fresh tasks, each with $n$ examples to adapt to and
    `queries` more.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $M$ | `dictionary` |
    | $K$ | `tasks` |
    | $n$ | `samples` |
    | $n_2$ | `validation` |
    | $n_1 = n - n_2$ | `training` (none: the rest) |
    | $\|\nu\|$ | `signal` |
    | $\sigma_s \sqrt d$, about $\|z_i\|$ | `task_signal` |
    | $\sigma_\xi$ | `noise` |

    If `balanced`, labels alternate within each half, so that each half has both classes (Condition
    D.1); otherwise they are fair coins.

    >>> import jax
    >>> model = TaskFamily(dim=60, dictionary=9, tasks=3, samples=4, validation=2, signal=1.0,
    ...                    task_signal=0.3, noise=0.2, test_tasks=5)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.by_group().x.shape, problem.test.by_group().y.shape
    ((3, 2, 2, 60), (5, 8))
    """

    papers: ClassVar = ("zuo2023split",)

    dim: Number = number(low=3, high=1e12, whole=True, shape=True)
    dictionary: int = count()
    tasks: int = count()
    samples: int = count(low=2)
    validation: int = count()
    signal: Number = number(low=0)
    task_signal: Number = number(low=0)
    noise: Number = number(low=0)
    test_tasks: int = count()
    queries: int = count(4)
    training: int | None = count(None, optional=True)
    balanced: bool = flag(True)

    def __check_init__(self):
        super().__check_init__()
        if self.validation >= self.samples:
            refuse(self, "validation", f"it must be below samples = {self.samples}")
        if self.training is not None and self.training + self.validation != self.samples:
            must = f"with validation = {self.validation} it must add up to samples = {self.samples}"
            refuse(self, "training", must)
        if isinstance(self.dim, int) and self.dictionary > self.dim - 2:
            refuse(self, "dictionary", f"it must be at most dim - 2 = {self.dim - 2}")
        for name, size in (("training", self.halves[0]), ("validation", self.validation)):
            if size < 2:
                problem = f"a {name} half of {size} per task leaves one of its classes empty"
                if self.balanced:
                    raise BadInput(
                        f"TaskFamily.balanced = True is not allowed with validation = "
                        f"{self.validation} of samples = {self.samples}: {problem}; each half "
                        "needs at least 2, or balanced = false."
                    )
                warnings.warn(f"TaskFamily: {problem}.", stacklevel=2)

    @property
    def halves(self) -> tuple[int, int]:
        """n_1 and n_2."""
        return self.samples - self.validation, self.validation

    @property
    def space(self) -> Space:
        noises, room = self.tasks * self.samples, self.dim - self.dictionary - 1
        noises = min(noises, room) if isinstance(room, int) else noises
        return Space(1 + self.sizes.rows + noises, "gaussian_rows")

    @property
    def sizes(self) -> task_law.Sizes:
        fresh = self.samples + self.queries
        return task_law.Sizes(self.dictionary, self.tasks, self.samples, self.test_tasks, fresh)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        draw_key, label_key, test_label_key = jax.random.split(key, 3)
        if frame is None:
            drawn = task_law.in_ambient(draw_key, int(self.dim), self.sizes)
        else:
            room = self.span if frame.room is None else frame.room
            drawn = task_law.compressed(draw_key, frame, self.sizes, room)
        first_axis = 0 if frame is None else drawn.frame.used - 1 - self.sizes.rows
        shared = self.signal * jnp.eye(1, drawn.frame.rank, first_axis)
        scale = self.task_signal / jnp.sqrt(jnp.asarray(self.dim, float))
        own, new = scale * drawn.features, scale * drawn.fresh_features
        first = self.halves[0]
        y = task_law.labels(self.halves, self.balanced, self.tasks, label_key)
        sizes = (*self.halves, self.queries)
        test_y = task_law.labels(sizes, self.balanced, self.test_tasks, test_label_key)
        feature, noise = shared + own, self.noise * drawn.noise
        cut = (drawn.frame.used, first_axis)
        train = _samples(feature, noise[:, :first], y[:, :first], drawn.frame, cut)
        held = _samples(feature, noise[:, first:], y[:, first:], drawn.frame, cut)
        whole, fresh = (drawn.frame.rank, drawn.frame.rank), self.noise * drawn.fresh_noise
        test = _samples(shared + new, fresh, test_y, drawn.frame, whole, hidden=False)
        train, held = with_gram(train, held)
        directions = {"shared": shared[0], "task": own}
        test = self._test_gram(test, drawn, test_y)
        return Problem(train, test, directions, drawn.frame, validation=held)

    def _test_gram(self, test: Samples, drawn: task_law.Drawn, y: Array) -> Samples:
        """The test set with exact inner products, including components outside the frame."""
        table = patch_gram(test.by_group().x)
        if drawn.outside is not None:
            features, noise = drawn.outside
            scale = self.task_signal**2 / jnp.asarray(self.dim, float)
            outer = y[:, :, None] * y[:, None, :]
            # Features and noise are orthogonal, but their components in the frame are not.
            table = table.at[:, :, 0, 1].set(0.0).at[:, :, 1, 0].set(0.0)
            table = table.at[:, :, 0, 0].add(scale * features[:, None, None] * outer)
            table = table.at[:, :, 1, 1].add(self.noise**2 * noise)
        marks = {**test.marks, "gram": table.reshape(test.size, *table.shape[2:])}
        return dataclasses.replace(test, marks=marks)

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        """A new example of one of the fresh tasks. Its noise is a mixture of that of two other
        examples: it has the right law (given the frame), but depends on the test set."""
        pick, coin, turn = jax.random.split(key, 3)
        at = random.permutation(pick, problem.test.size)
        one, other = problem.test.take(at[0]), problem.test.take(at[1])
        angle = 2 * jnp.pi * random.uniform(turn)
        sign = random.signs(coin)
        noise = jnp.cos(angle) * one.x[1] + jnp.sin(angle) * other.x[1]
        pair = (sign * one.x[0], noise)
        return Samples(jnp.stack(pair) if problem.frame.ambient else pair, sign * one.y)


def _samples(
    feature: Float[Array, "task rank"], noise: Float[Array, "task sample rank"],
    y: Float[Array, "task sample"], frame: Frame, cut: tuple[int, int], hidden: bool = True,
) -> Samples:  # fmt: skip
    """Examples of every task; compressed patches are cut to their widths. The mark `carried` is the
    factor of the task's feature in the first patch."""
    tasks, rank = noise.shape[0], noise.shape[2]
    carried = (y[:, :, None] * feature[:, None, :]).reshape(-1, rank)
    flat = noise.reshape(-1, rank)
    if frame.ambient:
        x: PyTree = jnp.stack([carried, flat], axis=1)
    else:
        x = (carried[:, : cut[0]], flat[:, : cut[1]])
    vectors = {"noise": flat} if hidden else {}
    marks, aliases = {"carried": y.reshape(-1)}, (("noise", 1),) if hidden else ()
    return Samples(x, y.reshape(-1), vectors, marks, tasks, aliases)


def task_problem(
    train: tuple[Array, Array], validation: tuple[Array, Array], test: tuple[Array, Array]
) -> Problem:
    """A problem of a user's own tasks. Each set has inputs (task, sample, ...) and labels
    (task, sample): +1 and -1 for a net with one output (or any numbers for the squared loss),
    integers 0, 1, ... for one output per class. `train` and `validation` have the same tasks in
    the same order; `test` has fresh tasks.

    >>> import jax, jax.numpy as jnp, equinox as eqx, learnscope as ls
    >>> x, y = jax.random.normal(jax.random.key(0), (5, 4, 3)), jnp.ones((5, 4))
    >>> problem = task_problem((x, y), (x, y), (x, y))
    >>> net = ls.nets.Model(lambda key: eqx.nn.MLP(3, "scalar", 8, 1, key=key))
    >>> rule = ls.rules.Maml(rate=0.1, inner_rate=0.1, inner_steps=2)
    >>> state = rule.init(net, problem, jax.random.key(1))
    >>> int(rule.step(state, problem, jax.random.key(2)).step)
    1
    """
    if len(train[0]) != len(validation[0]):
        must = f"it must have the {len(train[0])} tasks of train"
        raise BadInput(f"validation has {len(validation[0])} tasks: {must}.")

    def samples(name: str, x: Array, y: Array) -> Samples:
        if x.shape[:2] != y.shape[:2]:
            raise BadInput(f"{name} has inputs {x.shape[:2]} and labels {y.shape[:2]} (task, "
                           "sample): the numbers must agree.")  # fmt: skip
        binary = ((y == 0) | (y == 1)).all() & (y == 0).any()
        if jnp.issubdtype(y.dtype, jnp.floating) and bool(binary):
            raise BadInput(
                f"{name} has labels 0 and 1: they must be +1 and -1 for a net with one output, or "
                "integers for one output per class."
            )
        return Samples(x.reshape(-1, *x.shape[2:]), y.reshape(-1), groups=x.shape[0])

    sets = {"train": train, "validation": validation, "test": test}
    tasks = {name: samples(name, *map(jnp.asarray, given)) for name, given in sets.items()}
    frame = Frame.of_dimension(int(tasks["train"].x.shape[-1]))
    return Problem(tasks["train"], tasks["test"], {}, frame, validation=tasks["validation"])
