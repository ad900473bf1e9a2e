"""Strong and weak features on some patches, noise on the others, and positive pairs."""

import math
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from learnscope.data import random
from learnscope.data.class_noise import NOISES
from learnscope.data.frame import Frame
from learnscope.data.fresh import VIEWS, FreshPatches
from learnscope.data.problem import AbstractBatches, AbstractData, Problem, Samples, told
from learnscope.data.views import HalfMask, Halves, random_places
from learnscope.errors import BadInput
from learnscope.part import Number, choice, count, flag, number


class Counts(NamedTuple):
    """How many patches of a kind a pair of views has, on average over examples."""

    across: Float[Array, " feature"]  # those of the feature in one view, times in the other
    within: Float[Array, " feature"]  # the square of those in one view
    noise: float  # noise patches in one view


class StrongWeak(AbstractData):
    r"""Patches $X_p = \pm\alpha_l v_l$ or noise $\xi_p$ (Wen and Li 2022, Definition 3.1).

    Of $P$ patches, $P_0$ carry one feature $v_l$, all with the same random sign; the others are
    independent noise of standard deviation $\sigma$ in every direction, orthogonal to the
    (orthonormal) features. Every step draws a new batch. A positive pair is a random half of the
    patches and the other half, the rest zero (equation 3.2). Which patches carry the feature does
    not matter to a net that treats patches alike: it is the first ones. In compressed coordinates,
    which only such nets have, halves are fixed instead and patches shuffled between them.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $P, P_0$ | `patches`, `feature_patches` |
    | $\alpha_1, \dots, \alpha_L$ | `strengths` |
    | $\sigma$ | `noise` (the paper's $\sigma^6$ is $15$ times that to the sixth) |
    | $N$ | `batch` |

    Imbalance by frequency (Remark 3.2, 1): `frequencies` are relative, and equal unless given.
    Co-occurring features (Remark 3.2, 2): with `together`, each example has all features, each on
    $P_0$ patches of its own and with a sign of its own. `noise_law` names the law of a noise
    coordinate; only Gaussian noise can be compressed. `test` examples are held for probes.
    Labels say which feature it is: -1 and +1 of two, else 0, 1, ...

    >>> import jax
    >>> model = StrongWeak(dim=20, patches=16, feature_patches=4, strengths=(3, 2), noise=1,
    ...                    batch=8)
    >>> problem = model.sample(jax.random.key(0))
    >>> one, other = problem.pair(jax.random.key(1))
    >>> one.shape, bool((one * other == 0).all())
    ((8, 16, 20), True)
    """

    papers: ClassVar = ("wen2022mechanism",)
    sets: ClassVar[int] = 3 + VIEWS

    dim: Number = number(low=2, high=1e12, whole=True, shape=True)
    patches: int = count(low=2)
    feature_patches: int = count(low=2)  # one patch is never in both views
    strengths: tuple[Number, ...] = number(above=0, each=True)
    noise: Number = number(low=0)
    batch: int = count(low=2)
    frequencies: tuple[Number, ...] | None = number(None, above=0, each=True, optional=True)
    together: bool = flag(False)
    noise_law: str = choice(*NOISES, default="gaussian")
    test: int = count(1000)

    def __check_init__(self):
        super().__check_init__()
        for name, given in (("strengths", self.strengths), ("frequencies", self.frequencies)):
            if given is not None and not isinstance(given, tuple):
                raise BadInput(
                    f"StrongWeak.{name} = {given!r} is not allowed: it must be a list of numbers "
                    "above 0, one a feature."
                )
        if self.features < 2:
            raise BadInput(
                f"StrongWeak.strengths has {self.features} values, which is not allowed: there "
                "must be at least 2 features."
            )
        if self.frequencies is not None and len(self.frequencies) != self.features:
            raise BadInput(
                f"StrongWeak.frequencies has {len(self.frequencies)} values, which is not allowed: "
                f"it must have {self.features}, one for each of strengths."
            )
        if self.patches % 2:
            raise BadInput(
                f"StrongWeak.patches = {self.patches} is not allowed: it must be even, since views "
                "are halves."
            )
        if self.taken > self.patches:
            raise BadInput(
                f"StrongWeak.feature_patches = {self.feature_patches} is not allowed: features "
                f"would take {self.taken} of patches = {self.patches}."
            )
        if isinstance(self.dim, int) and self.dim <= self.features:
            raise BadInput(
                f"StrongWeak.dim = {self.dim} is not allowed: it must be above {self.features}, "
                "the number of features."
            )

    @property
    def features(self) -> int:
        """L: how many features there are."""
        return len(self.strengths)

    @property
    def labels(self) -> int | None:
        return None if self.features == 2 else self.features

    @property
    def taken(self) -> int:
        """How many patches of an example carry a feature."""
        return self.feature_patches * (self.features if self.together else 1)

    @property
    def shares(self) -> Float[Array, " feature"]:
        """The chance that an example has a feature."""
        if self.together:
            return jnp.ones(self.features)
        relative = jnp.stack([jnp.asarray(f) for f in self.frequencies or (1.0,) * self.features])
        return relative / relative.sum()

    @property
    def counts(self) -> Counts:
        r"""$C_0$, $C_1$ and $C_2$ of the paper's population loss, a feature each: with
        $V = P_0 (P - P_0) / (4 (P - 1))$ the variance of a hypergeometric count,
        $C_{0,1} = p_l (P_0^2/4 \mp V)$, and $C_2$ is half of the noise patches."""
        p, p0 = self.patches, self.feature_patches
        spread = p0 * (p - p0) / (4 * (p - 1))
        half = p0**2 / 4
        shares = self.shares
        return Counts(shares * (half - spread), shares * (half + spread), (p - self.taken) / 2)

    @property
    def compression(self) -> str:
        return "gaussian_rows" if self.noise_law == "gaussian" else "none"

    @property
    def span(self) -> int:
        return self.features

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
        """New examples to learn from: compressed, what is beyond the frame is known in law."""
        draw_key, beyond_key = jax.random.split(key)
        if frame.ambient:
            return self._samples(draw_key, size, frame, frame.rank)
        samples = self._samples(draw_key, size, frame, frame.seen or frame.rank)
        values = samples.x[0]
        # Filters may take more coordinates than there are dimensions.
        values = jnp.where((jnp.arange(values.shape[-1]) < frame.dim)[None, None], values, 0.0)
        filters = (frame.rank - self.span) // self.sets
        left = Frame(frame.dim, frame.rank, frame.rank - VIEWS * filters)
        noisy = (values[..., : self.features] == 0).all(-1)
        seed = jax.random.key_data(beyond_key)
        return Samples(
            (FreshPatches(values, noisy, self.noise, seed, left),), samples.y, {},
            samples.marks,
        )  # fmt: skip

    def _samples(self, key: Key[Array, ""], size: int, frame: Frame, width: int) -> Samples:
        """Examples whose noise has `width` coordinates, features included."""
        place_key, sign_key, which_key, noise_key = jax.random.split(key, 4)
        every = jnp.arange(self.features)
        signs = jax.random.rademacher(sign_key, (size, self.features)).astype(float)
        chance = jnp.cumsum(self.shares)[None, :-1]
        which = (jax.random.uniform(which_key, (size, 1)) >= chance).sum(1)
        if self.together:
            places = random_places(place_key, size, self.patches)
            carried = places[..., None] // self.feature_patches == every[None, None]
            noisy = places >= self.taken
        else:
            signs = signs * (which[:, None] == every[None])
            noisy = ~self._placed(place_key, size, frame.ambient)
            carried = ~noisy[..., None]
        strength = jnp.stack([jnp.asarray(s, float) for s in self.strengths])
        feature = carried * (signs * strength[None])[:, None]
        shape = (size, self.patches, width - self.features)
        draw = random.normal if not frame.ambient else NOISES[self.noise_law]
        noise = self.noise * draw(noise_key, shape) * noisy[..., None]
        x = jnp.concatenate([feature, noise], axis=-1)
        y = told(which, self.features)
        return Samples(x if frame.ambient else (x,), y, {}, {"signs": signs})

    def _placed(self, key: Key[Array, ""], size: int, first: bool) -> Bool[Array, "n patch"]:
        """Which patches carry the feature: the first ones of all, or of each half, of which the
        first half has a hypergeometric number. It does not matter where they are in a half."""
        p, p0, half = self.patches, self.feature_patches, self.patches // 2
        if first:
            return jnp.broadcast_to(jnp.arange(p)[None] < p0, (size, p))
        chances = [math.comb(half, k) * math.comb(half, p0 - k) for k in range(p0)]
        below = np.cumsum(chances) / math.comb(p, p0)
        count = (jax.random.uniform(key, (size, 1)) >= jnp.asarray(below)[None]).sum(1)
        slots = jnp.arange(half)[None]
        return jnp.concatenate([slots < count[:, None], slots < p0 - count[:, None]], axis=1)


class FreshPairs(AbstractBatches):
    """`size` new examples of the model, every step."""

    model: StrongWeak
    size: int = eqx.field(static=True)

    def __call__(self, problem: Problem, key: Key[Array, ""]) -> Samples:
        return self.model.fresh(key, self.size, problem.frame)
