"""The protocol of claims on trained images: short runs decide nothing, and rows say the rest."""

import pytest

from learnscope.evidence import Sweep, Verb
from learnscope.papers import get
from tests.papers.test_meta_split_study import made

# Sweeps whose claims are about the first steps, or about data before any.
FIRST_STEPS = {"resnet_early", "balance"}
PAPERS = {
    "pegr": "loss", "benign": "loss", "pred_head": "pair_loss", "meta_split": "task_loss",
    "input_structure": "loss",
}  # fmt: skip


def trained(study):
    """The claims on trained networks of images, with their sweeps at the laptop scale."""
    real = __import__(f"learnscope.papers.{study.name}.real", fromlist=["real_sweeps"])
    sweeps = {n: s for n, s in real.real_sweeps("laptop").items() if isinstance(s, Sweep)}
    on = [c for c in study.claims if c.needs and set(c.needs) <= set(sweeps) - FIRST_STEPS]
    return on, sweeps


@pytest.mark.parametrize("name", PAPERS)
def test_short_runs_are_inconclusive_and_rows_say_their_rates_and_seeds(name, monkeypatch):
    monkeypatch.delenv("LEARNSCOPE_DATA", raising=False)
    claims, sweeps = trained(get(name))
    assert claims
    datasets = {need: made(sweeps[need]) for claim in claims for need in claim.needs}
    for data in datasets.values():
        falling = 1 - 0.8 * data.step / data.step.max()
        data[PAPERS[name]] = 0 * data[PAPERS[name]] + falling
    decided = {}
    for claim in claims:
        assert isinstance(claim.check, Verb) and claim.rates and claim.draws == 5, claim.id
        assert all(sweeps[need].seeds >= claim.draws for need in claim.needs), claim.id
        found = claim.judge({need: datasets[need] for need in claim.needs})
        if found.verdict in ("reproduced", "differs") and not claim.id.startswith("figure-5."):
            decided[claim.id] = found.verdict
    assert not decided
