"""Leases: one process works on a block; those of dead and silent ones are taken over."""

import os
import time

from learnscope.lab.store import lease
from learnscope.lab.store.lease import Leases

DEAD = f"{lease._machine()}-{2**30}"
ELSEWHERE = "0123456789ab-17"


def test_a_block_is_taken_once(tmp_path, monkeypatch):
    one, other = Leases(str(tmp_path / "s")), Leases(str(tmp_path / "s"))
    assert one.take(3) and one.take(3) and one.left()
    monkeypatch.setattr(lease, "owner", lambda: f"{lease._machine()}-1")  # alive, and another
    assert not other.take(3) and other.take(4)
    monkeypatch.undo()
    assert not one.take(4)
    one.give(3)
    monkeypatch.setattr(lease, "owner", lambda: f"{lease._machine()}-1")
    assert other.take(3)
    other.end()
    assert not other.left()


def test_dead_and_silent_owners_lose_their_leases(tmp_path):
    leases = Leases(str(tmp_path))
    for number, (name, age, free) in enumerate(
        [(DEAD, 0, True), (ELSEWHERE, 0, False), (ELSEWHERE, 60, True), ("", 60, True)]
    ):
        file = tmp_path / str(number)
        file.write_text(name)
        os.utime(file, (time.time() - age,) * 2)
        assert leases.take(number) == free, number
        assert file.read_text() == (lease.owner() if free else name)
    leases.end()
    assert [file.name for file in tmp_path.iterdir()] == ["1"]


def test_a_lease_is_kept_alive(tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "_BEAT", 0.02)
    leases = Leases(str(tmp_path))
    leases.take(0)
    os.utime(tmp_path / "0", (0, 0))
    deadline = time.monotonic() + 20
    while (tmp_path / "0").stat().st_mtime < 1:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    leases.end()


def test_where_there_can_be_no_leases_all_is_computed(tmp_path):
    (tmp_path / "file").write_text("mine")
    assert Leases(str(tmp_path / "file" / "s")).take(0)


def test_partial_files_of_dead_processes_are_cleaned(tmp_path, monkeypatch):
    mine = lease.partial(tmp_path / "x")
    monkeypatch.setattr(lease, "owner", lambda: DEAD)
    theirs = lease.partial(tmp_path / "x.npz")
    for file in (mine, theirs, tmp_path / "old.partial"):
        file.write_text("half")
    lease.clean(list(tmp_path.iterdir()))
    assert mine.exists() and not theirs.exists()
