"""How much of the battery runs: a little with every test, all of it with `make slow`."""

import pytest


def sizes(few, many):
    """Run a test with a few cases, and with many if it is asked for."""
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.slow)])


@pytest.fixture
def found(record_property):
    """Say what a test found; it is printed after all tests."""
    return lambda text: record_property("battery", text)
