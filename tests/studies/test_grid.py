"""The cross-paper grid: nothing left out, reasons that hold, measures that are right."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import AbstractData, Problem, Samples
from learnscope.part import kinds
from learnscope.rules import AbstractRule, State
from learnscope.studies import grid
from learnscope.views.grid import grid_cells, grid_figure, grid_markdown, reasons, told_apart

KEY = jax.random.key(0)
COLUMNS = {name: make(True) for name, make in grid.COLUMNS.items()}


def own(base):
    return {name for name, kind in kinds(base).items() if kind.__module__.startswith("learnscope.")}


def test_every_rule_is_a_row():
    missing = own(AbstractRule) - {row.kind.__name__ for row in grid.ROWS.values()}
    assert not missing, f"add {missing} to ROWS of learnscope/studies/grid/rows.py"
    assert set(grid.ROWS) >= own(AbstractRule)


def test_every_data_model_is_a_column_or_a_bridge():
    missing = own(AbstractData) - set(grid.COLUMNS) - set(grid.BRIDGES)
    assert not missing, f"add {missing} to COLUMNS of learnscope/studies/grid/columns.py"
    assert not set(grid.COLUMNS) & set(grid.BRIDGES)
    for name, column in COLUMNS.items():
        assert type(column.data).__name__ == name


def test_every_pair_is_an_experiment_or_has_a_reason():
    counted = {"experiment": 0, "reason": 0}
    for row in grid.ROWS.values():
        for column in COLUMNS.values():
            why = grid.reason(row, column)
            if why is None:
                made = grid.experiment(row, column, smoke=True)
                assert type(made.rule) is row.kind
                assert made.data.dim == column.data.dim
            else:
                assert type(column.data).__name__ in why or "StrongWeak alone" in why
            counted["experiment" if why is None else "reason"] += 1
    assert counted == {"experiment": 194, "reason": 34}


def test_what_is_said_of_the_columns_is_so():
    for name, column in COLUMNS.items():
        problem = jax.eval_shape(lambda data=column.data: data.sample(KEY))
        assert (problem.train.x.ndim == 3) == column.patches, name
        assert (problem.validation is not None) == column.tasks, name
        assert column.fresh or problem.train.size == column.train, name
        assert column.truth is None or column.truth in problem.directions, name


def test_powers_are_those_of_the_inputs():
    """E |x|^2 = |u|^2 + mean |A_k|_F^2 from the matrices themselves."""
    own, other = COLUMNS["ClassNoise"], COLUMNS["MatrixNoise"]
    for column, matrices in ((own, own.data.matrices()), (other, other.data.factors)):
        assert column.power == pytest.approx(1 + (matrices**2).sum() / 2)
    assert COLUMNS["Pruned"].power == own.power


# ------------------------------------------------------------------------ reasons hold


def refuses(rule, column, data=None):
    made = grid.ROWS[rule]
    net, rule = made.net(COLUMNS[column]), made.rule(COLUMNS[column], smoke=True)
    data = COLUMNS[column].data if data is None else data

    def begin():
        problem = data.sample(KEY)
        return rule.step(rule.init(net, problem, KEY), problem, KEY).params

    with pytest.raises(ls.BadInput) as said:
        eqx.filter_eval_shape(begin)
    return str(said.value)


def test_reasons_are_what_the_rules_themselves_say():
    for column in ("SignalNoise", "Patterns"):
        viewed = ls.data.Viewed(COLUMNS[column].data, COLUMNS[column].pairs)
        for rule in ("PopulationDescent", "PopulationFlow"):
            assert "StrongWeak" in refuses(rule, column, viewed)
    for rule in ("Fomaml", "LinearCentroid"):
        assert "needs a problem with tasks" in refuses(rule, "StrongWeak")
        dealt = ls.data.Grouped(COLUMNS["StrongWeak"].data, tasks=2)
        assert "fresh ones every step" in refuses(rule, "StrongWeak", dealt)


def test_strong_weak_keeps_no_training_examples():
    """What TwoStep would take for its full batch is what it is tested on."""
    problem = jax.jit(lambda: COLUMNS["StrongWeak"].data.sample(KEY))()
    np.testing.assert_array_equal(problem.train.x, problem.test.x)


def test_linear_tasks_have_inputs_without_structure():
    """Covariance I: no direction, the centroid's included, is more likely to be shared by views."""
    data = COLUMNS["LinearTasks"].data.replace("tasks", 2000)
    x = np.asarray(jax.jit(lambda: data.sample(KEY).train.x)())
    assert np.abs(x.T @ x / len(x) - np.eye(x.shape[1])).max() < 6 * (2 / len(x)) ** 0.5


# --------------------------------------------------------------------- measures are right


def hand_made(weights, start, seed=0):
    """A problem of patches in R^6 whose truth is two dependent directions in a plane."""
    rng = np.random.default_rng(seed)
    truth = np.array([[1.0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [2, 1, 0, 0, 0, 0]])
    sets = [rng.normal(size=(n, 3, 6)) for n in (4, 5, 7)]
    train, held, test = (Samples(jnp.asarray(x), jnp.ones(len(x))) for x in sets)
    problem = Problem(train, test, {"truth": jnp.asarray(truth)}, ls.data.Frame.of_dimension(6),
                      validation=held)  # fmt: skip
    params = {"filters": jnp.asarray(weights)}
    begin = {"filters": jnp.asarray(start)}
    net = ls.nets.PatchCNN(width=1)
    return State(net, params, begin, None, jnp.zeros((), int), "logistic"), problem, sets


def by_numpy(weights, sets):
    """R_s and R_xi by loops over examples, patches and filters."""
    found = []
    for x in sets:
        signal = noise = 0.0
        for example in x:
            for patch in example:
                part = np.where(np.arange(6) < 2, patch, 0)
                for w in weights:
                    signal += (w @ part) ** 2
                    noise += (w @ (patch - part)) ** 2
        found.append((signal / len(x), noise / len(x)))
    half = max(found[:2], key=lambda pair: pair[1])
    total = sum(half)
    return half[0] / total, max(0.0, half[1] - found[2][1]) / total


def test_responses_are_those_of_their_definition(float64):
    rng = np.random.default_rng(1)
    for seed in range(4):
        start = rng.normal(size=(2, 6))
        weights = rng.normal(size=(2, 6))
        state, problem, sets = hand_made(weights, start, seed)
        found = ls.probes.LearntResponse("truth")(state, problem)
        learnt = [w - (w @ s) / (s @ s) * s for w, s in zip(weights, start, strict=True)]
        names = ("signal_learnt", "noise_memorised"), ("untrained_signal", "untrained_noise")
        for rows, pair in zip((learnt, start), names, strict=True):
            np.testing.assert_allclose([found[n] for n in pair], by_numpy(rows, sets), atol=1e-12)
        assert 0 < float(found["signal_learnt"]) < 1


def test_what_was_not_learnt_and_what_diverged():
    start = np.random.default_rng(2).normal(size=(2, 6)).astype("float32")
    probe = ls.probes.LearntResponse("truth")
    for weights in (start, 0.3 * start, start * (1 + 1e-6)):  # still, decayed, rounded
        found = probe(*hand_made(weights, start)[:2])
        assert (float(found["signal_learnt"]), float(found["noise_memorised"])) == (0, 0)
    found = probe(*hand_made(start * np.nan, start)[:2])
    assert np.isnan(found["signal_learnt"]) and np.isnan(found["noise_memorised"])
    # Weights along the truth alone learnt signal alone.
    pure = start + np.array([[3.0, -1, 0, 0, 0, 0]], "float32")
    zero = np.zeros_like(start)
    assert float(probe(*hand_made(pure - start, zero)[:2])["signal_learnt"]) == pytest.approx(1)


def test_told_apart_is_a_paired_interval():
    rng = np.random.default_rng(3)
    shared = rng.normal(0.7, 0.2, size=40)
    for gain, apart in ((0.0, False), (0.05, True)):
        trained = shared + gain + rng.normal(0, 0.05, size=40)
        cell = ls.studies.grid.run._empty(["a"], ["b"], 40).isel(rule=0, data=0)
        cell = cell.assign(test_accuracy=("seed", trained))
        cell = cell.assign(untrained_test_accuracy=("seed", shared))
        assert told_apart(cell, "test_accuracy") == apart
    assert not told_apart(cell.isel(seed=[0]), "test_accuracy")


# ------------------------------------------------------------------------- the command


def test_the_command_from_end_to_end(call, tmp_path):
    asked = ("grid", "--scale", "smoke", "--out", "made", "--rule", "GradientDescent", "--rule",
             "PopulationDescent", "--data", "LinearTasks", "--data", "SignalNoise")  # fmt: skip
    code, out, err = call(*asked)
    assert (code, err) == (0, "")
    assert "2/2" in out and "GradientDescent" in out
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        f"grid-part.{end}" for end in ("nc", "md", "json", "csv", "png", "pdf")
    }
    told = json.loads((tmp_path / "made" / "grid-part.json").read_text())
    cells = {(cell["rule"], cell["data"]): cell for cell in told}
    assert len(cells) == 4
    assert "StrongWeak alone" in cells["PopulationDescent", "SignalNoise"]["reason"]
    pair = cells["GradientDescent", "SignalNoise"]
    assert (pair["net"], pair["judged"], pair["seeds"]) == ("PatchCNN", "as it is", 2)
    assert pair["noise_memorised"] > 0.5 > pair["signal_learnt"]
    code, out, err = call(*asked)
    assert (code, err) == (0, "")
    assert out.count("were stored before") == 2


def test_bad_input_gets_one_sentence(call):
    for words, said in {
        ("--rule", "GradientDecent"): "did you mean 'GradientDescent'",
        ("--data", "Grouped"): "unknown data model of the grid 'Grouped'",
        ("--scale", "paper"): "unknown scale 'paper'",
        ("--seeds", "0"): "--seeds",
    }.items():
        code, _, err = call("grid", *words)
        assert (code, err.count("\n")) == (2, 1) and said in err
    with pytest.raises(ls.BadInput, match="seeds = 0"):
        grid.run_grid(seeds=0)


def test_tables_and_figure_of_a_grid_with_everything_in_it():
    """A pair without meaning, one without truth, one that diverged and one that is all there."""
    found = grid.run._empty(["one", "two"], ["a", "b"], 3)
    found.reason.loc["one", "a"] = "it is so"
    for name, value in (("test_accuracy", 0.9), ("untrained_test_accuracy", 0.5)):
        found[name].loc["one", "b"] = value
    found.diverged.loc["two", "a"] = 3
    for measure, value in (("signal_learnt", 0.25), ("noise_memorised", 0.5),
                           ("test_accuracy", 1.0)):  # fmt: skip
        found[measure].loc["two", "b"] = value
    for name in ("untrained_signal", "untrained_noise", "untrained_test_accuracy"):
        found[name].loc["two", "b"] = 0.5
    lines = grid_markdown(found).splitlines()
    assert lines[2] == "| one | × | – / – / .90 |"
    assert lines[3] == "| two | div. / div. / div. | .25 / (.50) / 1 |"
    assert lines[-1] == "- one on a: it is so."
    assert reasons(found) == {"it is so": "one on a"}
    found.reason.loc["two"] = "and so"
    assert reasons(found)["and so"] == "two on a, b"
    found.reason.loc["two"] = ""
    assert grid_cells(found)[1]["test_accuracy_gain"] == pytest.approx(0.4)
    figure = grid_figure(found)
    assert [panel.get_title() for panel in figure.axes] == list(grid.MEASURES.values())
    shown = [text.get_text() for text in figure.axes[2].texts]
    assert sorted(shown) == [".90", "1", "div."]
    assert sorted(text.get_text() for text in figure.axes[0].texts) == [".25", "div.", "–"]


@pytest.mark.slow
def test_the_whole_grid_runs():
    found = grid.run_grid(seeds=1, scale="smoke")
    there = found.reason == ""
    assert found.test_accuracy.notnull().any("seed").where(there, True).all()
    assert int(found.diverged.sum()) == 0
