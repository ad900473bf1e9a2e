"""The study of features that emerge, at its smallest scale, and what its claims can say."""

import json

import numpy as np
import pytest
import xarray as xr

from learnscope.papers.input_structure import checks, reported
from learnscope.papers.input_structure import experiments as made
from learnscope.papers.input_structure.study import STUDY
from tests.papers.test_studies import check_all, judge, smoke


def test_figures_are_drawn_and_claims_found():
    """Of sweeps of few programs: compiling them all takes minutes."""
    check_all(STUDY, smoke(STUDY, ("table2", "steps", "agreement", "scale")))


@pytest.mark.slow
def test_all_sweeps_run_at_the_smallest_scale():
    check_all(STUDY, smoke(STUDY))


def test_settings_and_entries_of_tables_are_the_papers():
    setting = made.parity()
    data = setting.data
    assert (data.dim, data.patterns, data.k, data.background) == (500, 100, 5, 0.5)
    assert (setting.width, setting.steps, data.train, data.batch) == (300, 600, 50_000, 1000)
    net = setting.net()
    assert (net.scale, net.bias_scale, net.second_scale) == pytest.approx((0.2, 0.04, 4.0))
    assert setting.scales.first_rate == pytest.approx(2.3e-9, rel=0.01)
    half = made.interval()
    assert (half.width, half.steps, half.data.k, half.data.counts) == (100, 200, 30, (20, 30))
    rows = sum(len(table) for table in reported.TABLES.values())
    assert len([claim for claim in STUDY.claims if claim.where.startswith("Table")]) >= rows > 0


def table(values, spread=0.001, **more):
    """A dataset of methods by seed, with a value each."""
    seeds = np.linspace(-spread, spread, 5)
    numbers = np.array([v + seeds for v in values.values()])[..., None]
    coords = {"learner": list(values), "step": [600]}
    array = xr.DataArray(numbers, coords, ("learner", "seed", "step"))
    names = ("test_accuracy", "train_accuracy", "cosine_max")
    setting = made.parity().experiment(made.parity().rules()[made.NETWORK], (), 1)
    told = {"experiment": json.dumps({made.BASE: setting.to_toml()})}
    return xr.Dataset({name: more.get(name, array) for name in names}, attrs=told)


def test_an_entry_must_be_near_the_papers():
    (row,) = [r for r in reported.TABLES["table1"] if r.method == made.RANDOM]
    near, far, turned = (
        table({made.RANDOM: accuracy}, cosine_max=table({made.RANDOM: cosine}).test_accuracy)
        for accuracy, cosine in ((0.75, 0.12), (0.8, 0.12), (0.75, 0.2))
    )
    judge(lambda data: checks.entry(data, row), near, far, turned)
    assert "test is +4.0" in checks.entry(far, row).why
    assert "cosine is +0.086" in checks.entry(turned, row).why


def test_verdicts_about_methods_and_lemmas():
    good = {made.NETWORK: 1.0, made.NTK: 0.84, made.RANDOM: 0.76, made.TWO: 1.0}
    good |= {"one step": 0.5, made.RESCALED: 0.6}
    chance = {name + made.FREE: 0.5 for name in made.METHODS}
    interval = {made.NETWORK: 1.0, made.NTK: 0.99, made.RANDOM: 0.75}
    for check, values, *wrong in (
        (checks.advantage, good, {made.NTK: 0.95}, {made.NETWORK: 0.9}),
        (checks.improvement_needed, good, {made.RESCALED: 1.0}),
        (checks.aligned, {made.TWO: 0.997}, {made.TWO: 0.98}),
        (checks.without_structure, chance, {made.NTK + made.FREE: 0.55}),
        (checks.interval_order, interval, {made.NTK: 0.95}),
    ):
        judge(check, table(values), *(table(values | change) for change in wrong))
    assert checks.lemma_5().verdict == "reproduced"
    assert checks.lemma_6().verdict == "reproduced"
