"""`verify --from BUNDLE`: sweeps that were computed elsewhere enter the ledger, and say where."""

import dataclasses
import importlib
import json

import matplotlib.pyplot as plt
import pytest
import xarray as xr

from learnscope.errors import MissingData
from learnscope.evidence import Claim, Figure, Study, Sweep, arms, at_most, last
from learnscope.evidence.verify import run_studies
from learnscope.lab.store.bundle import export_bundle
from learnscope.lab.store.folder import Folder
from tests.small import DESCENT, NOISE, PENALTY, experiment, refused

SLOW = experiment().replace("rule.rate", 0.001).rule
RULES = {"plain": DESCENT, "penalty": PENALTY}


def sweeps(scale):
    return {"one": arms(experiment(), 10, NOISE, rule=RULES), "two": arms(experiment(steps=3), 10)}


CLAIMS = tuple(
    Claim(name, "The loss is small.", f"Figure {name}", "-", "-", name,
          at_most(last("loss"), 10.0), nulls=())
    for name in ("one", "two")
)  # fmt: skip
STUDY = Study("tiny", "A small study", "meng2023pegr", sweeps, {}, CLAIMS)


def verify(out, study=STUDY, **more):
    run_studies({"tiny": study}, None, {}, None, str(out), "laptop", None, quiet=True, **more)
    rows = json.loads((out / "ledger.json").read_text(encoding="utf-8"))
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A ledger, its store, and a bundle of the first sweep, all made at another commit."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        run = importlib.import_module("learnscope.lab.run")  # the package has a function `run`
        patch.setattr(run, "commit", lambda: "0123abc")
        patch.setattr(run, "command", lambda: "learnscope run tiny.one")
        rows = verify(folder / "out", store=str(folder / "store"))
    store = Folder(folder / "store")
    names = [n for n in store.ids() if "noise" in store.stored(n).manifest["values"]]
    export_bundle(store, names, folder / "one.zip")
    return folder, rows


def test_a_bundle_takes_the_place_of_a_sweep_and_its_row_says_who_made_it(made, tmp_path):
    folder, before = made
    rows = verify(tmp_path, bundles=[str(folder / "one.zip")])
    shared = ("measured", "verdict", "interval", "draws", "needed")
    for id, row in rows.items():
        assert [row[name] for name in shared] == [before[id][name] for name in shared]
    assert (rows["one"]["commit"], rows["one"]["command"]) == ("0123abc", "learnscope run tiny.one")
    assert rows["one"]["took"].endswith(" s") and rows["one"]["date"] == before["one"]["date"]
    assert rows["two"]["took"] == "" and rows["two"]["commit"] == before["two"]["commit"]
    data = [xr.load_dataset(out / "tiny" / "one.nc") for out in (folder / "out", tmp_path)]
    xr.testing.assert_equal(*data)


def test_a_figure_is_drawn_as_soon_as_its_data_are_there(tmp_path, monkeypatch):
    """Before the next sweep begins, not after the last one."""
    seen = []

    def draw(data):
        seen.append("drawn")
        return plt.figure()

    study = dataclasses.replace(STUDY, figures={"first": Figure("A figure", ("one",), draw)})
    run = Sweep.run
    monkeypatch.setattr(Sweep, "run", lambda self, **more: seen.append("run") or run(self, **more))
    verify(tmp_path, study)
    assert seen == ["run", "drawn", "run"]


def test_nothing_of_the_bundle_is_computed_and_code_may_be_another(made, tmp_path, monkeypatch):
    folder, _ = made
    monkeypatch.setattr("learnscope.lab.store.identity.software", lambda: {"code": "another"})
    alone = dataclasses.replace(STUDY, sweeps=lambda scale: {"one": sweeps(scale)["one"]},
                                claims=CLAIMS[:1])  # fmt: skip
    monkeypatch.setattr("learnscope.evidence.study.Plan.of", lambda *args: 1 / 0)
    assert verify(tmp_path, alone, bundles=[str(folder / "one.zip")])["one"]["commit"] == "0123abc"


CHANGES = {
    "steps": lambda: arms(experiment(steps=7), 10, NOISE, rule=RULES),
    "axes": lambda: arms(experiment(), 10, {"data.noise": [0.1, 0.2, 0.9]}, rule=RULES),
    "seeds": lambda: arms(experiment(), 11, NOISE, rule=RULES),
    "precision": lambda: arms(experiment(), 10, NOISE, precision="float64", rule=RULES),
    "an arm": lambda: arms(experiment(), 10, NOISE, rule={**RULES, "slow": SLOW}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_bundle_of_another_experiment_is_refused(what, made, tmp_path):
    other = dataclasses.replace(STUDY, sweeps=lambda scale: {"one": CHANGES[what]()},
                                claims=CLAIMS[:1])  # fmt: skip
    said = refused(lambda: verify(tmp_path, other, bundles=[str(made[0] / "one.zip")]))
    assert "one.zip holds no whole sweep of tiny at the scale laptop" in str(said)
    assert not (tmp_path / "ledger.json").exists()


def test_a_damaged_bundle_is_one_sentence(made, tmp_path, call):
    file = tmp_path / "cut.zip"
    file.write_bytes((made[0] / "one.zip").read_bytes()[:-50])
    code, said, errors = call("verify", "pegr", "--from", file, "--out", tmp_path / "out")
    assert (code, said) == (2, "") and errors.count("\n") == 1 and "is damaged" in errors


def test_a_row_that_was_judged_elsewhere_stays_where_its_data_are_not(tmp_path, monkeypatch):
    before = verify(tmp_path)
    missing = MissingData("mnist needs a data folder")

    def run(self, **settings):
        raise missing

    monkeypatch.setattr(Sweep, "run", run)
    rows = verify(tmp_path)
    for id, row in rows.items():
        assert [row[name] for name in ("measured", "verdict")] == [
            before[id][name] for name in ("measured", "verdict")
        ]
        assert row["verdict"] != "not run"
    fresh = verify(tmp_path / "fresh")
    assert all("needs a data folder" in row["why"] for row in fresh.values())
