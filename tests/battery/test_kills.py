"""Kills at file-system operations and at random times: nothing is lost, nothing wrong."""

import contextlib
import os
import random
import shutil
import signal
import time
import warnings

import numpy as np
import pytest

import learnscope as ls
from learnscope.evidence.output import Output
from learnscope.lab.checkpoint import Checkpoint
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.repair import repair
from tests.battery.conftest import sizes
from tests.battery.faults import killed_at, operations
from tests.battery.sweeps import LARGE, SMALL, check_store, dead, marks, quickly, run  # noqa: F401


def damage(store):
    (name,) = Folder(store).ids()
    for key in ("loss/c/1/0/0", "seed/c/0"):
        file = store / name / key
        file.write_bytes(b"x" + file.read_bytes()[1:])


def remove(store):
    folder = Folder(store)
    folder.remove(folder.ids()[0])


def mend(store):
    folder = Folder(store)
    repair(folder.stored(folder.ids()[0]))


# What is done, to a store with a finished sweep or without, and the sweep that is run afterwards.
ACTS = {
    "run": (run, None, SMALL),
    "extend": (lambda store: run(store, LARGE), "whole", LARGE),
    "remove": (remove, "whole", SMALL),
    "repair": (mend, "damaged", SMALL),
}


@pytest.fixture
def stores(tmp_path, quickly):  # noqa: F811
    """Stores to begin with."""
    run(tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "damaged")
    damage(tmp_path / "damaged")
    return tmp_path


def begin(stores, start):
    place = stores / "victim"
    shutil.rmtree(place, ignore_errors=True)
    if start is not None:
        shutil.copytree(stores / start, place)
    return place


@sizes(16, 700)
def test_kills_at_operations(stores, count, found):
    chance, most, kills = random.Random(0), {}, 0
    for number in range(count):
        name = list(ACTS)[number % len(ACTS)]
        act, start, over = ACTS[name]
        if name not in most:
            place = begin(stores, start)
            most[name] = operations(place, lambda act=act, place=place: act(place))
        place = begin(stores, start)
        with pytest.MonkeyPatch.context() as patch:
            dead(patch)
            at = chance.randint(1, most[name])
            kills += killed_at(place, at, chance, lambda act=act, place=place: act(place))
        if start == "damaged" and Folder(place).ids():
            with contextlib.suppress(ls.BadInput):  # repairs what a killed repair left
                mend(place)
        check_store(place, over, kept=None if name == "repair" else marks(place))
    assert kills > 0.9 * count
    found(f"{kills} kills at operations of {', '.join(ACTS)}: 0 lost, 0 wrong")


def test_a_removal_that_does_not_rename_first_would_do_harm(stores, monkeypatch):
    chance, harm = random.Random(3), 0
    for _ in range(12):
        place = begin(stores, "whole")
        (name,) = Folder(place).ids()
        with pytest.MonkeyPatch.context() as patch:
            dead(patch)
            killed_at(
                place, chance.randint(2, 12), chance, lambda p=place, n=name: shutil.rmtree(p / n)
            )
        try:
            check_store(place)
        except (AssertionError, ls.BadInput):
            harm += 1
    assert harm


@sizes(6, 100)
def test_kills_while_files_are_written(tmp_path, count, found):
    """A checkpoint or an output file is the old one, the new one or absent."""
    chance, old, new = random.Random(1), np.zeros(3), np.ones(3)
    output, saved = tmp_path / "out", tmp_path / ".checkpoints" / "sweep" / "0.npz"
    checkpoint = Checkpoint(saved, "runs", every=0)
    acts = {
        "text": lambda value: Output(output).text("file.txt", str(value.tolist())),
        "checkpoint": lambda value: checkpoint.offer(1, {"x": value}, [{"y": value[None]}]),
    }
    for number in range(count):
        act = list(acts.values())[number % 2]
        act(old)
        most = operations(tmp_path, lambda act=act: act(old))
        with pytest.MonkeyPatch.context() as patch:
            dead(patch)
            killed_at(tmp_path, chance.randint(1, most), chance, lambda act=act: act(new))
        if number % 2:
            segment, state, recorded = checkpoint.load({"x": old})
            value = state["x"]
            assert segment == 1 and (recorded[0]["y"] == value).all()
        else:
            value = np.array(eval((output / "file.txt").read_text()))
        assert value.tolist() in (old.tolist(), new.tolist())
    found(f"{count} kills while outputs and checkpoints are written: 0 lost, 0 wrong")


@sizes(4, 200)
def test_kills_at_random_times(stores, count, found):
    """SIGKILL to a process of its own (forked, so that it need not start), at any time."""
    chance, begun, span = random.Random(2), 0, 0.15
    for _ in range(count):
        place = begin(stores, None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JAX's threads are not used in the child
            child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                run(place)
            os._exit(0)
        time.sleep(chance.uniform(0, span))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kept = marks(place)
        begun += len(kept) > 0
        check_store(place, kept=kept)
    found(f"{count} kills at random times ({begun} after the first block): 0 lost, 0 wrong")
