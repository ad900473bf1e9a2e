"""Theorems are not about what only looks like their setting."""

from functools import partial

import pytest

import learnscope as ls
from tests.small import refused

CHANGES = {
    "net.bias": True,
    "net.initial": "torch",  # whose weights do not have the standard deviation `scale`
    "rule.options": {"momentum": 0.9},
    "rule.loss": "hinge",
}


def setting(data, activation, rule, **net) -> ls.Experiment:
    return ls.Experiment(data, ls.nets.PatchCNN(5, activation, 0.01, **net), rule, 10)


SIGNAL = ls.data.SignalNoise(dim=400, train=20, test=10, signal=1.0, noise=0.5)
XOR = ls.data.XorClusters(dim=400, train=20, test=10, signal=1.0, noise=0.5)
CLASSES = ls.data.ClassNoise(400, classes=3, train_per_class=5, test=10, signal=1.0)
DESCENT = ls.rules.GradientDescent(0.1)
SETTINGS = {
    "kou": setting(SIGNAL, "relu", DESCENT),
    "pegr": setting(SIGNAL, "relu2", ls.rules.PerExamplePenalty(0.1, weight=0.1)),
    "sam": setting(SIGNAL, "relu", ls.rules.SharpnessAware(0.1, radius=0.1)),
    "xor": setting(XOR, "relu", DESCENT),
    "benign": setting(CLASSES, "relu", DESCENT, classes=3),
}


@pytest.mark.parametrize("paper", SETTINGS)
def test_biases_another_start_momentum_and_another_loss_have_no_theory(paper):
    usual = SETTINGS[paper]
    assert len(ls.theory.conditions(usual)) > 1
    for path, value in CHANGES.items():
        if (paper, path) == ("benign", "net.initial"):  # whose theory reads what that start is
            continue
        other = usual.replace(path, value)
        refused(partial(ls.theory.conditions, other), "no theory here is about")
    scale = (3 * float(usual.data.dim)) ** -0.5
    torch = usual.replace("net.initial", "torch").replace("net.scale", scale)
    assert len(ls.theory.conditions(torch)) > 1
