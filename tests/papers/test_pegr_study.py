"""The study's ledger says what was measured, and changes when the update is wrong."""

import math

import jax
import numpy as np
import pytest
import xarray as xr

from learnscope.papers import get
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import rounding
from learnscope.papers.pegr import theory as pegr
from learnscope.rules import examples
from tests.papers.test_studies import check_figures, check_nulls, repeated

# What three seeds show without the 1/m, taken for 36.
NO_MEAN = {f"{name}.no_mean": "reproduced"
           for name in ("losses", "weak-signal", "strong-signal", "weak-noise")}  # fmt: skip
NO_MEAN |= {"others.no_mean": "reproduced", "accuracy.no_mean.whole": "reproduced"}
NO_MEAN |= {"accuracy.no_mean": "differs"}


def run(name: str) -> xr.Dataset:
    """A sweep at smoke scale."""
    return get("pegr").sweeps("smoke")[name].run(progress=False)


@pytest.fixture(scope="module")
def no_mean() -> xr.Dataset:
    return run("no_mean")


@pytest.fixture(scope="module")
def lemmas() -> xr.Dataset:
    return run("lemmas")


def verdicts(data: xr.Dataset) -> dict[str, str]:
    """The verdicts of the no-1/m reading."""
    ledger = get("pegr").ledger({"no_mean": repeated(data)})
    return {e.claim.id: e.finding.verdict for e in ledger if e.claim.id in NO_MEAN}


def test_the_no_mean_reading_gives_the_ledger_its_verdicts(no_mean):
    assert verdicts(no_mean) == NO_MEAN


@pytest.mark.parametrize("factor", [pytest.param(-1.0, id="sign flipped", marks=pytest.mark.slow),
                                    pytest.param(0.5, id="factor 2 dropped")])  # fmt: skip
def test_a_wrong_update_changes_the_ledger(monkeypatch, factor):
    right = examples._slopes

    def wrong(net, rest, seen, own, batch, loss, weight):
        return right(net, rest, seen, own, batch, loss, factor * weight)

    monkeypatch.setattr(examples, "_slopes", wrong)
    jax.clear_caches()
    found = verdicts(run("no_mean"))
    jax.clear_caches()
    assert found != NO_MEAN
    assert found["accuracy.no_mean.whole"] == "differs"


def test_every_numbered_statement_of_the_paper_is_listed():
    places = " ".join(claim.where for claim in get("pegr").claims)
    for number in range(1, 7):
        assert f"Figure {number}" in places
    numbers = ("Theorem 3.2", "Theorem 3.3", "Remark 3.4", "Proposition 5.4", "Lemma 5.5")
    numbers += ("Lemma 5.1", "Lemma 5.3", "Lemma 5.8", "Equation (5.2)", "Section 2, ReLU^q")
    for statement in (*numbers, "Proposition 5.6", "Proposition 5.7", "Section 5.1", "Section 5.4"):
        assert statement in places


def curves(rules, steps, **values):
    """A dataset of 36 alike seeds, with one value for every rule and step of each variable."""
    dims, seeds = ("rule", "step"), np.zeros(36)
    made = {name: (dims, np.array(table, float)) for name, table in values.items()}
    counted = {"experiment": '{"": "[data]\\ntest = 50000\\n"}'}  # what an accuracy is of
    data = xr.Dataset(made, {"rule": list(rules), "step": list(steps)})
    return (data + xr.DataArray(seeds, {"seed": range(36)}, ("seed",))).assign_attrs(counted)


def verdict(name, data):
    claim = next(claim for claim in get("pegr").claims if claim.id == name)
    return claim.judge({claim.needs[0]: data}).verdict


def test_what_increases_need_not_double_and_must_not_fall():
    for end, found in ((1.5, "reproduced"), (1.0, "differs"), (0.9, "differs")):
        data = curves(["PEGR", "FGR", "standard"], [0, 1500], noise_memorisation=[[1, end]] * 3)
        assert verdict("weak-noise.literal", data.expand_dims(noise=[0.1])) == found


def test_a_strong_signal_is_kept_if_it_grows_as_without_a_penalty():
    for ends, found in (((9, 9.5), "reproduced"), ((5, 9.5), "differs"), ((1, 1), "differs")):
        rows = [[1, ends[0]], [1, ends[1]], [1, ends[1]]]
        data = curves(["PEGR", "FGR", "standard"], [0, 1500], signal_learning=rows)
        assert verdict("strong-signal.literal", data.expand_dims(noise=[0.1])) == found


def test_a_signal_that_stands_still_is_not_let_grow():
    """Remark 3.4: standard training's own signal stands still, so it is no yardstick."""
    free = math.exp(10_000 * ex.THEOREM_RATE / (2 * ex.THEOREM["width"]))
    for grown, noise, found in ((free, 1e-9, "reproduced"), (1.0, 1e-9, "differs"),
                                (free, 1.0, "differs")):  # fmt: skip
        rows = [[1, 1, grown], [1, 1, 1.03]]
        data = curves([ex.UNTIL[1], "standard"], [0, 2000, 12000], signal_learning=rows,
                      noise_memorisation=[[1, noise, noise], [1, 9, 9]])  # fmt: skip
        assert verdict("remark-3.4", data) == found


def test_a_loss_that_has_stopped_above_its_goal_differs():
    """One that still falls in the last quarter tells nothing; one that rose again differs."""
    for losses, found in (([0.7, 0.5, 0.3, 0.2, 0.05], "reproduced"), ([0.7, 0.5, 0.5, 0.5, 0.5],
                          "differs"), ([0.7, 0.6, 0.5, 0.4, 0.3], "inconclusive"),
                          ([0.7, 0.2, 0.2, 0.3, 0.5], "differs")):  # fmt: skip
        data = curves(["standard"], range(5), loss=[losses], gradient_norm=[[0.01] * 5])
        assert verdict("theorem-3.3.1", data) == found


def test_a_network_without_coefficients_meets_no_proposition_on_them():
    """Proposition 5.4 and what Proposition 5.6 says of rho: all coefficients 0."""
    steps = [0, ex.theorem_closing_time(), ex.THEOREM_STEPS]
    rules = [*ex.UNTIL, "standard"]
    data = curves(rules, steps, loss=[[0.7, 0.7, 0.01]] * 3, gradient_norm=[[0.1, 0.1, 0.01]] * 3,
                  gamma=[[0, 0.1, 3]] * 2 + [[0, 0, 0.1]], rho_underbar=[[0, -1e-9, -1e-9]] * 3,
                  rho_bar=[[0, 0, 1e-9]] * 2 + [[0, 1, 3]])  # fmt: skip
    data = data.expand_dims(filter=[0], sample=[0])
    claims = {claim.id: claim for claim in get("pegr").claims}
    for id in ("proposition-5.4", "proposition-5.6.rho"):
        assert claims[id].find({"theorem": data}).verdict == "reproduced"
        nothing = data.assign(
            {name: 0 * data[name] for name in ("gamma", "rho_bar", "rho_underbar")}
        )
        assert claims[id].find({"theorem": nothing}).verdict != "reproduced"


def test_speeds_of_suppression_are_told_apart():
    """Powers 2 and 4 of the noise for growth and suppression; FGR is n times slower."""
    noise = np.array([1.0, 2.0, 4.0, 8.0])

    def early(power, slower):
        taken = 0.01 * noise**power
        rows = np.stack([noise**2 - taken / slower, noise**2, noise**2 - taken])
        end = xr.DataArray(rows, {"rule": ["FGR", "standard", "PEGR"], "noise": noise},
                           ("rule", "noise"))  # fmt: skip
        over = end.expand_dims(seed=range(12), step=[0, 1], filter=[0], sample=[0])
        return xr.Dataset({"rho_bar": over, "noise_memorisation": 0 * over[..., 0, 0, :, :] + 1})

    for power, slower, found in (
        (4, 26, ["reproduced"] * 3),
        (3, 1, ["reproduced", "differs", "differs"]),
    ):
        names = ("section-5.1.noise", "section-5.1.suppression", "section-5.4.full")
        assert [verdict(name, early(power, slower)) for name in names] == found


def test_update_rules_hold_once_their_misprints_are_corrected(lemmas):
    """The verdicts follow the steps taken: a step that is off by 10^-5 of itself changes them."""
    data = repeated(lemmas)
    for lemma in ("lemma-5.1", "lemma-5.3", "lemma-5.8"):
        assert verdict(lemma, data) == "differs"
        assert verdict(f"{lemma}.corrected", data) == "reproduced"
    assert verdict("equation-5.2", data) == verdict("section-5.1.variance", data) == "reproduced"
    names = {"lemma-5.1": "on_noise", "lemma-5.3": "gamma", "lemma-5.8": "rho_bar"}
    for lemma, name in names.items():
        start = data[name].isel(step=0)
        off = data.assign({name: start + (1 + 1e-5) * (data[name] - start)})
        assert verdict(f"{lemma}.corrected", off) == "differs"


def test_relu_cubed_is_run_where_condition_3_1_holds():
    sizes = [ex.POWER[name] for name in ("dim", "train", "width", "signal")]
    noise = ex.POWER["level"] / math.sqrt(ex.POWER["dim"])
    assert all(
        row.holds for row in pegr.condition_3_1(*sizes, noise, ex.POWER_SCALE, ex.POWER_RATE)
    )
    assert ex.power_closing_time() < ex.POWER_STEPS
    weight = pegr.critical_weight_of_power(noise, sizes[0], 23, ex.POWER_SCALE, 2.0)
    assert weight == pytest.approx(pegr.critical_weight(noise, sizes[0], 23))


@pytest.mark.parametrize(("accuracy", "found"), [(0.999, "reproduced"), (0.6, "differs")])
def test_relu_cubed_must_learn_with_the_penalty_and_fail_without(accuracy, found):
    for rule, id in (("PEGR", "relu-q"), (ex.POWER_RULE, "relu-q.weight")):
        tables = {"loss": [[0.7, 0.01]] * 2, "test_accuracy": [[0.5, accuracy], [0.5, 0.5]]}
        assert verdict(id, curves([rule, "standard"], [0, 1], **tables)) == found
        tables["test_accuracy"][1][1] = 0.9
        assert verdict(id, curves([rule, "standard"], [0, 1], **tables)) == "differs"


def check_arithmetic(data):
    """The span in double precision is seventy digits. Noise stays suppressed or grows back, and
    weights in single precision show the same residue of rounding both times."""
    noise = data.noise_memorisation.isel(seed=0)
    exact = noise.sel(arithmetic=rounding.EXACT)
    span = noise.sel(arithmetic="span, float64")
    # Off by 3e-14 as users' runs are compiled, by 3e-9 without optimisations, as in most tests.
    early = {"step": slice(0, 300)}
    np.testing.assert_allclose(span.sel(early), exact.sel(early), rtol=1e-8)
    late = {"off": rounding.LATE}
    np.testing.assert_allclose(span.sel(late), exact.sel(late), rtol=1e-8)
    # The filter that grows back last was far below the others before: it has five digits.
    np.testing.assert_allclose(span, exact, rtol=1e-5)
    assert (exact.sel(off=rounding.LATE, step=slice(rounding.LATE, None)) < 1e-45).all()
    assert exact.sel(off=rounding.EARLY).isel(step=-1) > 1
    single = noise.sel(arithmetic="weights, float32")
    late, early = (float(single.sel(off=until).isel(step=-1)) for until in rounding.UNTIL)
    assert 1e-11 < late == early < 1e-8
    for kind in ("weights, float32", "weights, float64"):
        found = noise.sel(arithmetic=kind, step=0)
        np.testing.assert_allclose(found, exact.sel(step=0), rtol=1e-5)  # one draw


def test_figures_are_drawn(no_mean, lemmas):
    """Of every sweep but those on images; most are so short that only their shape is right."""
    study, short = get("pegr"), {"theorem": 160, "phase": 20}
    datasets = {"no_mean": no_mean, "lemmas": lemmas}
    for name, sweep in study.sweeps("smoke").items():
        if name == "arithmetic":
            datasets[name] = sweep.run()
            check_arithmetic(datasets[name])
        elif name not in datasets and not name.startswith("mnist"):
            steps = short.get(name, 30)
            changes = {"data.test": [20], "steps": [steps], "record.every": [steps // 10]}
            datasets[name] = sweep.override(changes, seeds=2).run(progress=False)
    check_figures(study, datasets)
    bounds = ("lemma-5.5", "proposition-5.4", "proposition-5.6.1", "proposition-5.6.2")
    bounds += ("section-5.1.rates",)
    check_nulls(study, datasets, undecided=bounds)  # nothing is learnt in so few steps


def test_scales_and_readings_differ_only_where_they_say():
    sweeps = get("pegr").sweeps("laptop")
    literal, no_mean = sweeps["literal"].arms[0], sweeps["no_mean"].arms[0]
    assert literal.experiment.replace("net.second_layer", "sum") == no_mean.experiment
    assert literal.axes == no_mean.axes
    assert literal.experiment.data.dim == ex.DIM == 400
    assert (literal.experiment.steps, literal.experiment.rule.until) == (1500, 800)
    (arm,), (laptop,) = get("pegr").sweeps("paper")["phase"].arms, sweeps["phase"].arms
    assert all(full.size > some.size for full, some in zip(arm.axes, laptop.axes, strict=True))


def test_overrides_follow_zipped_fields():
    sweep = get("pegr").sweeps("smoke")["working"]
    changed = sweep.override({"data.noise": [0.5, 1.4], "rule.weight": [0.02]})
    for arm in changed.arms:
        fields = arm.axes[0].fields
        assert fields["data.noise"] == [0.5, 1.4]
        assert fields["net.scale"] == [0.01, 0.001]
    assert changed.arms[0].axes[0].fields["rule.weight"] == [0.02, 0.02]
    assert "rule.weight" not in changed.arms[2].axes[0].fields
