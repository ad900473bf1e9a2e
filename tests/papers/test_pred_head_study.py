"""The study of the prediction head: its outcomes, and its claims at its smallest, with nulls."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from learnscope.evidence import SCALES
from learnscope.papers import get
from learnscope.papers.pred_head import quantities as q
from learnscope.papers.pred_head import real
from learnscope.papers.pred_head.figures import _pictures
from tests.papers.test_studies import check_all, check_nulls, repeated, smoke

PRED_HEAD = get("pred_head")
# Shares of (strong, weak) in two neurons, by what they mean.
SHARES = {
    q.ALL: [[1.0, 0.0], [0.0, 0.95]],
    q.ALL_STRONG: [[0.95, 0.0], [1.0, 0.0]],
    q.OTHER: [[0.0, 1.0], [0.0, 1.0]],
    q.UNSETTLED: [[1.0, 0.0], [0.4, 0.3]],
}


def test_outcomes_in_words():
    values = np.array(list(SHARES.values()))[:, None]
    shares = xr.DataArray(values, dims=("seed", "step", "neuron", "feature"))
    assert q.outcome(shares.isel(step=-1)).values.tolist() == list(SHARES)
    data = {"one": shares.to_dataset(name="population_share").assign_coords(seed=range(4))}
    assert q.ends(q.ALL).read(data).values.tolist() == [1, 0, 0, 0]
    assert q.covered().read(data).values.tolist() == [1, 0.5, 0.5, 0.5]


def test_the_phases_give_the_ledger_its_verdicts():
    """What ten starts show, taken for 36; a wrong time of phase II is seen."""
    phases = repeated(PRED_HEAD.sweeps("smoke")["phases"].run())
    verdicts = {e.claim.id: e.finding.verdict for e in PRED_HEAD.ledger({"phases": phases})}
    for id in ("lemma5.1", "lemma5.1_growth", "lemma5.2", "lemmaC.8", "t3", "proposition5.4",
               "theoremE.2", "head_bound"):  # fmt: skip
        assert verdicts[id] == "reproduced", id
    assert verdicts["appendixC"] == verdicts["lemmaD.9_overlap"] == "differs"
    check_nulls(PRED_HEAD, {"phases": phases})
    slow = phases.assign(elapsed=phases.elapsed * phases["dim"] ** 0.25)
    claim = next(c for c in PRED_HEAD.claims if c.id == "lemma5.1")
    assert claim.find({"phases": slow}).verdict == "differs"


def test_every_numbered_statement_of_the_paper_is_listed():
    places = " ".join(claim.where for claim in PRED_HEAD.claims)
    for number in (1, 2, 3, 4, 5, 7):
        assert f"Figure {number}" in places
    for statement in (
        "Theorem 4.1", "Corollary 4.2", "Theorem 4.3", "Corollary 4.4", "Remark 3.2", "Remark 3.4",
        "Remark 4.5", "Lemma 5.1", "Lemma 5.2", "Lemma 5.3", "Proposition 5.4", "Lemma D.8",
        "Lemma D.9", "Theorem E.2",
    ):  # fmt: skip
        assert statement in places, statement


def test_there_are_enough_seeds_and_all_pairs():
    for scale in SCALES:
        sweeps = real.real_sweeps(scale)
        assert all(sweep.seeds >= (2 if scale == "smoke" else 3) for sweep in sweeps.values())
    assert len(sweeps["heads"].arms) == len(real.HEADS) * len(real.WAYS)  # at the paper's


def test_pictures_of_grey_and_colour():
    for pixels in (64, 3072):
        _, axes = plt.subplots()
        _pictures(axes, np.random.default_rng(0).normal(size=(5, pixels)), 4)
        assert len(axes.images) == 1
        plt.close()


@pytest.mark.slow
def test_all_of_it_at_its_smallest():
    """Compiling forty programs takes minutes."""
    check_all(PRED_HEAD, smoke(PRED_HEAD), ("arm", "scale"))
