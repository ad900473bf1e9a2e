"""Stored sweeps: compare them, look at their files, and damage these."""

import hashlib

import xarray as xr

from tests.small import experiment, reported, run


def assert_same(left, right):
    """Identical, dtypes included, which xarray does not compare."""
    xr.testing.assert_identical(left, right)
    for name in right.variables:
        assert left[name].dtype.kind == right[name].dtype.kind, name
    for name in right:
        assert left[name].dtype == right[name].dtype, name


def assert_computed(count, folder, over, seeds, setting=None):
    """Running a sweep computes so many runs, reuses the others, and gives what memory would."""
    setting = experiment() if setting is None else setting
    stored, report = reported(setting, over, seeds=seeds, store=folder)
    assert (report.computed, report.reused) == (count, report.trainings - count)
    assert_same(stored, run(setting, over, seeds=seeds))


def tree(folder):
    """Every file below a folder, by its bytes."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def chunks(sweep, variable):
    return sorted(file for file in (sweep / variable / "c").rglob("*") if file.is_file())


def cut(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def change(file):
    """Other bytes in the first half of a file, none more or less."""
    text = file.read_bytes()
    half = len(text) // 2
    file.write_bytes(bytes(byte ^ 0x55 for byte in text[:half]) + text[half:])
