"""Strong and weak features on some patches, noise on the others; with positive pairs."""

import math
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from learnscope.data.class_noise import NOISES
from learnscope.data.problem import AbstractBatches, AbstractData, Problem, Samples, encode_labels
from learnscope.data.views import HalfMask, Halves, random_places
from learnscope.errors import BadInput, refuse
from learnscope.part import Number, choice, count, flag, number
from learnscope.space import Space, random
from learnscope.space.frame import Frame
from learnscope.space.fresh import VIEWS, FreshPatches


class Counts(NamedTuple):
    """Mean counts of patches in a pair of views."""

    across: Float[Array, " feature"]  # of a feature: the count in one view times that in the other
    within: Float[Array, " feature"]  # of a feature: the squared count in one view
    noise: float  # noise patches in one view


class StrongWeak(AbstractData):
    r"""Patches $X_p = \pm\alpha_l v_l$ or noise $\xi_p$ (Wen and Li 2022, Definition 3.1).

    Of $P$ patches, $P_0$ carry one feature $v_l$, all with the same random sign; the others are
    independent noise of standard deviation $\sigma$ in every direction, orthogonal to the
    (orthonormal) features. Every step draws a new batch. A positive pair is a random half of the
    patches and the other half, the rest zero (equation 3.2). The first patches carry the feature:
    their place does not matter to a net that treats patches alike. In compressed coordinates, which
    only such nets have, halves are fixed instead and patches shuffled between them.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $P, P_0$ | `patches`, `feature_patches` |
    | $\alpha_1, \dots, \alpha_L$ | `strengths` |
    | $\sigma$ | `noise` (the paper's $\sigma^6$ is $15$ times that to the sixth) |
    | $N$ | `batch` |

    Imbalance by frequency (Remark 3.2, 1): `frequencies` are relative (none: equal). Co-occurring
    features (Remark 3.2, 2): with `together`, each example has all features, each on its own $P_0$
    patches and with its own sign. A feature of low variance (Remark 4.5): with `steady`, the last
    feature always has the sign +1. `noise_law` is the law of a noise coordinate; only Gaussian
    noise can be compressed. `test` is the number of test examples. The label is the number of the
    feature: -1 or +1 for two features, 0, 1, ... for more.

    >>> import jax
    >>> model = StrongWeak(dim=20, patches=16, feature_patches=4, strengths=(3, 2), noise=1,
    ...                    batch=8)
    >>> problem = model.sample(jax.random.key(0))
    >>> one, other = problem.pair(jax.random.key(1))
    >>> one.shape, bool((one * other == 0).all())
    ((8, 16, 20), True)
    """

    papers: ClassVar = ("wen2022mechanism",)

    dim: Number = number(low=2, high=1e12, whole=True, shape=True)
    patches: int = count(low=2)
    feature_patches: int = count(low=2)  # a single patch would never be in both views
    strengths: tuple[Number, ...] = number(above=0, each=True)
    noise: Number = number(low=0)
    batch: int = count(low=2)
    frequencies: tuple[Number, ...] | None = number(None, above=0, each=True, optional=True)
    together: bool = flag(False)
    steady: bool = flag(False)
    noise_law: str = choice(*NOISES, default="gaussian")
    test: int = count(1000)

    def __check_init__(self):
        super().__check_init__()
        for name, given in (("strengths", self.strengths), ("frequencies", self.frequencies)):
            if given is not None and not isinstance(given, tuple):
                refuse(self, name, "it must be a list of numbers above 0, one per feature")
        if self.features < 2:
            raise BadInput(f"StrongWeak.strengths has {self.features} values: it needs at least 2.")
        if self.frequencies is not None and len(self.frequencies) != self.features:
            given = f"StrongWeak.frequencies has {len(self.frequencies)} values"
            raise BadInput(f"{given}: it must have {self.features}, one per feature.")
        if self.patches % 2:
            refuse(self, "patches", "it must be even, since views are halves")
        if self.taken > self.patches:
            taken = f"features would take {self.taken} of patches = {self.patches}"
            refuse(self, "feature_patches", taken)
        if isinstance(self.dim, int) and self.dim <= self.features:
            refuse(self, "dim", f"it must be above {self.features}, the number of features")

    @property
    def features(self) -> int:
        """L: the number of features."""
        return len(self.strengths)

    @property
    def labels(self) -> int | None:
        return None if self.features == 2 else self.features

    @property
    def taken(self) -> int:
        """The number of patches of an example that carry a feature."""
        return self.feature_patches * (self.features if self.together else 1)

    @property
    def shares(self) -> Float[Array, " feature"]:
        """The probability that an example has each feature."""
        if self.together:
            return jnp.ones(self.features)
        relative = jnp.stack([jnp.asarray(f) for f in self.frequencies or (1.0,) * self.features])
        return relative / relative.sum()

    @property
    def counts(self) -> Counts:
        r"""$C_0$, $C_1$ and $C_2$ of the paper's population loss, for each feature: with
        $V = P_0 (P - P_0) / (4 (P - 1))$ the variance of a hypergeometric count,
        $C_{0,1} = p_l (P_0^2/4 \mp V)$, and $C_2$ is half of the noise patches."""
        p, p0 = self.patches, self.feature_patches
        spread = p0 * (p - p0) / (4 * (p - 1))
        half = p0**2 / 4
        chances = self.shares
        return Counts(chances * (half - spread), chances * (half + spread), (p - self.taken) / 2)

    @property
    def space(self) -> Space:
        compression = "gaussian_rows" if self.noise_law == "gaussian" else "none"
        return Space(self.features, compression, sets=3 + VIEWS, pairs=True)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        axes, frame = frame.axes(self.features)
        held = self._samples(key, self.test, frame, frame.rank)
        views = HalfMask() if frame.ambient else Halves()
        batches = FreshPairs(self, self.batch)
        return Problem(held, held, {"features": axes}, frame, batches, views=views)

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        frame = problem.frame
        return self._samples(key, 1, frame, frame.rank).take(jnp.asarray(0))

    def fresh(self, key: Key[Array, ""], size: int, frame: Frame) -> Samples:
        """New training examples; if compressed, components outside the frame have a law only."""
        draw_key, beyond_key = jax.random.split(key)
        if frame.ambient:
            return self._samples(draw_key, size, frame, frame.rank)
        samples = self._samples(draw_key, size, frame, frame.seen or frame.rank)
        values = samples.x[0]
        # The frame may have more coordinates than `dim`.
        values = jnp.where((jnp.arange(values.shape[-1]) < frame.dim)[None, None], values, 0.0)
        filters = (frame.rank - self.span) // self.sets
        left = Frame(frame.dim, frame.rank, frame.rank - VIEWS * filters)
        noisy = (values[..., : self.features] == 0).all(-1)
        patches = FreshPatches(values, noisy, self.noise, jax.random.key_data(beyond_key), left)
        return Samples((patches,), samples.y, {}, samples.marks)

    def _samples(self, key: Key[Array, ""], size: int, frame: Frame, width: int) -> Samples:
        """Examples whose noise has `width` coordinates, features included."""
        order_key, sign_key, which_key, noise_key = jax.random.split(key, 4)
        every = jnp.arange(self.features)
        signs = random.signs(sign_key, (size, self.features))
        signs = signs.at[:, -1].set(1.0) if self.steady else signs
        chance = jnp.cumsum(self.shares)[None, :-1]
        which = (random.uniform(which_key, (size, 1)) >= chance).sum(1)
        if self.together:
            places = random_places(order_key, size, self.patches)
            carried = places[..., None] // self.feature_patches == every[None, None]
            noisy = places >= self.taken
        else:
            signs = signs * (which[:, None] == every[None])
            noisy = ~self._placed(order_key, size, frame.ambient)
            carried = ~noisy[..., None]
        strength = jnp.stack([jnp.asarray(s, float) for s in self.strengths])
        feature = carried * (signs * strength[None])[:, None]
        shape = (size, self.patches, width - self.features)
        draw = random.normal if not frame.ambient else NOISES[self.noise_law]
        noise = self.noise * draw(noise_key, shape) * noisy[..., None]
        x = jnp.concatenate([feature, noise], axis=-1)
        y = encode_labels(which, self.features)
        return Samples(x if frame.ambient else (x,), y, {}, {"signs": signs})

    def _placed(self, key: Key[Array, ""], size: int, first: bool) -> Bool[Array, "n patch"]:
        """The patches that carry the feature: the first ones, or (unless `first`) the first ones of
        each half, where the first half has a hypergeometric number of them. Their place within a
        half does not matter."""
        p, p0, half = self.patches, self.feature_patches, self.patches // 2
        if first:
            return jnp.broadcast_to(jnp.arange(p)[None] < p0, (size, p))
        chances = [math.comb(half, k) * math.comb(half, p0 - k) for k in range(p0)]
        below = np.cumsum(chances) / math.comb(p, p0)
        count = (random.uniform(key, (size, 1)) >= jnp.asarray(below)[None]).sum(1)
        slots = jnp.arange(half)[None]
        return jnp.concatenate([slots < count[:, None], slots < p0 - count[:, None]], axis=1)


class FreshPairs(AbstractBatches):
    """`size` new examples of the model, every step."""

    fresh: ClassVar[bool] = True

    model: StrongWeak
    size: int = eqx.field(static=True)

    def __call__(self, problem: Problem, key: Key[Array, ""]) -> Samples:
        return self.model.fresh(key, self.size, problem.frame)
