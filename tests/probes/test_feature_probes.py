"""What is read of features: correlation, linear probes, preferred images."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Problem, Samples
from tests.small import refused

DATA = ls.data.Images("digits", train=300, test=100, batch=32, views=ls.data.Augment(flip=0.0))
NET = ls.nets.Projection(ls.nets.FullyConnected(width=12, activation="relu"), width=8, outputs=4)
RULE = ls.rules.NonContrastive(rate=0.01, head_rate=0.01, optimiser="adam")


@eqx.filter_jit
def read(probe, state, problem):
    return probe(state, problem)


@pytest.fixture(scope="module")
def run():
    problem = eqx.filter_jit(DATA.sample)(jax.random.key(0))
    return eqx.filter_jit(RULE.init)(NET, problem, jax.random.key(1)), problem


def test_a_linear_probe_is_ridge_regression(run):
    state, problem = run
    found = read(ls.probes.LinearProbe(examples=200, classes=10, ridge=0.05), state, problem)
    names = ("probe_accuracy", "output_probe_accuracy")
    for name, of in zip(names, (NET.features, NET), strict=True):
        train, test = (np.asarray(of(state.params, x), float)
                       for x in (problem.train.x[:200], problem.test.x))  # fmt: skip
        spread = np.where(train.std(0) > 0, train.std(0), 1)
        train, test = ((z - train.mean(0)) / spread for z in (train, test))
        y = np.eye(10)[np.asarray(problem.train.y[:200])]
        gram = train.T @ train + 0.05 * 200 * np.eye(train.shape[1])
        weights = np.linalg.solve(gram, train.T @ (y - y.mean(0)))
        right = (test @ weights + y.mean(0)).argmax(1) == np.asarray(problem.test.y)
        assert abs(right.mean() - float(found[name])) <= 0.011  # rounding may turn one image


def test_a_linear_probe_of_two_classes_and_of_unused_ones(run):
    state, problem = run
    more = read(ls.probes.LinearProbe(classes=100), state, problem)
    just = read(ls.probes.LinearProbe(classes=10), state, problem)
    assert float(more["probe_accuracy"]) == pytest.approx(float(just["probe_accuracy"]), abs=0.02)
    signs = lambda s: Samples(s.x, jnp.where(s.y < 5, 1.0, -1.0))  # noqa: E731
    two = Problem(signs(problem.train), signs(problem.test), {}, problem.frame)
    assert float(read(ls.probes.LinearProbe(), state, two)["probe_accuracy"]) > 0.6


def test_features_that_are_copies_correlate(run):
    state, problem = run
    weight = state.params["body"]["hidden"]["weight"]
    copies = jnp.tile(weight[:, :1], (1, weight.shape[1]))
    copied = eqx.tree_at(lambda s: s.params["body"]["hidden"]["weight"], state, copies)
    found = read(ls.probes.FeatureCorrelation(), copied, problem)
    assert float(found["feature_correlation_size"]) == pytest.approx(1, abs=1e-4)
    assert float(found["feature_rank"]) == pytest.approx(1, abs=1e-2)
    found = read(ls.probes.FeatureCorrelation(), state, problem)
    assert float(found["feature_correlation_size"]) < 0.9


@pytest.mark.parametrize("of", ["outputs", "features"])
def test_preferred_images_excite_their_neuron(run, of):
    state, problem = run
    found = read(ls.probes.PreferredImages(neurons=3, of=of, steps=10), state, problem)
    value = NET if of == "outputs" else NET.features
    known, own = (np.asarray(value(state.params, x)) for x in (problem.test.x, found["preferred"]))
    z = abs(own - known.mean(0)) / np.where(known.std(0) > 0, known.std(0), 1)
    assert (z[np.arange(3), np.arange(3)][known.std(0)[:3] > 0] > 2).all()
    assert 0 <= float(found["preferred_alike"]) < 1


def test_what_has_no_features_is_said(run):
    _, problem = run
    net = ls.nets.TwoLayer(width=3, scale=0.1)
    state = ls.rules.GradientDescent(rate=0.1).init(net, problem, jax.random.key(0))
    for probe in (ls.probes.LinearProbe(), ls.probes.FeatureCorrelation()):
        refused(lambda probe=probe: probe(state, problem), "needs a deep network on images")
    refused(lambda: ls.probes.PreferredImages()(state, problem), "needs the net Projection")
