"""Verdicts of the collapse report, their reasons, and the report as a value."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from learnscope.tools import collapse_report
from tests.tools.test_collapse import RNG, copies, finite, mixed


def test_each_verdict_where_it_is_true():
    source = RNG(0)
    healthy = source.normal(size=(1000, 16))
    low = source.normal(size=(1000, 4)) @ source.normal(size=(4, 32))
    cases = {
        "no sign of collapse": [healthy, mixed(1000), healthy + 1e6, healthy[:, :1]],
        "complete collapse": [np.ones((50, 4)), np.zeros((2, 3)), np.full((9, 1), 0.1)],
        "dimensional collapse": [
            copies(0.0), copies(0.05), copies(0.0, factors=2), copies(0.0, units=2),
            copies(0.01, count=100, units=500),  # fewer examples than units show it too
        ],
        "partial collapse": [low, copies(0.0, factors=8), np.maximum(low, 0)],
        "too few examples to tell": [
            healthy[:16], healthy[:5], healthy[:9, :2], copies(0.0, count=5),
            source.normal(size=(100, 500)),
        ],
    }  # fmt: skip
    for verdict, given in cases.items():
        for x in given:
            report = collapse_report(x)
            assert report.verdict == verdict, report
            assert f"verdict           {verdict}: " in str(report)
            finite(report)


def test_reasons():
    source = RNG(0)
    half = source.normal(size=(500, 16))
    half[:, 8:] = 0
    few = half[:10] + RNG(1).normal(size=(10, 16))
    # A third of the directions of a rotated representation has no variance (Jing et al. 2022).
    turned = source.normal(size=(2000, 20)) @ np.linalg.qr(source.normal(size=(30, 30)))[0][:20]
    report = collapse_report(turned)
    assert (report.dead, report.duplicates, report.empty_directions) == ((), (), 10)
    assert report.verdict == "partial collapse"
    for x, reasons in (
        (turned, ("10 of 30 directions have no variance",)),
        (copies(0.0), ("the effective rank is 1 of 32",
                       "units are nearly copies: mean |correlation| 1")),
        (half, ("8 units are dead, 0 units are copies of others",
                "8 of 16 directions have no variance")),
        (few, ("10 examples of 16 units have a rank of at most 9, whatever the units are; "
               "at least 17 are needed, better 160",)),
    ):  # fmt: skip
        assert collapse_report(x).reasons == reasons


def test_the_verdict_follows_the_noise_of_copies():
    """From copies of one unit to independent units: the verdict changes twice, one way only."""
    order = ("dimensional collapse", "partial collapse", "no sign of collapse")
    noises = np.geomspace(0.01, 10, 25)
    reports = [collapse_report(copies(noise)) for noise in noises]
    found = [order.index(report.verdict) for report in reports]
    assert found == sorted(found) and set(found) == {0, 1, 2}
    ranks = np.array([report.effective_rank for report in reports])
    assert (np.diff(ranks) > 0).all()
    shares = (ranks - 1) / 31
    strong = np.array([report.mean_correlation for report in reports]) >= 0.95
    assert found == np.where((shares <= 0.05) | strong, 0, np.where(shares <= 0.2, 1, 2)).tolist()


def test_thresholds_move_the_verdict():
    x = copies(0.8)
    report = collapse_report(x)
    share = (report.effective_rank - 1) / 31
    assert collapse_report(x, partial=share + 1e-6).verdict == "partial collapse"
    assert collapse_report(x, partial=share - 1e-6).verdict == "no sign of collapse"
    wide = {"dimensional": share + 1e-6, "partial": 1}
    assert collapse_report(x, **wide).verdict == "dimensional collapse"
    mean = report.mean_correlation
    assert collapse_report(x, copies=mean - 1e-9).verdict == "dimensional collapse"
    assert collapse_report(x, copies=mean + 1e-9).verdict == report.verdict
    dead = RNG(0).normal(size=(500, 10))
    dead[:, :2] = 1
    assert collapse_report(dead).verdict == "no sign of collapse"
    assert collapse_report(dead, lost=0.2).verdict == "partial collapse"
    few = RNG(0).normal(size=(30, 4))
    assert collapse_report(few).verdict == "no sign of collapse"
    assert collapse_report(few, examples_per_direction=31).verdict == "too few examples to tell"


def test_the_value_is_frozen_and_ready_for_json():
    report = collapse_report(mixed())
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.verdict = "fine"
    for name in ("correlation", "singular_values", "variance_shares", "deviations"):
        with pytest.raises(ValueError):
            getattr(report, name)[0] = 0
    read = finite(report)
    assert set(read) == {field.name for field in dataclasses.fields(report)}
    np.testing.assert_array_equal(read["correlation"], report.correlation)
    assert read["thresholds"]["duplicate"] == 0.99
    assert read["correlation_quantiles"]["0.5"] == report.correlation_quantiles[0.5]
    assert "correlation" not in report.to_dict(correlation=False)


def test_it_prints_as_a_short_table():
    x = copies(0.0, units=60, factors=20)
    x[:, 40:] = 3
    lines = str(collapse_report(x)).splitlines()
    assert max(map(len, lines)) <= 96 and len(lines) <= 16
    starts = ", ".join(line[:18].strip() for line in lines if line[:18].strip())
    first = "representations, effective rank, variance, |correlation|"
    assert starts == f"{first}, dead units, duplicate units, verdict"
    assert any(line.strip() == "... and 14 more groups" for line in lines)
    assert "dead units        20: 40, 41," in str(collapse_report(x))


def test_the_example_of_the_documentation(capsys):
    text = (Path(__file__).parents[2] / "docs" / "collapse.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(code, {})
    assert f'```text title="prints"\n{capsys.readouterr().out}```' in text
