"""The phases of Wen and Li (2022), section 5, by their triggers."""

import functools
import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import learnscope as ls
from tests.probes.test_pair_probes import DIM, problem_of, state_of

C1 = 1 / 3 * (1 + 2 * 4 / 20)  # of the first feature: p (P0^2/4 + V), V = P0 (P - P0)/(4 (P - 1))


def phase(b11, b22, e21, r2, swap=False, start=None):
    """Of two neurons with B = [[b11, 0], [0, b22]], noise only in neuron 2 of square norm r2."""
    w = np.zeros((2, DIM))
    w[0, 0], w[1, 1], w[1, 2] = b11, b22, r2**0.5
    matrix = np.array([[1, 0.0], [e21, 1]])
    if swap:
        w, matrix = w[::-1], matrix[::-1, ::-1]
    state = state_of(w, head={"matrix": jnp.asarray(matrix.copy())})
    first = np.full((2, DIM), (1.0 if start is None else start) / DIM**0.5)
    state = eqx.tree_at(lambda s: s.start["filters"], state, jnp.asarray(first))
    return float(ls.probes.Phase()(state, problem_of()))


def test_phases_follow_their_triggers(float64):
    substitute, noise = C1 * 1.5**6, 15 * 2 * 0.7**6
    e21, b11 = 0.4, 0.8
    r2 = (substitute * e21**2 * b11**6 / noise) ** (1 / 3)  # where they are equal
    for swap, sign in itertools.product((False, True), (1, -1)):
        here = functools.partial(phase, swap=swap)
        # |B11| against half the initial norm.
        assert here(sign * 0.49, 0.01, 0.0, 0.5) == 1
        assert here(sign * 0.51, 0.01, 0.0, 0.5) == 2
        assert here(sign * 0.51, 0.01, 0.0, 0.5, start=1.1) == 1
        # The head's substitute against the noise of neuron 2.
        assert here(sign * b11, 0.01, sign * e21, 1.02 * r2) == 2
        assert here(sign * b11, 0.01, sign * e21, 0.98 * r2) == 3
        # |B22| against half of |B11|.
        assert here(b11, sign * 0.99 * b11 / 2, e21, 0.98 * r2) == 3
        assert here(b11, sign * 1.01 * b11 / 2, e21, 0.98 * r2) == 4
        assert here(0.49, 0.49, e21, 0.01) == 1  # nothing is learnt yet


def test_phases_of_more_neurons(float64):
    """Neuron 1 is the one with most of the first feature, neuron 2 has most of the second among
    the others."""
    w = np.zeros((3, DIM))
    w[1, :2] = (0.9, 0.85)  # most of both
    w[0, 1], w[2, 1] = 0.2, 0.5
    w[:, 3] = 1.0
    state = state_of(w)
    start = np.full((3, DIM), 1 / DIM**0.5)
    state = eqx.tree_at(lambda s: s.start["filters"], state, jnp.asarray(start))
    assert float(ls.probes.Phase()(state, problem_of())) == 4
    moved = eqx.tree_at(lambda s: s.params["filters"], state, jnp.asarray(w).at[2, 1].set(0.4))
    assert float(ls.probes.Phase()(moved, problem_of())) == 2
