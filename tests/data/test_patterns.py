"""Patterns and Gaussian clusters: their laws by enumeration, what is drawn, and what is refused.

Statistical tests have fixed seeds and share one false-alarm rate: one in 1000 choices of the seeds
for all comparisons of this file together (Bonferroni). `LEVEL` is what each may take of it.
"""

import functools
import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.data import Basis, Frame, GaussianParity, Patterns, random
from learnscope.data.frame import orthonormal
from learnscope.data.patterns import _distinct_codes

COMPARISONS = 40  # at most: they are counted beside the tests below
LEVEL = 1e-3 / COMPARISONS
KEY = jax.random.key(3)


def quick(function):
    """Compiled without optimisation: nearly all of a draw is random bits."""
    return eqx.filter_jit(function, compiler_options={"xla_backend_optimization_level": 0})


def model(**given):
    return Patterns(**{"dim": 12, "patterns": 7, "relevant": 3, "train": 1000, "test": 500} | given)


def as_expected(seen, chances):
    """The p-value of counts of independent draws: rare cells are taken together, those of no chance
    must be empty."""
    seen, chances = np.asarray(seen), np.asarray(chances)
    assert not seen[chances == 0].any()
    seen, expected = seen[chances > 0], seen.sum() * chances[chances > 0]
    rare = expected < 2
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return stats.chisquare(seen, expected).pvalue


# ------------------------------------------------------------------------------------------ the law

UNLIKE = (0.1, 0.35, 0.62, 0.93)
CASES = {
    "parity": model(),
    "parity, groups": model(background=0.3),
    "one relevant": model(relevant=1, background=0.1),
    "even": model(relevant=2, background=0.4),
    "interval": model(
        label="interval", counts=(1, 2), structure="independent", chance=0.3, background=UNLIKE
    ),
    "counts": model(label="counts", counts=(0, 3), background=0.3),
    "majority": model(relevant=4, label="majority", structure="independent", background=0.25),
    "imbalanced": model(relevant=5, background=0.3, negative=0.8),
    "imbalanced interval": model(
        label="interval", counts=(2, 3), structure="independent", background=UNLIKE, negative=0.8
    ),
    "none": model(structure="none", background=0.2, chance=0.2),
}


def positive(data, count):
    """Which counts have the label +1."""
    ends = np.atleast_1d(0 if data.counts is None else data.counts)
    return {
        "parity": count % 2 == 1,
        "majority": 2 * count > data.k,
        "interval": (count >= ends[0]) & (count <= ends[-1]),
        "counts": np.isin(count, ends),
    }[data.label]


def bernoulli(there, chances):
    return np.where(there == 1, chances, 1 - np.asarray(chances)).prod(1)


def every(data):
    """All 2^D patterns, relevant ones first, with probabilities and labels, as the paper defines
    them (section 3, E.1.1)."""
    k, size = data.k, data.patterns
    there = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    count = there[:, :k].sum(1)
    labels = np.where(positive(data, count), 1.0, -1.0)
    if data.structure == "mixture":
        share = data.background
        ends = 0.5 * ((count == 0) | (count == k))
        beyond = bernoulli(there[:, k:], np.full(size - k, share / (2 - 2 * share)))
        likely = share * 0.5**size + (1 - share) * ends * beyond
    elif data.structure == "none":
        likely = np.full(2**size, 0.5**size)
    else:
        background = np.broadcast_to(data.background, size - k)
        likely = bernoulli(there, [data.chance] * k + [*background])
    if data.negative is not None:
        below = likely[labels < 0].sum()
        likely *= np.where(labels < 0, data.negative / below, (1 - data.negative) / (1 - below))
    return there, likely, labels


@functools.cache
def moments():
    with jax.enable_x64(True):

        def all_of_them():
            laws = {name: data.law() for name, data in CASES.items()}
            return {
                name: (law.mean(), law.covariance(), law.correlation(), law.positive)
                for name, law in laws.items()
            }

        return jax.tree.map(np.asarray, quick(all_of_them)())


@pytest.mark.parametrize("case", CASES)
def test_moments_are_those_of_all_patterns(case):
    there, likely, y = every(CASES[case])
    mean, covariance, gamma, share = moments()[case]
    assert likely.sum() == pytest.approx(1, abs=1e-14)
    right = likely @ there
    apart = there - right
    np.testing.assert_allclose(mean, right, atol=1e-14)
    np.testing.assert_allclose(covariance, (likely[:, None] * apart).T @ apart, atol=1e-14)
    assert share == pytest.approx(likely[y > 0].sum(), abs=1e-14)
    each = (likely * (y - likely @ y)) @ there
    np.testing.assert_allclose(np.full(CASES[case].k, gamma), each[: CASES[case].k], atol=1e-14)


DRAWS = 20_000
DRAWN = ("parity, groups", "one relevant", "interval", "majority", "imbalanced")


@functools.cache
def draws():
    """In single precision, as runs draw them."""

    def all_of_them():
        return {
            name: CASES[name].law().draw(jax.random.fold_in(KEY, number), DRAWS)
            for number, name in enumerate(DRAWN)
        }

    drawn = quick(all_of_them)()
    return jax.tree.map(np.asarray, drawn)


@pytest.mark.parametrize("case", DRAWN)  # 5 comparisons
def test_draws_follow_the_law(case):
    """All 128 patterns, and so counts, single patterns and labels as well."""
    data, (there, y) = CASES[case], draws()[case]
    np.testing.assert_array_equal(y > 0, positive(data, there[:, : data.k].sum(1)))
    assert set(np.unique(y)) == {-1.0, 1.0}
    seen = np.bincount(there @ (1 << np.arange(7)), minlength=128)
    assert as_expected(seen, every(data)[1]) > LEVEL
    if case == "parity, groups":  # its power
        assert as_expected(seen, every(model(background=0.35))[1]) < LEVEL
        assert as_expected(seen, every(model(structure="none"))[1]) < LEVEL


def test_a_share_of_labels_is_that_asked_for():  # 1 comparison
    seen = int((draws()["imbalanced"][1] < 0).sum())
    assert stats.binomtest(seen, DRAWS, 0.8).pvalue > LEVEL


def test_many_relevant_patterns_are_no_matter_of_precision():
    """Binomial coefficients of more than 130 leave single precision, of more than 1029 double."""
    for structure, k in (("independent", 150), ("independent", 1100), ("mixture", 1101)):
        sizes = {"dim": 2 * k, "patterns": k + 10, "relevant": k}
        data = model(**sizes, label="majority", structure=structure)
        # The numbers of a part are traced in a run.
        law = eqx.filter_jit(lambda data: data.law())(jax.tree.map(jnp.asarray, data))
        share = 0.0 if structure == "independent" else 0.5
        right = stats.binom.pmf(np.arange(k + 1), k, 0.5) * (1 - share)
        right[[0, k]] += share / 2
        np.testing.assert_allclose(law.chances.sum(0), right, rtol=1e-3, atol=1e-9)


def test_codes_have_no_law_of_counts():
    with pytest.raises(ls.BadInput, match="no law of counts"):
        PROBLEMS["codes"].law()


# ------------------------------------------------------------------------------- what a problem has

INTERVAL = {"label": "interval", "counts": (2, 3), "structure": "independent", "background": UNLIKE}
CODES = {"label": "codes", "structure": "independent", "relevant": 4, "codes": 5}
PROBLEMS = {
    "orthonormal": model(relevant=(5, 0, 3), **INTERVAL),
    "random": model(dictionary="random", negative=0.7),
    "noisy": model(dictionary="equiangular", incoherence=0.7, noise=0.2, background=0.3),
    "codes": model(**CODES, dictionary="random", background=(0.2, 0.5, 0.9), negative=0.3),
}


def drawn(name):
    """A problem, 500 fresh examples of it, and its moments, in double precision."""
    return all_drawn()[name]


@functools.cache
def all_drawn():
    def draw(data):
        problem = data.sample(KEY)
        keys = jax.random.split(jax.random.key(4), 500)
        fresh = jax.vmap(lambda key: data.example(key, problem))(keys)
        return problem, fresh, data.moments(problem.directions, problem.frame.dim)

    with jax.enable_x64(True):
        found = quick(lambda: {name: draw(data) for name, data in PROBLEMS.items()})()
        return jax.tree.map(np.asarray, found)


def dictionary_of(name):
    directions = drawn(name)[0].directions
    return np.concatenate([directions["relevant"], directions["background"]])


def all_inputs(name):
    """Every possible x~ with its probability."""
    data, rows = PROBLEMS[name], dictionary_of(name)
    if data.label != "codes":
        there, likely, _ = every(data)
        return there @ rows, likely
    rest = (np.arange(2**3)[:, None] >> np.arange(3)) & 1
    codes = drawn(name)[0].directions["codes"]
    inputs = codes[:, None] + (rest @ rows[4:])[None]
    each = np.where(np.arange(10) < 5, 1 - data.negative, data.negative) / 5
    likely = each[:, None] * bernoulli(rest, data.background)[None]
    return inputs.reshape(-1, 12), likely.ravel()


def read(name):
    """The patterns of training, test and fresh examples, relevant ones first, what is left, and
    the labels."""
    problem, fresh, (mean, sigma) = drawn(name)
    samples = (problem.train, problem.test, fresh)
    raw = np.concatenate([part.x for part in samples]) * sigma + mean
    rows = dictionary_of(name)
    there = np.linalg.lstsq(rows.T, raw.T)[0].T
    return there, raw - there @ rows, np.concatenate([part.y for part in samples])


@pytest.mark.parametrize("name", PROBLEMS)
def test_inputs_are_normalised(name):
    """By the mean and the spread of all inputs that there are."""
    inputs, likely = all_inputs(name)
    mean, sigma = drawn(name)[2]
    noise = PROBLEMS[name].noise or 0.0
    np.testing.assert_allclose(mean, likely @ inputs, atol=1e-13)
    right = likely @ ((inputs - mean) ** 2).sum(1) + 12 * noise**2
    assert sigma**2 == pytest.approx(right, rel=1e-13)


@pytest.mark.parametrize("name", PROBLEMS)  # 4 comparisons
def test_the_drawn_norm_is_one_on_average(name):
    # By the law of large numbers: squared norms are bounded, or nearly.
    problem, fresh, _ = drawn(name)
    squares = np.concatenate([(part.x**2).sum(1) for part in (problem.train, problem.test, fresh)])
    error = squares.std() / len(squares) ** 0.5
    assert abs(squares.mean() - 1) < stats.norm.isf(LEVEL / 2) * error


@pytest.mark.parametrize("name", ["orthonormal", "random"])
def test_problems_are_made_of_drawn_patterns(name):  # 2 comparisons
    data, (there, left, y) = PROBLEMS[name], read(name)
    np.testing.assert_allclose(left, 0, atol=1e-12)
    np.testing.assert_allclose(there, there.round(), atol=1e-12)
    there = there.round().astype(int)
    np.testing.assert_array_equal(y > 0, positive(data, there[:, : data.k].sum(1)))
    seen = np.bincount(there @ (1 << np.arange(7)), minlength=128)
    assert seen.sum() == 2000
    assert as_expected(seen, every(data)[1]) > LEVEL


def test_noise_is_added_in_all_of_space():  # 1 comparison
    there, left, y = read("noisy")
    # Off the dictionary there is nothing else: 5 dimensions, 2000 examples.
    total = (left**2).sum() / 0.2**2
    assert 2 * min(stats.chi2.cdf(total, 10_000), stats.chi2.sf(total, 10_000)) > LEVEL
    # Patterns are told in spite of it, but for one in 10^3: labels go with the count.
    wrong = (y > 0) != positive(PROBLEMS["noisy"], there[:, :3].round().sum(1))
    assert wrong.mean() < 0.1


@pytest.mark.parametrize("name", PROBLEMS)
def test_directions_are_the_dictionary(name):
    data, directions = PROBLEMS[name], drawn(name)[0].directions
    rows = dictionary_of(name)
    gram = rows @ rows.T
    np.testing.assert_allclose(np.diag(gram), 1, rtol=1e-14)
    if data.dictionary != "random":
        inner = data.incoherence / 12**0.5
        np.testing.assert_allclose(gram[~np.eye(7, dtype=bool)], inner, atol=1e-15)
    truth = directions["relevant"].sum(0)
    if data.label == "codes":
        truth = directions["codes"][:5].mean(0) - directions["codes"][5:].mean(0)
    np.testing.assert_allclose(directions["truth"], truth / np.linalg.norm(truth), atol=1e-14)


def test_a_list_says_which_patterns_are_relevant():
    directions = drawn("orthonormal")[0].directions
    np.testing.assert_array_equal(directions["relevant"], np.eye(7, 12)[[5, 0, 3]])
    np.testing.assert_array_equal(directions["background"], np.eye(7, 12)[[1, 2, 4, 6]])
    # The first ones, if only their number is said.
    directions = drawn("noisy")[0].directions
    np.testing.assert_array_equal(directions["relevant"].argmax(1), [0, 1, 2])
    np.testing.assert_array_equal(directions["background"].argmax(1), [3, 4, 5, 6])


def test_codes_are_distinct_and_make_the_label():  # 3 comparisons
    there, left, y = read("codes")
    np.testing.assert_allclose(left, 0, atol=1e-12)
    directions = drawn("codes")[0].directions
    codes = np.linalg.lstsq(directions["relevant"].T, directions["codes"].T)[0].T
    np.testing.assert_allclose(codes, codes.round(), atol=1e-12)
    numbers = codes.round().astype(int) @ (1 << np.arange(4))
    assert len(set(numbers)) == 10
    found = there.round().astype(int)
    place = {number: position for position, number in enumerate(numbers)}
    chosen = np.array([place[number] for number in found[:, :4] @ (1 << np.arange(4))])
    np.testing.assert_array_equal(y > 0, chosen < 5)
    assert as_expected(np.bincount(chosen, minlength=10), [0.14] * 5 + [0.06] * 5) > LEVEL
    assert as_expected(np.bincount(chosen, minlength=10), [0.1] * 10) < LEVEL
    chances = bernoulli((np.arange(8)[:, None] >> np.arange(3)) & 1, (0.2, 0.5, 0.9))
    seen = np.bincount(found[:, 4:] @ (1 << np.arange(3)), minlength=8)
    assert as_expected(seen, chances) > LEVEL
    table = stats.contingency.crosstab(chosen, found[:, 4]).count
    assert stats.chi2_contingency(table).pvalue > LEVEL  # independent of the background


@pytest.mark.parametrize(("k", "size"), [(3, 8), (21, 5000), (50, 100)])
def test_codes_of_any_length_are_distinct(k, size):
    codes = np.asarray(quick(lambda: _distinct_codes(KEY, size, k))())
    assert codes.shape == (size, k)
    assert len(np.unique(codes, axis=0)) == size


@pytest.mark.parametrize("frame", ["ambient", "compressed"])
def test_random_dictionaries_are_uniform(frame):  # 2 comparisons
    # Inner products of uniform unit vectors in R^d are pairwise independent, with E d u^2 = 1 and
    # Var d u^2 = 2 (d - 1) / (d + 2).
    d, count = 50, 60
    data = model(dim=d, patterns=count, dictionary="random", train=1, test=1)
    where = Frame(float(d), 70) if frame == "compressed" else Frame.of_dimension(d)
    rows = np.asarray(quick(lambda: data._dictionary(KEY, where)[0])())
    inner = (rows @ rows.T)[np.triu_indices(count, 1)]
    error = math.sqrt(2 * (d - 1) / (d + 2) / len(inner))
    assert abs(np.mean(d * inner**2) - 1) < stats.norm.isf(LEVEL / 2) * error


def test_compressed_problems_have_the_same_patterns():
    """Equiangular ones too, whatever the dimension; inputs are then D numbers."""
    data = model(dim=10**6, dictionary="equiangular", incoherence=30.0, train=4, test=3)
    with jax.enable_x64(True):
        problem = quick(lambda: data.sample(KEY, Frame(jnp.asarray(1e6), 10)))()
    rows = np.concatenate([problem.directions["relevant"], problem.directions["background"]])
    np.testing.assert_allclose(rows @ rows.T, 0.97 * np.eye(7) + 0.03, atol=1e-15)
    assert rows.shape == (7, 10) and problem.train.x[0].shape == (4, 7)


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "noisy"])
def test_turned_inputs_lose_nothing_when_they_are_cut(name):
    """Inputs lie in the dictionary's span, of which rotated runs keep the coordinates alone."""
    problem = drawn(name)[0]
    if name == "codes":  # the first of them may depend on each other
        codes = problem.directions["codes"]
        some = itertools.combinations(range(10), 4)
        first = next(few for few in some if np.linalg.matrix_rank(codes[list(few)]) < 4)
        order = [*first, *(i for i in range(10) if i not in first)]
        directions = problem.directions | {"codes": codes[order]}
        problem = eqx.tree_at(lambda p: p.directions, problem, directions)
    filters = np.random.default_rng(0).normal(size=(3, 12))
    with jax.enable_x64(True):
        onto = Basis(orthonormal(*problem.span()[0], jnp.asarray(filters)))
        (x,) = problem.project(onto).train.x
        found = x @ x.T, x @ onto(filters)[:, : x.shape[1]].T
    whole = problem.train.x
    for one, other in zip(found, (whole @ whole.T, whole @ filters.T), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


# -------------------------------------------------------------------------------- Gaussian clusters


@functools.cache
def all_clusters():
    """By the noise."""

    def draw(noise):
        data = GaussianParity(dim=20, factors=3, train=1000, test=500, noise=noise)
        problem = data.sample(KEY)
        keys = jax.random.split(jax.random.key(4), 500)
        return problem, jax.vmap(lambda key: data.example(key, problem))(keys)

    with jax.enable_x64(True):
        compiled = quick(draw)
        found = {noise: compiled(jnp.asarray(noise)) for noise in (0.0, 0.1)}
        return jax.tree.map(np.asarray, found)


def clusters(noise):
    problem, fresh = all_clusters()[noise]
    x, y = (
        np.concatenate([getattr(part, name) for part in (problem.train, problem.test, fresh)])
        for name in ("x", "y")
    )
    return problem.directions, x, y


@pytest.mark.parametrize("noise", [0.0, 0.1])  # 4 comparisons
def test_clusters_are_labelled_by_parity(noise):
    directions, x, y = clusters(noise)
    axes = directions["axes"]
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    signs = np.sign(x @ axes.T)  # with a noise of 0.04 a coordinate none is ever another
    np.testing.assert_array_equal(y, signs.prod(1))
    np.testing.assert_array_equal(np.unique(directions["centres"] @ axes.T, axis=0),
                                  np.unique(signs, axis=0))  # fmt: skip
    assert directions["centres"].shape == (8, 20)
    assert as_expected(np.bincount((signs > 0) @ (1 << np.arange(3))), [1 / 8] * 8) > LEVEL
    left = (x - signs @ axes).ravel()
    if noise == 0:
        np.testing.assert_allclose(left, 0, atol=1e-14)
    else:  # variance noise^2 k / d
        assert stats.kstest(left, stats.norm(scale=0.1 * (3 / 20) ** 0.5).cdf).pvalue > LEVEL
        assert stats.kstest(left, stats.norm(scale=0.1).cdf).pvalue < LEVEL


# ------------------------------------------------------------------------------ different numbers

DISTINCT = {(1000, 40): 3000, (60, 4): 3000, (20, 19): 3000}  # of (size, count)


@functools.cache
def distinct(size, count):
    keys = jax.random.split(KEY, DISTINCT[size, count])
    drawn = quick(jax.vmap(lambda key: random.distinct(key, size, count)))(keys)
    return np.asarray(drawn)


@pytest.mark.parametrize(("size", "count"), DISTINCT)  # 9 comparisons
def test_distinct_numbers_are_distinct_and_uniform(size, count):
    drawn = distinct(size, count)
    assert drawn.shape == (3000, count)
    assert drawn.min() >= 0 and drawn.max() < size
    assert all(len(set(row)) == count for row in drawn.tolist())
    # Uniform at the first place, at the last, and so is the way from one to the next.
    for column in (0, count - 1):
        seen = np.bincount(drawn[:, column], minlength=size)
        assert as_expected(seen, np.full(size, 1 / size)) > LEVEL
    next_to = (drawn[:, 1] - drawn[:, 0]) % size
    chances = np.where(np.arange(size) == 0, 0.0, 1 / (size - 1))
    assert as_expected(np.bincount(next_to, minlength=size), chances) > LEVEL


@pytest.mark.parametrize(
    ("size", "count"),
    [(50_000, 1000), (50_000, 9000), (10_000, 1800), (10**5, 12_000), (10**6, 200_000)],
)
def test_enough_numbers_are_drawn(size, count, monkeypatch):
    """Among so many with repetition, `count` different ones are there but once in 10^12."""
    asked = []
    draw = lambda key, shape, low, high: asked.append(shape[0]) or jnp.arange(shape[0])  # noqa: E731
    monkeypatch.setattr(jax.random, "randint", draw)
    monkeypatch.setattr(
        jax.random, "choice", lambda key, size, shape, replace: asked.append(math.inf)
    )
    jax.eval_shape(lambda: random.distinct(KEY, size, count))
    (drawn,) = asked
    if drawn < math.inf:
        # Between two different ones repeats have a geometric law, of chance j / size after j of
        # them; Chernoff's bound on their sum.
        chances = np.arange(count) / size
        tilts = np.geomspace(1e-3, -0.99 * math.log(chances[-1]), 100)
        each = lambda t: np.log1p(-chances).sum() - np.log1p(-chances * math.exp(t)).sum()  # noqa: E731
        logs = [each(t) - t * (drawn - count + 1) for t in tilts]
        assert min(logs) < math.log(1e-12)


# ---------------------------------------------------------------------------------------- bad input

NAN = float("nan")
WITH_COUNTS = {"label": "counts", "counts": (1,)}
BAD = {
    "more relevant than patterns": ({"relevant": 8}, r"relevant = 8 .*1 to 6"),
    "all relevant": ({"relevant": 7}, r"relevant = 7 .*1 to 6"),
    "none relevant": ({"relevant": 0}, r"relevant = 0 .*1 to 6"),
    "an empty list": ({"relevant": []}, r"relevant = \(\)"),
    "A outside of [D]": ({"relevant": [0, 7]}, r"relevant = \(0, 7\) .*numbered from 0 to 6"),
    "a negative A": ({"relevant": [0, -1]}, r"relevant = \(0, -1\) .*at least 0"),
    "A twice": ({"relevant": [2, 2]}, r"relevant = \(2, 2\) .*different"),
    "a broken A": ({"relevant": [0.5, 1]}, r"relevant = .*whole number"),
    "P above k": ({"label": "counts", "counts": (1, 4)}, r"counts = \(1, 4\) .*from 0 to 3"),
    "P below 0": ({"label": "counts", "counts": (-1, 2)}, r"counts = \(-1, 2\) .*at least 0"),
    "no P": ({"label": "counts"}, r"counts = None .*'counts'"),
    "P of parity": ({"counts": (1,)}, r"counts = \(1,\) .*'parity'"),
    "P of all": ({"label": "counts", "counts": (0, 1, 2, 3)}, "label = 'counts' .*same label"),
    "an interval outside": ({"label": "interval", "counts": (2, 4)}, r"counts = \(2, 4\)"),
    "a reversed interval": ({"label": "interval", "counts": (3, 1)}, r"counts = \(3, 1\) .*lower"),
    "an interval of one": ({"label": "interval", "counts": (3,)}, r"counts = \(3,\) .*two ends"),
    "a chance of 0": ({"chance": 0}, "chance = 0.0 .*above 0 and below 1"),
    "a chance of 1": ({"chance": 1}, "chance = 1.0 .*above 0 and below 1"),
    "no chance": ({"chance": NAN}, "chance = nan"),
    "a background of 1": ({"background": 1}, "background = 1.0 .*above 0 and below 1"),
    "a negative background": ({"background": -0.1}, "background = -0.1"),
    "all of one label": ({"negative": 1.0}, "negative = 1.0 .*above 0 and below 1"),
    "a short background": (
        {"structure": "independent", "background": (0.5, 0.5)}, "background has 2 values: .*4"
    ),
    "a broken background": (
        {"structure": "independent", "background": (0.5, 0.5, 0.5, 2)}, "background = .*below 1"
    ),
    "a list in a mixture": ({"background": UNLIKE}, r"background = .*'mixture'.*at most 0\.5"),
    "a mixture of too much": ({"background": 0.6}, r"background = 0\.6 .*at most 0\.5"),
    "too few dimensions": ({"dim": 6}, "patterns = 7 .*orthonormal .*dim = 6"),
    "too few for angles": (
        {"dim": 6, "dictionary": "equiangular"}, "patterns = 7 .*equiangular .*dim = 6"
    ),
    "angles unasked": ({"incoherence": 0.5}, r"incoherence = 0\.5 .*equiangular"),
    "angles of 0": (
        {"dictionary": "equiangular", "incoherence": 12**0.5}, r"incoherence = 3\.46.*below .*3\.46"
    ),
    "a negative noise": ({"noise": -1}, r"noise = -1\.0"),
    "codes in a mixture": ({**CODES, "structure": "mixture"}, "structure = 'mixture' .*'codes'"),
    "too few bits": ({**CODES, "codes": 9}, "codes = 9 .*16 codes"),
    "a large batch": ({"batch": 1001}, "batch = 1001 .*at most 1000"),
    "a batch of 0": ({"batch": 0}, "batch = 0"),
}  # fmt: skip


def refused(words, make):
    """One sentence that begins with the field."""
    with pytest.raises(ls.BadInput, match=rf"^{words}") as caught:
        make()
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message and "\n" not in message


@pytest.mark.parametrize("case", BAD)
def test_patterns_refuse(case):
    given, words = BAD[case]
    refused(rf"Patterns\.{words}", lambda: model(**given))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"factors": 21}, "factors = 21 .*at most 16"),
        ({"dim": 2}, "factors = 3 .*dim = 2"),
        ({"noise": -0.1}, r"noise = -0\.1"),
        ({"batch": 11}, "batch = 11 .*at most 10"),
    ],
)
def test_clusters_refuse(given, words):
    usual = {"dim": 20, "factors": 3, "train": 10, "test": 5, "noise": 1.0}
    refused(rf"GaussianParity\.{words}", lambda: GaussianParity(**usual | given))


def test_more_random_patterns_than_dimensions_are_allowed():
    assert model(dim=5, dictionary="random").span == 7


def test_every_value_of_a_sweep_is_checked():
    setting = ls.Experiment(
        data=model(),
        net=ls.nets.TwoLayer(width=2),
        rule=ls.rules.TwoStep(first_rate=1.0, second_rate=1.0, rate=1.0),
        steps=1,
    )
    for axis, words in (
        ({"data.dim": [12, 6]}, "patterns = 7"),
        ({"data.background": [0.2, 0.6]}, r"background = 0\.6"),
        ({"data.incoherence": [0.0, 1.0]}, r"incoherence = 1\.0"),
    ):
        refused(rf"Patterns\.{words}", lambda axis=axis: ls.run(setting, axis, progress=False))
