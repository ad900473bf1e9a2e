"""Sweeps: axes, how they split into programs, and what is refused before anything is computed."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.lab import sweep, worker
from learnscope.part import labels
from tests.small import experiment, refused, run

MOMENTUM = ls.rules.GradientDescent(rate=0.1, options={"momentum": 0.9})
EXPERIMENT = experiment(MOMENTUM, 5, probes=[ls.probes.Loss()], data={"dim": 50, "noise": 0.5})
EACH = ls.rules.PerExamplePenalty(rate=0.1, weight=0.5)
FULL = ls.rules.FullPenalty(rate=0.1, weight=0.5)


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch):
    """Everything here is decided before the first run: if one starts, the check came too late."""
    monkeypatch.setattr(worker, "compute", None)


BAD = [
    ({"data.niose": [1]}, "unknown field of SignalNoise 'niose'; did you mean 'noise'?"),
    ({"dta.noise": [1]}, "unknown field of Experiment 'dta'; did you mean 'data'?"),
    ({"data.noise.x": [1]}, "'data.noise.x' is not a field: noise = 0.5 has no fields."),
    ({"probes.loss": [1]}, "unknown entry of probes 'loss'. Allowed: 0"),
    ({"rule.options.momentim": [0.1]}, "unknown entry of GradientDescent.options 'momentim'"),
    ({"data.noise": []}, "the axis 'data.noise' has no values."),
    ({"data.noise": 3}, "the axis 'data.noise' = 3 is not allowed: it must be a list"),
    ({"data.noise": [1, 1.0]}, "the axis 'data.noise' has the value 1 twice."),
    ({"rule": [EACH, EACH]}, "the axis 'rule' has the value PerExamplePenalty("),
    ({"data.noise": [0.1, math.nan]}, "SignalNoise.noise = nan is not allowed"),
    ({"net.width": [2, -1]}, "PatchCNN.width = -1 is not allowed"),
    ({"steps": [5, 0]}, "Experiment.steps = 0 is not allowed"),
    ({"rule": ["GradientDescent"]}, "Experiment.rule = 'GradientDescent' is not allowed"),
    ({"seed": [1]}, "the axis 'seed' is there twice or is reserved"),
    (ls.zipped({"data.noise": [1]}, name="seconds"), "the axis 'seconds' is there twice or"),
    ({"data.noise": [1.0], "net.noise": [2.0]}, "the axis 'noise' is there twice"),
    ([{"data.noise": [1.0]}, {"data.noise": [2.0]}], "the axis 'noise' is there twice"),
    ([ls.zipped({"data.noise": [1.0, 2.0]}, name="first"), {"data.noise": [3.0]}],
     "the field 'data.noise' is on two axes"),
    (3, "over = 3 is not allowed: it must map dotted fields to values."),
]  # fmt: skip


@pytest.mark.parametrize(("over", "message"), BAD)
def test_a_bad_axis(over, message):
    assert refused(lambda: run(EXPERIMENT, over)).startswith(message)


@pytest.mark.parametrize("name", ["loss", "filter", "gamma", "diverged_at"])
def test_an_axis_is_not_named_like_what_is_recorded(name):
    watched = EXPERIMENT.replace("probes", [ls.probes.Loss(), ls.probes.Decomposition()])
    over = ls.zipped({"data.noise": [1.0, 2.0]}, name=name)
    refused(lambda: run(watched, over), match=rf"the axis '{name}' .* name it otherwise")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "zipped needs a table of fields and their values, not {}."),
        ({"a": [1], "b": [1, 2]}, "zipped fields must have equally many values: a has 1, b has 2."),
        ({"a": [1, 1], "b": [2, 2]}, "the axis 'a, b' has the value 1, 2 twice."),
        ({"a": []}, "the axis 'a' has no values."),
        ([1, 2], "zipped"),
    ],
)
def test_bad_zips(fields, message):
    assert refused(lambda: ls.zipped(fields)).startswith(message)


@pytest.mark.parametrize(
    ("name", "values", "must"),
    [
        ("seeds", [0, -1, [], [1, 1], [-1], [2**31], 1.5, "3", None, [0.5], ["1"]], ""),
        ("precision", ["float16", None, 32, ["float32"]], "it must be one of float32, float64."),
        ("coordinates", ["polar", None, 3], "it must be one of auto, ambient, rotate, compressed."),
    ],
)
def test_bad_settings(name, values, must):
    for value in values:
        said = refused(lambda value=value: run(EXPERIMENT, **{name: value}), name)
        assert said.endswith(must)
        assert name == "seeds" or said.startswith(f"{name} = {value!r} is not allowed")
    for wrong in (3, None, EXPERIMENT.data, "experiment.toml"):
        refused(lambda wrong=wrong: run(wrong), match="experiment = .* it must be an Experiment")


def split(over, ambient=False):
    return sweep.programs(EXPERIMENT, sweep.axes(over), ambient)


def sizes(program):
    """How many values each numeric axis has."""
    return {dim: len(values) for dim, values in program.varying.values()}


def test_numbers_are_one_program_and_the_rest_a_program_each():
    (one,) = split({"data.noise": [0.1, 0.2, 0.3], "rule.rate": [1, 2]})
    assert sizes(one) == {"noise": 3, "rate": 2}
    (one,) = split({"rule.options.momentum": [0.1, 0.9]})
    assert sizes(one) == {"momentum": 2}
    groups = split({"net.width": [2, 3], "data.noise": [1.0]})
    assert [group.place for group in groups] == [{"width": 0}, {"width": 1}]
    assert [group.experiment.net.width for group in groups] == [2, 3]
    assert len(split({"net.activation": ["relu", "cubic"], "data.orthogonal": [True, False]})) == 4
    # The dimension is traced when compressed only.
    assert len(split({"data.dim": [50, 10**9]}, ambient=False)) == 1
    assert len(split({"data.dim": [50, 60]}, ambient=True)) == 2


@pytest.mark.parametrize(
    "values",
    [np.array([0.1, 0.2]), np.float32([0.1, 0.2]), jnp.array([0.1, 0.2]), (0.1, 0.2), range(1, 3)],
)
def test_values_may_come_in_any_list(values):
    (one,) = split({"data.noise": values})
    _, found = one.varying["data.noise"]
    np.testing.assert_allclose(found, np.asarray(values))
    listed = sweep.axes({"data.noise": values})[0].fields["data.noise"]
    assert {type(value) for value in listed} <= {int, float}


def test_zipped_fields_are_one_axis():
    zipped = ls.zipped({"data.noise": [0.5, 1.5], "net.scale": [0.01, 0.001]})
    (one,) = split(zipped)
    assert sizes(one) == {"noise": 2}
    assert set(one.varying) == {"data.noise", "net.scale"}
    assert sweep.axes({"setting": zipped})[0].dim == "setting"
    assert ls.zipped({"data.noise": [1.0]}, name="level").dim == "level"
    # One field that changes the program makes the whole axis structural.
    assert len(split(ls.zipped({"data.noise": [0.5, 1.5], "net.width": [2, 3]}))) == 2


@pytest.mark.parametrize("order", [1, -1])
def test_a_part_and_its_fields_in_any_order(order):
    """The part is put in first, whichever axis comes first: or its field would be lost."""
    over = dict(list({"rule": [EACH, FULL], "rule.half": [True, False]}.items())[::order])
    found = {
        (program.place["rule"], program.place["half"]): program.experiment.rule
        for program in split(over)
    }
    for (rule, half), value in found.items():
        assert value == [EACH, FULL][rule].replace("half", [True, False][half])


def test_a_field_that_only_the_swept_parts_have():
    """The base experiment's rule has no weight; both rules of the axis do."""
    programs = split({"rule": [EACH, FULL], "rule.weight": [0.1, 0.2, 0.3]})
    assert [sizes(program) for program in programs] == [{"weight": 3}, {"weight": 3}]
    over = {"rule": [EACH, EXPERIMENT.rule], "rule.weight": [0.1]}
    refused(lambda: split(over), "unknown field of GradientDescent 'weight'")


def test_labels_tell_parts_apart():
    assert labels([EACH, FULL]) == ["PerExamplePenalty", "FullPenalty"]
    told = [f"PerExamplePenalty(weight={weight})" for weight in (0.5, 0.1)]
    assert labels([EACH, EACH.replace("weight", 0.1), FULL]) == [*told, "FullPenalty"]


def test_seeds_from_a_count_or_a_list():
    assert sweep.seed_list(3) == [0, 1, 2]
    assert sweep.seed_list(np.int64(2)) == [0, 1]
    assert sweep.seed_list(np.array([5, 1])) == [5, 1]
    assert sweep.seed_list(range(2, 4)) == [2, 3]
    assert sweep.seed_list([2**31 - 1]) == [2**31 - 1]
