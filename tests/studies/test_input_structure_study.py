"""The study of features that emerge, at its smallest scale, and what its claims can say."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from learnscope.studies.input_structure import INPUT_STRUCTURE, checks, reported
from learnscope.studies.input_structure import experiments as made
from learnscope.studies.input_structure.experiments import (
    BASE,
    FREE,
    METHODS,
    NETWORK,
    NTK,
    RANDOM,
    RESCALED,
    TWO,
)

QUICK = ("table2", "steps", "agreement", "scale")


def drawn(datasets):
    """The figures whose sweeps are there, each drawn."""
    for figure in INPUT_STRUCTURE.figures.values():
        if set(figure.needs) <= set(datasets):
            drawing = figure.draw(*(datasets[name] for name in figure.needs))
            drawing.canvas.draw()
            yield figure.title
            plt.close(drawing)


@pytest.fixture(scope="module")
def datasets():
    """Sweeps of few programs: compiling them all takes minutes."""
    sweeps = INPUT_STRUCTURE.sweeps("smoke")
    return {name: sweeps[name].run(progress=False) for name in QUICK}


def test_figures_are_drawn_and_claims_found(datasets):
    assert len(list(drawn(datasets))) == 2
    ledger = INPUT_STRUCTURE.ledger(datasets)
    assert len(ledger) == len(INPUT_STRUCTURE.claims)
    assert len({claim.id for claim in INPUT_STRUCTURE.claims}) == len(INPUT_STRUCTURE.claims)
    for entry in ledger:
        there = set(entry.claim.needs) <= set(datasets) and entry.claim.check is not None
        assert (entry.finding.verdict != "not run") == there, entry.claim.id
        assert not there or entry.finding.measured


@pytest.mark.slow
def test_all_sweeps_run_at_the_smallest_scale():
    sweeps = INPUT_STRUCTURE.sweeps("smoke")
    datasets = {name: sweep.run(progress=False) for name, sweep in sweeps.items()}
    assert len(list(drawn(datasets))) == len(INPUT_STRUCTURE.figures)
    ledger = INPUT_STRUCTURE.ledger(datasets)
    ran = [entry for entry in ledger if entry.claim.check is not None]
    assert all(entry.finding.verdict != "not run" for entry in ran)


def test_every_entry_of_the_tables_is_a_claim():
    rows = [row for table in reported.TABLES.values() for row in table]
    assert len(rows) == 48
    assert sum(claim.where.startswith("Table") for claim in INPUT_STRUCTURE.claims) >= 48


def test_settings_are_the_papers():
    setting = made.parity()
    data = setting.data
    assert (data.dim, data.patterns, data.k, data.background) == (500, 100, 5, 0.5)
    assert (setting.width, setting.steps, data.train, data.batch) == (300, 600, 50_000, 1000)
    net = setting.net()
    assert (net.scale, net.bias_scale, net.second_scale) == pytest.approx((0.2, 0.04, 4.0))
    assert setting.scales.first_rate == pytest.approx(2.3e-9, rel=0.01)
    half = made.interval()
    assert (half.width, half.steps, half.data.k, half.data.counts) == (100, 200, 30, (20, 30))


def table(values, spread=0.001, **more):
    """A dataset of methods by seed, with a value each."""
    seeds = np.linspace(-spread, spread, 5)
    array = xr.DataArray(
        np.array([v + seeds for v in values.values()])[..., None],
        dims=("learner", "seed", "step"),
        coords={"learner": list(values), "step": [600]},
    )
    names = ("test_accuracy", "train_accuracy", "cosine_max")
    told = {BASE: made.parity().experiment(made.parity().rules()[NETWORK], (), 1).to_toml()}
    return xr.Dataset(
        {name: more.get(name, array) for name in names}, attrs={"experiment": json.dumps(told)}
    )


def test_an_entry_must_be_near_the_papers():
    (row,) = [r for r in reported.TABLES["table1"] if r.method == RANDOM]
    near = table({RANDOM: 0.75}, cosine_max=table({RANDOM: 0.12}).test_accuracy)
    assert checks.entry(near, row).verdict == "reproduced"
    far = table({RANDOM: 0.80}, cosine_max=table({RANDOM: 0.12}).test_accuracy)
    found = checks.entry(far, row)
    assert found.verdict == "differs"
    assert "test is +4.0" in found.why
    turned = table({RANDOM: 0.75}, cosine_max=table({RANDOM: 0.2}).test_accuracy)
    assert "cosine is +0.086" in checks.entry(turned, row).why


def test_verdicts_about_methods():
    good = {NETWORK: 1.0, NTK: 0.84, RANDOM: 0.76, TWO: 1.0, "one step": 0.5, RESCALED: 0.6}
    assert checks.advantage(table(good)).verdict == "reproduced"
    assert checks.advantage(table(good | {NTK: 0.95})).verdict == "differs"
    assert checks.advantage(table(good | {NETWORK: 0.9})).verdict == "differs"
    assert checks.improvement_needed(table(good)).verdict == "reproduced"
    assert checks.improvement_needed(table(good | {RESCALED: 1.0})).verdict == "differs"
    assert checks.aligned(table({TWO: 0.997})).verdict == "reproduced"
    assert checks.aligned(table({TWO: 0.98})).verdict == "differs"
    chance = {name + FREE: 0.5 for name in METHODS}
    assert checks.without_structure(table(chance)).verdict == "reproduced"
    assert checks.without_structure(table(chance | {NTK + FREE: 0.55})).verdict == "differs"
    interval = {NETWORK: 1.0, NTK: 0.99, RANDOM: 0.75}
    assert checks.interval_order(table(interval)).verdict == "reproduced"
    assert checks.interval_order(table(interval | {NTK: 0.95})).verdict == "differs"


def test_the_lemmas_hold():
    assert checks.lemma_5().verdict == "reproduced"
    assert checks.lemma_6().verdict == "reproduced"
