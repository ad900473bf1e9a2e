"""Runs beside their limit."""

import matplotlib.pyplot as plt
import numpy as np

from learnscope.evidence import arms
from learnscope.figures import with_limit
from learnscope.papers.online.experiments import committee
from learnscope.theory import limit


def test_runs_and_their_limit_are_drawn_over_examples_by_dimension():
    setting = committee(1, teacher=1, dim=1000, batch=10, steps=20, every=10)
    runs = arms(setting, 2).run(progress=False)
    _, axes = plt.subplots()
    with_limit("a", "generalisation_error", yscale="log")(axes, {"a": runs})
    assert len(axes.lines) == 4 and axes.get_yscale() == "log"
    np.testing.assert_allclose(axes.lines[0].get_xdata(), [0.0, 0.1, 0.2])
    found = limit(setting, runs).generalisation_error.values
    np.testing.assert_allclose([line.get_ydata() for line in axes.lines[2:]], found)
    assert {line.get_label() for line in axes.lines} >= {"runs", "limit"}
    plt.close("all")
