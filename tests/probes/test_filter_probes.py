"""Filters and the parts of mixtures: values by hand."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Problem, Samples
from learnscope.probes import FilterCosines, FilterMap, Filters, InputDirections, PartAccuracy
from learnscope.rules import WeightState
from learnscope.space import Frame
from tests.small import refused

NET = ls.nets.FullyConnected(width=2)
IMAGES = ls.data.Images("digits", train=40, test=30)
MIXTURE = ls.data.TeacherMixture(IMAGES, NET, share=0.25, teacher_steps=5)
WEIGHT = np.random.default_rng(0).normal(size=(3, 3, 2, 4))
PARAMS = {
    "block": {"conv": {"weight": jnp.asarray(WEIGHT)}, "norm": {"gain": jnp.ones(4)}},
    "filters": jnp.asarray([[3.0, 4.0], [-4.0, 3.0]]),
}


def state_of(params) -> WeightState:
    return WeightState(
        net=NET, params=params, start=params, memory=None, step=jnp.zeros((), int), loss="logistic"
    )


def test_cosines_of_layers_and_filling():
    problem: Any = None  # filters alone are looked at
    found = np.asarray(FilterCosines(["filters", "block.conv"])(state_of(PARAMS), problem))
    assert found.shape == (2, 4, 4)
    one, two = WEIGHT[..., 0].ravel(), WEIGHT[..., 3].ravel()
    cosine = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
    assert found[1, 0, 3] == pytest.approx(cosine, abs=1e-6)
    np.testing.assert_allclose(found[0], np.diag([1, 1, 0, 0]), atol=1e-6)
    rows = Filters("block.conv")(state_of(PARAMS), problem)
    np.testing.assert_allclose(rows[3], WEIGHT[..., 3].ravel(), rtol=1e-6)


def test_a_map_has_filters_and_directions():
    samples = Samples(jnp.ones((2, 2)), jnp.ones(2))
    directions = {"signal": jnp.asarray([0.0, 5.0]), "many": jnp.ones((13, 2)),
                  "axes": 2 * jnp.eye(2)}  # fmt: skip
    problem = Problem(samples, samples, directions, Frame.of_dimension(2))
    found = FilterMap()(state_of(PARAMS), problem)
    np.testing.assert_allclose(found["map_cosine"], np.eye(2), atol=1e-6)
    # The axes come first, by name; 13 directions are too many for a map.
    expected = [[0.6, 0.8, 0.8], [-0.8, 0.6, 0.6]]
    np.testing.assert_allclose(found["landmark_cosine"], expected, atol=1e-6)
    np.testing.assert_allclose(found["between_landmarks"][2], [0, 1, 1], atol=1e-6)
    bare = Problem(samples, samples, {}, Frame.of_dimension(2))
    refused(lambda: FilterMap()(state_of(PARAMS), bare), "a few true directions")


def test_the_first_filters():
    rows = Filters("block.conv", first=2)(state_of(PARAMS), problem_of(jnp.ones((1, 4))))
    assert rows.shape == (2, WEIGHT[..., 0].size)


def problem_of(x) -> Problem:
    samples = Samples(x, jnp.ones(len(x)))
    return Problem(samples, samples, {}, Frame.of_dimension(4))


def test_random_directions_of_inputs_lie_in_their_span():
    one_line = problem_of(jnp.asarray([[1.0, 0, 0, 0], [-2.0, 0, 0, 0]]))
    found = np.asarray(InputDirections(6)(state_of(PARAMS), one_line))
    assert found.shape == (6, 6)
    np.testing.assert_allclose(np.abs(found), 1, atol=1e-6)
    round_one = problem_of(jnp.asarray(np.random.default_rng(1).normal(size=(900, 400))))
    found = np.asarray(InputDirections(6)(state_of(PARAMS), round_one))
    assert np.abs(found - np.eye(6)).max() < 0.25
    refused(lambda: InputDirections(6)(state_of(PARAMS), problem_of((jnp.ones((2, 4)),))),
            "needs inputs as one array")  # fmt: skip


def test_what_is_not_there():
    problem: Any = None
    for probe, words in (
        (FilterCosines("conv"), "no layer 'conv': after the net there are block, filt"),
        (Filters("block"), "needs a layer with weights; 'block' holds conv, norm"),
    ):
        refused(lambda probe=probe: probe(state_of(PARAMS), problem), words)
    samples = Samples(jnp.ones((2, 4)), jnp.ones(2))
    problem = Problem(samples, samples, {}, Frame.of_dimension(4))
    words = "PartAccuracy needs the data model's 'other'"
    refused(lambda: PartAccuracy()(state_of(PARAMS), problem), words)


def test_parts_are_apart():
    @jax.jit
    def read(key):
        problem = MIXTURE.sample(key)
        state = state_of(NET.init(key, problem))
        return PartAccuracy()(state, problem), problem.test, state(problem.test.x)

    found, test, outputs = read(jax.random.key(0))
    right = np.asarray(outputs).argmax(1) == np.asarray(test.y)
    assert float(found["real_accuracy"]) == pytest.approx(right[:30].mean(), abs=1e-6)
    assert float(found["other_accuracy"]) == pytest.approx(right[30:].mean(), abs=1e-6)
    both = 0.75 * right[:30].mean() + 0.25 * right[30:].mean()
    assert float(found["mixture_accuracy"]) == pytest.approx(both, abs=1e-6)
    label, truth = np.asarray(test.y), np.asarray(test.marks["truth"])
    assert float(found["teacher_accuracy"]) == pytest.approx((label == truth)[:30].mean(), abs=1e-6)
    common = np.bincount(label[30:]).max() / 30
    assert float(found["commonest_label"]) == pytest.approx(common, abs=1e-6)
