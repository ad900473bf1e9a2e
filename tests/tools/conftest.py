"""What tests of tools share."""

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def no_figure_stays():
    before = set(plt.get_fignums())  # other tests' of the same process
    yield
    left = set(plt.get_fignums()) - before
    plt.close("all")
    assert not left
