"""Damage to stored sweeps, and places that cannot be written: told, and mended when asked to."""

import importlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
import zarr

import learnscope as ls
from learnscope.engine import size
from learnscope.lab.blocks import Plan
from learnscope.lab.store import checked
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.repair import repair
from learnscope.lab.store.writer import StoredResults
from learnscope.views.terminal import print_runs
from tests.lab.stored import assert_computed, assert_same, change, chunks, cut, tree
from tests.small import NOISE, experiment, refused, reported, run, said_by, trusted

RUNNING = importlib.import_module("learnscope.lab.run")  # lab.run is the function


def edit(sweep, **changes):
    """Change the manifest."""
    file = sweep / "zarr.json"
    table = json.loads(file.read_text())
    table["attributes"]["manifest"] |= changes
    table["attributes"]["manifest"]["digest"] = checked.digest(table)
    file.write_text(json.dumps(table))


def replace(sweep, **attributes):
    """Put another's Zarr group in the place of a sweep."""
    shutil.rmtree(sweep)
    group = zarr.create_group(sweep, attributes=attributes)
    group.create_array("noise", shape=(4,), dtype="f8")[:] = 7.0


DAMAGES = {
    "cut chunk": (lambda s: cut(chunks(s, "loss")[1]), "loss/c/1/0/0 has 20 bytes of 40"),
    "no chunk": (lambda s: chunks(s, "diverged_at")[2].unlink(), "diverged_at/c/2/0 is missing"),
    "cut marks": (lambda s: cut(chunks(s, "seconds")[1]), "seconds/c/1/0 does not match"),
    "changed marks": (lambda s: change(chunks(s, "seconds")[1]), "seconds/c/1/0 does not match"),
    "cut labels": (lambda s: cut(chunks(s, "noise")[0]), "noise/c/0 is not what was written"),
    "no labels": (lambda s: chunks(s, "noise")[0].unlink(), "noise/c/0 is missing"),
    "cut zarr.json": (lambda s: cut(s / "zarr.json"), "zarr.json is not what was written"),
    "empty zarr.json": (lambda s: (s / "zarr.json").write_bytes(b""), "zarr.json is not what was"),
    "cut array": (lambda s: cut(s / "loss" / "zarr.json"), "loss/zarr.json is not what was"),
    "no array": (lambda s: (s / "loss" / "zarr.json").unlink(), "loss/zarr.json is missing"),
    "format": (lambda s: edit(s, format=99), "has store format 99"),
    "foreign": (lambda s: replace(s, owner="me"), "is not a sweep that learnscope stored"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_told_and_left_as_it_is(blocks, kind):
    folder, name = blocks
    damage, words = DAMAGES[kind]
    damage(folder / name)
    before = tree(folder)
    sweep = lambda: run(experiment(), NOISE, seeds=3, store=folder)  # noqa: E731
    for use in (lambda: ls.load(name, folder), sweep):
        refused(use, words, name)
        assert tree(folder) == before


def test_results_of_other_software_are_not_mixed(blocks):
    folder, name = blocks
    expected = ls.load(name, folder).load()
    edit(folder / name, software=Folder(folder).stored(name).manifest["software"] | {"jax": "0.1"})
    before = tree(folder)
    words = rf".*{name}.*stored by a different version.*'jax': '0.1'"
    refused(lambda: run(experiment(), NOISE, seeds=3, store=folder), match=words)
    # They can still be looked at.
    assert_same(ls.load(name, folder), expected)
    assert tree(folder) == before


def test_repair_mends_what_it_can(blocks, capsys):
    folder, name = blocks
    sweep, stored = folder / name, Folder(folder).stored(name)
    assert repair(stored) == f"{name}: nothing is damaged."
    whole = tree(sweep)
    change(chunks(sweep, "seed")[0])
    (sweep / "loss" / "zarr.json").unlink()
    assert repair(stored) == f"{name}: rewrote seed/c/0, rewrote loss/zarr.json."
    assert tree(sweep) == whole
    change(chunks(sweep, "loss")[1])
    chunks(sweep, "diverged_at")[1].unlink()
    cut(chunks(sweep, "seconds")[2])
    print_runs(Folder(folder))
    assert "seconds/c/2/0 does not match its checksum" in capsys.readouterr().out
    assert f"{name}: 2 of 3 blocks are damaged: run the sweep again" in repair(stored)
    # They are not there, until they are computed.
    loaded = ls.load(name, folder).load()
    assert loaded.attrs["missing_runs"] == 6
    assert loaded.loss.isel(noise=[1, 2]).isnull().all()
    assert_computed(6, folder, NOISE, 3)


@pytest.mark.parametrize("file", ["loss/c/1/0/0", "zarr.json"])
def test_a_damaged_sweep_can_be_removed_and_run_again(blocks, file):
    folder, name = blocks
    cut(folder / name / file)
    Folder(folder).remove(name)
    assert_computed(9, folder, NOISE, 3)


def test_a_sweep_under_the_name_of_another_is_refused(blocks):
    folder, name = blocks
    other = reported(experiment(), {"data.noise": [0.5, 0.6, 0.7]}, seeds=3, store=folder)[1].store
    shutil.rmtree(folder / other)
    shutil.copytree(folder / name, folder / other)
    again = lambda over: reported(experiment(), over, seeds=3, store=folder)  # noqa: E731
    refused(lambda: again({"data.noise": [0.5, 0.6, 0.7]}), f"holds another sweep, {name}")
    # Nor does a larger sweep take its runs.
    shutil.rmtree(folder / name)
    assert again({"data.noise": [0.1, 0.2, 0.4, 0.5]})[1].computed == 12


def test_a_damaged_sweep_does_not_hide_the_others(tmp_path):
    for noise in (0.1, 0.2):
        run(experiment(), {"data.noise": [noise]}, store=tmp_path)
    first, second = Folder(tmp_path).ids()
    cut(tmp_path / first / "zarr.json")
    damaged, whole = Folder(tmp_path).all()
    assert isinstance(damaged, ls.BadInput) and whole.name == second


@pytest.mark.parametrize("left", [b"", b"half"])
@pytest.mark.parametrize("file", ["zarr.json", "loss/zarr.json", "seed/c/0"])
def test_a_sweep_that_has_not_begun_is_created_anew(tmp_path, file, left):
    plan = Plan.of(experiment(), NOISE, 3, "auto", "float32")
    name = StoredResults(Folder(tmp_path), plan).name
    (tmp_path / name / file).write_bytes(left)
    assert len(StoredResults(Folder(tmp_path), plan).missing()) == len(plan.blocks)
    assert ls.load(name, tmp_path).attrs["missing_runs"] == 9


def test_every_file_is_synced_before_and_after_it_is_named(tmp_path, small_blocks, monkeypatch):
    events, sync, replace = [], checked.sync, os.replace

    def note_sync(path):
        sync(path)
        events.append(("sync", str(path)))

    def note_name(part, file):
        assert events[-1] == ("sync", str(part))
        replace(part, file)
        events.append(("name", str(file)))

    monkeypatch.setattr(checked, "sync", note_sync)
    monkeypatch.setattr(os, "replace", note_name)
    _, report = reported(experiment(), {"data.noise": [0.1]}, store=tmp_path / "results")
    sweep = tmp_path / "results" / report.store
    named = [place for place, (what, _) in enumerate(events) if what == "name"]
    for place, following in zip(named, [*named[1:], None], strict=True):
        file = Path(events[place][1])
        folders = file.parents[: file.parents.index(tmp_path) + 1]
        assert events[place + 1 : following][: len(folders)] == [("sync", str(f)) for f in folders]
    assert {events[place][1] for place in named} == tree(sweep).keys()
    order = [events[place][1] for place in named]
    assert order.index(f"{sweep}/seconds/c/0/0") > order.index(f"{sweep}/loss/c/0/0/0")


@pytest.mark.parametrize("below", [".", "results", "results/more"])
def test_a_store_that_cannot_be_written_is_told_first(tmp_path, monkeypatch, below):
    # Below a regular file, which stops the superuser too.
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(RUNNING, "work_all", None)
    store = tmp_path / "file" / below
    refused(lambda: run(experiment(), store=store), match=f".*{tmp_path}/file.*cannot be")
    assert tree(tmp_path).keys() == {str(tmp_path / "file")}


@pytest.mark.parametrize("store", ["", 3])
def test_a_store_that_is_no_place_is_refused(store):
    refused(lambda: run(experiment(), store=store), match=f".*store = {store!r} is not allowed")


def full_disk(folder):
    """Run a sweep on a disk that has no room left after the first block."""
    import resource

    put = StoredResults.put

    def put_and_fill(self, *given):
        put(self, *given)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))

    StoredResults.put = put_and_fill
    size.LIMITS = size.Limits(block_runs=3)
    trusted()
    try:
        run(experiment(), NOISE, seeds=3, store=folder)
    except ls.BadInput as error:
        print(error)


def test_a_full_disk_is_told_and_costs_nothing_stored(tmp_path, small_blocks):
    (told,) = said_by(__file__, tmp_path)
    assert told.startswith(f"the store {tmp_path} cannot be written: File too large")
    assert "runs stored before are intact" in told
    (name,) = Folder(tmp_path).ids()
    assert ls.load(name, tmp_path).attrs["missing_runs"] == 6
    assert_computed(6, tmp_path, NOISE, 3)


if __name__ == "__main__":
    full_disk(sys.argv[1])
