"""Tasks of real images: RainbowMNIST, and N-way K-shot tasks of the few-shot sets."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, UInt8

from learnscope.data.problem import (
    AbstractEpisodes,
    AbstractStoredData,
    Problem,
    Samples,
    encode_labels,
)
from learnscope.errors import BadInput, refuse
from learnscope.images.callback import called
from learnscope.images.task_pools import FEW_SHOT, RAINBOW, Pools, pools
from learnscope.part import choice, count, flag
from learnscope.space import Space, random
from learnscope.space.frame import Frame

SCALINGS = ("unit", "standard")
HELD_OUT = ("test", "validation")


class Episodes(AbstractEpisodes):
    """Tasks from a pool of images: some classes of one world, and some images of each. If
    `shuffled`, classes are drawn at random in random order; otherwise the first `ways` are used."""

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
        """One task from each world. Returns one set for each of `sizes`, its images per class."""
        class_key, image_key = jax.random.split(key)
        tasks, (_, classes, images, dim) = worlds.shape[0], self.pool.shape
        chosen = jnp.broadcast_to(jnp.arange(self.ways), (tasks, self.ways))
        if self.shuffled:
            chosen = _distinct(class_key, (tasks,), classes, self.ways)
        index = _distinct(image_key, (tasks, self.ways), images, sum(self.sizes))
        pixels = self.pool[worlds[:, None, None], chosen[:, :, None], index]
        x = (pixels - self.shift[None, None, None]) * self.factor[None, None, None]
        sets, at = [], 0
        for size in self.sizes:
            own = x[:, :, at : at + size].reshape(tasks * self.ways * size, dim)
            y = jnp.tile(jnp.repeat(jnp.arange(self.ways), size), tasks)
            sets.append(Samples(own, encode_labels(y, self.ways), groups=tasks))
            at += size
        return tuple(sets)


class ImageTasks(AbstractStoredData):
    r"""Tasks of real images, as rows of pixels (Zuo et al. 2023, section 5.1).

    `rainbow` is RainbowMNIST made of `source`: 40 observed and 16 fresh tasks, the combinations of
    colour, scale and rotation; a class has the same label in all tasks. (Here
    tasks have equally many images of every class; further tasks are further draws of the same
    combinations.) `omniglot`, `cifar-fs` and `mini-imagenet` are few-shot sets (`load_few_shot`):
    an observed task has random training classes in random order, a fresh task random test classes.
    `digits` is a few-shot set of the bundled digits in four rotations: 28 + 12 classes. If
    `held_out` is `validation`, fresh tasks have the validation classes instead, or (`rainbow`) are
    8 combinations of the 40, which are then not observed: something to tune rates on.

    A task has `shots` images of each of its `ways` classes to adapt to and `validation` for the
    outer loop; a fresh task has `queries` more. If `fresh`, rules draw new tasks (or new images of
    the tasks of `rainbow`) every step; otherwise they learn from the `tasks` of the first draw.
    Probes of training always read the first draw. `images` is the number of images in use per class
    (none: all). `shrink` x `shrink` pixels are averaged to one. `pixels` are then scaled to 0 to 1
    (`unit`) or to mean 0 and variance 1 of every colour in training (`standard`).

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
    held_out: str = choice(*HELD_OUT, default="test")

    papers = ("zuo2023split",)

    def __check_init__(self):
        super().__check_init__()
        if self.root is not None and not isinstance(self.root, str):
            refuse(self, "root", "it must be a folder")

    @property
    def pools(self) -> Pools:
        """The images of the data set, read once."""
        worlds = min(self.tasks, RAINBOW["train"]), min(self.test_tasks, RAINBOW["test"])
        used = worlds if self.name == "rainbow" else (1, 1)
        if self.held_out != "test" and self.name == "digits":
            refuse(self, "held_out", f"{self.name} has no validation classes")
        given = self.name, self.source, self.root, used, self.images, self.shrink
        result = pools(*given, self.held_out)
        for images, sizes in ((result.train, self.sizes[:2]), (result.test, self.sizes)):
            if images.shape[1] < self.ways:
                refuse(self, "ways", f"{self.name} has {images.shape[1]} classes for some tasks")
            if images.shape[2] < sum(sizes):
                there = f"{images.shape[2]} of {self.name}; take fewer shots, validation or queries"
                needs = f"ImageTasks needs {sum(sizes)} images per class of a task"
                raise BadInput(f"{needs}: there are {there}.")
        return result

    def contents(self) -> tuple[np.ndarray, ...]:
        return self.pools.train, self.pools.test

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Images per class of a fresh task: support, validation, queries."""
        return self.shots, self.validation, self.queries

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.pools.train.shape[-1]

    @property
    def labels(self) -> int | None:
        return None if self.ways == 2 else self.ways

    @property
    def space(self) -> Space:
        return Space(self.tasks * self.ways * (self.shots + self.validation))

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        train_key, test_key = jax.random.split(key)
        observed, fresh = self._episodes("train", self.sizes[:2]), self._episodes("test")
        train, held = observed.of_worlds(train_key, _worlds(self.tasks, observed))
        sets = fresh.of_worlds(test_key, _worlds(self.test_tasks, fresh))
        grouped = [samples.by_group() for samples in sets]
        x, y = (jnp.concatenate([getattr(s, name) for s in grouped], axis=1) for name in ("x", "y"))
        test = Samples(x.reshape(-1, x.shape[-1]), y.reshape(-1), groups=self.test_tasks)
        episodes = observed if self.fresh else None
        frame = Frame.of_dimension(self.dim)
        return Problem(train, test, {}, frame, validation=held, episodes=episodes)

    def _episodes(self, split: str, sizes: tuple[int, ...] | None = None) -> Episodes:
        pools = self.pools
        array = getattr(pools, split)
        shift, factor = self._scaling(pools)
        # Read when the program runs: as constants they would be compiled and stored with it.
        pool = called(lambda: array, jax.ShapeDtypeStruct(array.shape, array.dtype))
        sizes = self.sizes if sizes is None else sizes
        return Episodes(pool, shift, factor, self.ways, sizes, pools.shuffled)

    def _scaling(self, pools: Pools) -> tuple[Array, Array]:
        """The shift and the factor of every pixel."""
        shift, factor = np.zeros(pools.colours), np.full(pools.colours, 1 / pools.top)
        if self.pixels == "standard":
            # Mean and standard deviation of every colour in training, from every seventh image.
            some = pools.train[:, :, ::7].reshape(-1, pools.colours).astype(float)
            shift, deviation = some.mean(0), some.std(0)
            factor = 1 / np.maximum(deviation, 1e-12)
        times = pools.train.shape[-1] // pools.colours
        return jnp.asarray(np.tile(shift, times), float), jnp.asarray(np.tile(factor, times), float)


def _distinct(
    key: Key[Array, ""], shape: tuple[int, ...], size: int, count: int
) -> Int[Array, "*shape count"]:
    """`count` different numbers below `size`, in random order: the indices of the largest of `size`
    random numbers, which compiles much faster than a sort."""
    return jax.lax.top_k(random.uniform(key, (*shape, size)), count)[1]


def _worlds(tasks: int, episodes: Episodes) -> Int[Array, " task"]:
    """The world of each task: all worlds in turn."""
    return jnp.arange(tasks) % episodes.pool.shape[0]
