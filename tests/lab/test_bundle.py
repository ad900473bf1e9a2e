"""Bundles: sweeps go from one store to another as one file, and a damaged one is refused."""

import shutil

import pytest
import xarray as xr

from learnscope.lab.store.bundle import export_bundle, import_bundle
from learnscope.lab.store.folder import Folder
from tests.small import NOISE, experiment, refused, reported


@pytest.fixture
def bundle(tmp_path):
    """A bundle of two sweeps, and their store."""
    store = tmp_path / "store"
    for seeds in (2, 3):
        reported(experiment(), NOISE, seeds=seeds, store=store)
    file = tmp_path / "two.zip"
    export_bundle(Folder(store), Folder(store).ids(), file)
    return file


def test_imported_sweeps_are_reused_and_identical(bundle, tmp_path):
    here, there = Folder(tmp_path / "store"), Folder(tmp_path / "there")
    said = import_bundle(there, bundle)
    assert there.ids() == here.ids() and all("runs on" in sentence for sentence in said)
    for name in here.ids():
        xr.testing.assert_identical(there.stored(name).dataset(), here.stored(name).dataset())
    _, report = reported(experiment(), NOISE, seeds=3, store=tmp_path / "there")
    assert (report.computed, report.reused) == (0, 9)
    assert [s.partition(" ")[2] for s in import_bundle(there, bundle)] == ["is there already"] * 2


def test_an_unfinished_sweep_is_filled_and_is_not_exported(bundle, tmp_path):
    folder = Folder(tmp_path / "store")
    name = folder.ids()[0]
    mark = next((tmp_path / "store" / name / "seconds" / "c").rglob("0"))
    expected = folder.stored(name).dataset().load()
    while mark.is_dir():
        mark = next(mark.iterdir())
    mark.unlink()
    export = lambda: export_bundle(folder, [name], tmp_path / "x.zip")  # noqa: E731
    refused(export, "cannot be exported", "runs are missing")
    import_bundle(folder, bundle)
    xr.testing.assert_identical(folder.stored(name).dataset().load(), expected)


def test_a_damaged_bundle_is_one_sentence_and_writes_nothing(bundle, tmp_path, call):
    whole, there = bundle.read_bytes(), tmp_path / "there"
    step = len(whole) // 60
    changed = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
               for at in range(0, len(whole), step)]  # fmt: skip
    refusals = 0
    for content in (b"", b"no archive", whole[: len(whole) // 2], *changed):
        bundle.write_bytes(content)
        try:
            import_bundle(Folder(there), bundle)
        except Exception as error:
            refusals += 1
            assert "is not a whole bundle of sweeps" in str(error)
            assert not there.exists()
        else:  # a byte that nothing reads: a time, say
            for name in Folder(there).ids():
                left, right = (
                    Folder(f).stored(name).dataset() for f in (there, tmp_path / "store")
                )
                xr.testing.assert_identical(left, right)
            shutil.rmtree(there)
    assert refusals > 30
    bundle.write_bytes(whole[:-50])
    code, said, errors = call("runs", "import", bundle, "--store", there)
    assert (code, said) == (2, "") and errors.count("\n") == 1 and "is damaged" in errors


def test_the_command_line(bundle, tmp_path, call):
    code, said, _ = call("runs", "export", "all", "all.zip", "--store", tmp_path / "store")
    assert code == 0 and "2 sweeps" in said
    code, said, _ = call("runs", "import", "all.zip", "--store", "other")
    assert code == 0 and said.count("\n") == 2
    code, _, errors = call("runs", "export", "all", "all.nc", "--store", "other")
    assert code == 2 and "one sweep, not 2" in errors
