"""Patterns of codes: distinct, what makes the label, and cut without loss."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from learnscope.data.patterns import _distinct_codes
from learnscope.space import Basis
from learnscope.space.frame import orthonormal
from tests import law
from tests.data.test_patterns import KEY, PROBLEMS, bernoulli, drawn, read
from tests.small import quick, refused


def test_codes_are_distinct_make_the_label_and_have_no_law_of_counts():
    there, left, y = read("codes")
    np.testing.assert_allclose(left, 0, atol=1e-12)
    directions = drawn("codes")[0].directions
    codes = np.linalg.lstsq(directions["relevant"].T, directions["codes"].T)[0].T
    np.testing.assert_allclose(codes, codes.round(), atol=1e-12)
    numbers = codes.round().astype(int) @ (1 << np.arange(4))
    assert len(set(numbers)) == 10
    found = there.round().astype(int)
    place = {number: position for position, number in enumerate(numbers)}
    chosen = np.array([place[number] for number in found[:, :4] @ (1 << np.arange(4))])
    np.testing.assert_array_equal(y > 0, chosen < 5)
    seen = np.bincount(chosen, minlength=10)
    law.assert_counts(seen, [0.14] * 5 + [0.06] * 5)
    law.assert_other_counts(seen)
    chances = bernoulli((np.arange(8)[:, None] >> np.arange(3)) & 1, (0.2, 0.5, 0.9))
    law.assert_counts(np.bincount(found[:, 4:] @ (1 << np.arange(3)), minlength=8), chances)
    law.assert_independent(stats.contingency.crosstab(chosen, found[:, 4]).count)
    refused(lambda: PROBLEMS["codes"].law(), "no law of counts")


@pytest.mark.parametrize(("k", "size"), [(3, 8), (21, 5000), (50, 100)])
def test_codes_of_any_length_are_distinct(k, size):
    codes = np.asarray(quick(lambda: _distinct_codes(KEY, size, k))())
    assert codes.shape == (size, k)
    assert len(np.unique(codes, axis=0)) == size


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "noisy"])
def test_turned_inputs_lose_nothing_when_they_are_cut(name):
    """Inputs lie in the dictionary's span, of which rotated runs keep the coordinates alone."""
    problem = drawn(name)[0]
    if name == "codes":  # the first of them may depend on each other
        codes = problem.directions["codes"]
        some = itertools.combinations(range(10), 4)
        first = next(few for few in some if np.linalg.matrix_rank(codes[list(few)]) < 4)
        order = [*first, *(i for i in range(10) if i not in first)]
        directions = problem.directions | {"codes": codes[order]}
        problem = eqx.tree_at(lambda p: p.directions, problem, directions)
    filters = np.random.default_rng(0).normal(size=(3, 12))
    with jax.enable_x64(True):
        onto = Basis(orthonormal(*problem.span()[0], jnp.asarray(filters)))
        (x,) = problem.project(onto).train.x
        found = x @ x.T, x @ onto(filters)[:, : x.shape[1]].T
    whole = problem.train.x
    for one, other in zip(found, (whole @ whole.T, whole @ filters.T), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
