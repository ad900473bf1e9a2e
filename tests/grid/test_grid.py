"""The cross-paper grid: parts are found, reasons hold, measures are right."""

import contextlib
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope import grid
from learnscope.data import AbstractData, Problem, Samples
from learnscope.grid import columns, rows
from learnscope.grid.tables import grid_cells, grid_html, grid_markdown, reasons, told_apart
from learnscope.part import kinds
from learnscope.rules import AbstractRule, WeightState
from tests.small import quick, refused

KEY = jax.random.key(0)


def test_presets_are_of_parts_that_there_are():
    """Of every data model of the package, as its size and truth cannot be guessed well; those of a
    paper's own folder may do without."""
    own = {n: kind.__module__ for n, kind in kinds(AbstractData).items()
           if kind.__module__.startswith("learnscope")}  # fmt: skip
    shipped = {n for n, module in own.items() if not module.startswith("learnscope.papers.")}
    found = {kind.__name__ for kind in columns._presets(True)}
    assert shipped - {kind.__name__ for kind in columns.NOT_SHOWN} <= found <= set(own)
    assert {*rows.PRESETS, *rows.LEARNS_FROM} <= set(grid.all_rules())
    assert set(grid.all_rules()) >= set(kinds(AbstractRule))


def test_what_a_rule_learns_from_is_found_by_trying():
    for rule, source in (("GradientDescent", "labels"), ("TwoStep", "readout"),
                         ("Pooled", "tasks"), ("LinearCentroid", "centroid")):  # fmt: skip
        assert rows._source(grid.all_rules()[rule]) == source, rule
        assert type(grid.experiment(rule, "TaskFamily", True).rule).__name__ == rule


def test_truths_are_directions_of_the_draws():
    for name in grid.all_data():
        column = grid.column(name, smoke=True)
        assert column.truth is None or column.truth in column.problem.directions, name


def test_powers_are_those_of_the_inputs():
    """E |x|^2 = |u|^2 + mean |A_k|_F^2 from the matrices themselves."""
    own, other = grid.column("ClassNoise", True), grid.column("MatrixNoise", True)
    for column, matrices in ((own, own.data.matrices()), (other, other.data.factors)):
        assert column.power == pytest.approx(1 + (matrices**2).sum() / 2)
    assert grid.column("Pruned", True).power == own.power
    # Of a data model without a preset, read off a draw: |u|^2 + (d - 1) noise^2 within 20 %.
    found = columns._found(ls.data.SignalNoise, True)
    expected = found.data.signal**2 + (found.data.dim - 1) * found.data.noise**2
    assert found.power == pytest.approx(expected, rel=0.2)
    assert (found.truth, found.regression, found.vectors) == ("signal", False, 2)


def test_reasons_are_what_the_parts_say():
    for rule, data, said in (
        ("PopulationDescent", "SignalNoise", "not built: population dynamics need the data model"),
        ("Fomaml", "StrongWeak", "not built: Grouped.data = StrongWeak is not allowed"),
        ("TwoStep", "StrongWeak", "not built: TwoStep needs a data model with training examples"),
        ("Contrastive", "LinearTasks", "meaningless: inputs of LinearTasks are isotropic"),
        ("Contrastive", "MultiIndex", "meaningless: inputs of MultiIndex are isotropic"),
    ):
        assert grid.reason(rule, data, smoke=True).startswith(said), rule
    assert grid.reason("GradientDescent", "StrongWeak", smoke=True) is None


def test_a_part_that_fails_shows_its_error(monkeypatch):
    def fails(*arguments):
        raise ZeroDivisionError("of its own\nand more")

    monkeypatch.setattr(ls.rules.GradientDescent, "step", fails)
    monkeypatch.setattr(rows, "_source", lambda kind: "labels")
    said = grid.reason("GradientDescent", "SignalNoise", smoke=True)
    assert said.startswith("fails: ") and said.endswith("ZeroDivisionError: of its own")


def test_reasons_are_true():
    """What TwoStep would take for its full batch of StrongWeak is what it is tested on; where pairs
    are meaningless, inputs have covariance I: views share no direction more than another."""
    problem = jax.jit(lambda: grid.column("StrongWeak", True).data.sample(KEY))()
    np.testing.assert_array_equal(problem.train.x, problem.test.x)
    for name, field, count in (("LinearTasks", "tasks", 2000), ("MultiIndex", "train", 4000)):
        data = grid.column(name, True).data.replace(field, count)
        x = np.asarray(jax.jit(lambda data=data: data.sample(KEY).train.x)())
        assert np.abs(x.T @ x / len(x) - np.eye(x.shape[1])).max() < 6 * (2 / len(x)) ** 0.5


def test_pairs_share_the_signal_and_no_noise():
    """Columns with a known truth and no views of their own: the difference of two views has no
    component along the truth, and no more noise in common than two examples of a class."""
    for name in ("SignalNoise", "ClassNoise", "XorClusters", "GaussianParity"):
        column = grid.column(name, smoke=True)

        @quick
        def drawn(key, pairs=column.pairs):
            problem = pairs.sample(key)
            return problem, problem.pair(jax.random.key(1))

        problem, (one, other) = jax.device_get(drawn(KEY))
        truth = np.atleast_2d(problem.directions[column.truth])
        np.testing.assert_allclose((one - other) @ truth.T, 0, atol=1e-4)
        basis = np.linalg.qr(truth.T)[0]
        noise = [view - view @ basis @ basis.T for view in (one, other)]
        power = np.mean([(part**2).sum() for part in noise])
        # Of d coordinates, n examples: the correlation of independent noise is 1 / sqrt(n d).
        assert abs((noise[0] * noise[1]).sum() / power) < 0.25, name
        own = np.asarray(problem.train.x)
        mine = np.isclose(one, own).all((1, 2) if own.ndim == 3 else 1)
        assert mine.any() and not mine.all()  # either view may be the example


def test_every_rate_is_tuned_in_the_same_way(monkeypatch):
    """The factor of the highest accuracy on draws of their own; a diverged run counts as 0."""
    seen = {}

    def fake(experiment, over, seeds, coordinates, **settings):
        seen.update(over[0].fields, seeds=seeds)
        values = np.array([[0.5], [0.9], [0.9], [0.6], [np.nan]])
        return xr.Dataset(
            {"test_accuracy": (("factor", "seed", "step"), values[..., None]),
             "diverged_at": (("factor", "seed"), np.where(np.isnan(values), 3.0, np.nan))}
        )  # fmt: skip

    monkeypatch.setattr(grid.run, "run", fake)
    plain = grid.experiment("NonContrastive", "SignalNoise", smoke=True)
    assert grid.run.tuned(plain) == grid.run.FACTORS[1]
    assert min(seen["seeds"]) >= 1000
    for path in ("rate", "head_rate"):
        tried = [getattr(plain.rule, path) * factor for factor in grid.run.FACTORS]
        assert seen[f"rule.{path}"] == pytest.approx(tried)
    # A rule inside a rule has the rates of the column; a rule without rates is not tuned.
    inside = grid.experiment("Averaged", "SignalNoise", smoke=True)
    assert rows.rates(inside.rule) == {"rule.rule.rate": pytest.approx(2 / 98.51)}
    solved = grid.experiment("LinearCentroid", "TaskFamily", smoke=True)
    assert grid.run.tuned(solved) == 1.0


def test_every_rule_has_the_same_budget(monkeypatch):
    """Whatever it learns from; but for the one that is solved, not trained."""
    found = {}
    for source in rows.SOURCES:
        monkeypatch.setattr(rows, "_source", lambda kind, source=source: source)
        for name in grid.all_rules():
            with contextlib.suppress(ls.BadInput):  # it does not learn from that
                found[name, source] = grid.experiment(name, "TaskFamily").steps
    assert {name for name, _ in found} == set(grid.all_rules())
    solved = [steps for (_, source), steps in found.items() if source == "centroid"]
    assert set(solved) == {1} and set(found.values()) == {1, rows.STEPS}
    assert list(found.values()).count(1) == len(solved)


def hand_made(weights, start, seed=0):
    """A problem of patches in R^6 whose truth is two dependent directions in a plane."""
    rng = np.random.default_rng(seed)
    truth = np.array([[1.0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [2, 1, 0, 0, 0, 0]])
    sets = [rng.normal(size=(n, 3, 6)) for n in (4, 5, 7)]
    train, held, test = (Samples(jnp.asarray(x), jnp.ones(len(x))) for x in sets)
    problem = Problem(train, test, {"truth": jnp.asarray(truth)}, ls.data.Frame.of_dimension(6),
                      validation=held)  # fmt: skip
    params, begin = ({"filters": jnp.asarray(w)} for w in (weights, start))
    net = ls.nets.PatchCNN(width=1)
    return (
        WeightState(
            net=net,
            params=params,
            start=begin,
            memory=None,
            step=jnp.zeros((), int),
            loss="logistic",
        ),
        problem,
        sets,
    )


def by_numpy(weights, sets):
    """R_s and R_xi by their definition."""
    found = []
    for x in sets:
        patches = x.reshape(-1, 6)
        powers = [sum((patches[:, part] @ w[part]) ** 2 for w in weights) for part in np.s_[:2, 2:]]
        found.append([power.sum() / len(x) for power in powers])
    half = max(found[:2], key=lambda pair: pair[1])
    return half[0] / sum(half), max(0.0, half[1] - found[2][1]) / sum(half)


@quick
def response(state, problem):
    return ls.probes.LearntResponse("truth")(state, problem)


def test_responses_are_those_of_their_definition(float64):
    rng = np.random.default_rng(1)
    for seed in range(4):
        start, weights = rng.normal(size=(2, 2, 6))
        state, problem, sets = hand_made(weights, start, seed)
        found = response(state, problem)
        learnt = [w - (w @ s) / (s @ s) * s for w, s in zip(weights, start, strict=True)]
        names = ("signal_learnt", "noise_memorised"), ("untrained_signal", "untrained_noise")
        for each, pair in zip((learnt, start), names, strict=True):
            np.testing.assert_allclose([found[n] for n in pair], by_numpy(each, sets), atol=1e-12)
        assert 0 < float(found["signal_learnt"]) < 1


def test_what_was_not_learnt_and_what_diverged():
    start = np.random.default_rng(2).normal(size=(2, 6)).astype("float32")
    for weights in (start, 0.3 * start, start * (1 + 1e-6)):  # still, decayed, rounded
        found = response(*hand_made(weights, start)[:2])
        assert (float(found["signal_learnt"]), float(found["noise_memorised"])) == (0, 0)
    found = response(*hand_made(start * np.nan, start)[:2])
    assert np.isnan(found["signal_learnt"]) and np.isnan(found["noise_memorised"])
    # Weights along the truth alone learnt signal alone.
    pure = start + np.array([[3.0, -1, 0, 0, 0, 0]], "float32")
    zero = np.zeros_like(start)
    assert float(response(*hand_made(pure - start, zero)[:2])["signal_learnt"]) == pytest.approx(1)


def test_told_apart_is_a_paired_interval():
    rng = np.random.default_rng(3)
    shared = rng.normal(0.7, 0.2, size=40)
    for gain, apart in ((0.0, False), (0.05, True)):
        trained = shared + gain + rng.normal(0, 0.05, size=40)
        cell = grid.run._empty(["a"], ["b"], 40).isel(rule=0, data=0)
        cell = cell.assign(test_accuracy=("seed", trained))
        cell = cell.assign(untrained_test_accuracy=("seed", shared))
        assert told_apart(cell, "test_accuracy") == apart
    assert not told_apart(cell.isel(seed=[0]), "test_accuracy")


def test_the_command_from_end_to_end(call, tmp_path):
    asked = ("grid", "--scale", "smoke", "--out", "made", "--rule", "GradientDescent", "--rule",
             "PopulationDescent", "--data", "LinearTasks", "--data", "SignalNoise")  # fmt: skip
    code, out, err = call(*asked)
    assert (code, err) == (0, "")
    assert "2/2" in out and "GradientDescent" in out
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        f"grid-part.{end}" for end in ("nc", "md", "json", "csv", "html")
    }
    told = json.loads((tmp_path / "made" / "grid-part.json").read_text())
    cells = {(cell["rule"], cell["data"]): cell for cell in told}
    assert len(cells) == 4
    assert "StrongWeak" in cells["PopulationDescent", "SignalNoise"]["reason"]
    pair = cells["GradientDescent", "SignalNoise"]
    assert (pair["net"], pair["judged"], pair["seeds"]) == ("PatchCNN", "as it is", 2)
    assert pair["noise_memorised"] > 0.5 > pair["signal_learnt"]
    code, out, err = call(*asked)
    assert (code, err) == (0, "")
    assert out.count("reused ") == 2


def test_bad_input_gets_one_sentence(refuse):
    for words, said in {
        ("--rule", "GradientDecent"): "did you mean 'GradientDescent'",
        ("--data", "Grouped"): "unknown data model of the grid 'Grouped'",
        ("--scale", "paper"): "unknown scale 'paper'",
        ("--seeds", "0"): "--seeds",
    }.items():
        refuse("grid", *words, said=said)
    refused(lambda: grid.run_grid(seeds=0), "seeds = 0")


def test_tables_of_a_grid_with_everything_in_it():
    """A pair that does not fit, one without truth, one that diverged and one that is all there."""
    found = grid.run._empty(["one", "two"], ["a", "b"], 3)
    found.reason.loc["one", "a"] = "meaningless: it is so"
    for name, value in (("test_accuracy", 0.9), ("untrained_test_accuracy", 0.5)):
        found[name].loc["one", "b"] = value
    found.diverged.loc["two", "a"] = 3
    untrained = dict.fromkeys(("untrained_signal", "untrained_noise"), 0.5)
    ended = {"signal_learnt": 0.25, "noise_memorised": 0.5, "test_accuracy": 1.0}
    for name, value in (untrained | ended | {"untrained_test_accuracy": 0.5}).items():
        found[name].loc["two", "b"] = value
    lines = grid_markdown(found).splitlines()
    assert lines[2] == "| one | ∅ | – / – / .90 |"
    assert lines[3] == "| two | div. / div. / div. | .25 / (.50) / 1 |"
    assert lines[-1] == "- one on a: meaningless: it is so."
    assert reasons(found) == {"meaningless: it is so": "one on a"}
    found.reason.loc["two"] = "and so"
    assert reasons(found)["and so"] == "two on a, b"
    found.reason.loc["two"] = ""
    assert grid_cells(found)[1]["test_accuracy_gain"] == pytest.approx(0.4)
    page = grid_html(found)
    assert '<td title="meaningless: it is so">∅</td>' in page
    assert "test accuracy 0.900, untrained 0.500, gain 0.4 [0.4, 0.4]" in page
    assert page.count("<td ") == 4 and page.count("div.</span>") == 3


@pytest.mark.slow
def test_the_whole_grid_runs():
    found = grid.run_grid(seeds=1, scale="smoke")
    assert found.test_accuracy.notnull().any("seed").where(found.reason == "", True).all()
    assert int(found.diverged.sum()) == 0
