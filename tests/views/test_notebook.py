"""Notebook citizens: rich display, accessors, copies and pickles of results and definitions."""

import copy
import pickle

import pytest
import xarray as xr
from matplotlib import pyplot as plt

import learnscope as ls
from learnscope.papers import STUDIES
from tests.small import PENALTY, experiment, probes, run

DATA = {"dim": 30, "noise": 0.5}
EXPERIMENT = experiment(PENALTY, 4, 1, probes("Loss TestAccuracy"), DATA, {"width": 2})


@pytest.fixture(scope="module")
def result():
    over = {"data.noise": [0.1, 0.5, 1.0], "rule.rate": [0.1, 0.2, 0.3]}
    return run(EXPERIMENT, over=over, seeds=2)


def test_experiments_conditions_and_ledgers_show_themselves():
    shown = EXPERIMENT._repr_html_()
    for word in ("SignalNoise", "noise = 0.5", "PerExamplePenalty", "TestAccuracy", "[data]"):
        assert word in shown
    assert "TOML" not in EXPERIMENT.replace("net", ls.nets.Model(lambda key: None))._repr_html_()
    found = ls.theory.conditions(EXPERIMENT)
    assert found._repr_html_().count("<tr>") == 1 + len(found)
    ledger = STUDIES["kou"].ledger({})
    assert ledger._repr_html_().count("<tr>") == 1 + len(ledger)
    assert "<script" not in ledger._repr_html_()


def test_a_result_knows_its_experiment_and_draws_itself(result):
    assert result.learnscope.experiment == EXPERIMENT
    assert result.learnscope.final.loss.dims == ("noise", "rate", "seed")
    with pytest.raises(ls.BadInput, match="names no experiment"):
        _ = xr.Dataset().learnscope.experiment
    for figure in (result.learnscope.curves(), result.learnscope.heat_map("test_accuracy")):
        assert figure.axes
        plt.close(figure)


def test_copies_and_pickles(result):
    for value in (EXPERIMENT, ls.theory.conditions(EXPERIMENT), STUDIES["kou"].ledger({})[0]):
        assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(EXPERIMENT)) == EXPERIMENT
    xr.testing.assert_identical(pickle.loads(pickle.dumps(result)), result)
    xr.testing.assert_identical(copy.deepcopy(result), result)
