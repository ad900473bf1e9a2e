"""Entries of lists as axes of a sweep: `data.strengths.1`."""

import math

import pytest

import learnscope as ls
from learnscope.engine.draw import placed
from learnscope.lab.blocks import Plan
from learnscope.lab.sweep import dim_of, zipped
from tests.small import experiment, probes, refused, run, strong_weak

DATA = strong_weak(9, patches=6, feature_patches=2, noise=0.7, batch=4, frequencies=(1, 2))
NET = ls.nets.PatchEncoder(width=2, overlaps=(2, 1, 1, 1.3))
RULE = ls.rules.NonContrastive(rate=0.1, head_rate=0.1)
EXPERIMENT = experiment(RULE, 1, 1, probes("FeatureStrengths"), DATA, NET)


def test_an_axis_over_an_entry_is_named_after_its_list_and_shares_a_program():
    assert dim_of("data.strengths.1") == "strengths_1"
    assert dim_of("net.overlaps.10") == "overlaps_10"
    assert dim_of("data.noise") == "noise"
    assert zipped({"data.strengths.0": [1.0, 2], "data.strengths.1": [3, 4]}).dim == "strengths_0"
    over = {"data.strengths.1": [1, 1.5, 2], "data.frequencies.0": [0.2, 1]}
    over |= {"net.overlaps.2": [1, 2]}
    for coordinates in ("ambient", "compressed"):
        (program,) = Plan.of(EXPERIMENT, over, 1, coordinates, "float32").programs
        sizes = {dim: len(values) for dim, values in program.varying.values()}
        assert sizes == {"strengths_1": 3, "frequencies_0": 2, "overlaps_2": 2}


def test_an_entry_is_put_into_its_place():
    source = {"data": EXPERIMENT.data, "net": EXPERIMENT.net}
    changed = placed(source, {"data.strengths.1": 5.0, "net.overlaps.2": 7.0})
    assert changed["data"].strengths == (3.0, 5.0)
    assert changed["net"].overlaps == (2.0, 1.0, 7.0, 1.3)
    assert EXPERIMENT.data.replace("strengths.0", 4).strengths == (4, 2)
    assert EXPERIMENT.replace("data.frequencies.1", 9).data.frequencies == (1, 9)
    assert EXPERIMENT.replace("net.overlaps.3", 9).net.overlaps == (2, 1, 1, 9)


@pytest.mark.parametrize(
    ("path", "values", "words"),
    [
        *((f"data.strengths.{entry}", [1.0], f"unknown entry of .*strengths '{entry}'")
          for entry in ("2", "-1", "one", "01", "²")),
        ("data.strengths.1", [1.0, 0.0], r"StrongWeak\.strengths"),
        ("data.strengths.1", [1.0, math.nan], r"StrongWeak\.strengths"),
        ("data.frequencies.0", [-1.0], r"StrongWeak\.frequencies"),
        ("data.noise.0", [1.0], ".*data.noise.0"),
    ],
)  # fmt: skip
def test_entries_that_are_not_there_or_not_allowed(path, values, words):
    refused(lambda: run(EXPERIMENT, {path: values}), match=words)
    refused(lambda: EXPERIMENT.replace(path, values[-1]))


def test_entries_of_a_list_that_is_not_given():
    plain = EXPERIMENT.replace("data.frequencies", None)
    refused(lambda: run(plain, {"data.frequencies.0": [1.0]}), "frequencies")
    for setting in (EXPERIMENT, plain):
        assert ls.Experiment.from_toml(setting.to_toml()) == setting
        assert ls.Experiment.from_json(setting.to_json()) == setting
