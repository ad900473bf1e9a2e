"""The collapse report: against NumPy's own definitions, at the edges of float64, and its verdicts.

Statistical cases have fixed seeds and margins far beyond the sampling error.
"""

import json
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

from learnscope.tools import collapse_report
from tests.small import refused

RNG = np.random.default_rng


def mixed(count=400, units=12, seed=0):
    """Correlated units of different scales and offsets."""
    source = RNG(seed)
    mix = source.normal(size=(units, units)) * source.uniform(0.1, 3, size=units)
    return source.normal(size=(count, units)) @ mix + source.normal(size=units) * 5


def copies(noise, count=1000, units=32, factors=1, seed=0):
    """Units that repeat a few factors with either sign, and noise of their own."""
    source = RNG(seed)
    which = np.arange(units) % factors
    z = source.normal(size=(count, factors))[:, which] * source.choice([-1, 1], units)
    return z + noise * source.normal(size=(count, units))


def spectrum(x):
    return np.linalg.svd(x - x.mean(axis=0), compute_uv=False)


def entropy_rank(p):
    p = p / p.sum()
    p = p[p > 0]
    return np.exp(-(p * np.log(p)).sum())


def finite(report):
    """Every number of a report is one, and JSON takes it."""
    assert "\n" in str(report)
    return json.loads(json.dumps(report.to_dict(), allow_nan=False))


@pytest.mark.parametrize("shape", [(400, 12), (50, 2), (30, 40), (20, 20), (1000, 1)])
@pytest.mark.parametrize("memory", [2.0**16, 2.0**28])
def test_against_numpy(shape, memory):
    x = mixed(*shape)
    report = collapse_report(x, memory=memory)
    assert (report.examples, report.units) == shape
    expected = np.atleast_2d(np.corrcoef(x.T))
    np.testing.assert_allclose(report.correlation, expected, atol=1e-13)
    np.testing.assert_allclose(report.deviations, x.std(axis=0, ddof=1), rtol=1e-13)
    values = spectrum(x)
    assert report.singular_values.shape == values.shape
    np.testing.assert_allclose(report.singular_values, values, atol=1e-7 * values[0])
    large = values > 1e-3 * values[0]
    np.testing.assert_allclose(report.singular_values[large], values[large], rtol=1e-9)
    variances = values**2
    np.testing.assert_allclose(report.variance_shares, variances / variances.sum(), atol=1e-12)
    assert report.effective_rank == pytest.approx(entropy_rank(variances), rel=1e-10)
    assert report.effective_rank_singular == pytest.approx(entropy_rank(values), rel=1e-5)
    ratio = variances.sum() ** 2 / (variances**2).sum()
    assert report.participation_ratio == pytest.approx(ratio, rel=1e-10)
    eigenvalues = np.linalg.eigvalsh(expected).clip(0)
    assert report.effective_rank_standardised == pytest.approx(entropy_rank(eigenvalues), rel=1e-9)
    pairs = expected[np.tril_indices(shape[1], -1)]
    for histogram, each in ((report.histogram, abs(pairs)), (report.signed_histogram, pairs)):
        assert histogram.counts.sum() == len(pairs)
        np.testing.assert_array_equal(histogram.counts, np.histogram(each, histogram.edges)[0])
    if shape[1] == 1:
        assert report.mean_correlation is None and report.correlation_quantiles == {}
    else:
        assert report.mean_correlation == pytest.approx(abs(pairs).mean(), rel=1e-10)
        for level, value in report.correlation_quantiles.items():
            assert value == pytest.approx(np.quantile(abs(pairs), level), abs=1e-10)
    finite(report)


def test_copies_are_in_the_last_bins():
    """Rounding may put their correlation above 1."""
    same = collapse_report(copies(0.0) * RNG(1).uniform(size=32))
    for histogram, low in ((same.histogram, 0), (same.signed_histogram, -1)):
        assert histogram.edges[[0, -1]].tolist() == [low, 1]
    assert np.abs(same.correlation).max() == 1
    counts = same.signed_histogram.counts
    assert same.histogram.counts[-1] == counts[0] + counts[-1] == 32 * 31 / 2 and counts[0] > 0


@pytest.mark.parametrize("power", [-300, -20, 1, 60, 400])
def test_powers_of_two_change_no_bit(power):
    x = mixed()
    report, scaled = collapse_report(x), collapse_report(x * 2.0**power)
    for name in ("correlation", "variance_shares", "singular_values", "deviations"):
        factor = 2.0 ** (power * (name in ("singular_values", "deviations")))
        np.testing.assert_array_equal(getattr(scaled, name), getattr(report, name) * factor)
    assert scaled.effective_rank == report.effective_rank
    assert (scaled.verdict, scaled.reasons) == (report.verdict, report.reasons)


@pytest.mark.parametrize("offset", [1e6, -1e6, 2.0**40])
def test_offsets_and_outliers_cost_no_digits(offset):
    x = np.round(mixed() * 256) / 256  # so that the sum is exact
    report, moved = collapse_report(x), collapse_report(x + offset)
    np.testing.assert_allclose(moved.correlation, report.correlation, atol=1e-12)
    np.testing.assert_allclose(moved.singular_values, report.singular_values, rtol=1e-10)
    assert (moved.verdict, moved.dead) == (report.verdict, ())
    x[0] += 1e8
    for given in (x, (x[1:] + 1e4).astype(np.float32)):
        right = np.corrcoef(given.astype(float).T)
        np.testing.assert_allclose(collapse_report(given).correlation, right, atol=1e-10)
        assert collapse_report(given).dead == ()


def test_extreme_sizes_give_no_warning():
    x, sizes = mixed(), np.ones(12)
    sizes[:4] = [1e140, 1e-140, 1e-290, 3e12]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = collapse_report(x * sizes, dead=1e-320)  # none is dead: below all ratios
        finite(collapse_report(x * 1e-310))  # subnormal numbers
        finite(collapse_report(x * 1e140))
    np.testing.assert_allclose(report.correlation, np.corrcoef(x.T), atol=1e-12)
    finite(report)
    assert report.effective_rank == pytest.approx(1)


def test_one_huge_unit_is_named_and_makes_no_other_dead():
    x = RNG(0).normal(size=(500, 8))
    x[:, 3] *= 1e9
    report = collapse_report(x)
    assert report.dead == () and report.verdict == "dimensional collapse"
    assert report.effective_rank_standardised > 7.9
    assert "unit 3 alone has 100.0% of the variance" in report.notes[0]
    np.testing.assert_allclose(report.correlation, np.corrcoef(x.T), atol=1e-12)


def test_any_real_type_and_library(tmp_path):
    x = np.round(mixed() * 4)
    before, expected = x.copy(), collapse_report(x).correlation
    np.save(tmp_path / "x.npy", x)

    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return x

    given = [
        x.astype(np.float32), x.astype(np.float16), x.astype(np.int16), x.astype(np.longdouble),
        jnp.asarray(x), np.asfortranarray(x), x.tolist(), x[::-1][::-1], np.ma.array(x), Wrapped(),
        np.load(tmp_path / "x.npy", mmap_mode="r"),
    ]  # fmt: skip
    for each in given:
        np.testing.assert_allclose(collapse_report(each).correlation, expected)
    np.testing.assert_array_equal(x, before)
    short = collapse_report(jnp.asarray(x, dtype=jnp.bfloat16))
    np.testing.assert_allclose(short.correlation, expected, atol=0.05)
    assert collapse_report(x > 0).units == collapse_report((x > 0).astype(np.uint8)).units


def with_entry(value, dtype=np.float64):
    x = np.zeros((5000, 3), dtype)
    x[4321, 2] = x[4900, 0] = value
    return x


BAD = [
    (np.ones(4), r"have the shape \(4,\): it must be \(examples, units\)"),
    (np.ones((4, 3, 2)), r"\(4, 3, 2\): .* flatten or pool any further axes"),
    (np.ones((1, 3)), r"\(1, 3\): there must be at least two examples"),
    (np.ones((3, 0)), r"\(3, 0\): there must be .* one unit"),
    (np.ones((4, 3), complex), "are complex numbers: they must be real numbers"),
    (np.full((4, 3), "a"), "of the type <U1: they must be real numbers"),
    (np.zeros((4, 3), "M8[s]"), "they must be real numbers"),
    ([[1, 2], [3]], "have different lengths: they must be one array"),
    (np.ma.masked_equal(np.eye(3), 1), "some representations are masked"),
    (with_entry(np.nan), r"representations\[4321, 2\] is nan: entries must be finite"),
    (with_entry(1e200), r"\[4321, 2\] is 1e\+200: .* at most 3.3e\+150 in size"),
    (np.zeros((2, 8193), np.int8), "have 8193 units: at most 8192 are taken"),
]
BAD_LIMITS = [
    ({"dead": 0}, "dead = 0 is not allowed: it must be between 0 and 1"),
    ({"duplicate": 1.01}, "duplicate = 1.01 is not allowed: it must be more than 0 and at"),
    ({"duplicate": float("nan")}, "duplicate = nan is not allowed"),
    ({"copies": "high"}, "copies = 'high' is not allowed"),
    ({"lost": True}, "lost = True is not allowed"),
    ({"partial": -0.1}, "partial = -0.1 is not allowed"),
    ({"dimensional": 0.3}, "dimensional = 0.3 is not allowed: it must be at most partial = 0.2"),
    ({"examples_per_direction": 1}, "examples_per_direction = 1 is not allowed: .* least 2"),
    ({"memory": 1}, "memory = 1 is not allowed"),
]


def test_bad_input_is_one_sentence():
    for given, sentence in BAD:
        refused(lambda given=given: collapse_report(given, memory=2.0**16), match=f".*{sentence}")
    for limits, sentence in BAD_LIMITS:
        refused(lambda limits=limits: collapse_report(mixed(), **limits), match=sentence)


def test_dead_units():
    x = RNG(0).normal(size=(300, 8))
    x[:, 1], x[:, 4] = 0, 1e6
    x[:, 6] *= 1e-5
    report, live = collapse_report(x), [0, 2, 3, 5, 7]
    assert report.dead == (1, 4, 6)
    assert not report.correlation[[1, 4, 6]].any() and not report.correlation[:, [1, 4, 6]].any()
    assert report.deviations[[1, 4]].tolist() == [0, 0] and report.deviations[6] > 0
    among = report.correlation[np.ix_(live, live)]
    np.testing.assert_allclose(among, np.corrcoef(x[:, live].T), atol=1e-13)
    assert report.histogram.counts.sum() == 10
    assert report.empty_directions == 3
    assert collapse_report(x, dead=1e-6).dead == (1, 4)
    finite(report)


def test_rounding_is_not_variation():
    """A float32 unit that is constant but for its last bit; as float64 the same numbers vary."""
    x = RNG(0).normal(size=(300, 6)).astype(np.float32)
    x[:, 2] = np.float32(1e9) + 64 * RNG(1).integers(0, 2, size=300)
    report = collapse_report(x)
    assert report.dead == (2,)
    assert report.singular_values[0] < 100 and report.effective_rank > 4.9
    assert collapse_report(x.astype(np.float64)).dead == ()
    assert collapse_report(x[:, [2, 2]]).verdict == "complete collapse"


def test_duplicate_units_with_signs():
    x = RNG(0).normal(size=(500, 10))
    x[:, 4], x[:, 8] = -3 * x[:, 1] + 7, 1e-2 * x[:, 1]
    x[:, 9] = -x[:, 2] + 0.01 * x[:, 0]
    report = collapse_report(x)
    first, second = report.duplicates
    assert (first.units, first.signs) == ((1, 4, 8), (1, -1, 1))
    assert first.least == pytest.approx(1, abs=1e-12)
    assert (second.units, second.signs) == ((2, 9), (1, -1))
    assert report.copies == 3
    assert [str(group) for group in report.duplicates] == ["1 = -4 = 8", "2 = -9"]
    # Equal but for rounding: also at the threshold 1 itself.
    assert [group.units for group in collapse_report(x, duplicate=1).duplicates] == [(1, 4, 8)]
    # A chain of copies is one group, and says so.
    angles, signs = np.arange(8) * 0.12, (1, -1, 1, 1, -1, -1, 1, -1)
    z = RNG(0).normal(size=(2000, 2)) @ np.array([np.cos(angles), np.sin(angles)]) * signs
    (group,) = collapse_report(z).duplicates
    assert (group.units, group.signs) == (tuple(range(8)), signs)
    assert group.least < 0.8
