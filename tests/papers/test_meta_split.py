"""Theory of the train-validation split: rates against the network itself, conditions, ordering."""

import jax
import numpy as np
import pytest

import learnscope as ls
from learnscope.papers.meta_split import theory
from tests.errata.meta_split_condition_d1 import condition_d1
from tests.small import quick, tasks

SIZES = {"dim": 1000, "dictionary": 500, "tasks": 16, "samples": 4, "test_tasks": 1}
DATA = tasks(**SIZES, task_signal=0.3, noise=(24 / 499) ** 0.5)
NET = ls.nets.PatchCNN(width=10, activation="huberised", scale=1000**-0.5, second_layer="sum")


def experiment(split="train-validation", **changes):
    rule = ls.rules.Fomaml(rate=0.1, inner_rate=2.0, split=split)
    made = ls.Experiment(data=DATA, net=NET, rule=rule, steps=2000)
    for path, value in changes.items():
        made = made.replace(path.replace("__", "."), value)
    return made


@pytest.mark.parametrize(("split", "threshold"), [("train-train", 0.3), ("train-validation", 0.5)])
def test_linearised_factors_are_the_networks(split, threshold, float64):
    """At tiny initial weights the inner loop is linear: to 5 %, since lengths vary."""
    setting = experiment(split, net__scale=1e-9, net__threshold=threshold, rule__inner_steps=3)
    probe = ls.probes.Amplification(inner_rate=2.0, inner_steps=3, split=split)

    def found():
        frame = ls.data.Frame(1000.0, DATA.span + 20, room=DATA.span)
        problem = setting.data.sample(jax.random.key(0), frame)
        return probe(setting.rule.init(setting.net, problem, jax.random.key(1)), problem)

    measured, expected = quick(found)(), theory.rates(setting)
    for name, right, error in (
        ("feature", expected.feature_factor, 0.05),
        ("training_noise", expected.noise_factor, 0.2),
        ("validation_noise", expected.held_factor, 0.2),
    ):
        np.testing.assert_allclose(measured[f"{name}_amplification"], right, rtol=error)


def test_the_papers_regime():
    np.testing.assert_allclose(theory.rates(experiment()).feature_factor, (1 + 1.09) ** 5)
    np.testing.assert_allclose(theory.rates(experiment("train-train")).noise_factor, 13.0**5)
    prediction = ls.theory.predict(experiment())
    assert prediction["ordering"] == "train-validation > vanilla > train-train"
    assert prediction["learns vanilla"] and not prediction["learns train-train"]
    # Vanilla training fails where ||xi||^2 / (K n) exceeds ||nu||^2 / 2, and not before.
    for squared, learns in ((0.9 * 32, True), (1.1 * 32, False)):
        noisy = experiment(data__noise=(squared / 499) ** 0.5)
        assert ls.theory.predict(noisy)["learns vanilla"] == learns


def test_the_boundary_is_where_the_rates_meet():
    for split in ("train-train", "train-validation"):
        edge = ls.theory.boundary(experiment(split), "data.noise")
        at = theory.rates(experiment(split, data__noise=edge))
        np.testing.assert_allclose(at.advantage, 1, rtol=1e-6)
    tasks = ls.theory.boundary(experiment(), "data.tasks")
    np.testing.assert_allclose(16 / tasks, theory.rates(experiment()).advantage)
    assert ls.theory.boundary(experiment(), "net.scale") is None


def test_conditions_hold_where_they_should():
    assert ls.theory.conditions(experiment()).holds
    names = {
        ("data__tasks", 343): "4.2, dimension",
        ("data__dictionary", 600): "4.2, dictionary",
        ("net__scale", 1e-9): "4.3, initial weights, below",
        ("rule__inner_rate", 1e-3): "4.3, inner rate, below",
        ("data__noise", 10.42): "4.2, noise",
        ("data__signal", 2.0): "4.2, shared feature",
        ("rule__inner_steps", 1): "4.3, inner steps",
    }
    for (path, value), name in names.items():
        found = ls.theory.conditions(experiment(**{path: value}))
        assert name in [each.name for each in found if not each.holds], path


def test_condition_4_1_is_what_gaussian_dictionaries_meet_and_condition_d1(float64):
    """The bounds that are compared hold for a drawn dictionary."""
    drawn = np.random.default_rng(0).normal(size=(500, 999))
    lengths = np.linalg.norm(drawn, axis=1)
    table = drawn @ drawn.T
    np.fill_diagonal(table, 0)
    rows = {each.name: each for each in ls.theory.conditions(experiment())}
    assert lengths.max() <= rows["4.1, length above"].left
    assert lengths.min() >= rows["4.1, length below"].left
    assert np.abs(table).max() <= rows["4.1, correlation"].left
    log = np.log(1000)
    meets = experiment(
        data__task_signal=log**-0.4, data__noise=(log / 1000) ** 0.5, data__tasks=3, net__width=2,
        rule__rate=log**-5, rule__inner_rate=log**0.4,
    )  # fmt: skip
    assert condition_d1(meets).holds
    printed = meets.replace("rule.rate", log**5)  # the misprint, taken literally
    assert not condition_d1(printed).holds


def test_scope():
    assert theory.applies(experiment())
    assert not theory.applies(experiment(net__activation="relu"))
    pooled = experiment().replace("rule", ls.rules.Pooled(rate=0.1))
    assert theory.rates(pooled).feature_factor == 1
    assert ls.theory.predict(pooled)["feature_factor"] == 1
