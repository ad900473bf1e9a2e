"""Averaged weights: what probes see, while training is as without."""

import numpy as np
import pytest

import learnscope as ls
from tests.small import DESCENT, experiment


def filters(rule, steps: int) -> np.ndarray:
    return ls.train(experiment(rule, steps=steps), 3, precision="float64").params.filters


@pytest.mark.parametrize(("how", "start"), [("ema", 0), ("mean", 0), ("mean", 2), ("ema", 2)])
def test_the_average_of_the_weights_on_the_way(how: str, start: int):
    path = [filters(DESCENT, steps) for steps in (1, 2, 3, 4, 5)]
    rule = ls.rules.Averaged(DESCENT, how=how, decay=0.7, start=start)
    state = ls.train(experiment(rule, steps=5), 3, precision="float64")
    np.testing.assert_allclose(state.params.filters, path[-1], rtol=1e-12)  # trains as without
    shown = rule.evaluated(state).params.filters
    if how == "mean":
        expected = np.mean(path[start:], axis=0)
    else:
        first = ls.draw(experiment(), 3, precision="float64")[1].params.filters
        expected = path[start - 1] if start else first
        for weights in path[start:]:
            expected = 0.7 * expected + 0.3 * weights
    np.testing.assert_allclose(shown, expected, rtol=1e-10)


def test_probes_see_the_average():
    rule = ls.rules.Averaged(DESCENT, decay=0.9)
    slow, plain = (ls.run(experiment(each), seeds=2) for each in (rule, DESCENT))
    assert (slow.loss.isel(step=-1) > plain.loss.isel(step=-1)).all()  # it lags behind
    np.testing.assert_array_equal(slow.loss.isel(step=0), plain.loss.isel(step=0))
