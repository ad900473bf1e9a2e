"""The study of the prediction head: what its claims can say, and all of it at its smallest."""

import numpy as np
import pytest
import xarray as xr

from learnscope.papers import get
from learnscope.papers.pred_head import checks, theorem_checks
from learnscope.papers.pred_head.experiments import ABLATIONS, BARE, CONTRASTIVE, HEAD, VARIANTS
from learnscope.papers.pred_head.outcomes import ALL, ALL_STRONG, OTHER, UNSETTLED, covered, outcome
from tests.papers.test_studies import check_all, judge, smoke

PRED_HEAD = get("pred_head")
# Shares of (strong, weak) in two neurons, by what they mean.
SHARES = {
    ALL: [[1.0, 0.0], [0.0, 0.95]],
    ALL_STRONG: [[0.95, 0.0], [1.0, 0.0]],
    OTHER: [[0.0, 1.0], [0.0, 1.0]],
    UNSETTLED: [[1.0, 0.0], [0.4, 0.3]],
}


def shares(words, dims=("seed",), **coords):
    table = np.vectorize(SHARES.__getitem__, otypes=[object])(np.asarray(words))
    values = np.array(table.tolist())[..., None, :, :]
    return xr.DataArray(values, dims=(*dims, "step", "neuron", "feature"), coords=coords)


def test_outcomes_in_words():
    words = [ALL, ALL_STRONG, OTHER, UNSETTLED]
    assert outcome(shares(words)).values.tolist() == words
    assert covered(shares(words)).values.tolist() == [2, 1, 1, 1]


def training(words, correlation):
    """A dataset like `figure7` in which every arm ends alike."""
    names = [*ABLATIONS, CONTRASTIVE]
    found = np.array([[1, correlation], [correlation, 1]])
    found = np.broadcast_to(found, (len(names), len(words), 1, 2, 2))
    dims = ("method_name", "seed", "step", "neuron", "other_neuron")
    share = shares([words] * len(names), ("method_name", "seed"))
    return xr.Dataset({"share": share, "correlation": (dims, found)}, {"method_name": names})


@pytest.mark.parametrize("expected", [ALL, ALL_STRONG])
def test_one_run_that_ends_otherwise_is_a_difference(expected):
    assert checks.trained(training([expected] * 4, 0.0), HEAD, expected).verdict == "reproduced"
    for other in {*SHARES} - {expected}:
        bad = checks.trained(training([expected] * 3 + [other], 0.0), HEAD, expected)
        assert bad.verdict == "differs" and other in bad.measured


def trajectory(norm):
    table = np.broadcast_to(np.asarray(norm, float), (len(VARIANTS), 2, len(norm)))
    dims, found = ("variant", "seed", "step"), {"head_norm": table}
    found |= {"head_asymmetry": np.full_like(table, 1.4)}
    coords = {"variant": list(VARIANTS), "step": np.arange(len(norm)) * 100}
    return xr.Dataset({name: (dims, values) for name, values in found.items()}, coords)


def test_rise_without_fall_and_equal_correlations_are_differences():
    falls, rises = trajectory([0, 0.4, 0.2, 0.01]), trajectory([0, 0.2, 0.3, 0.4])
    judge(checks.rise_and_fall, falls, rises)
    assert checks.consistent(rises).verdict == "differs"
    judge(checks.asymmetric, falls)
    assert checks.correlated(training([ALL] * 3, 1.0)).verdict == "differs"


def by_dimension(head, bare):
    dims = ("head_kind", "dim", "seed")
    coords = {"head_kind": [HEAD, BARE], "dim": [1e3, 1e6]}
    return shares([[head, head], [bare, bare]], dims, **coords).to_dataset(name="population_share")


def test_the_theorems_ask_for_nearly_all_starts():
    good, few = [ALL] * 20, [ALL] * 15 + [UNSETTLED] * 5
    judge(theorem_checks.theorem_success, by_dimension(good, good), by_dimension(few, good))
    some = by_dimension(good, [ALL_STRONG] * 12 + [ALL] * 8)
    judge(theorem_checks.theorem_collapse, by_dimension(good, [ALL_STRONG] * 20), some)
    assert "arctan" in theorem_checks.theorem_collapse(some).why


def test_the_arctan_formula_is_tested_within_its_error():
    """0.6141 of 2000 at a ratio of 2; 0.66 is four standard errors away."""
    for strong, verdict in ((1228, "reproduced"), (1320, "differs")):
        words = [[ALL_STRONG] * strong + [ALL] * (2000 - strong)]
        data = shares(words, ("strength", "seed"), strength=[4.0])
        assert theorem_checks.arctan(data.to_dataset(name="population_share")).verdict == verdict


@pytest.mark.slow
def test_all_of_it_at_its_smallest():
    """Compiling forty programs takes minutes."""
    check_all(PRED_HEAD, smoke(PRED_HEAD), ("arm", "scale"))
