"""Meng, Zou, Cao (2024): the boundary by hand, and the study at its smallest scale."""

import math

import pytest

import learnscope as ls
from learnscope.papers import get
from learnscope.papers.xor.experiments import SAMPLES, experiment, regime, sweeps
from tests.papers.test_studies import check_all, smoke
from tests.small import drawn, refused

XOR = get("xor")


@pytest.mark.parametrize("ratio", [1.0, 0.5, 2.0])
@pytest.mark.parametrize("field", ["data.signal", "data.dim", "data.train"])
def test_the_boundary_is_where_the_ratio_is_one(field, ratio):
    setting = experiment(signal=7.3, dim=777_777).replace("data.ratio", ratio)
    value = ls.theory.boundary(setting, field)
    moved = setting.replace(field, value if field == "data.signal" else round(value))
    assert ls.theory.predict(moved)["ratio"] == pytest.approx(1, rel=2e-2)
    assert ls.theory.boundary(setting, "net.scale") is None


def test_the_angle_is_that_of_the_drawn_centres():
    for ratio in (1.0, 0.5):
        setting = experiment().replace("data.ratio", ratio)
        one, other = drawn(setting.data).directions["centres"]
        apart = 1 - float(one @ other) / float(one @ one)
        predicted = ls.theory.predict(setting)
        assert 1 - predicted["cosine"] == pytest.approx(apart, rel=1e-5)
        assert predicted["ratio"] == pytest.approx(40 * (float(one @ one) * apart) ** 2 / 500)


def test_what_is_known_of_the_condition_holds_where_the_study_says():
    for axis in (regime([1e5, 1e9], [40, 40]), regime([1e7] * len(SAMPLES), list(SAMPLES))):
        for fields in axis.settings():
            setting = experiment(steps=150)
            for path, value in fields.items():
                setting = setting.replace(path, value)
            margins = {c.name: c.margin for c in ls.theory.conditions(setting)}
            d, n = float(setting.data.dim), setting.data.train
            assert margins == pytest.approx(
                {"dimension": d / n**2, "initial weights": 10.0, "steps": 150 * 0.1}
            )
            assert min(margins.values()) >= 1
    (arm,) = sweeps("laptop")["sides"].arms
    assert ls.theory.conditions(arm.experiment).holds
    assert not ls.theory.conditions(experiment()).holds
    skewed = experiment().replace("data.cosine", 0.5)
    refused(lambda: ls.theory.conditions(skewed), "cosine=0")
    assert math.isinf(ls.theory.predict(experiment().replace("data.noise", 0.0))["ratio"])


def test_figures_are_drawn_and_claims_found():
    check_all(XOR, smoke(XOR))
