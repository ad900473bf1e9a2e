"""Stored sweeps that are small and still have several blocks."""

import shutil

import pytest

from learnscope.engine import size
from tests.small import NOISE, experiment, reported


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of three runs at most, so that a small sweep has several."""
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=3))


@pytest.fixture(scope="session")
def three_blocks(tmp_path_factory):
    """A finished sweep of three blocks, one a noise: its folder and its name."""
    folder = tmp_path_factory.mktemp("three-blocks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size, "LIMITS", size.Limits(block_runs=3))
        _, report = reported(experiment(), NOISE, seeds=3, store=folder)
    return folder, report.store


@pytest.fixture
def blocks(three_blocks, small_blocks, tmp_path):
    """A copy of it, to be damaged."""
    folder, name = three_blocks
    shutil.copytree(folder, tmp_path / "results")
    return tmp_path / "results", name
