"""Tasks of real images: RainbowMNIST, and N ways with K shots of the few-shot sets."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, UInt8

from learnscope.data.frame import Frame
from learnscope.data.problem import AbstractData, AbstractEpisodes, Problem, Samples, told
from learnscope.data.task_pools import FEW_SHOT, RAINBOW, Pools, pools
from learnscope.errors import BadInput
from learnscope.part import choice, count, flag

SCALINGS = ("unit", "standard")


class Episodes(AbstractEpisodes):
    """Tasks from a pool of images: some classes of a world, some images of each. Where labels are
    dealt out anew, classes are drawn at random and in random order; else they keep their own."""

    pool: UInt8[Array, "world class image dim"]
    shift: Float[Array, " dim"]
    factor: Float[Array, " dim"]
    ways: int = eqx.field(static=True)
    sizes: tuple[int, ...] = eqx.field(static=True)
    shuffled: bool = eqx.field(static=True)

    def __call__(self, key: Key[Array, ""], count: int) -> tuple[Samples, ...]:
        world_key, key = jax.random.split(key)
        worlds = _distinct(world_key, (1,), self.pool.shape[0], self.pool.shape[0])[0]
        return self.of_worlds(key, worlds[jnp.arange(count) % worlds.shape[0]])

    def of_worlds(self, key: Key[Array, ""], worlds: Int[Array, " task"]) -> tuple[Samples, ...]:
        """A task of each world; a set for each of `sizes`, so many images a class."""
        class_key, image_key = jax.random.split(key)
        tasks, (_, classes, images, dim) = worlds.shape[0], self.pool.shape
        chosen = jnp.broadcast_to(jnp.arange(self.ways), (tasks, self.ways))
        if self.shuffled:
            chosen = _distinct(class_key, (tasks,), classes, self.ways)
        index = _distinct(image_key, (tasks, self.ways), images, sum(self.sizes))
        rows = self.pool[worlds[:, None, None], chosen[:, :, None], index]
        x = (rows - self.shift[None, None, None]) * self.factor[None, None, None]
        found, at = [], 0
        for size in self.sizes:
            part = x[:, :, at : at + size].reshape(tasks * self.ways * size, dim)
            y = jnp.tile(jnp.repeat(jnp.arange(self.ways), size), tasks)
            found.append(Samples(part, told(y, self.ways), groups=tasks))
            at += size
        return tuple(found)


class ImageTasks(AbstractData):
    r"""Tasks of real images, as rows of pixels (Zuo et al. 2023, section 5.1).

    `rainbow` is RainbowMNIST made of `source`: 40 observed and 16 fresh tasks, the combinations of
    colour, scale and rotation of `rainbow_mnist`; a class has the same label in all of them. (Here
    tasks have equally many images of every class; further tasks are further draws of the same
    combinations.) `omniglot`, `cifar-fs` and `mini-imagenet` are few-shot sets (`load_few_shot`):
    a task has some classes of the training part, in random order; fresh tasks have some of the test
    part. `digits` is such a set of the bundled digits, turned by quarters: 28 + 12 classes.

    A task has `shots` images of each of its `ways` classes to adapt to, `validation` for the outer
    loop, and fresh ones `queries` more. If `fresh`, rules draw new tasks (or new images of the
    tasks of `rainbow`) every step, else they have the `tasks` that were drawn at the start, which
    are what probes of training read in either case. `images` of a class are kept (none: all).
    `pixels` are scaled to 0 to 1 (`unit`) or so that every colour has mean 0 and variance 1 in
    training (`standard`), after `shrink` x `shrink` of them were averaged to one.

    | symbol | argument |
    |---|---|
    | $N$ | `ways` |
    | $K$ (of K-shot) | `shots` |
    | $n_1 = N K$, $n_2$ | `ways` times `shots`, times `validation` |

    >>> import jax
    >>> model = ImageTasks("digits", tasks=6, ways=5, shots=1, validation=2, test_tasks=3)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.by_group().x.shape, problem.validation.by_group().y.shape
    ((6, 5, 64), (6, 10))
    """

    name: str = choice("rainbow", *FEW_SHOT, "digits", default="digits")
    tasks: int = count(40)
    ways: int = count(5, low=2)
    shots: int = count(1)
    validation: int = count(1)
    queries: int = count(5)
    test_tasks: int = count(16)
    fresh: bool = flag(True)
    source: str = choice("mnist", "fashion-mnist", "digits", default="mnist")
    root: str | None = eqx.field(static=True, default=None)
    images: int | None = count(None, optional=True)
    pixels: str = choice(*SCALINGS, default="standard")
    shrink: int = count(1)

    papers = ("zuo2023split",)

    def __check_init__(self):
        super().__check_init__()
        if self.root is not None and not isinstance(self.root, str):
            raise BadInput(f"ImageTasks.root = {self.root!r} is not allowed: it must be a folder.")

    @property
    def pools(self) -> Pools:
        """The images behind it, read once."""
        worlds = min(self.tasks, RAINBOW["train"]), min(self.test_tasks, RAINBOW["test"])
        used = worlds if self.name == "rainbow" else (1, 1)
        found = pools(self.name, self.source, self.root, used, self.images, self.shrink)
        for part, sizes in ((found.train, self.sizes[:2]), (found.test, self.sizes)):
            if part.shape[1] < self.ways:
                raise BadInput(
                    f"ImageTasks.ways = {self.ways} is not allowed: {self.name} has "
                    f"{part.shape[1]} classes for some tasks."
                )
            if part.shape[2] < sum(sizes):
                raise BadInput(
                    f"ImageTasks needs {sum(sizes)} images a class of a task: there are "
                    f"{part.shape[2]} of {self.name}; take fewer shots, validation or queries."
                )
        return found

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Images a class of a fresh task."""
        return self.shots, self.validation, self.queries

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.pools.train.shape[-1]

    @property
    def labels(self) -> int | None:
        return None if self.ways == 2 else self.ways

    @property
    def compression(self) -> str:
        return "none"

    @property
    def span(self) -> int:
        return self.tasks * self.ways * (self.shots + self.validation)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        train_key, test_key = jax.random.split(key)
        observed, fresh = self._episodes("train", self.sizes[:2]), self._episodes("test")
        train, held = observed.of_worlds(train_key, _around(self.tasks, observed))
        sets = fresh.of_worlds(test_key, _around(self.test_tasks, fresh))
        parts = [part.by_group() for part in sets]
        x, y = (jnp.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("x", "y"))
        test = Samples(x.reshape(-1, x.shape[-1]), y.reshape(-1), groups=self.test_tasks)
        return Problem(
            train=train,
            test=test,
            directions={},
            frame=Frame.of_dimension(self.dim),
            validation=held,
            episodes=observed if self.fresh else None,
        )

    def _episodes(self, part: str, sizes: tuple[int, ...] | None = None) -> Episodes:
        found = self.pools
        array = getattr(found, part)
        shift, factor = self._scaling(found)
        # Fetched when the program runs: as constants they would be compiled and stored with it.
        pool = jax.pure_callback(lambda: array, jax.ShapeDtypeStruct(array.shape, array.dtype))
        sizes = self.sizes if sizes is None else sizes
        return Episodes(pool, shift, factor, self.ways, sizes, found.shuffled)

    def _scaling(self, found: Pools) -> tuple[Array, Array]:
        """What is taken off and multiplied with, for every pixel."""
        shift, factor = np.zeros(found.colours), np.full(found.colours, 1 / found.top)
        if self.pixels == "standard":
            shift, deviation = _moments(found)
            factor = 1 / np.maximum(deviation, 1e-12)
        times = found.train.shape[-1] // found.colours
        return jnp.asarray(np.tile(shift, times), float), jnp.asarray(np.tile(factor, times), float)

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        """One of the images of fresh tasks: there is no law to draw a new one from."""
        return problem.test.take(jax.random.randint(key, (), 0, problem.test.size))


def _distinct(
    key: Key[Array, ""], shape: tuple[int, ...], size: int, count: int
) -> Int[Array, "*shape count"]:
    """Different numbers below `size`, in random order: the places of the largest of `size` random
    ones, which compiles much faster than sorting them all."""
    return jax.lax.top_k(jax.random.uniform(key, (*shape, size)), count)[1]


def _around(tasks: int, episodes: Episodes) -> Int[Array, " task"]:
    """Tasks of all worlds, one after the other."""
    return jnp.arange(tasks) % episodes.pool.shape[0]


def _moments(found: Pools) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of every colour in training."""
    some = found.train[:, :, ::7].reshape(-1, found.colours).astype(float)
    return some.mean(0), some.std(0)
