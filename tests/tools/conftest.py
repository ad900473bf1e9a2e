"""What tests of tools share."""

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    left = plt.get_fignums()
    plt.close("all")
    assert not left
