"""`ls.compare`: paired where a seed is the same draw, and not where it is not."""

import json

import jax
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.nets import AbstractNet
from tests.small import experiment, refused


def test_paired_where_seeds_are_the_same_draws():
    setting = experiment()
    one, two = (ls.run(setting.replace("rule.rate", rate), seeds=6) for rate in (0.3, 0.1))
    found = ls.compare(one, two, of="loss")
    assert found.attrs["paired"] == 1
    gaps = (one.loss - two.loss).isel(step=-1)
    assert float(found.loss) == pytest.approx(float(gaps.mean()), rel=1e-5)
    # Student's t with 5 degrees of freedom.
    reach = 2.570582 * float(gaps.std(ddof=1)) / np.sqrt(6)
    assert float(found.loss_high - found.loss) == pytest.approx(reach, rel=1e-4)
    # Rotated runs are the ambient draws.
    turned = [ls.run(setting, seeds=3, coordinates=how) for how in ("ambient", "rotate")]
    assert ls.compare(*turned).attrs["paired"] == 1


class OwnNet(AbstractNet):
    """Draws other numbers in the other precision."""

    def init(self, key, problem):
        return {"weight": jax.random.normal(key, (problem.frame.rank,))}

    def __call__(self, params, x):
        return x.sum(1) @ params["weight"]


def test_both_precisions_are_one_draw_of_learnscopes_own_parts():
    one, two = (ls.run(experiment(), seeds=3, precision=f"float{n}") for n in (32, 64))
    found = ls.compare(one, two, of="loss")
    assert found.attrs["paired"] == 1
    assert abs(float(found.loss)) < 1e-6 < float(one.loss.isel(step=-1).std())
    own = experiment(net=OwnNet(), probes=[ls.probes.Loss()])
    one, two = (ls.run(own, seeds=3, precision=f"float{n}") for n in (32, 64))
    assert ls.compare(one, two).attrs["paired"] == 0
    assert ls.compare(one, one).attrs["paired"] == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"coordinates": "ambient"}, "drawn in different ways"),
        ({"data.noise": 0.7}, "a different data"),
        ({"net.scale": 0.1}, "a different net"),
    ],
)
def test_not_paired_otherwise(changes: dict, why: str):
    setting = experiment()
    other, settings = setting, {}
    for name, value in changes.items():
        if "." in name:
            other = other.replace(name, value)
        else:
            settings[name] = value
    one, two = ls.run(setting, seeds=4), ls.run(other, seeds=4, **settings)
    found = ls.compare(one, two, of="loss")
    assert found.attrs["paired"] == 0 and why in found.attrs["why"]
    last = [result.loss.isel(step=-1) for result in (one, two)]
    error = np.sqrt(sum(float(v.var(ddof=1)) / 4 for v in last))
    assert float(found.loss_high - found.loss) > 1.9 * error  # at least the normal quantile


def test_arms_of_stacked_results_are_compared_one_by_one():
    def stacked(arm, noise):
        data = ls.run(experiment(data={"noise": noise}), seeds=3, progress=False)
        texts = {name: json.dumps({arm: data.attrs[name]}) for name in ("experiment", "over")}
        return data.assign_attrs(texts)

    one, loud, named = (stacked(*given) for given in (("one", 0.3), ("one", 0.5), ("other", 0.3)))
    assert ls.compare(one, one).attrs["paired"] == 1
    for other, why in ((loud, "a different data"), (named, "different arms")):
        found = ls.compare(one, other)
        assert found.attrs["paired"] == 0 and why in found.attrs["why"]


def test_no_draw_and_no_value_is_left_out_in_silence():
    """A diverged draw makes the difference NaN; a value without a partner is an error."""
    setting = experiment()
    both = ([0.1, 0.3], [0.3, 0.1])
    one, two = (ls.run(setting, {"rule.rate": rates}, seeds=4) for rates in both)
    lost = one.copy(deep=True)
    lost.loss[{"rate": 0, "seed": 1}] = np.nan
    own = two.assign_attrs(draw="other")
    for other in (two, own):  # paired, and not
        found = ls.compare(lost, other, of="loss")
        assert np.isnan([found[name][0] for name in ("loss", "loss_low", "loss_high")]).all()
        assert np.isfinite(found.loss[1])
    apart = one.assign_coords(rate=[0.1, 0.2])
    refused(lambda: ls.compare(one, apart), "rate = [0.1 0.3] here and [0.1 0.2] there")
    refused(lambda: ls.compare(one, one.isel(rate=[0])), "select what both have")


def test_runs_of_different_lengths_are_compared_at_their_own_ends():
    over = {"steps": [2, 5]}
    one, two = (ls.run(experiment().replace("rule.rate", rate), over, seeds=3) for rate in (1, 2))
    found = ls.compare(one, two, of="loss")
    for i, step in enumerate(over["steps"]):
        gap = (one.loss[i] - two.loss[i]).sel(step=step)
        assert float(found.loss[i]) == pytest.approx(float(gap.mean()), rel=1e-5)
        assert float(one.learnscope.final.loss[i, 0]) == float(one.loss[i, 0].sel(step=step))


def test_what_cannot_be_compared():
    result = ls.run(experiment(), seeds=2)
    refused(lambda: ls.compare(result, 3), "it must be a result of run")
    refused(lambda: ls.compare(result, result, of="los"), "both results record")


def test_numbers_from_elsewhere(tmp_path):
    """Welch's interval against a CSV file, by hand; what the file lacks is said."""
    setting = experiment()
    ours = ls.run(setting, over={"rule.rate": [0.1, 0.3]}, seeds=3)
    last = ours.loss.isel(step=-1)
    theirs = {(rate, seed): 1.0 + rate + 0.1 * seed for rate in (0.1, 0.3) for seed in (7, 8, 9)}
    file = tmp_path / "mine.csv"

    def write(rows, head="rate,seed,step,loss"):
        file.write_text("\n".join([head, *rows]))
        return file

    rows = [f"{rate},{seed},1,99\n{rate},{seed},5,{v}" for (rate, seed), v in theirs.items()]
    found = ls.compare(ours, write(rows))
    assert found.attrs["paired"] == 0 and "mine.csv" in found.attrs["why"]
    expected = last.mean("seed").values - [1.1 + 0.8, 1.3 + 0.8]
    assert found.loss.values == pytest.approx(expected, rel=1e-6)
    a, b = last.sel(rate=0.1).var(ddof=1).item() / 3, 0.1**2 / 3
    freedom = (a + b) ** 2 / (a**2 / 2 + b**2 / 2)
    reach = stats.t(freedom).ppf(0.975) * (a + b) ** 0.5
    assert (found.loss_high - found.loss).values[0] == pytest.approx(reach, rel=1e-4)
    wrong = {
        "rate = 0.1, 0.3": (rows[:3],),
        "every combination": (rows[:4],),
        "several rows": (rows + rows[:1],),
        "column 'seed'": (["1,2"], "rate,loss"),
        "numbers only": (["0.1,1,1,good"],),
    }
    for words, given in wrong.items():
        write(*given)
        refused(lambda: ls.compare(ours, file), words)
    refused(lambda: ls.compare(ours, tmp_path / "none.csv"), "cannot be read")
