"""Stored sweeps that are small and still have several boxes."""

import shutil

import pytest

from learnscope.lab import engine
from tests.lab.small import NOISE, experiment, reported


@pytest.fixture
def small_boxes(monkeypatch):
    """Boxes of three runs at most, so that a small sweep has several."""
    monkeypatch.setattr(engine, "_BLOCK_RUNS", 3)


@pytest.fixture(scope="session")
def three_boxes(tmp_path_factory):
    """A finished sweep of three boxes, one a noise: its folder and its name."""
    folder = tmp_path_factory.mktemp("three-boxes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_BLOCK_RUNS", 3)
        _, report = reported(experiment(), NOISE, seeds=3, store=folder)
    return folder, report.store


@pytest.fixture
def boxes(three_boxes, small_boxes, tmp_path):
    """A copy of it, to be damaged."""
    folder, name = three_boxes
    shutil.copytree(folder, tmp_path / "results")
    return tmp_path / "results", name
