"""Flipped bits in every kind of file: found, or without an effect; never a wrong value."""

import random

import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.evidence.output import Output
from learnscope.images import image_cache
from learnscope.lab.checkpoint import Checkpoint
from learnscope.lab.store.folder import Folder
from tests.battery.conftest import sizes
from tests.battery.sweeps import LARGE, SMALL, expected, quickly, run  # noqa: F401
from tests.small import experiment, reported

KINDS = {
    "manifest": "zarr.json", "metadata": "loss/zarr.json", "labels": "noise/c/0",
    "seeds": "seed/c/0", "values": "loss/c/1/0/0", "marks": "seconds/c/1/0",
}  # fmt: skip


def flips(file, chance, count):
    """Flip one bit after the other, each for a moment."""
    content = file.read_bytes()
    for _ in range(count):
        bit = chance.randrange(8 * len(content))
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        yield bit
    file.write_bytes(content)


@pytest.mark.parametrize("kind", KINDS)
@sizes(12, 1000)
def test_flips_in_a_store(tmp_path, quickly, kind, count, found):  # noqa: F811
    """Neither a reader nor a larger sweep, which would take the runs over, gets a wrong value."""
    _, report = run(tmp_path)
    right, noticed = expected(), 0
    file = tmp_path / report.store / KINDS[kind]
    document = Folder(tmp_path).stored(report.store).document
    for number, _ in enumerate(flips(file, random.Random(kind), count)):
        try:
            data = ls.load(report.store, tmp_path).load()
        except ls.BadInput as error:
            noticed += 1
            assert str(tmp_path / report.store) in str(error) and "\n" not in str(error)
        else:
            xr.testing.assert_identical(data, right)
            assert Folder(tmp_path).stored(report.store).document == document
        if number % 10 == 0:
            larger = reported(experiment(), LARGE, seeds=3, store=tmp_path)
            xr.testing.assert_identical(larger[0].load(), expected(LARGE))
            Folder(tmp_path).remove(larger[1].store)
    found(f"{count} flipped bits in {kind}: {noticed} found, the others harmless, 0 silently wrong")


@sizes(12, 1000)
def test_flips_in_other_files(tmp_path, quickly, monkeypatch, count, found):  # noqa: F811
    """A checkpoint, an exported dataset, and the cache of images."""
    chance, right = random.Random(0), expected()
    values = np.random.default_rng(0).normal(size=(20, 3))
    checkpoint = Checkpoint(tmp_path / "a" / "b" / "0.npz", "runs", every=0)
    checkpoint.offer(1, {"x": values}, [{"y": values}])
    for _ in flips(checkpoint.path, chance, count):
        loaded = checkpoint.load({"x": values})
        if loaded is not None:
            assert loaded[0] == 1 and len(loaded[2]) == 1
            np.testing.assert_array_equal(loaded[1]["x"], values)
            np.testing.assert_array_equal(loaded[2][0]["y"], values)
    export = Output(tmp_path).dataset("export", right)
    for _ in flips(export, chance, count):
        try:
            with ls.load(export) as data:
                xr.testing.assert_identical(data.load(), right)
        except ls.BadInput as error:
            assert str(export) in str(error)
    monkeypatch.setenv("LEARNSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(image_cache, "_SMALLEST", 0)
    images = lambda: image_cache.cached("key", lambda: {"x": values})["x"]  # noqa: E731
    images()
    (cache,) = (tmp_path / "cache" / "images").iterdir()
    for file in cache.iterdir():
        content = file.read_bytes()
        for _ in flips(file, chance, count // 2):
            np.testing.assert_array_equal(images(), values)
            cache.mkdir(exist_ok=True)
        file.write_bytes(content)
    found(f"{count} flipped bits in each of checkpoints, NetCDF files and cached images: 0 wrong")
