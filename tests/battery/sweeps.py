"""The sweeps of the battery: small, of several blocks, and computed beforehand."""

import functools
import importlib
import os
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.engine import size
from learnscope.lab.blocks import Plan, Runs
from learnscope.lab.store import lease
from learnscope.lab.store.folder import Folder
from learnscope.lab.worker import Done, compute
from learnscope.views.terminal import by_family
from tests.small import experiment, reported

RUN = importlib.import_module("learnscope.lab.run")  # lab.run is the function
SMALL = {"data.noise": [0.1, 0.2, 0.4]}
LARGE = {"data.noise": [0.1, 0.2, 0.4, 0.8]}


@functools.cache
def _values(digest: str, held: tuple) -> dict[str, np.ndarray]:
    return compute(held[0])


class _Same(tuple):
    """Runs, which are told apart by their digest alone."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def computed(runs: Runs) -> dict[str, np.ndarray]:
    """The values of runs, computed once: what is tested is what becomes of them."""
    return _values(runs.digest, _Same([runs]))


def work_all(task, *advance):
    return [Done(computed(runs), 0.01) for runs, _ in task]


@pytest.fixture
def quickly(monkeypatch):
    """Blocks of three runs, whose values are there at once; plans are made once."""
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=3))
    monkeypatch.setattr(RUN, "work_all", work_all)
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # power cuts are simulated
    of, made = Plan.of, {}

    def cached(experiment, over=None, *given):
        key = repr((experiment, over, given))
        if key not in made:
            made[key] = of(experiment, over, *given)
        return made[key]

    monkeypatch.setattr(Plan, "of", staticmethod(cached))


def run(store: Path, over=SMALL):
    return reported(experiment(), over, seeds=3, store=store)


@functools.cache
def _expected(over: str) -> xr.Dataset:
    return reported(experiment(), {"data.noise": eval(over)}, seeds=3)[0]


def expected(over=SMALL) -> xr.Dataset:
    return _expected(repr(over["data.noise"]))


def marks(store: Path) -> dict[str, int]:
    """The blocks that are there, by file; one that is written again has another inode."""
    files = [f for f in store.glob("*/seconds/c/*/*") if not f.name.endswith(".partial")]
    return {str(file.relative_to(store)): file.stat().st_ino for file in files}


def dead(monkeypatch):
    """From now on this process has the name of one that is gone."""
    monkeypatch.setattr(lease, "owner", lambda: f"{lease._machine()}-{2**30}")


def check_store(store: Path, over=SMALL, kept=None) -> int:
    """A sweep can be listed, run to its end with the same values, and leaves nothing behind;
    `kept` blocks are not written again. Returns how many runs were computed."""
    _, errors = by_family(Folder(store))
    assert not errors, errors
    data, report = run(store, over)
    xr.testing.assert_identical(data.load(), expected(over))
    assert (kept or {}).items() <= marks(store).items()
    left = [*(store / report.store).rglob("*.partial"), *store.glob(f".leases/{report.store}/*")]
    assert not left and not list(store.glob(".removed/*")), left
    return report.computed


__all__ = ["LARGE", "RUN", "SMALL", "check_store", "computed", "dead", "expected", "ls", "marks",
           "quickly", "run", "work_all"]  # fmt: skip
