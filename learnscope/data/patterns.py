"""`Patterns`: inputs are sums of dictionary elements, a few of which decide the label."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from learnscope.data.pattern_law import PatternLaw
from learnscope.data.problem import AbstractData, Problem, Samples, check_batch, mini_batches
from learnscope.errors import BadInput, refuse
from learnscope.part import Number, choice, count, number
from learnscope.space import Space, random
from learnscope.space.frame import Frame

LABELS = ("parity", "majority", "interval", "counts", "codes")
STRUCTURES = ("mixture", "independent", "none")
DICTIONARIES = ("orthonormal", "equiangular", "random")
_MOST_RELEVANT = 2000  # the law of their number is computed in whole numbers of as many bits


class Patterns(AbstractData):
    r"""$\tilde x = M \tilde\phi + \zeta$ with a dictionary $M$ of $D$ unit vectors and
    $\tilde\phi \in \{0, 1\}^D$ (Shi, Wei, Liang 2022); $y = +1$ if the number of relevant patterns
    present, $\sum_{j \in A} \tilde\phi_j$, is in $P$. A network sees
    $x = (\tilde x - E \tilde x) / \tilde\sigma$, $\tilde\sigma^2 = E \|\tilde x - E \tilde x\|^2$,
    with the moments of the distribution itself.

    `label` names $P$: `parity` (odd counts), `majority` (above k/2), `interval` (`counts` = its two
    ends), `counts` (`counts` = all of $P$). With `codes` (E.3.1), the relevant patterns are instead
    one of `codes` random binary vectors for each label. `structure` is the law of the relevant
    patterns: `mixture` is the law of the lower bound (Theorem 2); with `independent`, each is
    present with probability `chance`; with `none`, every pattern is a fair coin, so that the law of
    inputs has no structure.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $D$ | `patterns` |
    | $A$, $k$ | `relevant`: how many (the first ones), or a list of their numbers, from 0 |
    | $p_o$ | `background`: one number, or one per background pattern |
    | $P$ | `label`, `counts` |
    | $\Pr[y = -1]$ | `negative` (none: that of the law) |
    | $\sigma_\zeta$ | `noise` (none: inputs lie in the dictionary's span, and can be compressed) |
    | $\mu$ | `incoherence`: $\sqrt d$ times the inner product of two `equiangular` patterns |

    A `random` dictionary has independent uniform unit vectors, possibly more than dimensions.
    `batch` is the mini-batch size (none: the full batch).

    >>> import jax
    >>> model = Patterns(dim=50, patterns=20, relevant=3, train=8, test=4)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.x.shape, problem.directions["relevant"].shape
    ((8, 50), (3, 50))
    """

    papers: ClassVar = ("shi2022theoretical",)

    dim: Number = number(low=2, high=1e12, whole=True, shape=True)
    patterns: int = count(low=2, high=10**6)
    relevant: int | tuple[int, ...] = count(low=0, high=10**6, each=True)
    train: int = count()
    test: int = count()
    label: str = choice(*LABELS, default="parity")
    structure: str = choice(*STRUCTURES, default="mixture")
    background: Number | tuple[Number, ...] = number(0.5, above=0, below=1, each=True)
    chance: Number = number(0.5, above=0, below=1)
    counts: tuple[int, ...] | None = count(None, low=0, each=True, optional=True)
    codes: int = count(50)
    negative: Number | None = number(None, above=0, below=1, optional=True)
    noise: Number | None = number(None, low=0, optional=True)
    dictionary: str = choice(*DICTIONARIES, default="orthonormal")
    incoherence: Number = number(0.0, low=0)
    batch: int | None = count(None, optional=True)

    def __check_init__(self):
        super().__check_init__()
        if isinstance(self.dim, int):  # a traced dimension has been checked before
            self._check_dictionary(self.dim)
        self._check_relevant()
        self._check_label()
        self._check_chances()
        check_batch(self, self.train)

    def _check_dictionary(self, dim: int) -> None:
        if self.dictionary != "random" and self.patterns > dim:
            refuse(self, "patterns", f"an {self.dictionary} dictionary has at most dim = {dim}")
        if self.dictionary != "equiangular" and self.incoherence != 0:
            refuse(self, "incoherence", "it must be 0 unless dictionary = 'equiangular'")
        if isinstance(self.incoherence, float) and self.incoherence >= dim**0.5:
            refuse(self, "incoherence", f"it must be below sqrt(dim) = {dim**0.5:.4g}")

    def _check_relevant(self) -> None:
        given, most = self.relevant, min(self.patterns - 1, _MOST_RELEVANT)
        where = given if isinstance(given, tuple) else range(given)
        if not 0 < len(where) <= most:
            refuse(self, "relevant", f"it must be from 1 to {most}, or a list of as many patterns")
        if len(set(where)) != len(where):
            refuse(self, "relevant", "its patterns must be different")
        if max(where) >= self.patterns:
            refuse(self, "relevant", f"patterns are numbered from 0 to {self.patterns - 1}")

    def _check_label(self) -> None:
        needs = self.label in ("interval", "counts")
        if needs != (self.counts is not None):
            what = {"interval": "its two ends", "counts": "the counts of label +1"}
            must = what.get(self.label, "none")
            refuse(self, "counts", f"with label = {self.label!r} it must be {must}")
        if self.counts is not None:
            counts = self.counts if isinstance(self.counts, tuple) else (self.counts,)
            if max(counts) > self.k:
                refuse(self, "counts", f"{self.k} relevant patterns have counts from 0 to {self.k}")
            if self.label == "interval" and (len(counts) != 2 or counts[0] > counts[1]):
                refuse(self, "counts", "an interval has two ends, the lower one first")
        if self.label == "codes" and self.structure != "independent":
            refuse(self, "structure", "with label = 'codes' it must be 'independent'")
        if self.label == "codes" and self.k < 63 and 2 * self.codes > 2**self.k:
            refuse(self, "codes", f"{self.k} patterns have only {2**self.k} codes for both labels")
        if self.label != "codes" and len(set(self._signs())) < 2:
            given = f"Patterns.label = {self.label!r} gives every count from 0 to {self.k}"
            raise BadInput(f"{given} the same label: there must be two.")

    def _check_chances(self) -> None:
        given = self.background
        if isinstance(given, tuple) and len(given) != self.patterns - self.k:
            must = f"it must have one, or one per background pattern, {self.patterns - self.k}"
            raise BadInput(f"Patterns.background has {len(given)} values: {must}.")
        if self.structure == "mixture" and (
            isinstance(given, tuple) or (isinstance(given, float) and given > 0.5)
        ):
            refuse(self, "background", "structure = 'mixture' needs one number of at most 0.5")

    @property
    def k(self) -> int:
        """The number of relevant patterns."""
        return len(self.relevant) if isinstance(self.relevant, tuple) else self.relevant

    @property
    def space(self) -> Space:
        return Space(self.patterns, "gaussian_rows" if self.noise is None else "none")

    @property
    def _width(self) -> int:
        """How many directions it takes, in the order of their names, to span the dictionary."""
        return self.patterns + (2 * self.codes if self.label == "codes" else 0)

    def _signs(self) -> Float[np.ndarray, " count"]:
        """The labels of the counts 0, ..., k."""
        counts = np.arange(self.k + 1)
        given = () if self.counts is None else np.atleast_1d(self.counts)
        positive = {
            "parity": counts % 2 == 1,
            "majority": counts > self.k / 2,
            "interval": (counts >= min(given, default=0)) & (counts <= max(given, default=0)),
            "counts": np.isin(counts, given),
        }[self.label]
        return np.where(positive, 1.0, -1.0)

    def law(self) -> PatternLaw:
        """The distribution of patterns and labels; `codes` has none, since its codes are drawn."""
        if self.label == "codes":
            raise BadInput("label = 'codes' has no law of counts: its codes are drawn.")
        signs, rest = self._signs(), self.patterns - self.k
        if self.structure == "mixture":
            assert not isinstance(self.background, tuple)
            law = PatternLaw.mixture(self.background, rest, signs)
        elif self.structure == "none":
            law = PatternLaw.fair(rest, signs)
        else:
            law = PatternLaw.independent(self.chance, self._background(), signs)
        return law if self.negative is None else law.with_negative(self.negative)

    def _background(self) -> Float[Array, " rest"]:
        return jnp.broadcast_to(jnp.asarray(self.background), (self.patterns - self.k,))

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        dictionary_key, code_key, train_key, test_key = jax.random.split(key, 4)
        rows, frame = self._dictionary(dictionary_key, frame)
        where = self.relevant if isinstance(self.relevant, tuple) else tuple(range(self.k))
        others = tuple(j for j in range(self.patterns) if j not in where)
        directions = {"background": rows[np.array(others)], "relevant": rows[np.array(where)]}
        if self.label == "codes":
            codes = _distinct_codes(code_key, 2 * self.codes, self.k).astype(rows.dtype)
            directions["codes"] = codes @ directions["relevant"]
        directions["truth"] = self._truth(directions)
        train = self._samples(train_key, self.train, directions, frame)
        test = self._samples(test_key, self.test, directions, frame)
        widths = (self._width,) if self.noise is None else None
        return Problem(train, test, directions, frame, mini_batches(self.batch), widths=widths)

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        return self._samples(key, 1, problem.directions, problem.frame).take(jnp.asarray(0))

    def _dictionary(
        self, key: Key[Array, ""], frame: Frame
    ) -> tuple[Float[Array, "pattern rank"], Frame]:
        if self.dictionary == "random":
            rows, frame = frame.gaussian_rows(key, self.patterns)
            return rows / jnp.linalg.norm(rows, axis=1, keepdims=True), frame
        axes, frame = frame.axes(self.patterns)
        if self.dictionary == "orthonormal":
            return axes, frame
        # All inner products c: the symmetric root of (1 - c) I + c 11^T.
        inner = self.incoherence / jnp.sqrt(frame.dim)
        own = jnp.sqrt(1 - inner)
        shared = (jnp.sqrt(1 + (self.patterns - 1) * inner) - own) / self.patterns
        return own * axes + shared * axes.sum(0)[None], frame

    def _truth(self, directions: dict[str, Array]) -> Float[Array, " rank"]:
        """The unit vector along the difference of the labels' means."""
        if self.label == "codes":
            codes = directions["codes"]
            difference = codes[: self.codes].mean(0) - codes[self.codes :].mean(0)
        else:
            difference = directions["relevant"].sum(0)
        return difference / jnp.linalg.norm(difference)

    def moments(self, directions: dict[str, Array], dim: Number) -> tuple[Array, Array]:
        r"""$E \tilde x$ and $\tilde\sigma$, for a given dictionary."""
        more = 0.0 if self.noise is None else dim * self.noise**2
        if self.label == "codes":
            chances, background = self._code_chances(), self._background()
            mean = chances @ directions["codes"] + background @ directions["background"]
            apart = directions["codes"] - (chances @ directions["codes"])[None]
            spread = chances @ jnp.sum(apart**2, axis=1)
            rest = jnp.sum(directions["background"] ** 2, axis=1)
            spread += (background * (1 - background)) @ rest
        else:
            law = self.law()
            rows = jnp.concatenate([directions["relevant"], directions["background"]])
            mean = law.mean() @ rows
            spread = jnp.sum((rows @ rows.T) * law.covariance())
        return mean, jnp.sqrt(spread + more)

    def _code_chances(self) -> Float[Array, " code"]:
        negative = 0.5 if self.negative is None else self.negative
        each = jnp.stack([1 - jnp.asarray(negative), jnp.asarray(negative)]) / self.codes
        return jnp.repeat(each, self.codes)

    def _samples(
        self, key: Key[Array, ""], size: int, directions: dict[str, Array], frame: Frame
    ) -> Samples:
        """New examples; in compressed coordinates cut to those of the dictionary."""
        pattern_key, noise_key = jax.random.split(key)
        mean, sigma = self.moments(directions, frame.dim)
        width = frame.rank if frame.ambient else self.patterns
        if self.label == "codes":
            present, beyond, labels = self._draw_codes(pattern_key, size, directions)
            x = present + beyond @ directions["background"]
        else:
            patterns, labels = self.law().draw(pattern_key, size)
            rows = jnp.concatenate([directions["relevant"], directions["background"]])
            x = patterns.astype(mean.dtype) @ rows[:, :width]
        if self.noise is not None:
            x = x + self.noise * random.normal(noise_key, x.shape)
        x = (x[:, :width] - mean[None, :width]) / sigma
        return Samples(x=x if frame.ambient else (x,), y=labels.astype(x.dtype))

    def _draw_codes(self, key: Key[Array, ""], size: int, directions: dict[str, Array]):
        code_key, rest_key = jax.random.split(key)
        edges = jnp.cumsum(self._code_chances())[:-1]
        chosen = jnp.searchsorted(edges, random.uniform(code_key, (size,)), side="right")
        background = self._background()
        beyond = random.uniform(rest_key, (size, background.shape[0])) < background[None]
        labels = jnp.where(chosen < self.codes, 1.0, -1.0)
        return directions["codes"][chosen], beyond.astype(edges.dtype), labels


def _distinct_codes(key: Key[Array, ""], size: int, k: int) -> Bool[Array, "code pattern"]:
    """Different random binary vectors. With more than 30 bits they are independent: two of them are
    equal with probability below size^2 / 2^(k + 1)."""
    if k > 30:
        return random.signs(key, (size, k)) > 0
    chosen = random.distinct(key, 2**k, size)
    return (chosen[:, None] >> np.arange(k)[None]) % 2 == 1
