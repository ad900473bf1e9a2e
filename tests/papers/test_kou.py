"""Kou et al. (2023): the condition's inequalities by hand, and the boundary both ways."""

import math

import pytest

import learnscope as ls
from learnscope.papers.kou.experiments import LARGEST, SMALLEST, experiment, sweeps
from tests.small import refused, run


def test_the_condition_by_hand_and_a_constant_makes_it_harder():
    """d = 400, n = 20, m = 10, signal 2, noise 1, rate 0.1, scale 0.01, T = 100, delta = 0.1."""
    found = {each.name: each.margin for each in ls.theory.conditions(experiment())}
    log_t = math.log(101)
    expected = {
        "dimension, signal": 400 / (20 * 4 * log_t),
        "dimension, samples": 400 / (400 * math.log(2000) * log_t**2),
        "width": 10 / math.log(200),
        "sample size": 20 / math.log(100),
        "signal": 4 / math.log(200),
        "learning rate": 1 / (0.1 * max(8000 / (4000 * math.sqrt(math.log(200))), 20)),
        "initial weights": 1 / (0.01 * 400 / math.sqrt(20)),
        "flips": 1 / 0.3,
        "steps": 100 / (200 / (0.1 * 0.1 * 400)),
    }
    assert found == pytest.approx(expected)
    once, twice = (ls.theory.conditions(experiment(), constant=c) for c in (1.0, 2.0))
    for easy, hard in zip(once[:-1], twice[:-1], strict=True):
        assert hard.margin < easy.margin


@pytest.mark.parametrize("field", ["data.signal", "data.noise", "data.dim"])
def test_the_boundary_is_where_the_ratio_is_one(field):
    setting = experiment(dim=777, signal=2.3).replace("data.noise", 1.7)
    value = ls.theory.boundary(setting, field)
    moved = setting.replace(field, round(value) if field == "data.dim" else value)
    assert ls.theory.predict(moved)["ratio"] == pytest.approx(1, rel=1e-2)
    assert ls.theory.boundary(setting, "net.scale") is None


def test_a_second_layer_without_1_over_m_is_brought_to_the_papers():
    """The same outputs and steps: f_sum(w) = f_mean(m w)."""
    mean = experiment()
    scaled = mean.replace("net.second_layer", "sum").replace("net.scale", 0.01 / 10)
    scaled = scaled.replace("rule.rate", 0.1 / 100)
    half = scaled.replace("net.second_layer", "patches").replace("net.scale", 0.01 / 5)
    half = half.replace("rule.rate", 0.1 / 25)
    for left, right in zip(*map(ls.theory.conditions, (mean, scaled)), strict=True):
        assert left.margin == pytest.approx(right.margin), left.name
    runs = [run(each, seeds=2, precision="float64") for each in (mean, scaled, half)]
    for other in runs[1:]:
        assert abs(runs[0].loss - other.loss).max() < 1e-10


def test_the_condition_holds_where_the_study_says():
    line = sweeps("laptop")["theorem"]
    fields = line.y.fields
    for i, dim in enumerate(fields["data.dim"]):
        setting = line.experiment.replace("data.signal", (dim / 20) ** 0.25)
        for path, values in fields.items():
            setting = setting.replace(path, values[i])
        found = ls.theory.conditions(setting)
        assert found.holds, f"d = {dim}\n{found}"
    assert (min(fields["data.dim"]), max(fields["data.dim"])) == (SMALLEST, LARGEST)
    assert not ls.theory.conditions(experiment()).holds
    # The sides meet it too.
    (arm,) = sweeps("laptop")["sides"].arms
    for signal in arm.axes[0].fields["data.signal"]:
        found = ls.theory.conditions(arm.experiment.replace("data.signal", signal))
        broken = {condition.name for condition in found if not condition.holds}
        # Weak signals break the condition on the signal itself.
        assert broken <= {"signal"}, f"{signal}\n{found}"


def test_it_says_what_it_is_about():
    assert not ls.theory.boundary(experiment().replace("net.activation", "relu2"), "data.signal")
    cubic = experiment().replace("net.activation", "cubic")
    refused(lambda: ls.theory.conditions(cubic), "activation='relu'")
