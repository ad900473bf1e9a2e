"""The study of class-dependent noise: its quantities on made-up data, and its smallest scale."""

import math

import numpy as np
import pytest
import xarray as xr
from scipy.special import ndtr

from learnscope.papers import get
from learnscope.papers.benign import quantities as of
from learnscope.papers.benign import theory
from learnscope.papers.benign.experiments import DIMS, READINGS, SMALL_SIZE, SNRS, sweeps, theorem
from tests.papers.test_studies import attributes, check_all, check_nulls, repeated, smoke

BENIGN = get("benign")


@pytest.mark.slow  # all sweeps, if small: compiling them takes more than a minute
def test_figures_are_drawn_and_claims_found():
    check_all(BENIGN, smoke(BENIGN))


def test_a_small_figure_3_is_told_from_its_nulls():
    data = smoke(BENIGN, ["figure3a"])
    check_nulls(BENIGN, data)
    found = {e.claim.id: e.finding for e in BENIGN.ledger({"figure3a": repeated(data["figure3a"])})}
    assert found["figure3a_signal_no 1/m"].verdict == "reproduced"
    assert found["figure3a_fitted_literal"].verdict == "differs"


def test_readings_differ_in_the_rate_alone():
    literal, unscaled = (arm.experiment for arm in sweeps("laptop")["figure3a"].arms)
    assert literal.replace("rule.rate", 5.0) == unscaled
    assert [float(arm.rule.rate) for arm in (literal, unscaled)] == list(READINGS.values())


@pytest.mark.parametrize("start", ["condition", "small"])
@pytest.mark.parametrize("dim", DIMS)
def test_the_theorem_is_run_where_all_of_condition_1_but_one_item_holds(dim, start):
    for snr in SNRS:
        setting = theorem(dim, snr, start)
        assert theory.predict(setting)["snr"] == pytest.approx(snr)
        failing = [each.name for each in theory.conditions(setting) if not each.holds]
        assert failing == ["width, initial weights"]


def strengths(error, seeds=12):
    """A dataset of the theorem's sweep, from errors by SNR term."""
    table = 1 - np.asarray(error)[None, None, :, None, None] * np.ones((2, 2, 1, seeds, 1))
    coords = {"start": ["condition", "small"], "dim": DIMS}
    coords |= {"signal": (np.array(SNRS) / SMALL_SIZE) ** 0.25, "step": [9]}
    dims = ("start", "dim", "signal", "seed", "step")
    return xr.Dataset({"test_accuracy": (dims, table)}, coords)


def test_exponents_are_those_of_known_laws():
    root = np.sqrt(SNRS)
    gauss = strengths(ndtr(-0.7 * root))
    np.testing.assert_allclose(of.DEVIATE_EXPONENT.read({"x": gauss}), 0.5, rtol=1e-12)
    assert of.DEVIATE_EXPONENT.read({"x": of.SLOWER.apply(gauss)}).max() < 0.4
    edge = of.EDGE_OVER_NOISE
    np.testing.assert_allclose(edge.slope("dim", log="xy").read({"x": gauss}), 0.25, atol=1e-6)
    assert abs(edge.slope("dim", log="xy").read({"x": of.SHIFTED.apply(gauss)}) - 0.25).min() > 0.02


@pytest.mark.parametrize(("law", "best"), [("exponential", 0), ("power", 1)])
def test_the_misfit_knows_its_form(law, best):
    ratio = np.array([1.0, 4.0, 16.0, 64.0])
    error = 0.4 * (np.exp(-ratio / 20) if law == "exponential" else ratio**-0.5)
    table = (1 - error)[None, :, None, None, None] * np.ones((1, 1, 1, 12, 1))
    dims = ("share", "correlation", "class", "seed", "step")
    data = {"x": xr.Dataset({"long_tail_accuracy": (dims, table)},
                            {"share": ["0.5"], "correlation": ratio, "step": [1]})}  # fmt: skip
    fits = [float(of.misfit(form).read(data).max()) for form in (lambda x: x, np.log)]
    assert fits[best] < 1e-10 < 0.1 < fits[1 - best]


def claimed(id, **datasets):
    (claim,) = (claim for claim in BENIGN.claims if claim.id == id)
    return claim.find(datasets)


def tails(accuracy, ratios, sweep, **more):
    """A dataset of accuracies on long tails, by share and Γ; untrained networks have 0.6."""
    table = np.asarray(accuracy)[:, :, None, None, None] * np.ones((1, 1, 2, 12, 1))
    table = table + 1e-4 * np.arange(12)[:, None]
    dims = ("share", "correlation", "class", "seed", "step")
    coords = {"share": more.pop("shares"), "correlation": ratios, "step": [1]}
    data = {"long_tail_accuracy": (dims, table), "long_tail_untrained": (dims, 0 * table + 0.6)}
    data |= {name: (("share", "correlation", "seed", "step"), value + 0 * table[:, :, 0])
             for name, value in more.items()}  # fmt: skip
    return xr.Dataset(data, coords, attributes(sweeps("laptop")[sweep]))


def test_tails_are_judged_where_the_ratio_is_large():
    ratios = [1.0, 2.0, 4.0, 16.0, 128.0, 1400.0]
    dip = [0.9, 0.5, 0.6, 0.8, 0.9, 0.99]
    data = tails([dip, dip], ratios, "tail", shares=["0.2", "0.05"], test_accuracy=0.2)
    assert claimed("tail_0.05", tail=data).verdict == "reproduced"
    assert claimed("selection", tail=data).verdict == "reproduced"
    late = tails([dip[::-1]] * 2, ratios, "tail", shares=["0.2", "0.05"], test_accuracy=0.2)
    assert claimed("tail_0.05", tail=late).verdict == "differs"


def test_longer_tails_are_compared_by_logarithms():
    """From 0.4 to 0.3 is less than from 0.1 to 0.01, though accuracies gain more."""
    error = np.array([[0.4, 0.28, 0.2, 0.14], [0.1, 0.01, 0.008, 0.006]])
    data = tails(1 - error, [1.0, 4.0, 16.0, 64.0], "blocks", shares=["0.5", "0.1"])
    assert claimed("tail_length", blocks=data).verdict == "reproduced"
    ranked = data.assign(long_tail_untrained=data.long_tail_accuracy)  # without any training
    assert claimed("tail_length", blocks=ranked).verdict != "reproduced"
    form = claimed("ratio_form", blocks=data)
    assert form.verdict == "reproduced" and "error exp(-Γ/20) / 2: differs" in form.null


def test_lemma_4_is_not_judged_without_what_it_rests_on():
    assert of.initial_margin(xr.Dataset()) < 0.1
    share = np.zeros((2, 2, 36, 1))
    data = xr.Dataset({"active_share_least": (("start", "dim", "seed", "step"), share)},
                      {"start": ["condition", "small"], "dim": DIMS, "step": [1]})  # fmt: skip
    assert claimed("lemma4", lemmas=data).verdict == "inconclusive"
    (limit,) = (each for each in BENIGN.claims if each.id == "statement2a_condition")
    assert limit.scope.startswith("reading") and "without the Ω" in limit.scope


def test_stages_by_hand():
    """Losses that fall by known factors, and a mean loss by its sum."""
    sweep = sweeps("laptop")["strong"]
    setting = sweep.arms[0].experiment
    rate, signal = float(setting.rule.rate), float(setting.data.signal)
    unit = rate * SMALL_SIZE * signal**2 / 900
    step = np.arange(0, 60_001, 100)
    loss = np.exp(-0.3 * unit * step)
    residual = -np.expm1(-loss)[:, None, None] * np.ones((1, 9, 12))
    data = xr.Dataset(
        {"residual": (("step", "sample", "seed"), residual),
         "loss": (("step", "seed"), np.full((601, 12), 0.4))}, {"step": step}, attributes(sweep),
    )  # fmt: skip
    np.testing.assert_allclose(of.STAGE_1.read({"x": data}), 0.3, rtol=1e-9)
    start = 300 * float(setting.net.scale) ** 2 * 1e6
    goal = 300 * (2.5 * math.log(80) / signal) ** 2
    bound = (start + goal) / (rate * 60_000) + 0.05
    np.testing.assert_allclose(of.STAGE_2.read({"x": data}), 0.4 / bound, rtol=1e-9)
    assert bound < math.log(3)  # an untrained network does not satisfy it


def test_sums_of_residuals_and_activations_by_class():
    values = np.random.default_rng(0).random((5, 6))
    data = xr.Dataset({"residual": (("step", "sample"), values)}, {"step": np.arange(5)})
    total = (values[1:] + values[:-1]).sum(0) / 2
    right = np.linalg.norm(total.reshape(3, 2), axis=1)
    np.testing.assert_allclose(of.residual_sums(data), right, rtol=1e-12)
    table = np.array([[4.0, 1, 2], [1, 9, 3], [0, 5, 6]])
    least = xr.DataArray(table[:, :, None, None], dims=("neurons_of", "noise_of", "seed", "step"))
    data = xr.Dataset({"activation_least": least, "activation_most": least + 1})
    np.testing.assert_allclose(of.OWN_TO_OTHER.read({"x": data}), 1.0)  # 4/3, 9/4, 6/6
