"""Xu and Chen (2025): what of Condition 1 cannot hold together."""

import math

import numpy as np
import pytest

import learnscope as ls
from learnscope.papers.benign import theory as benign
from learnscope.papers.benign.theory import condition_1
from learnscope.papers.benign.theory.spectra import Spectra
from tests.papers.test_benign import by_matrices, experiment, margins
from tests.small import run


def test_the_two_demands_on_initial_weights_contradict_each_other():
    """For isotropic noise that all classes share, phi^2 <= |u|^2 |A^T A|_F, so that the margins of
    (b)'s Omega and, squared, of (c)'s sigma_0 multiply to at most m / (n sqrt(R) log(n / delta)
    log(T)^2 log(K m / delta)^3); the rank asks for R >= 0.9 m + n. Together: m >= 1.16e14."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        dim, width, size = (int(10**x) for x in rng.uniform([3, 1, 0.5], [12, 9, 2]))
        signal, scale, steps = (10 ** rng.uniform(*ends) for ends in ((-1, 4), (-6, 0), (1, 5)))
        numbers = {"width": width, "signal": signal, "scale": scale, "steps": int(steps)}
        found, n = margins(experiment(dim=dim, classes=3, sizes=size, **numbers)), 3 * size
        logs = math.log(10 * n) * math.log(int(steps)) ** 2 * math.log(30 * width) ** 3
        most = width / (n * math.sqrt(dim - 3) * logs)
        assert found["width, initial weights"] * found["initial weights"] ** 2 <= most * (1 + 1e-9)
    # The least width for three steps or more, by n: none leaves a dimension of 1e12 or less.
    least = math.inf
    for n in range(7, 200):
        m = 10.0 * n
        for _ in range(200):
            root = math.sqrt(max((n * math.log(10 * n**2)) ** 2, 0.9 * m + n))
            m = max(10 * n, n * root * math.log(10 * n) * math.log(3) ** 2 * math.log(30 * m) ** 3)
        if n >= math.log(10 * m):
            least = min(least, m)
    assert least == pytest.approx(1.157e14, rel=1e-3)


def test_noise_of_few_strong_directions_meets_all_of_condition_1(monkeypatch):
    """Shared noise with p directions of variance 1 and the others of p / (1000 m): m = 10^9 is
    enough. The contradiction is that of isotropic noise."""
    n, m = 30, 10**9
    p = 1.02 * (n * math.log(10 * n**2)) ** 2
    weak, one, pairs = 1e-3 * p / m, np.ones(3), np.ones((3, 3))
    trace, squares = (p + (m - p) * weak**power for power in (1, 2))
    noise = Spectra(trace * one, m * one, one, weak**0.5 * one, squares * pairs, pairs)
    monkeypatch.setattr(condition_1, "spectra", lambda data: noise)
    sizes = {"dim": m + 3, "classes": 3, "sizes": 10, "width": m, "rate": 1e-9, "steps": 3}
    setting = experiment(**sizes, scale=1.0, signal=p**0.25)
    allowed = margins(setting)["initial weights"]
    assert ls.theory.conditions(setting.replace("net.scale", 0.999 * allowed)).holds


def test_the_bound_on_initial_weights_depends_on_the_unit_of_patches(float64):
    """Patches x 4, weights / 4 and the rate / 16 are the same run, but (c) allows more there."""
    one = experiment(dim=60, classes=3, sizes=3, width=10, scale=0.01, signal=1.0, bulk=0.5)
    fields = {"data.signal": 4.0, "data.bulk": 2.0, "net.scale": 0.01 / 4, "rule.rate": 0.05 / 16}
    other = one
    for path, value in fields.items():
        other = other.replace(path, value)
    runs = [run(each, seeds=2, precision="float64").loss for each in (one, other)]
    np.testing.assert_allclose(*runs, rtol=1e-10)
    for name, factor in (("initial weights", 4), ("initial weights, either", 16)):
        assert margins(other)[name] == pytest.approx(factor * margins(one)[name])


def test_alike_noise_bounds_the_correlation_ratio():
    for constant in (1.0, 1.5, 4.0):
        for factor, holds in ((1.0, True), (1.01, False)):
            setting = experiment(correlation=factor * constant**2, bulk=0.3)
            found = ls.theory.conditions(setting, constant=constant)
            assert found[2].holds is holds, (constant, factor)


def test_one_spike_cannot_be_spread_but_a_block_can():
    """One spike: |A^T A|_F / |A^T A|_op is sqrt(Gamma / (Gamma - 1)) in high dimension, so that (a)
    caps Gamma near 1.29 for three classes, whatever C. Blocks of their own are free of that."""
    for correlation in (1.1, 1.42, 3.0):
        setting = experiment(dim=10**12, classes=3, correlation=correlation)
        spread = math.sqrt(correlation / (correlation - 1) / math.log(30))
        assert margins(setting)["noise spread"] == pytest.approx(spread, rel=1e-4)

    def allowed(correlation):
        setting = experiment(dim=10**12, classes=3, correlation=correlation)
        found = ls.theory.conditions(setting, constant=math.sqrt(correlation))
        return found[1].holds and found[2].holds

    assert max(filter(allowed, np.linspace(1, 3, 201))) == pytest.approx(1.29, abs=0.011)
    blocks = np.repeat([[3.0, 1, 1], [1, 3, 1], [1, 1, 3]], 30, axis=1)
    factors = np.stack([np.diag(np.concatenate([np.zeros(3), each])) for each in blocks])
    setting = by_matrices(experiment(classes=3, sizes=5, scale=0.01), factors)
    assert benign.exponents(setting).worst_ratio.values == pytest.approx(83 / 19)
    listed = ls.theory.conditions(setting, constant=2.2)
    assert listed[1].holds and listed[2].holds
