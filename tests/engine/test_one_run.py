"""One run by hand: `ls.draw`, `ls.train`, and runs that continue."""

import numpy as np
import pytest

import learnscope as ls
from tests.small import PENALTY, experiment, refused

FINAL = ls.Record(every=5, final=True)


@pytest.mark.parametrize("coordinates", ["ambient", "rotate", "compressed"])
def test_arrays_are_plain_in_any_coordinates(coordinates: str):
    setting = experiment()
    problem, state = ls.draw(setting, 3, coordinates)
    rank = problem.frame.rank
    for samples, count in ((problem.train, setting.data.train), (problem.test, setting.data.test)):
        assert isinstance(samples.x, np.ndarray) and samples.x.shape == (count, 2, rank)
    assert isinstance(state.params.filters, np.ndarray)
    assert state(problem.test.x).shape == (setting.data.test,)
    # The same draw as the laboratory's: the signal patch is the label times the signal.
    carried = problem.train.x[:, 0] @ problem.directions["signal"]
    np.testing.assert_allclose(carried, problem.train.y * setting.data.signal**2, rtol=1e-5)


@pytest.mark.parametrize(
    ("coordinates", "precision"), [("ambient", "float32"), ("compressed", "float64")]
)
def test_a_trained_state_is_what_run_keeps(coordinates: str, precision: str):
    setting = experiment(PENALTY).replace("record", FINAL)
    settings = {"coordinates": coordinates, "precision": precision}
    result = ls.run(setting, seeds=[2, 3], **settings)
    state = ls.train(setting, 3, **settings)
    kept = result.final_filters.sel(seed=3)
    assert kept.dtype == precision == str(state.params.filters.dtype)
    np.testing.assert_allclose(state.params.filters, kept, rtol=2e-5, atol=1e-7)
    assert "step" not in result.final_filters.dims


def test_a_run_continues_from_a_state_or_from_what_was_kept():
    setting = experiment().replace("record", FINAL)
    half = setting.replace("steps", 5)
    whole = ls.train(setting, 1)
    middle = ls.train(half, 1)
    assert int(middle.step) == 5
    result = ls.run(half, seeds=2, coordinates="ambient")
    for start in (middle, result.sel(seed=1)):
        after = ls.train(half, 1, start=start)
        assert int(after.step) == 10
        np.testing.assert_allclose(after.params.filters, whole.params.filters, rtol=1e-5)
    again = ls.train(half, 1, start=middle.params)  # from parameters alone: steps from 0
    assert int(again.step) == 5
    refused(lambda: ls.train(half, 1, start=result), "start must be one run")
    refused(lambda: ls.train(half, 0, start=result.sel(seed=1)), "these must be the same")
    refused(lambda: ls.train(half, 1, start=result[["loss"]].sel(seed=1)), "Record(final=True)")
    wide = ls.train(half.replace("net.width", 2), 1)
    refused(lambda: ls.train(half, 1, start=wide), "they must be")
    refused(lambda: ls.draw(half, -1), "seed = -1 is not allowed")


def test_kept_parameters_survive_a_store_and_several_widths(tmp_path):
    setting = experiment().replace("record", FINAL)
    over = {"net.width": [2, 3]}
    here = ls.run(setting, over, seeds=2)
    stored = ls.run(setting, over, seeds=2, store=tmp_path)
    np.testing.assert_array_equal(here.final_filters, stored.final_filters)
    assert here.final_filters.shape == (2, 2, 6, here.final_filters.shape[-1])
    assert here.final_filters.sel(width=2)[:, 4:].isnull().all()
