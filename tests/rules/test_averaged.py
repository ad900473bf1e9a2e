"""Averaged weights: what probes see, while training is as without."""

import numpy as np
import pytest

import learnscope as ls
from tests.small import DESCENT, experiment


@pytest.fixture(scope="module")
def path():
    """The filters of plain descent before the first step and after each, by one program."""
    one = experiment(DESCENT, steps=1)
    states = [ls.draw(one, 3, precision="float64")[1]]
    for _ in range(5):
        states.append(ls.train(one, 3, precision="float64", start=states[-1]))
    return [state.params.filters for state in states]


@pytest.mark.parametrize(("how", "start"), [("ema", 0), ("mean", 0), ("mean", 2), ("ema", 2)])
def test_the_average_of_the_weights_on_the_way(path, how: str, start: int):
    rule = ls.rules.Averaged(DESCENT, how=how, decay=0.7, start=start)
    state = ls.train(experiment(rule, steps=5), 3, precision="float64")
    np.testing.assert_allclose(state.params.filters, path[-1], rtol=1e-12)  # trains as without
    expected = path[start]
    for weights in path[start + 1 :]:
        expected = 0.7 * expected + 0.3 * weights
    if how == "mean":
        expected = np.mean(path[start + 1 :], axis=0)
    np.testing.assert_allclose(rule.evaluated(state).params.filters, expected, rtol=1e-10)


def test_probes_see_the_average():
    rule = ls.rules.Averaged(DESCENT, decay=0.9)
    slow, plain = (ls.run(experiment(each), seeds=2) for each in (rule, DESCENT))
    assert (slow.loss.isel(step=-1) > plain.loss.isel(step=-1)).all()  # it lags behind
    np.testing.assert_array_equal(slow.loss.isel(step=0), plain.loss.isel(step=0))
