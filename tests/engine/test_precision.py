"""Single and double precision compute the same run: whole trajectories, seed by seed."""

import numpy as np
import pytest

import learnscope as ls
from tests.small import experiment, signals, strong_weak, tasks

DESCENT = ls.rules.GradientDescent(rate=0.1)
META = {"rate": 0.1, "inner_rate": 0.5, "inner_steps": 2}
PATTERNS = ls.data.Patterns(dim=64, patterns=20, relevant=3, train=40, test=10, batch=10)
CLASSES = {"dim": 60, "classes": 3, "train_per_class": 4, "test": 9, "signal": 1.0}
SETTINGS = {
    "in 10^9 dimensions": (
        signals(dim=10**9, noise=1e-4, flip=0.1), ls.nets.PatchCNN(3, scale=0.1), DESCENT,
    ),
    "uniform noise, rotated": (
        ls.data.ClassNoise(**CLASSES, noise="uniform"),
        ls.nets.PatchCNN(3, "relu", scale=0.05, classes=3), DESCENT,
    ),
    "mini-batches": (PATTERNS, ls.nets.TwoLayer(8, scale=0.3), DESCENT),
    "tasks": (
        tasks(), ls.nets.PatchCNN(2, "huberised", scale=0.1, second_layer="sum"),
        ls.rules.Fomaml(**META),
    ),
    "fresh pairs": (
        strong_weak(20, batch=16, test=16), ls.nets.PatchEncoder(width=2),
        ls.rules.NonContrastive(rate=0.01, head_rate=0.1),
    ),
}  # fmt: skip


# Draws of their batches are compared by the battery.
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("mini-batches", "tasks")]


@pytest.mark.parametrize(
    "name", ["in 10^9 dimensions", "uniform noise, rotated", "fresh pairs", *SLOW]
)
def test_a_seed_is_the_same_run(name):
    """To 1e-4 over 60 steps, while another seed is another run."""
    data, net, rule = SETTINGS[name]
    probe = ls.probes.PairLoss() if name == "fresh pairs" else ls.probes.Loss()
    setting = experiment(rule, 60, 10, [probe], data, net)
    one, two = (ls.run(setting, seeds=2, precision=f"float{n}") for n in (32, 64))
    (variable,) = probe.outputs
    curves = [
        np.asarray(result[variable].transpose("seed", "step"), float) for result in (one, two)
    ]
    np.testing.assert_allclose(*curves, rtol=1e-4)
    seeds = curves[1]
    assert np.abs(seeds[0] - seeds[1]).max() > 1e-3 * np.abs(seeds).max()
    assert np.abs(np.diff(seeds)).max() > 1e-3 * np.abs(seeds).max()  # something happens
