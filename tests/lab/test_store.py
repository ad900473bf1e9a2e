"""Stored sweeps: the same as in memory, found again, lazy, in folders and at URLs."""

import contextlib
import importlib
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
import zarr

import learnscope as ls
from learnscope.lab.blocks import Plan
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from learnscope.probes import AbstractProbe, Output
from tests.lab.stored import assert_computed, assert_same, change, chunks, tree
from tests.small import DESCENT, NOISE, PENALTY, experiment, refused, reported, run

RUNNING = importlib.import_module("learnscope.lab.run")  # lab.run is the function


class _Filters(AbstractProbe):
    outputs = {"length": Output("length of a filter", dims=("filter",))}  # noqa: RUF012

    def __call__(self, state, problem):
        return jnp.linalg.norm(state.params["filters"], axis=1)


def stamps(folder):
    """Everything below a folder, by what changes when it is written."""
    facts = {str(file): file.stat() for file in sorted(folder.rglob("*"))}
    return {name: (fact.st_ino, fact.st_mtime_ns, fact.st_size) for name, fact in facts.items()}


PARTS = {"rule": [DESCENT, PENALTY], "data.noise": [0.1, 0.4]}
KINDS = {"rule": [DESCENT, PENALTY, ls.rules.GradientDescent(rate=0.1)]}
DIVERGING = {"rule.rate": [0.1, 1e30], "data.noise": [1, 2]}
PAIRS = [ls.zipped({"data.noise": [0.1, 0.4], "net.scale": [0.02, 0.2]}), {"rule.rate": [0.1, 0.2]}]
SHAPES = ls.zipped({"net.width": [2, 3], "steps": [10, 5]}, name="shape")
NAMES = ls.zipped(
    {"data.batch": [None, 2], "net.activation": ["relu2", "relu"], "data.orthogonal": [True, False]}
)


@pytest.mark.parametrize(
    ("setting", "over", "how"),
    [
        (experiment(), None, {"seeds": [7, 3]}),
        (experiment(), DIVERGING, {"seeds": 3}),
        (experiment(), PAIRS, {"precision": "float64"}),
        (experiment(), KINDS, {}),
        (experiment(probes=[ls.probes.Loss(), _Filters()]), SHAPES, {}),
        (experiment(), NAMES, {"coordinates": "ambient"}),
    ],
    ids=["seeds", "numbers", "float64", "kinds", "shapes", "names"],
)
def test_a_stored_sweep_is_the_one_in_memory(tmp_path, setting, over, how):
    expected = run(setting, over, **how)
    stored, report = reported(setting, over, store=tmp_path, **how)
    assert_same(stored, expected)
    assert_same(ls.load(report.store, tmp_path), expected)
    assert report.trainings == report.computed == expected.diverged_at.size


def test_xarray_opens_a_stored_sweep_by_itself_and_parts_are_labelled_by_texts(tmp_path):
    # Warnings are errors here: of texts, of metadata that is not consolidated, of time units.
    stored, report = reported(experiment(), PARTS, store=tmp_path)
    opened = xr.open_zarr(tmp_path / report.store)
    assert set(opened) == {*stored, "seconds"}
    assert opened.seconds.notnull().all()
    xr.testing.assert_equal(opened[list(stored)].load(), stored)
    assert opened.attrs["manifest"]["id"] == report.store
    assert stored.rule.values.tolist() == ["GradientDescent", "PerExamplePenalty"]
    assert stored.sel(rule="PerExamplePenalty").loss.notnull().all()
    assert stored.noise.attrs == {"field": "data.noise"}


@pytest.mark.parametrize("name", ["diverged_at", "seconds", "seed", "step", "zarr.json", "a/b"])
def test_outputs_may_not_be_named_like_what_is_added_to_them(name):
    class _Taken(AbstractProbe):
        outputs = {"length": Output("length", dims=(name,))}  # noqa: RUF012

        def __call__(self, state, problem):
            return jnp.zeros(1)

    for outputs in (_Taken.outputs, {name: Output("length")}):
        _Taken.outputs = outputs
        refused(_Taken, f"the probe _Taken records '{name}', which is not")


def test_a_finished_sweep_is_not_run_again(tmp_path, monkeypatch):
    first, report = reported(experiment(), NOISE, seeds=2, store=tmp_path)
    assert (report.trainings, report.computed, report.reused) == (6, 6, 0)
    before = stamps(tmp_path)

    monkeypatch.setattr(RUNNING, "work_all", None)  # nothing is to be computed
    again, report = reported(experiment(), NOISE, seeds=2, store=tmp_path)
    assert (report.trainings, report.computed, report.reused) == (6, 0, 6)
    assert_same(again, first)
    assert stamps(tmp_path) == before


def test_a_sweep_is_loaded_by_name_start_and_path(tmp_path, monkeypatch):
    stored, report = reported(experiment(), NOISE, seeds=2, store=tmp_path / "results")
    name = report.store
    for given in (name, name[:3], name[:12]):
        assert_same(ls.load(given, tmp_path / "results"), stored)
    path = tmp_path / "results" / name
    for given in (path, str(path), f"{path}/"):
        assert_same(ls.load(given), stored)
    monkeypatch.chdir(tmp_path / "results")
    assert_same(ls.load(name, "nowhere"), stored)
    monkeypatch.chdir(tmp_path)
    assert_same(ls.load(f"results/{name}"), stored)
    shutil.move("results", "learnscope-results")
    assert_same(ls.load(name), stored)


def test_an_unclear_name_is_refused(tmp_path):
    for noise in (0.1, 0.2):
        run(experiment(), {"data.noise": [noise]}, store=tmp_path)
    first, second = Folder(tmp_path).ids()
    family = first.partition("-")[0]
    words = f".*'{family}' is the start of several.*{first}, {second}"
    refused(lambda: ls.load(family, tmp_path), match=words)
    for folder in (tmp_path, tmp_path / "nowhere"):
        refused(lambda folder=folder: ls.load("xyz", folder), f"no sweep 'xyz' in {folder}")
    refused(lambda: ls.load(tmp_path / "xyz"), f"{tmp_path / 'xyz'} is not a sweep")
    refused(lambda: Folder(tmp_path).find(""), "there is no sweep ''")


def test_a_value_is_read_when_it_is_asked_for(blocks):
    folder, name = blocks
    expected = ls.load(name, folder).load()
    for chunk in [*chunks(folder / name, "diverged_at"), *chunks(folder / name, "loss")[1:]]:
        change(chunk)
    # Neither opening nor a cell reads another chunk than the cell's own.
    loaded = ls.load(name, folder)
    xr.testing.assert_identical(loaded.loss.isel(noise=0).load(), expected.loss.isel(noise=0))
    again, report = reported(experiment(), NOISE, seeds=3, store=folder)
    assert report.computed == 0
    for data in (loaded, again, pickle.loads(pickle.dumps(loaded))):
        words = (" does not match its checksum", f"`learnscope runs repair {name}")
        refused(data.loss.isel(noise=1).load, f"{name}/loss/c/1/0/0{words[0]}", words[1])
        refused(data.load, *words)


def test_an_unfinished_sweep_has_blanks_and_one_only_created_is_blank(blocks, tmp_path):
    folder, name = blocks
    expected = ls.load(name, folder).load()
    assert "missing_runs" not in expected.attrs
    for variable in ("seconds", "loss", "signal_learning", "diverged_at"):
        chunks(folder / name, variable)[1].unlink()
    loaded = ls.load(name, folder)
    assert loaded.attrs["missing_runs"] == 3
    there = [0, 2]
    xr.testing.assert_equal(loaded.isel(noise=there).load(), expected.isel(noise=there))
    assert loaded.loss.isel(noise=1).isnull().all()
    assert_computed(3, folder, NOISE, 3)  # running it again fills them
    name = StoredResults(Folder(tmp_path), Plan.of(experiment(), NOISE, 3, "auto", "float32")).name
    loaded = ls.load(name, tmp_path)
    assert loaded.attrs["missing_runs"] == 9
    assert all(loaded[variable].isnull().all() for variable in loaded)


@pytest.fixture
def url():
    address = "memory://sweeps/of-a-test"
    yield address
    files = Folder(address)._files
    if files.exists("/sweeps"):
        files.rm("/sweeps", recursive=True)


def test_a_url_is_as_good_as_a_folder(url, small_blocks):
    stored, report = reported(experiment(), NOISE, seeds=3, store=url)
    expected = run(experiment(), NOISE, seeds=3)
    assert_same(stored, expected)
    assert_computed(0, url, NOISE, 3)
    _, extended = reported(experiment(), NOISE, seeds=4, store=url)
    assert extended.computed == 3
    assert_computed(0, url, NOISE, 4)
    assert_same(ls.load(report.store, url), expected)
    assert_same(ls.load(f"{url}/{report.store}"), expected)
    folder = Folder(url)
    assert folder.ids() == sorted([report.store, extended.store])
    folder.remove(report.store)
    assert folder.ids() == [extended.store]
    refused(lambda: ls.load(report.store, url), "no sweep")
    words = "the store nosuch://place cannot be opened"
    refused(lambda: run(experiment(), store="nosuch://place"), words)


def test_a_folder_lists_finds_and_removes_sweeps(tmp_path):
    assert Folder(tmp_path / "nowhere").ids() == []
    for noise in (0.1, 0.2):
        run(experiment(), {"data.noise": [noise]}, store=tmp_path)
    folder = Folder(tmp_path)
    names = folder.ids()
    # What else lies there is not listed.
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "01234567-89abcdef").mkdir()
    (tmp_path / "photos").mkdir()
    assert folder.ids() == [sweep.name for sweep in folder.all()] == names
    first, other = names
    assert folder.find(first) == folder.find(first[:-1]) == first
    assert folder.stored(first).finished().all()
    assert folder.stored(first).size() == (2 * 3 * 4 + 8)
    before = tree(tmp_path / other)
    folder.remove(first)
    assert folder.ids() == [other] and not (tmp_path / first).exists()
    assert tree(tmp_path / other) == before


@pytest.mark.parametrize("kind", ["nothing", "folder", "file", "group", "array", "format"])
def test_nothing_foreign_is_removed(tmp_path, kind):
    name = "01234567-89abcdef"
    path = tmp_path / name
    if kind == "folder":
        path.mkdir()
        (path / "photo.jpg").write_bytes(b"x")
    elif kind == "file":
        path.write_text("mine")
    elif kind == "array":
        zarr.create_array(path, shape=(2,), dtype="f4")
    elif kind != "nothing":
        attributes = {"group": {"owner": "me"}, "format": {"manifest": {"format": 99}}}[kind]
        zarr.create_group(path, attributes=attributes)
    before = tree(tmp_path)
    refused(lambda: Folder(tmp_path).remove(name), name)
    assert tree(tmp_path) == before


def test_threads_may_store_sweeps_side_by_side(tmp_path, monkeypatch):
    """Every chunk of a finished block is a file, also one that holds NaN alone (`diverged_at`), and
    whatever other threads do to zarr's settings meanwhile, which are the process's."""
    monkeypatch.setattr(zarr.config, "set", lambda *given, **named: contextlib.nullcontext())
    setting = experiment(steps=1, data={"dim": 9, "train": 2, "test": 2}, net={"width": 1})

    def one(i):
        plan = Plan.of(setting.replace("data.noise", 0.5 + i), None, 2, "auto", "float32")
        results = StoredResults(Folder(tmp_path), plan)
        (block,) = plan.blocks
        values = {n: np.full(v.shape, np.nan, v.dtype) for n, v in plan.variables.items()}
        results.put(block, values, 1.0)
        return int(results.dataset().diverged_at.isnull().sum())

    one(0)
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(one, range(1, 17))) == [2] * 16
