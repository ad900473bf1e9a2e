"""Sweeps with more seeds and values: what relatives have stored is taken, the rest computed."""

import pytest

import learnscope as ls
from tests.lab.small import DESCENT, NOISE, PENALTY, experiment, reported, run
from tests.lab.stored import assert_same, change, chunks, cut, tree


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
def test_only_new_runs_are_computed(boxes, over, seeds, new):
    folder, name = boxes
    before = tree(folder / name)
    stored, report = reported(experiment(), over, seeds=seeds, store=folder)
    assert (report.computed, report.reused) == (new, report.trainings - new)
    assert_same(stored, run(experiment(), over, seeds=seeds))
    assert tree(folder / name) == before


def test_only_new_rules_are_computed(tmp_path):
    over = {"rule": [DESCENT, PENALTY], "data.noise": [0.1, 0.4]}
    run(experiment(), over, seeds=2, store=tmp_path)
    momentum = ls.rules.GradientDescent(rate=0.3, options={"momentum": 0.9})
    over = {"rule": [PENALTY, momentum], "data.noise": [0.4, 0.2, 0.1]}
    stored, report = reported(experiment(), over, seeds=2, store=tmp_path)
    assert report.computed == 2 + 3 * 2
    assert_same(stored, run(experiment(), over, seeds=2))


def test_several_relatives_are_put_together(tmp_path):
    for noise in ([0.1, 0.2], [0.2, 0.4]):
        run(experiment(), {"data.noise": noise}, seeds=2, store=tmp_path)
    stored, report = reported(experiment(), NOISE, seeds=2, store=tmp_path)
    assert (report.computed, report.reused) == (0, 6)
    assert_same(stored, run(experiment(), NOISE, seeds=2))


def test_an_unfinished_relative_gives_what_it_has(boxes):
    folder, name = boxes
    (folder / name / "seconds" / "c" / "1" / "0").unlink()
    stored, report = reported(experiment(), NOISE, seeds=4, store=folder)
    assert report.computed == 3 + 3
    assert_same(stored, run(experiment(), NOISE, seeds=4))


@pytest.mark.parametrize("how", ["cut", "changed", "no seeds"])
def test_a_damaged_relative_gives_nothing(boxes, how):
    folder, name = boxes
    if how == "no seeds":
        (folder / name / "seed" / "c" / "0").unlink()
    else:
        for chunk in chunks(folder / name, "loss"):
            cut(chunk) if how == "cut" else change(chunk)
    stored, report = reported(experiment(), NOISE, seeds=4, store=folder)
    assert report.computed == 12
    assert_same(stored, run(experiment(), NOISE, seeds=4))
