"""What every study must keep: names that exist, ids that are unique, verdicts that say why."""

import json

import matplotlib.pyplot as plt
import pytest

from learnscope.errors import BadInput
from learnscope.evidence import SCALES, Sweep
from learnscope.lab import Experiment
from learnscope.papers import get, studies


@pytest.mark.parametrize("name", studies())
def test_claims_and_figures_name_sweeps_that_there_are(name, monkeypatch):
    """They are described without reading data."""
    monkeypatch.delenv("LEARNSCOPE_DATA", raising=False)
    study = get(name)
    needed = {need for figure in study.figures.values() for need in figure.needs}
    needed |= {need for claim in study.claims for need in claim.needs}
    for scale in SCALES:
        sweeps = study.sweeps(scale)
        assert needed == set(sweeps), scale
        for arm in (arm for sweep in sweeps.values() for arm in getattr(sweep, "arms", ())):
            assert Experiment.from_toml(arm.experiment.to_toml()) == arm.experiment
    assert set(study.headline) <= set(study.figures)
    ids = [claim.id for claim in study.claims]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", studies())
def test_what_was_not_run_says_why(name):
    study = get(name)
    for claim in study.claims:
        assert (claim.check is None) == bool(claim.reason), claim.id
    ledger = study.ledger({})
    assert len(ledger) == len(study.claims)
    for entry in ledger:
        if entry.claim.needs or entry.claim.check is None:
            assert entry.finding.verdict == "not run" and entry.finding.why


@pytest.mark.parametrize("name", studies())
def test_bad_values_on_the_axes_of_studies(name):
    for sweep in get(name).sweeps("smoke").values():
        arms = sweep.arms if isinstance(sweep, Sweep) else ()
        for path in {path for arm in arms for axis in arm.axes for path in axis.fields}:
            for values in (["abc"], ["", "b"], [float("nan")], [[1], [2]], [10**400, True]):
                with pytest.raises(BadInput):
                    sweep.override({path: values})


def check_figures(study, datasets):
    """Those of some datasets are drawn, with labels."""
    for figure in study.figures.values():
        if set(figure.needs) <= set(datasets):
            drawing = figure.draw(*(datasets[need] for need in figure.needs))
            drawing.canvas.draw()
            labels = [a.get_title() + a.get_xlabel() + a.get_ylabel() for a in drawing.axes]
            assert any(labels), figure.title
            plt.close(drawing)


def check_all(study, datasets, missing=()):
    """Figures are drawn and every claim on the datasets has a finding; in which "not run" may only
    say that one of some things is missing."""
    check_figures(study, datasets)
    for entry in study.ledger(datasets):
        finding, claim = entry.finding, entry.claim
        if claim.check is None or not set(claim.needs) <= set(datasets):
            assert finding.verdict == "not run"
        elif finding.verdict == "not run":
            assert any(word in finding.why for word in missing), (claim.id, finding.why)
        else:
            assert finding.measured, claim.id
            assert (finding.verdict == "differs") == bool(finding.why), claim.id


def judge(check, good, *bad):
    """A claim can hold, and can fail."""
    assert check(good).verdict == "reproduced", check(good).measured
    for data in bad:
        assert check(data).verdict == "differs", check(data).measured


def attributes(sweep):
    """Those of a dataset that tell its experiments."""
    return {"experiment": json.dumps({a.label: a.experiment.to_toml() for a in sweep.arms})}


def smoke(study, names=None):
    """Datasets of its smallest scale."""
    sweeps = study.sweeps("smoke")
    return {name: sweeps[name].run(progress=False) for name in names or sweeps}
