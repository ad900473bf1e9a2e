"""The collapse report: against NumPy's own definitions, at the edges of float64, and its verdicts.

Statistical cases have fixed seeds and margins far beyond the sampling error.
"""

import dataclasses
import json
import re
import warnings
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.errors import BadInput
from learnscope.tools import CollapseReport, collapse_report

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
    text = json.dumps(report.to_dict(), allow_nan=False)
    assert "\n" in str(report)
    return json.loads(text)


# Numbers.


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
    np.testing.assert_allclose(
        report.singular_values[values > 1e-3 * values[0]],
        values[values > 1e-3 * values[0]],
        rtol=1e-9,
    )
    variances = values**2
    np.testing.assert_allclose(report.variance_shares, variances / variances.sum(), atol=1e-12)
    assert report.effective_rank == pytest.approx(entropy_rank(variances), rel=1e-10)
    assert report.effective_rank_singular == pytest.approx(entropy_rank(values), rel=1e-5)
    ratio = variances.sum() ** 2 / (variances**2).sum()
    assert report.participation_ratio == pytest.approx(ratio, rel=1e-10)
    eigenvalues = np.linalg.eigvalsh(expected).clip(0)
    assert report.effective_rank_standardised == pytest.approx(entropy_rank(eigenvalues), rel=1e-9)
    size = np.abs(expected[np.tril_indices(shape[1], -1)])
    if shape[1] == 1:
        assert report.mean_correlation is None and report.correlation_quantiles == {}
    else:
        assert report.mean_correlation == pytest.approx(size.mean(), rel=1e-10)
        for level, value in report.correlation_quantiles.items():
            assert value == pytest.approx(np.quantile(size, level), abs=1e-10)
    finite(report)


def test_histograms_count_every_pair_once():
    x = mixed()
    report = collapse_report(x)
    pairs = np.corrcoef(x.T)[np.tril_indices(12, -1)]
    for histogram, values in (
        (report.histogram, np.abs(pairs)),
        (report.signed_histogram, pairs),
    ):
        assert histogram.counts.sum() == 66
        np.testing.assert_array_equal(histogram.counts, np.histogram(values, histogram.edges)[0])
    assert report.histogram.edges[[0, -1]].tolist() == [0, 1]
    assert report.signed_histogram.edges[[0, -1]].tolist() == [-1, 1]
    # Copies, whose correlation rounding may put above 1, are in the last bins.
    same = collapse_report(copies(0.0) * RNG(1).uniform(size=32))
    assert np.abs(same.correlation).max() == 1
    assert same.histogram.counts[-1] == 32 * 31 / 2
    counts = same.signed_histogram.counts
    assert counts[0] + counts[-1] == 32 * 31 / 2 and counts[0] > 0


def test_the_order_of_examples_and_units_is_nothing():
    x = mixed()
    x[:, 3], x[:, 7] = -2 * x[:, 5] + 1, 4.0
    report = collapse_report(x)
    shuffled = collapse_report(x[RNG(1).permutation(len(x))])
    assert shuffled.effective_rank == pytest.approx(report.effective_rank, rel=1e-12)
    np.testing.assert_allclose(shuffled.correlation, report.correlation, atol=1e-12)
    order = RNG(2).permutation(12)
    moved = collapse_report(x[:, order])
    np.testing.assert_allclose(
        moved.correlation, report.correlation[np.ix_(order, order)], atol=1e-12
    )
    np.testing.assert_allclose(moved.singular_values, report.singular_values, atol=1e-9)
    assert (moved.verdict, moved.mean_correlation) == (
        report.verdict,
        pytest.approx(report.mean_correlation),
    )
    assert [order[unit] for unit in moved.dead] == [7] == list(report.dead)
    (group,) = moved.duplicates
    assert sorted(order[list(group.units)]) == [3, 5] and group.signs == (1, -1)


@pytest.mark.parametrize("power", [-300, -20, 1, 60, 400])
def test_powers_of_two_change_no_bit(power):
    x = mixed()
    report, scaled = collapse_report(x), collapse_report(x * 2.0**power)
    np.testing.assert_array_equal(scaled.correlation, report.correlation)
    np.testing.assert_array_equal(scaled.variance_shares, report.variance_shares)
    np.testing.assert_array_equal(scaled.singular_values, report.singular_values * 2.0**power)
    np.testing.assert_array_equal(scaled.deviations, report.deviations * 2.0**power)
    assert scaled.effective_rank == report.effective_rank
    assert (scaled.verdict, scaled.reasons) == (report.verdict, report.reasons)


def test_units_of_other_scales_correlate_the_same():
    x = mixed()
    scale = 2.0 ** RNG(0).integers(-6, 6, size=12)
    np.testing.assert_array_equal(
        collapse_report(x * scale).correlation, collapse_report(x).correlation
    )


def test_a_rotation_keeps_the_spectrum():
    x = mixed()
    rotation = np.linalg.qr(RNG(3).normal(size=(12, 12)))[0]
    report, turned = collapse_report(x), collapse_report(x @ rotation)
    np.testing.assert_allclose(
        turned.singular_values, report.singular_values, atol=1e-9 * report.singular_values[0]
    )
    assert turned.effective_rank == pytest.approx(report.effective_rank, rel=1e-10)
    assert turned.participation_ratio == pytest.approx(report.participation_ratio, rel=1e-10)
    assert abs(turned.mean_correlation - report.mean_correlation) > 1e-3


# The edges of float64.


@pytest.mark.parametrize("offset", [1e6, -1e6, 2.0**40])
def test_offsets_cancel(offset):
    x = np.round(mixed() * 256) / 256  # so that the sum is exact
    report = collapse_report(x)
    moved = collapse_report(x + offset)
    np.testing.assert_allclose(moved.correlation, report.correlation, atol=1e-12)
    np.testing.assert_allclose(moved.singular_values, report.singular_values, rtol=1e-10)
    assert (moved.verdict, moved.dead) == (report.verdict, ())


@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_offsets_in_float32(offset):
    x = (mixed() + offset).astype(np.float32)
    report = collapse_report(x)
    np.testing.assert_allclose(report.correlation, np.corrcoef(x.astype(np.float64).T), atol=1e-10)
    assert report.dead == ()


def test_extreme_sizes_give_no_warning():
    x = mixed()
    reference = np.corrcoef(x.T)
    sizes = np.ones(12)
    sizes[:4] = [1e140, 1e-140, 1e-290, 3e12]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # None is dead: a threshold below all ratios.
        report = collapse_report(x * sizes, dead=1e-320)
        assert collapse_report(x * 1e-310).units == 12  # subnormal numbers
        finite(collapse_report(x * 1e-310))
        finite(collapse_report(x * 1e140))
    np.testing.assert_allclose(report.correlation, reference, atol=1e-12)
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


def test_an_outlier_as_the_first_example_costs_no_digits():
    x = mixed()
    x[0] += 1e8
    report = collapse_report(x)
    np.testing.assert_allclose(report.correlation, np.corrcoef(x.T), atol=1e-10)
    values = spectrum(x)
    np.testing.assert_allclose(report.singular_values, values, atol=1e-7 * values[0])


# What can be given.


def test_any_real_type_and_library():
    x = np.round(mixed() * 4)
    expected = collapse_report(x)
    given = [
        x.astype(np.float32), x.astype(np.float16), x.astype(np.int16), x.astype(np.longdouble),
        jnp.asarray(x), np.asfortranarray(x), x.tolist(), x[::-1][::-1], np.ma.array(x),
    ]  # fmt: skip
    for each in given:
        np.testing.assert_allclose(collapse_report(each).correlation, expected.correlation)
    short = collapse_report(jnp.asarray(x, dtype=jnp.bfloat16))
    np.testing.assert_allclose(short.correlation, expected.correlation, atol=0.05)
    assert collapse_report(x > 0).units == collapse_report((x > 0).astype(np.uint8)).units

    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return x

    np.testing.assert_array_equal(collapse_report(Wrapped()).correlation, expected.correlation)


def test_torch():
    torch = pytest.importorskip("torch")
    x = mixed()
    tensor = torch.tensor(x)
    np.testing.assert_array_equal(
        collapse_report(tensor).correlation, collapse_report(x).correlation
    )
    with pytest.raises(BadInput, match=r"cannot be read as a NumPy array: .*grad"):
        collapse_report(tensor.requires_grad_())


def test_what_is_given_stays_as_it_was(tmp_path):
    x = mixed()
    before = x.copy()
    collapse_report(x)
    np.testing.assert_array_equal(x, before)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        collapse_report(mapped).correlation, collapse_report(x).correlation
    )


def with_entry(value, dtype=np.float64):
    x = np.zeros((5000, 3), dtype)
    x[4321, 2] = x[4900, 0] = value
    return x


BAD = {
    "one axis": (np.ones(4), r"have the shape \(4,\): it must be \(examples, units\)"),
    "three axes": (np.ones((4, 3, 2)), r"\(4, 3, 2\): .* flatten or pool any further axes"),
    "no axis": (3.0, r"have the shape \(\)"),
    "one example": (np.ones((1, 3)), r"\(1, 3\): there must be at least two examples"),
    "no examples": (np.ones((0, 3)), r"\(0, 3\): there must be at least two examples"),
    "no units": (np.ones((3, 0)), r"\(3, 0\): there must be .* one unit"),
    "complex": (np.ones((4, 3), complex), "are complex numbers: they must be real numbers"),
    "text": (np.full((4, 3), "a"), "of the type <U1: they must be real numbers"),
    "objects": (np.full((4, 3), None), "of the type object: they must be real numbers"),
    "dates": (np.zeros((4, 3), "M8[s]"), "they must be real numbers"),
    "records": (np.zeros((4, 3), "f4,f4"), "they must be real numbers"),
    "ragged": ([[1, 2], [3]], "have different lengths: they must be one array"),
    "masked": (np.ma.masked_equal(np.eye(3), 1), "some representations are masked"),
    "NaN": (with_entry(np.nan), r"representations\[4321, 2\] is nan: entries must be finite"),
    "infinity": (with_entry(-np.inf, np.float32), r"representations\[4321, 2\] is -inf"),
    "NaN first": (np.full((2, 2), np.nan), r"representations\[0, 0\] is nan"),
    "too large": (with_entry(1e200), r"\[4321, 2\] is 1e\+200: .* at most 3.3e\+150 in size"),
    "too many units": (np.zeros((2, 8193), np.int8), "have 8193 units: at most 8192 are taken"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case):
    given, sentence = BAD[case]
    with pytest.raises(BadInput, match=sentence) as raised:
        collapse_report(given, memory=2.0**16)
    text = str(raised.value)
    assert text.endswith(".") and "\n" not in text


@pytest.mark.parametrize(
    "limits, sentence",
    [
        ({"dead": 0}, "dead = 0 is not allowed: it must be between 0 and 1"),
        ({"dead": 1.0}, "dead = 1.0 is not allowed"),
        ({"duplicate": 1.01}, "duplicate = 1.01 is not allowed: it must be more than 0 and at"),
        ({"duplicate": float("nan")}, "duplicate = nan is not allowed"),
        ({"copies": "high"}, "copies = 'high' is not allowed"),
        ({"lost": True}, "lost = True is not allowed"),
        ({"partial": -0.1}, "partial = -0.1 is not allowed"),
        (
            {"dimensional": 0.3},
            "dimensional = 0.3 is not allowed: it must be at most partial = 0.2",
        ),
        ({"examples_per_direction": 1}, "examples_per_direction = 1 is not allowed: .* least 2"),
        ({"memory": 1}, "memory = 1 is not allowed"),
    ],
)
def test_bad_thresholds(limits, sentence):
    with pytest.raises(BadInput, match=sentence):
        collapse_report(mixed(), **limits)


# Dead and duplicate units.


def test_dead_units():
    x = RNG(0).normal(size=(300, 8))
    x[:, 1] = 0
    x[:, 4] = 1e6
    x[:, 6] *= 1e-5
    report = collapse_report(x)
    assert report.dead == (1, 4, 6)
    assert not report.correlation[[1, 4, 6]].any() and not report.correlation[:, [1, 4, 6]].any()
    assert report.deviations[[1, 4]].tolist() == [0, 0] and report.deviations[6] > 0
    live = [0, 2, 3, 5, 7]
    np.testing.assert_allclose(
        report.correlation[np.ix_(live, live)], np.corrcoef(x[:, live].T), atol=1e-13
    )
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
    only = collapse_report(x[:, [2, 2]])
    assert only.verdict == "complete collapse"


def test_duplicate_units_with_signs():
    x = RNG(0).normal(size=(500, 10))
    x[:, 4] = -3 * x[:, 1] + 7
    x[:, 8] = 1e-2 * x[:, 1]
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


def test_a_chain_of_copies_is_one_group_and_says_so():
    source = RNG(0)
    z = source.normal(size=(2000, 2))
    angles = np.arange(8) * 0.12
    x = z @ np.array([np.cos(angles), np.sin(angles)]) * [1, -1, 1, 1, -1, -1, 1, -1]
    (group,) = collapse_report(x).duplicates
    assert group.units == tuple(range(8))
    assert group.signs == (1, -1, 1, 1, -1, -1, 1, -1)
    assert group.least < 0.8


# Verdicts.


def test_each_verdict_where_it_is_true():
    source = RNG(0)
    healthy = source.normal(size=(1000, 16))
    low = source.normal(size=(1000, 4)) @ source.normal(size=(4, 32))
    cases = {
        "no sign of collapse": [healthy, mixed(1000), healthy + 1e6, healthy[:, :1]],
        "complete collapse": [np.ones((50, 4)), np.zeros((2, 3)), np.full((9, 1), 0.1)],
        "dimensional collapse": [
            copies(0.0), copies(0.05), copies(0.0, factors=2), copies(0.0, units=2),
            copies(0.01, count=100, units=500),  # fewer examples than units show it too
        ],
        "partial collapse": [low, copies(0.0, factors=8), np.maximum(low, 0)],
        "too few examples to tell": [
            healthy[:16], healthy[:5], healthy[:9, :2], copies(0.0, count=5),
            source.normal(size=(100, 500)),
        ],
    }  # fmt: skip
    for verdict, given in cases.items():
        for x in given:
            report = collapse_report(x)
            assert report.verdict == verdict, report
            assert f"verdict           {verdict}: " in str(report)
            finite(report)


def test_reasons():
    assert collapse_report(copies(0.0)).reasons == (
        "the effective rank is 1 of 32",
        "units are nearly copies: mean |correlation| 1",
    )
    half = RNG(0).normal(size=(500, 16))
    half[:, 8:] = 0
    assert collapse_report(half).reasons == (
        "8 units are dead, 0 units are copies of others",
        "8 of 16 directions have no variance",
    )
    (reason,) = collapse_report(half[:10] + RNG(1).normal(size=(10, 16))).reasons
    assert reason == (
        "10 examples of 16 units have a rank of at most 9, whatever the units are; "
        "at least 17 are needed, better 160"
    )


def test_empty_directions_without_dead_units_are_partial():
    """A third of the directions of a rotated representation has no variance (Jing et al. 2022)."""
    source = RNG(0)
    rotation = np.linalg.qr(source.normal(size=(30, 30)))[0]
    x = source.normal(size=(2000, 20)) @ rotation[:20]
    report = collapse_report(x)
    assert (report.dead, report.duplicates, report.empty_directions) == ((), (), 10)
    assert report.verdict == "partial collapse"
    assert report.reasons == ("10 of 30 directions have no variance",)


def test_the_verdict_follows_the_noise_of_copies():
    """From copies of one unit to independent units: the verdict changes twice, one way only."""
    order = ("dimensional collapse", "partial collapse", "no sign of collapse")
    noises = np.geomspace(0.01, 10, 25)
    reports = [collapse_report(copies(noise)) for noise in noises]
    found = [order.index(report.verdict) for report in reports]
    assert found == sorted(found) and set(found) == {0, 1, 2}
    ranks = np.array([report.effective_rank for report in reports])
    assert (np.diff(ranks) > 0).all()
    shares = (ranks - 1) / 31
    strong = np.array([report.mean_correlation for report in reports]) >= 0.95
    expected = np.where((shares <= 0.05) | strong, 0, np.where(shares <= 0.2, 1, 2))
    assert found == expected.tolist()


@pytest.mark.parametrize("units", [2, 8, 64])
def test_the_verdict_follows_the_number_of_directions(units):
    """Exactly equal variances along some directions: the effective rank is their number."""
    source = RNG(0)
    basis = np.linalg.qr(source.normal(size=(1000, units)) - 0)[0]
    basis = np.linalg.qr(basis - basis.mean(axis=0))[0]
    for used in range(1, units + 1):
        x = basis[:, :used] @ np.linalg.qr(source.normal(size=(units, units)))[0][:used]
        report = collapse_report(x)
        assert report.effective_rank == pytest.approx(used, rel=1e-9)
        assert report.effective_rank_singular == pytest.approx(used, rel=1e-9)
        assert report.participation_ratio == pytest.approx(used, rel=1e-9)
        assert report.directions(1.0) == used and report.empty_directions == units - used
        share = (used - 1) / (units - 1)
        expected = (
            "dimensional collapse"
            if share <= 0.05
            else "partial collapse"
            if share <= 0.2 or units - used >= 0.25 * units
            else "no sign of collapse"
        )
        assert report.verdict == expected


def test_thresholds_move_the_verdict():
    x = copies(0.8)
    report = collapse_report(x)
    share = (report.effective_rank - 1) / 31
    assert collapse_report(x, partial=share + 1e-6).verdict == "partial collapse"
    assert collapse_report(x, partial=share - 1e-6).verdict == "no sign of collapse"
    wide = {"dimensional": share + 1e-6, "partial": 1}
    assert collapse_report(x, **wide).verdict == "dimensional collapse"
    mean = report.mean_correlation
    assert collapse_report(x, copies=mean - 1e-9).verdict == "dimensional collapse"
    assert collapse_report(x, copies=mean + 1e-9).verdict == report.verdict
    dead = RNG(0).normal(size=(500, 10))
    dead[:, :2] = 1
    assert collapse_report(dead).verdict == "no sign of collapse"
    assert collapse_report(dead, lost=0.2).verdict == "partial collapse"
    few = RNG(0).normal(size=(30, 4))
    assert collapse_report(few).verdict == "no sign of collapse"
    assert collapse_report(few, examples_per_direction=31).verdict == "too few examples to tell"


def test_examples_and_units_where_the_verdict_changes():
    x = RNG(0).normal(size=(40, 20))
    found = {count: collapse_report(x[:count]).verdict for count in range(2, 41)}
    assert {count for count, verdict in found.items() if "too few" in verdict} == set(range(2, 21))
    rank_one = copies(0.0, count=40)
    found = {count: collapse_report(rank_one[:count]).verdict for count in range(2, 41)}
    assert {count for count, verdict in found.items() if "too few" in verdict} == set(range(2, 10))
    assert set(found.values()) == {"too few examples to tell", "dimensional collapse"}


# The value.


def test_the_value_is_frozen_and_ready_for_json():
    report = collapse_report(mixed())
    assert isinstance(report, CollapseReport)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.verdict = "fine"
    for name in ("correlation", "singular_values", "variance_shares", "deviations"):
        with pytest.raises(ValueError):
            getattr(report, name)[0] = 0
    read = finite(report)
    assert set(read) == {field.name for field in dataclasses.fields(report)}
    np.testing.assert_array_equal(read["correlation"], report.correlation)
    assert read["thresholds"]["duplicate"] == 0.99
    assert read["correlation_quantiles"]["0.5"] == report.correlation_quantiles[0.5]
    assert "correlation" not in report.to_dict(correlation=False)


def test_it_prints_as_a_short_table():
    x = copies(0.0, units=60, factors=20)
    x[:, 40:] = 3
    lines = str(collapse_report(x)).splitlines()
    assert max(map(len, lines)) <= 96 and len(lines) <= 16
    starts = [line[:18].strip() for line in lines if line[:18].strip()]
    assert starts == [
        "representations", "effective rank", "variance", "|correlation|", "dead units",
        "duplicate units", "verdict",
    ]  # fmt: skip
    assert any(line.strip() == "... and 14 more groups" for line in lines)
    assert "dead units        20: 40, 41," in str(collapse_report(x))


def test_digits():
    images, _, more, _ = ls.data.load_images("digits")
    x = np.concatenate([images, more]).reshape(1797, 64)
    report = collapse_report(x)
    assert report.dead == (0, 32, 39) and report.verdict == "no sign of collapse"
    assert report.effective_rank == pytest.approx(entropy_rank(spectrum(x) ** 2), rel=1e-9)


def test_the_example_of_the_documentation(capsys):
    text = (Path(__file__).parents[2] / "docs" / "collapse.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(code, {})
    assert f"```\n{capsys.readouterr().out}```" in text
