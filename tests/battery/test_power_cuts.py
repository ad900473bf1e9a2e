"""Power cuts: what was not synced is lost, and nothing else is."""

import random

import numpy as np
import pytest

import learnscope as ls
from learnscope.lab.store import checked
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from tests.battery.conftest import sizes
from tests.battery.faults import Disk
from tests.battery.sweeps import LARGE, SMALL, check_store, dead, quickly, run  # noqa: F401


def then_remove(store):
    run(store)
    folder = Folder(store)
    folder.remove(folder.ids()[0])


def then_extend(store):
    run(store)
    run(store, LARGE)


ACTS = {"run": (run, SMALL), "extend": (then_extend, LARGE), "remove": (then_remove, SMALL)}


@pytest.fixture
def puts(monkeypatch):
    """Note, for every block that was said to be stored, how much had been done by then."""
    noted, put = [], StoredResults.put

    def noting(self, block, *given):
        put(self, block, *given)
        noted.append((self.name, block, len(noting.disk.log)))

    monkeypatch.setattr(StoredResults, "put", noting)
    return noted, noting


@sizes(15, 300)
def test_power_cuts(tmp_path, quickly, puts, count, found):  # noqa: F811
    cuts = cut_power(tmp_path, puts, count)
    found(f"{cuts} power cuts during {', '.join(ACTS)}: 0 lost, 0 wrong")


def test_without_syncs_power_cuts_would_do_harm(tmp_path, quickly, puts, monkeypatch):  # noqa: F811
    monkeypatch.setattr(checked, "sync", lambda path: None)
    with pytest.raises((AssertionError, KeyError, ls.BadInput)):
        cut_power(tmp_path, puts, 60)


def cut_power(tmp_path, puts, count):
    """Cut the power at random operations, and check what is there."""
    noted, noting = puts
    chance, disks, cuts = random.Random(0), {}, 0
    for name, (act, _) in ACTS.items():
        noting.disk = disks[name] = Disk(tmp_path / name)
        (tmp_path / name).mkdir()
        start = len(noted)
        with pytest.MonkeyPatch.context() as patch:
            dead(patch)
            noting.disk.record(lambda act=act, name=name: act(tmp_path / name))
        disks[name].noted = noted[start:]
    for number in range(count):
        name = list(ACTS)[number % len(ACTS)]
        disk, over = disks[name], ACTS[name][1]
        at, place = chance.randint(1, len(disk.log)), tmp_path / f"cut-{number}"
        disk.cut(at, chance, place)
        if name != "remove":
            stored = {
                sweep: Folder(place).stored(sweep).finished() for sweep in Folder(place).ids()
            }
            for sweep, block, after in disk.noted:
                assert after > at or np.all(stored[sweep][block.region]), "a stored block is lost"
        check_store(place, over)
        cuts += 1
    return cuts
