"""Damage to stored sweeps, and places that cannot be written: told, not mended."""

import importlib
import json
import shutil
import sys

import pytest
import zarr

import learnscope as ls
from learnscope.lab import engine
from learnscope.lab.filling import InStore
from learnscope.lab.store import Folder
from tests.lab.small import NOISE, experiment, reported, run, said_by
from tests.lab.stored import assert_same, change, chunks, cut, tree

RUNNING = importlib.import_module("learnscope.lab.run")  # lab.run is the function


def edit(sweep, **changes):
    """Change the manifest."""
    file = sweep / "zarr.json"
    table = json.loads(file.read_text())
    table["attributes"]["manifest"] |= changes
    file.write_text(json.dumps(table))


def replace(sweep, **attributes):
    """Put another's Zarr group in the place of a sweep."""
    shutil.rmtree(sweep)
    group = zarr.create_group(sweep, attributes=attributes)
    group.create_array("noise", shape=(4,), dtype="f8")[:] = 7.0


DAMAGES = {
    "cut chunk": (lambda s: cut(chunks(s, "loss")[1]), "loss/c/1/0/0 has 20 bytes of 40"),
    "no chunk": (lambda s: chunks(s, "diverged_at")[2].unlink(), "diverged_at/c/2/0 is missing"),
    "empty chunk": (lambda s: chunks(s, "loss")[0].write_bytes(b""), "loss/c/0/0/0 has 0 bytes"),
    "cut marks": (lambda s: cut(chunks(s, "seconds")[1]), "cannot be read"),
    "changed marks": (lambda s: change(chunks(s, "seconds")[1]), "cannot be read"),
    "cut labels": (lambda s: cut(chunks(s, "noise")[0]), "cannot be read"),
    "no labels": (lambda s: chunks(s, "noise")[0].unlink(), "noise"),
    "no seeds": (lambda s: chunks(s, "seed")[0].unlink(), "seed"),
    "cut zarr.json": (lambda s: cut(s / "zarr.json"), "zarr.json is damaged"),
    "empty zarr.json": (lambda s: (s / "zarr.json").write_bytes(b""), "zarr.json is damaged"),
    "list": (lambda s: (s / "zarr.json").write_text("[1]"), "zarr.json is damaged"),
    "cut array": (lambda s: cut(s / "loss" / "zarr.json"), "cannot be read"),
    "no array": (lambda s: (s / "loss" / "zarr.json").unlink(), "cannot be read"),
    "format": (lambda s: edit(s, format=99), "has store format 99"),
    "foreign": (lambda s: replace(s, owner="me"), "is not a sweep that learnscope stored"),
    "foreign, bare": (replace, "is not a sweep that learnscope stored"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_told_and_left_as_it_is(boxes, kind):
    folder, name = boxes
    damage, words = DAMAGES[kind]
    damage(folder / name)
    before = tree(folder)
    for use in (
        lambda: ls.load(name, folder),
        lambda: run(experiment(), NOISE, seeds=3, store=folder),
    ):
        with pytest.raises(ls.BadInput, match=words) as caught:
            use()
        assert name in str(caught.value)
        assert tree(folder) == before


def test_results_of_other_software_are_not_mixed(boxes):
    folder, name = boxes
    expected = ls.load(name, folder).load()
    software = Folder(folder).stored(name).manifest["software"]
    edit(folder / name, software=software | {"jax": "0.1"})
    before = tree(folder)
    with pytest.raises(ls.BadInput, match=rf"{name}.*stored by a different version.*'jax': '0.1'"):
        run(experiment(), NOISE, seeds=3, store=folder)
    # They can still be looked at.
    assert_same(ls.load(name, folder), expected)
    assert tree(folder) == before


def test_a_damaged_sweep_can_be_removed_and_run_again(boxes):
    folder, name = boxes
    expected = ls.load(name, folder).load()
    cut(chunks(folder / name, "loss")[1])
    Folder(folder).remove(name)
    stored, report = reported(experiment(), NOISE, seeds=3, store=folder)
    assert report.computed == 9
    assert_same(stored, expected)


def test_a_damaged_sweep_does_not_hide_the_others(tmp_path):
    for noise in (0.1, 0.2):
        run(experiment(), {"data.noise": [noise]}, store=tmp_path)
    names = Folder(tmp_path).ids()
    cut(tmp_path / names[0] / "zarr.json")
    damaged, whole = Folder(tmp_path).all()
    assert isinstance(damaged, ls.BadInput)
    assert whole.name == names[1]


# Places that cannot be written.


@pytest.mark.parametrize("below", [".", "results", "results/more"])
def test_a_store_that_cannot_be_written_is_told_first(tmp_path, monkeypatch, below):
    # Below a regular file, which stops the superuser too.
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(RUNNING, "work", None)
    with pytest.raises(ls.BadInput, match=f"{tmp_path}/file.*cannot be"):
        run(experiment(), store=tmp_path / "file" / below)
    assert tree(tmp_path).keys() == {str(tmp_path / "file")}


@pytest.mark.parametrize("store", ["", 3])
def test_a_store_that_is_no_place_is_refused(store):
    with pytest.raises(ls.BadInput, match=f"store = {store!r} is not allowed"):
        run(experiment(), store=store)


def full_disk(folder):
    """Run a sweep on a disk that has no room left after the first box."""
    import resource

    put = InStore.put

    def put_and_fill(self, *given):
        put(self, *given)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))

    InStore.put = put_and_fill
    engine._BLOCK_RUNS = 3
    try:
        run(experiment(), NOISE, seeds=3, store=folder)
    except ls.BadInput as error:
        print(error)


def test_a_full_disk_is_told_and_costs_nothing_stored(tmp_path, small_boxes):
    (told,) = said_by(__file__, tmp_path)
    assert told.startswith(f"the store {tmp_path} cannot be written: File too large")
    assert "what was stored before is whole" in told
    (name,) = Folder(tmp_path).ids()
    assert ls.load(name, tmp_path).attrs["missing_runs"] == 6
    stored, report = reported(experiment(), NOISE, seeds=3, store=tmp_path)
    assert (report.computed, report.reused) == (6, 3)
    assert_same(stored, run(experiment(), NOISE, seeds=3))


if __name__ == "__main__":
    full_disk(sys.argv[1])
