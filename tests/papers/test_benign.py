"""Xu and Chen (2025): Condition 1 against explicit matrices, the regimes, and what cannot hold."""

import math

import jax
import numpy as np
import pytest

import learnscope as ls
from learnscope.data.class_noise import NOISES
from learnscope.papers.benign import theory as benign
from learnscope.papers.benign.theory.spectra import Spectra, spectra
from tests.small import refused, run, signals

PAPER = {"dim": 1000, "classes": 5, "train_per_class": 100, "test": 10, "signal": 1.0}


def experiment(width=100, rate=0.05, scale=None, steps=20, sizes=100, **more):
    """The paper's section 5.1, unless told."""
    data = ls.data.ClassNoise(**PAPER | {"train_per_class": sizes} | more)
    start = {"initial": "torch"} if scale is None else {"scale": scale}
    net = ls.nets.PatchCNN(width=width, classes=data.classes, activation="relu", **start)
    return ls.Experiment(data=data, net=net, rule=ls.rules.GradientDescent(rate=rate), steps=steps)


def by_matrices(setting, factors=None):
    """The same experiment, with its matrices written out; or of other ones."""
    sizes = {"train_per_class": setting.data.train_per_class, "signal": setting.data.signal}
    factors = setting.data.matrices() if factors is None else factors
    return setting.replace("data", ls.data.MatrixNoise(factors=factors, test=10, **sizes))


def margins(setting, **constants):
    return {each.name: each.margin for each in ls.theory.conditions(setting, **constants)}


BLOCKS = {"dim": 60, "classes": 3, "sizes": 4, "block": 5}
UNEVEN = {"dim": 40, "classes": 3, "sizes": (4, 9, 2), "signal": (1.0, 0.5, 2.0)}


@pytest.mark.parametrize("correlation", [1.0, 1.2, 5.0, 30.0])
def test_closed_forms_against_the_matrices(correlation):
    setting = experiment(**UNEVEN, correlation=correlation, bulk=0.7)
    a = setting.data.matrices()
    found = spectra(setting.data)
    values = np.linalg.svd(a, compute_uv=False)
    products = np.einsum("kdi,jde->kjie", a, a)
    expected = Spectra(
        trace=np.einsum("kij,kij->k", a, a),
        rank=np.linalg.matrix_rank(a),
        largest=values[:, 0],
        smallest=values[:, 36],  # the last of R = 37
        squares=(products**2).sum((2, 3)),
        operator=np.linalg.norm(products, 2, axis=(2, 3)),
    )
    for name, mine, theirs in zip(Spectra._fields, found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, err_msg=name)
    cross = 0.7**2 * (math.sqrt(correlation + 36) + math.sqrt(correlation - 1))
    np.testing.assert_allclose(np.sqrt(found.squares[0, 1]), cross, rtol=1e-12)


@pytest.mark.parametrize("given", [UNEVEN, BLOCKS], ids=["uneven", "blocks"])
@pytest.mark.parametrize("correlation", [1.0, 5.0])
def test_matrix_noise_gives_the_same(correlation, given):
    setting = experiment(**given, correlation=correlation)
    other = by_matrices(setting)
    for mine, theirs in zip(*map(ls.theory.conditions, (setting, other)), strict=True):
        assert mine.name == theirs.name and mine.holds == theirs.holds
        assert mine.margin == pytest.approx(theirs.margin, rel=1e-12), mine.name
    one, two = benign.exponents(setting), benign.exponents(other)
    for name in one:
        np.testing.assert_allclose(one[name], two[name], rtol=1e-12)
    assert ls.theory.boundary(other, "data.correlation") is None
    assert ls.theory.predict(other)["boundary_correlation"] is None


def test_condition_1_by_hand_in_the_papers_setting():
    """K = 5, d = 1000, n = 500, m = 100, rate 0.05, sigma_0 = 1/sqrt(3000), T = 20, delta 0.1."""
    trace, few, start, log_t = 995 / 4, math.log(5000), math.log(5000), math.log(20)
    norm = math.sqrt(995) / 4
    most = math.sqrt(1 / 3000) * 500 * math.sqrt(trace)
    expected = {
        "noise trace": trace / (500 * norm * math.log(2.5e6)),
        "noise spread": math.sqrt(995) / math.sqrt(math.log(50)),
        "alike noise": 1,
        "noise entries": (1 - math.erf(0.25 / math.sqrt(2))) / 2 / 0.4,
        "width": 100 / few,
        "sample size": 500 / math.log(1000),
        "width, initial weights": 100 * 500 / 3000 / (few * log_t**2),
        "rank": 10 / 500,
        "dimension": 1000 / math.log(500000),
        "learning rate": 1 / (0.05 * (1 + math.sqrt(1.5 * trace)) ** 2),
        "learning rate, trace": 100 * 500 * log_t / (0.05 * trace),
        "initial weights": 1 / (most * start**1.5),
        "initial weights, either": 1 / (most * start),
    }
    assert margins(experiment()) == pytest.approx(expected)
    failing = {name: round(margin, 5) for name, margin in expected.items() if margin < 1}
    weights = {"initial weights": 0.00028, "initial weights, either": 0.00082}
    weights |= {"width, initial weights": 0.21805}
    assert failing == weights | {"noise trace": 0.00428, "rank": 0.02, "learning rate": 0.04845}


def test_the_dimension_that_the_trace_needs():
    """R >= (n log(n^2 / delta))^2: 5.4e7 for delta = 0.1, 5.9e7 for 0.05."""
    for delta, dim in ((0.1, 5.42565e7), (0.05, 5.9486e7)):
        needed = (500 * math.log(500**2 / delta)) ** 2 + 5
        assert needed == pytest.approx(dim, rel=1e-4)
        for factor, holds in ((0.999, False), (1.001, True)):
            found = ls.theory.conditions(experiment(dim=int(factor * needed)), delta=delta)
            assert found[0].holds is holds


@pytest.mark.parametrize("noise", ["gaussian", "uniform", "rademacher", "triangular"])
def test_every_noise_passes_the_threshold_often_enough(noise):
    found = {each.name: each for each in ls.theory.conditions(experiment(noise=noise))}
    assert found["noise entries"].holds
    # 400,000 draws: 5 standard deviations of the share.
    drawn = float((NOISES[noise](jax.random.key(0), (400_000,)) > 0.25).mean())
    assert drawn == pytest.approx(found["noise entries"].left, abs=5 * 0.5 / math.sqrt(400_000))


def runnable(dim=5000, strength=1.0, **more):
    """As much of Condition 1 as n = 9 and m = 100 allow: all but the width for initial weights."""
    sizes = {"dim": dim, "classes": 3, "sizes": 3, "scale": 1.0, "rate": 1.0, "steps": 40_000}
    setting = experiment(**sizes | more)
    setting = setting.replace("data.signal", strength * ls.theory.boundary(setting, "data.signal"))
    listed = {each.name: each for each in ls.theory.conditions(setting)}
    scale = min(listed[name].right for name in ("initial weights", "initial weights, either"))
    setting = setting.replace("net.scale", 0.9 * scale)
    return setting.replace("rule.rate", 0.9 / listed["learning rate"].left)


@pytest.mark.parametrize("dim", [5000, 10**8, 10**12])
@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_one_condition_fails_where_it_can_be_run(dim, strength):
    setting = runnable(dim, strength)
    found = ls.theory.conditions(setting)
    assert [each.name for each in found if not each.holds] == ["width, initial weights"]
    (short,) = (each.margin for each in found if not each.holds)
    assert short < 1e-6
    assert ls.theory.conditions(setting, omega=0.99 * short).holds
    side = {0.5: "harmful", 1.0: "harmful", 2.0: "benign by features"}[strength]
    assert ls.theory.predict(setting)["regime"] == side


def test_a_constant_makes_all_but_one_harder():
    once, twice = (margins(experiment(correlation=3), constant=c) for c in (1.0, 2.0))
    same = {"noise entries", "width, initial weights", "learning rate, trace"}
    assert {name for name in once if twice[name] == once[name]} == same
    assert {name for name in once if twice[name] > once[name]} == {"alike noise"}


def test_extremes_are_told_apart_without_failing():
    found = margins(experiment(signal=0.0, scale=0.0, steps=1))
    assert found["width, initial weights"] == 0
    assert found["initial weights"] == math.inf  # sigma_0 = 0 is small enough for anything
    assert margins(experiment(signal=0.0))["initial weights"] == 0
    assert margins(experiment(dim=80))["rank"] == 0


def test_a_second_layer_without_1_over_m_is_brought_to_the_papers():
    mean = experiment(scale=0.01, dim=60, classes=3, sizes=3, width=10)
    scaled = mean.replace("net.second_layer", "sum").replace("net.scale", 0.01 / 10)
    scaled = scaled.replace("rule.rate", 0.05 / 100)
    assert margins(scaled) == pytest.approx(margins(mean))
    runs = [run(each, seeds=2, precision="float64") for each in (mean, scaled)]
    assert abs(runs[0].loss - runs[1].loss).max() < 1e-10


def test_sizes_and_signals_enter_class_by_class():
    """SNR and Gamma of class k against j, by hand."""
    setting = experiment(**UNEVEN, correlation=5.0)
    found, squares = benign.exponents(setting), setting.data.squares()
    sizes, signal = UNEVEN["sizes"], UNEVEN["signal"]
    for k in range(3):
        for j in range(3):
            if k == j:
                assert math.isnan(found.snr[k, j]) and math.isnan(found.ratio[k, j])
                continue
            snr = sizes[k] ** 2 * signal[k] ** 4 / (sizes[j] * squares[k, j])
            assert float(found.snr[k, j]) == pytest.approx(snr, rel=1e-12)
            assert float(found.ratio[k, j]) == pytest.approx(5 * sizes[k] / sizes[j], rel=1e-12)
    assert found.worst_ratio.values == pytest.approx([5 * 4 / 9, 5 * 9 / 4, 5 * 2 / 9])
    assert ls.theory.boundary(setting, "data.correlation") == 9 / 2


def test_a_growing_majority_turns_the_minority():
    """Statement 2b of class 0 worsens with the others' sizes; of the others it does not."""
    seen = []
    for majority in (10, 50, 200):
        setting = experiment(sizes=(50, *[majority] * 4), signal=0.01, correlation=20.0)
        found = benign.exponents(setting).worst_ratio.values
        seen.append((found[0], benign.regime(0, found[0]), ls.theory.predict(setting)["regime"]))
    assert [ratio for ratio, *_ in seen] == pytest.approx([100, 20, 5])
    assert [own for _, own, _ in seen] == ["benign by covariance"] * 2 + ["undetermined"]
    assert [worst for *_, worst in seen] == ["undetermined", "benign by covariance", "undetermined"]


def test_monotone():
    falls = {"dim": (500, 1000), "correlation": (1, 9), "bulk": (0.5, 0.6)}
    for field, values in ({"signal": (1, 2), "sizes": (50, 100)} | falls).items():
        low, high = (ls.theory.predict(experiment(**{field: v}))["snr"] for v in values)
        assert low != high and (low > high) == (field in falls), field


@pytest.mark.parametrize("bulk", [0.5, 0.3, 0.1])
def test_the_corners_of_figure_2(bulk):
    for (signal, correlation), side in {
        (0.0, 1.0): "harmful",
        (9.0, 1.0): "benign by features",
        (0.0, 900.0): "benign by covariance",
        (9.0, 900.0): "benign by features",
        (0.0, 5.0): "undetermined",
    }.items():
        found = ls.theory.predict(experiment(signal=signal, correlation=correlation, bulk=bulk))
        assert found["regime"] == side and found["regimes"] == f"{side}: 0, 1, 2, 3, 4"
        assert found["ratio"] == pytest.approx(correlation)
    assert benign.regime(5, 5, high=5) == "benign by features"
    assert benign.regime(4, 5, high=5) == "benign by covariance"
    refused(lambda: benign.regime(1, 1, high=0.5), "below low")


@pytest.mark.parametrize("field", ["signal", "train_per_class", "dim", "bulk"])
@pytest.mark.parametrize(("correlation", "block"), [(1.0, 1), (7.0, 1), (7.0, 9)])
def test_the_boundary_is_where_the_worst_exponent_is_one(field, correlation, block):
    given = {"correlation": correlation, "block": block}
    setting = experiment(dim=10**6, sizes=5000, signal=0.7, **given)
    value = ls.theory.boundary(setting, f"data.{field}")
    whole = field in ("train_per_class", "dim")
    moved = setting.replace(f"data.{field}", round(value) if whole else value)
    assert ls.theory.predict(moved)["snr"] == pytest.approx(1, rel=1e-3 if whole else 1e-12)


def test_boundaries_of_unlike_classes():
    setting = experiment(**UNEVEN, correlation=5.0)
    value = ls.theory.boundary(setting, "data.signal")
    assert ls.theory.predict(setting.replace("data.signal", value))["snr"] == pytest.approx(1)
    found = ls.theory.predict(setting)
    for field in ("signal", "correlation"):
        moved = setting.replace(f"data.{field}", found[f"boundary_{field}"])
        exponent = {"signal": "snr", "correlation": "ratio"}[field]
        assert ls.theory.predict(moved)[exponent] == pytest.approx(10)
    for field in ("data.train_per_class", "net.scale", "data.noise"):
        assert ls.theory.boundary(setting, field) is None
    assert ls.theory.boundary(experiment(signal=0.0), "data.dim") is None
    assert ls.theory.boundary(experiment(signal=0.1), "data.dim") is None  # below 2 K
    assert "Gamma" in str(found)


def test_noise_that_classes_do_not_share_never_hurts():
    own = np.zeros((3, 9, 9))
    for k in range(3):
        own[k, 3 + 2 * k, 3 + 2 * k] = own[k, 4 + 2 * k, 4 + 2 * k] = 1
    setting = by_matrices(experiment(classes=3, sizes=5, signal=0.0, scale=0.01), own)
    found = ls.theory.predict(setting)
    assert found["snr"] == found["ratio"] == math.inf
    assert not ls.theory.conditions(setting).holds


def test_it_says_what_it_is_about():
    good = experiment(dim=50, classes=3, sizes=3)
    assert benign.applies(good)
    changes = {"net.activation": "relu2", "net.classes": 4, "rule.loss": "balanced"}
    for path, value in (changes | {"rule.optimiser": "adam", "data.batch": 4}).items():
        wrong = good.replace(path, value)
        refused(lambda wrong=wrong: ls.theory.conditions(wrong), "ClassNoise or MatrixNoise")
        assert ls.theory.boundary(wrong, "data.signal") is None
    assert not benign.applies(experiment(dim=50, classes=2, sizes=3))
    refused(lambda: benign.exponents(good.replace("data", signals())), "no exponents")
