"""What the tests of figures share: a small sweep over rules, and figures that are closed."""

import pytest
from matplotlib import pyplot as plt

import learnscope as ls
from tests.small import DESCENT, PENALTY, experiment, probes, run

NOISES, SIGNALS = [0.01, 0.1, 1.0, 10.0], [1.0, 2.0, 3.0]
NET = {"width": 2, "activation": "relu2"}
EXPERIMENT = experiment(DESCENT, 2, 1, probes("Loss TestAccuracy"), {"dim": 30}, NET)


def title(figure):
    """A figure's title, on one line."""
    return " ".join(figure.get_suptitle().split())


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def by_rule():
    """Three seeds of two rules, of which theory gives a boundary for the first, over two axes."""
    over = {"rule": [DESCENT, PENALTY], "data.noise": NOISES, "data.signal": SIGNALS}
    return run(EXPERIMENT, over=over, seeds=3)


@pytest.fixture(scope="session")
def found():
    """A boundary under plain descent."""
    x, y = {"data.noise": (0.01, 10.0)}, {"data.signal": SIGNALS}
    return ls.boundary(EXPERIMENT, x, y, 0.7, "test_accuracy", seeds=2, progress=False)
