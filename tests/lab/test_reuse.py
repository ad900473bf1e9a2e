"""Sweeps with more seeds and values: what relatives have stored is taken, the rest computed."""

import pytest

import learnscope as ls
from learnscope.probes import AbstractProbe, Output
from tests.lab.stored import assert_computed, change, chunks, cut, tree
from tests.small import DESCENT, NOISE, PENALTY, experiment, run


@pytest.mark.parametrize(
    ("over", "seeds", "new"),
    [
        (NOISE, 5, 3 * 2),
        (NOISE, [2, 7, 0], 3 * 1),
        ({"data.noise": [0.1, 0.15, 0.2, 0.3, 0.4]}, 3, 2 * 3),
        ({"data.noise": [0.5, 0.4, 0.1]}, 4, 4 + 1 + 1),
        ({"data.noise": [0.4, 0.1]}, [2, 0], 0),
        ({"data.noise": [0.25]}, 2, 2),
    ],
    ids=["seeds", "other seeds", "between", "both", "fewer", "none shared"],
)
def test_only_new_runs_are_computed(blocks, over, seeds, new):
    folder, name = blocks
    before = tree(folder / name)
    assert_computed(new, folder, over, seeds)
    assert tree(folder / name) == before


def test_only_new_rules_are_computed(tmp_path):
    over = {"rule": [DESCENT, PENALTY], "data.noise": [0.1, 0.4]}
    run(experiment(), over, seeds=2, store=tmp_path)
    momentum = ls.rules.GradientDescent(rate=0.3, options={"momentum": 0.9})
    over = {"rule": [PENALTY, momentum], "data.noise": [0.4, 0.2, 0.1]}
    assert_computed(2 + 3 * 2, tmp_path, over, 2)


def test_stored_runs_have_the_names_that_are_asked_for(tmp_path):
    for name in ("first", "renamed"):
        over = {"rule": {name: DESCENT, "penalty": PENALTY}}
        found = run(experiment(), over, seeds=1, store=tmp_path)
        assert found.rule.values.tolist() == [name, "penalty"]
        assert name in found.attrs["over"]


def test_several_relatives_are_put_together(tmp_path):
    for noise in ([0.1, 0.2], [0.2, 0.4]):
        run(experiment(), {"data.noise": noise}, seeds=2, store=tmp_path)
    assert_computed(0, tmp_path, NOISE, 2)


def test_an_unfinished_relative_gives_what_it_has(blocks):
    folder, name = blocks
    (folder / name / "seconds" / "c" / "1" / "0").unlink()
    assert_computed(3 + 3, folder, NOISE, 4)


class _Known(AbstractProbe):
    outputs = {"known": Output("a name like any other")}  # noqa: RUF012

    def __call__(self, state, problem):
        return state(problem.train.x).mean()


def test_an_output_may_be_named_known(tmp_path):
    setting = experiment(probes=[_Known()])
    run(setting, NOISE, seeds=1, store=tmp_path)
    assert_computed(3, tmp_path, NOISE, 2, setting)


@pytest.mark.parametrize("how", ["cut", "changed", "no seeds"])
def test_a_damaged_relative_gives_nothing(blocks, how):
    folder, name = blocks
    if how == "no seeds":
        (folder / name / "seed" / "c" / "0").unlink()
    else:
        for chunk in chunks(folder / name, "loss"):
            cut(chunk) if how == "cut" else change(chunk)
    assert_computed(12, folder, NOISE, 4)
