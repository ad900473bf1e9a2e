"""`verify --budget`: the order, the end, and that several starts change nothing."""

import dataclasses
import json

import pytest

from learnscope.cli.cost import measured
from learnscope.cli.options import seconds_of
from learnscope.engine import size
from learnscope.evidence import Claim, Study, arms, at_most, last
from learnscope.evidence.budget import Budget, Job, schedule
from learnscope.evidence.session import OutOfTime, Session
from learnscope.evidence.verify import run_studies
from learnscope.lab.blocks import Plan
from tests.small import DESCENT, NOISE, PENALTY, experiment, refused, reported


def sweeps(scale):
    rules = {"plain": DESCENT, "penalty": PENALTY}
    one = arms(experiment(steps=40, data={"batch": 2}), 10, NOISE, rule=rules)
    return {"small": one, "large": arms(experiment(steps=80), 10, {"rule.rate": [0.1, 0.3]})}


def claim(need):
    check = at_most(last("loss"), 10.0)
    return Claim(need, "The loss is small.", "Figure 1", "-", "-", need, check, scope="as stated")


STUDY = Study("tiny", "A small study", "meng2023pegr", sweeps, {}, (claim("small"), claim("large")))


def verify(folder, checks=None, monkeypatch=None, cost=lambda sweeps: [1.0] * len(sweeps)):
    """`verify`, with a budget that ends after so many looks at the clock."""
    budget = None
    if checks is not None:
        left = [checks]

        def check(self):
            left[0] -= 1
            if left[0] < 0:
                raise OutOfTime

        monkeypatch.setattr(Session, "check", check)
        budget = Budget("1h", 3600.0, cost)
    return run_studies(
        {"tiny": STUDY}, None, {}, None, str(folder / "out"), "laptop", None, quiet=True,
        store=str(folder / "store"), budget=budget,
    )  # fmt: skip


def rows(folder):
    keep = ("id", "verdict", "measured", "interval")
    listed = json.loads((folder / "out" / "ledger.json").read_text())
    return [{name: row[name] for name in keep} for row in listed]


@pytest.fixture
def finely(monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(segment_work=1.0, segments=5, block_runs=10))


def test_several_starts_give_the_bits_of_one(tmp_path, monkeypatch, finely):
    with monkeypatch.context() as patch:
        verify(tmp_path / "whole", None, patch)
    for starts in range(1, 40):  # noqa: B007
        ledger = verify(tmp_path / "parts", 12, monkeypatch)
        open_ = [e.claim.id for e in ledger if e.finding.verdict == "not run"]
        for entry in ledger:
            if entry.claim.id in open_:
                assert "--budget 1h` goes on" in entry.finding.why
        if not open_:
            break
    assert 2 < starts < 39
    assert rows(tmp_path / "parts") == rows(tmp_path / "whole")
    files = [sorted((tmp_path / part / "out" / "tiny").glob("*.nc")) for part in ("whole", "parts")]
    assert [f.name for f in files[0]] == [f.name for f in files[1]] == ["large.nc", "small.nc"]
    for one, other in zip(*files, strict=True):
        assert _values(one) == _values(other)


def _values(path):
    from learnscope.lab.store.seal import read_netcdf

    with read_netcdf(path) as data:
        return {name: data[name].values.tobytes() for name in data.variables}


def test_rows_of_sweeps_that_did_not_fit_are_kept(tmp_path, monkeypatch, finely):
    with monkeypatch.context() as patch:
        verify(tmp_path, None, patch)
    before = rows(tmp_path)
    longer = {"steps": [90]}
    again = lambda scale: {n: s.override(longer) for n, s in sweeps(scale).items()}  # noqa: E731
    monkeypatch.setitem(globals(), "STUDY", dataclasses.replace(STUDY, sweeps=again))
    verify(tmp_path, 0, monkeypatch)
    assert rows(tmp_path) == before


def test_a_row_that_was_not_run_has_todays_claim(tmp_path, monkeypatch):
    verify(tmp_path, 0, monkeypatch)
    newer = tuple(dataclasses.replace(each, setting="newer") for each in STUDY.claims)
    monkeypatch.setitem(globals(), "STUDY", dataclasses.replace(STUDY, claims=newer))
    verify(tmp_path, 0, monkeypatch)
    listed = json.loads((tmp_path / "out" / "ledger.json").read_text())
    assert [(row["verdict"], row["setting"]) for row in listed] == [("not run", "newer")] * 2


def test_what_decides_most_per_second_comes_first():
    def job(name, claims, seconds, headline=False):
        return Job("tiny", name, None, claims, headline, seconds)

    jobs = [
        job("dear", 1, 100),
        job("cheap", 1, 10),
        job("rich", 20, 100),
        job("shown", 0, 9, True),
    ]
    assert [each.name for each in schedule(jobs)] == ["shown", "rich", "cheap", "dear"]


def test_stored_runs_cost_nothing_and_say_what_others_cost(tmp_path):
    half, whole = Plan.of(experiment(), NOISE, 2), Plan.of(experiment(), NOISE, 4)
    cost = lambda: measured([[(half, 1)], [(whole, 1)]], str(tmp_path), 60, str)  # noqa: E731
    before = cost()
    reported(experiment(), NOISE, seeds=2, store=tmp_path)
    after = cost()
    assert before[0] > 0 and after[0] == 0 and after[1] > 0


def test_times_and_stores_that_are_not():
    assert seconds_of("1h 30min") == 5400
    for text in ("", "2", "two hours", "2x", "h", "1h!", "1.2.3h"):
        refused(lambda text=text: seconds_of(text), "--budget", "such as 2h")


def test_the_time_left_follows_what_sweeps_took(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("learnscope.evidence.session.time.monotonic", lambda: now[0])
    session = Session([10.0, 10.0, 20.0], deadline=500.0, _begun=0.0)
    assert str(session) == "sweep 1 of 3, about 40 s left"
    now[0] = 30.0
    session.next()  # 20 s more than was thought
    assert str(session) == "sweep 2 of 3, about 1 min 10 s left"
    now[0] = 499.0
    assert session.left() == 1.0
    now[0] = 501.0
    with pytest.raises(OutOfTime):
        session.check()
    stored = Session([10.0, 10.0, 20.0], _begun=now[0])
    now[0] += 0.5
    stored.next()  # nothing was trained
    assert stored.left() == pytest.approx(30.0 * 0.05)
