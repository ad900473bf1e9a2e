"""Patterns: their laws by enumeration, what is drawn, and what is refused."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.data import Patterns
from learnscope.space import Frame
from tests import law
from tests.small import experiment, quick, refuses, run

KEY = jax.random.key(3)


def model(**given):
    return Patterns(**{"dim": 12, "patterns": 7, "relevant": 3, "train": 1000, "test": 500} | given)


UNLIKE = (0.1, 0.35, 0.62, 0.93)
FREE = {"structure": "independent", "background": UNLIKE}
CASES = {
    "parity": model(),
    "parity, groups": model(background=0.3),
    "one relevant": model(relevant=1, background=0.1),
    "even": model(relevant=2, background=0.4),
    "interval": model(label="interval", counts=(1, 2), chance=0.3, **FREE),
    "counts": model(label="counts", counts=(0, 3), background=0.3),
    "majority": model(relevant=4, label="majority", structure="independent", background=0.25),
    "imbalanced": model(relevant=5, background=0.3, negative=0.8),
    "imbalanced interval": model(label="interval", counts=(2, 3), negative=0.8, **FREE),
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
    @quick
    def all_of_them():
        laws = {name: data.law() for name, data in CASES.items()}
        return {
            name: (law.mean(), law.covariance(), law.correlation(), law.positive)
            for name, law in laws.items()
        }

    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, all_of_them())


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
    keys = {name: jax.random.fold_in(KEY, number) for number, name in enumerate(DRAWN)}
    drawn = quick(lambda: {name: CASES[name].law().draw(keys[name], DRAWS) for name in DRAWN})()
    return jax.tree.map(np.asarray, drawn)


def seen_of(data, there, y):
    """How often each of the 128 patterns is seen, if labels are those of its count."""
    np.testing.assert_array_equal(y > 0, positive(data, there[:, : data.k].sum(1)))
    return np.bincount(there @ (1 << np.arange(7)), minlength=128)


@pytest.mark.parametrize("case", DRAWN)
def test_draws_follow_the_law(case):
    """All 128 patterns, and so counts, single patterns and labels as well."""
    data, (there, y) = CASES[case], draws()[case]
    assert set(np.unique(y)) == {-1.0, 1.0}
    seen = seen_of(data, there, y)
    law.assert_counts(seen, every(data)[1])
    if case == "parity, groups":  # its power
        law.assert_other_counts(seen, every(model(background=0.35))[1])
        law.assert_other_counts(seen, every(model(structure="none"))[1])


def test_many_relevant_patterns_are_no_matter_of_precision():
    """Binomial coefficients of more than 130 leave single precision, of more than 1029 double."""
    for structure, k in (("independent", 150), ("independent", 1100), ("mixture", 1101)):
        sizes = {"dim": 2 * k, "patterns": k + 10, "relevant": k}
        data = model(**sizes, label="majority", structure=structure)
        # The numbers of a part are traced in a run.
        found = eqx.filter_jit(lambda data: data.law())(jax.tree.map(jnp.asarray, data))
        share = 0.0 if structure == "independent" else 0.5
        right = stats.binom.pmf(np.arange(k + 1), k, 0.5) * (1 - share)
        right[[0, k]] += share / 2
        np.testing.assert_allclose(found.chances.sum(0), right, rtol=1e-3, atol=1e-9)


CODES = {"label": "codes", "structure": "independent", "relevant": 4, "codes": 5}
PROBLEMS = {
    "orthonormal": model(relevant=(5, 0, 3), label="interval", counts=(2, 3), **FREE),
    "random": model(dictionary="random", negative=0.7),
    "noisy": model(dictionary="equiangular", incoherence=0.7, noise=0.2, background=0.3),
    "codes": model(**CODES, dictionary="random", background=(0.2, 0.5, 0.9), negative=0.3),
}


def drawn(name):
    return all_drawn()[name]


@functools.cache
def all_drawn():
    """A problem, 500 fresh examples of it, and its moments, in double precision."""

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
    inputs = drawn(name)[0].directions["codes"][:, None] + (rest @ rows[4:])[None]
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


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_drawn_norm_is_one_on_average(name):
    problem, fresh, _ = drawn(name)
    parts = (problem.train, problem.test, fresh)
    law.assert_mean(np.concatenate([(part.x**2).sum(1) for part in parts]), 1)


@pytest.mark.parametrize("name", ["orthonormal", "random"])
def test_problems_are_made_of_drawn_patterns(name):
    data, (there, left, y) = PROBLEMS[name], read(name)
    np.testing.assert_allclose(left, 0, atol=1e-12)
    np.testing.assert_allclose(there, there.round(), atol=1e-12)
    seen = seen_of(data, there.round().astype(int), y)
    assert seen.sum() == 2000
    law.assert_counts(seen, every(data)[1])


def test_noise_is_added_in_all_of_space():
    there, left, y = read("noisy")
    # Off the dictionary there is nothing else: 5 dimensions.
    law.assert_law({"left": (left**2).sum(1) / 0.2**2}, {"left": stats.chi2(5)})
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


@pytest.mark.parametrize("frame", ["ambient", "compressed"])
def test_random_dictionaries_are_uniform(frame):
    # Inner products of uniform unit vectors in R^d are pairwise independent, with E d u^2 = 1 and
    # Var d u^2 = 2 (d - 1) / (d + 2).
    d, count = 50, 60
    data = model(dim=d, patterns=count, dictionary="random", train=1, test=1)
    where = Frame(float(d), 70) if frame == "compressed" else Frame.of_dimension(d)
    rows = np.asarray(quick(lambda: data._dictionary(KEY, where)[0])())
    inner = (rows @ rows.T)[np.triu_indices(count, 1)]
    law.assert_mean(d * inner**2, 1, 2 * (d - 1) / (d + 2))


def test_compressed_problems_have_the_same_patterns():
    """Equiangular ones too, whatever the dimension; inputs are then D numbers."""
    data = model(dim=10**6, dictionary="equiangular", incoherence=30.0, train=4, test=3)
    with jax.enable_x64(True):
        problem = quick(lambda: data.sample(KEY, Frame(jnp.asarray(1e6), 10)))()
    rows = np.concatenate([problem.directions["relevant"], problem.directions["background"]])
    np.testing.assert_allclose(rows @ rows.T, 0.97 * np.eye(7) + 0.03, atol=1e-15)
    assert rows.shape == (7, 10) and problem.train.x[0].shape == (4, 7)


BAD = {
    r"relevant = 7 .*1 to 6": {"relevant": 7},
    r"relevant = 0 .*1 to 6": {"relevant": 0},
    r"relevant = \(\)": {"relevant": []},
    r"relevant = \(0, 7\) .*numbered from 0 to 6": {"relevant": [0, 7]},
    r"relevant = \(2, 2\) .*different": {"relevant": [2, 2]},
    r"counts = \(1, 4\) .*from 0 to 3": {"label": "counts", "counts": (1, 4)},
    r"counts = None .*'counts'": {"label": "counts"},
    r"counts = \(1,\) .*'parity'": {"counts": (1,)},
    "label = 'counts' .*same label": {"label": "counts", "counts": (0, 1, 2, 3)},
    r"counts = \(2, 4\)": {"label": "interval", "counts": (2, 4)},
    r"counts = \(3, 1\) .*lower": {"label": "interval", "counts": (3, 1)},
    r"counts = \(3,\) .*two ends": {"label": "interval", "counts": (3,)},
    "background has 2 values: .*4": {"structure": "independent", "background": (0.5, 0.5)},
    "background = .*below 1": {"structure": "independent", "background": (0.5, 0.5, 0.5, 2)},
    r"background = .*'mixture'.*at most 0\.5": {"background": UNLIKE},
    r"background = 0\.6 .*at most 0\.5": {"background": 0.6},
    "patterns = 7 .*orthonormal .*dim = 6": {"dim": 6},
    "patterns = 7 .*equiangular .*dim = 6": {"dim": 6, "dictionary": "equiangular"},
    r"incoherence = 0\.5 .*equiangular": {"incoherence": 0.5},
    r"incoherence = 3\.46.*below .*3\.46": {"dictionary": "equiangular", "incoherence": 12**0.5},
    "structure = 'mixture' .*'codes'": {**CODES, "structure": "mixture"},
    "codes = 9 .*16 codes": {**CODES, "codes": 9},
    "batch = 1001 .*at most 1000": {"batch": 1001},
}


def test_what_does_not_fit_together_is_refused_at_every_value_of_a_sweep():
    refuses(model, BAD, r"Patterns\.")
    assert model(dim=5, dictionary="random").span == 7  # more random patterns than dimensions
    rule = ls.rules.TwoStep(first_rate=1.0, second_rate=1.0, rate=1.0)
    setting = experiment(rule, data=model(), net=ls.nets.TwoLayer(width=2), probes=[])
    bad = {
        "patterns = 7": {"data.dim": [12, 6]},
        r"background = 0\.6": {"data.background": [0.2, 0.6]},
        r"incoherence = 1\.0": {"data.incoherence": [0.0, 1.0]},
    }
    refuses(lambda **over: run(setting, over), bad, r"Patterns\.")
