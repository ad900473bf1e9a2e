"""What every study must keep: names that exist, ids that are unique, verdicts that say why."""

import dataclasses
import json
import re

import matplotlib.pyplot as plt
import pytest

from learnscope.errors import BadInput
from learnscope.evidence import SCALES, Claim, Sweep, Verb
from learnscope.lab import Experiment
from learnscope.papers import get, studies
from learnscope.views.terminal import study_lines
from tests.papers.titles import unfounded, words


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
def test_the_list_says_how_long_a_figure_takes_or_which_data_it_needs(name):
    """`.ci/minutes.py` measures every sweep, but those whose data are not there."""
    _, *lines = study_lines(get(name))
    for line in lines:
        assert re.search(r"about \d+ min|under a minute|needs", line), line


def test_the_list_names_no_minutes_if_those_of_a_sweep_are_not_known():
    study = get("kou")
    more = dataclasses.replace(study.figures["diagram"], needs=("diagram", "boundary", "unknown"))
    other = dataclasses.replace(study, figures={"diagram": more}, sweeps=lambda scale: {
        **study.sweeps(scale), "unknown": study.sweeps(scale)["sides"]})  # fmt: skip
    assert study_lines(other)[1].endswith(more.words)


@pytest.mark.parametrize("name", studies())
def test_what_was_not_run_says_why(name):
    study = get(name)
    for claim in study.claims:
        assert (claim.check is None) == bool(claim.reason), claim.id
        assert claim.scope, claim.id
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
    """Those of some datasets are drawn, with labels that name what was run."""
    for figure in study.figures.values():
        if set(figure.needs) <= set(datasets):
            drawing = figure.draw(*(datasets[need] for need in figure.needs))
            drawing.draw_without_rendering()  # laid out, and every artist asked for its shape
            labels = [a.get_title() + a.get_xlabel() + a.get_ylabel() for a in drawing.axes]
            assert any(labels), figure.title
            used = [datasets[need] for need in figure.needs]
            assert not unfounded(words(drawing), used), figure.title
            plt.close(drawing)


def check_all(study, datasets, missing=(), undecided=()):
    """Figures are drawn, and every claim on the datasets has a finding, with a reason unless it is
    reproduced; "not run" may only say that one of some things is missing. No null is reproduced."""
    check_figures(study, datasets)
    for claim in study.claims:
        if claim.check is None or not set(claim.needs) <= set(datasets):
            assert claim.find(datasets).verdict == "not run"
            continue
        finding = claim.judge({name: datasets[name] for name in claim.needs})
        if finding.verdict == "not run":
            assert any(word in finding.why for word in missing), (claim.id, finding.why)
        else:
            assert finding.measured or finding.why, claim.id
            assert (finding.verdict != "reproduced") == bool(finding.why), claim.id
    check_nulls(study, datasets, undecided)


def check_nulls(study, datasets, undecided=()):
    """Under its nulls no claim is reproduced, not even if the few draws were as many as a verdict
    needs; and every claim that a verb makes has one that applies. `undecided` are claims that runs
    as short as these cannot tell from their nulls."""
    many, wrong = {name: repeated(data) for name, data in datasets.items()}, {}
    for claim in study.claims:
        if not set(claim.needs) <= set(many) or claim.check is None or claim.id in undecided:
            continue
        found = claim.under_nulls({name: many[name] for name in claim.needs})
        spared = {each.partition(": ")[0] for each in claim.survives}
        if "reproduced" in (verdict for name, verdict in found.items() if name not in spared):
            wrong[claim.id] = found
        if isinstance(claim.check, Verb) and claim.needs and not found:
            wrong[claim.id] = "no null applies"
    assert not wrong, wrong


def repeated(data, draws=36):
    """A dataset as if its few draws were many. They are copies, so intervals are too narrow: a
    harder test for nulls, and no evidence for anything else."""
    if "seeds" in data.attrs and "exponent" in data.attrs:
        return data.assign_attrs(seeds=draws)
    if "seed" not in data.dims:
        return data
    copies = data.isel(seed=[k % data.sizes["seed"] for k in range(draws)])
    return copies.assign_coords(seed=range(draws))


def judge(check, good, *bad):
    """A check (a claim on one dataset, or a function) can hold, and can fail."""

    def found(data):
        return check.judge({check.needs[0]: data}) if isinstance(check, Claim) else check(data)

    assert found(good).verdict == "reproduced", found(good)
    for data in bad:
        assert found(data).verdict == "differs", found(data)


def attributes(sweep):
    """Those of a dataset that tell its experiments."""
    return {"experiment": json.dumps({a.label: a.experiment.to_toml() for a in sweep.arms})}


def smoke(study, names=None):
    """Datasets of its smallest scale."""
    sweeps = study.sweeps("smoke")
    return {name: sweeps[name].run(progress=False) for name in names or sweeps}
