"""Panels: dots for few runs, intervals inside what is possible, labels beside lines."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.container import ErrorbarContainer

import learnscope as ls
from learnscope.evidence import last
from learnscope.figures import bars, figure, number, over, steps
from learnscope.views.explorer import plots
from tests import small
from tests.small import NOISE


def accuracy(seeds):
    values = 0.9 + 0.1 * (np.arange(seeds) % 2)[:, None, None, None] * np.ones((1, 2, 3, 1))
    coords = {"rule": ["one", "other"], "size": [1.0, 2.0, 3.0], "step": [9]}
    return xr.Dataset({"test_accuracy": (("seed", "rule", "size", "step"), values)}, coords)


def test_numbers_that_are_not_finite_have_names():
    """A penalty that is never closed, beside one that is: `rule.until` is infinite."""
    assert [*map(number, (np.inf, -np.inf, np.nan, 5.0))] == ["inf", "-inf", "nan", "5"]
    setting = small.experiment(small.PENALTY, 6, 2, [ls.probes.Loss()], {"dim": 30})
    data = small.run(setting, {"rule.until": [5.0, np.inf]}, seeds=2)
    (axes,) = figure("", "x", [steps("loss", "until")]).draw(data).axes
    assert [line.get_label() for line in axes.lines] == ["5", "inf"]
    plt.close("all")


def test_a_recorded_rounding_error_is_one_dotted_line():
    setting = small.experiment(probes=[ls.probes.NoiseMemorisation()], data={"dim": 30})
    data = small.run(setting, NOISE, seeds=2, coordinates="ambient")
    assert (data.noise_floor > 0).any()
    (axes,) = figure("", "x", [steps("noise_memorisation", "noise")]).draw(data).axes
    dotted = [line for line in axes.lines if line.get_label().startswith("_")]
    assert len(axes.lines) == 4 and len(dotted) == 1
    np.testing.assert_allclose(dotted[0].get_ydata(), data.noise_floor.max(("noise", "seed")))
    (shown,) = plots.panels(data.isel(noise=0))
    np.testing.assert_allclose(shown.floor, data.noise_floor[0].max("seed"))
    assert plots.curves(data.isel(noise=0), {})["panels"][0]["floor"][-1] > 0
    plt.close("all")


@pytest.mark.parametrize("panel", [over, bars])
def test_few_runs_are_dots_and_many_have_an_interval(panel):
    shown = panel(last("test_accuracy"), "size", "rule", possible=(0, 0.96))
    few, many = (figure("", "x", [shown]).draw(accuracy(n)).axes[0] for n in (3, 12))
    assert sum(len(line.get_xdata()) for line in few.lines if line.get_marker() == ".") == 2 * 3 * 3
    intervals = [each for each in many.containers if isinstance(each, ErrorbarContainer)]
    assert not any(isinstance(each, ErrorbarContainer) for each in few.containers)
    ends = np.concatenate([bar.vertices for i in intervals for bar in i.lines[2][0].get_paths()])
    assert len(intervals) == 2 and ends[:, 1].max() == pytest.approx(0.96)
    plt.close("all")


def test_ticks_that_were_set_stay_on_a_short_logarithmic_axis():
    shown = over(last("test_accuracy"), "size", "rule", xscale="log", xticks=[1, 3])
    (axes,) = figure("", "x", [shown]).draw(accuracy(12)).axes
    axes.figure.canvas.draw()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "3"]
    plt.close("all")


def test_intervals_of_accuracies_end_at_one():
    data = accuracy(12)
    data["test_accuracy"] = data.test_accuracy.where(data.seed < 10, 0.0)  # a wide interval
    data["other"] = data.test_accuracy
    tops = []
    for name in ("test_accuracy", "other"):
        (axes,) = figure("", "x", [over(last(name), "size", "rule")]).draw(data).axes
        interval, _ = (each for each in axes.containers if isinstance(each, ErrorbarContainer))
        paths = interval.lines[2][0].get_paths()
        tops.append(max(path.vertices[:, 1].max() for path in paths))
        plt.close("all")
    assert tops[0] == pytest.approx(1.0) and tops[1] > 1.001


def test_labels_lead_to_their_lines_and_lines_that_coincide_share_one():
    data = accuracy(12).isel(rule=[0, 1, 1]).assign_coords(rule=["one", "other", "same"])
    data["test_accuracy"] = data.test_accuracy - xr.DataArray([0.0, 0.01, 0.01], dims="rule")
    shown = over(last("test_accuracy"), "size", "rule", ylim=(0, 1))
    (axes,) = figure("", "x", [shown]).draw(data).axes
    labels = {text.get_text(): text for text in axes.texts}
    assert set(labels) == {"one", "other = same"}
    ends = {name: text.xy[1] for name, text in labels.items()}
    assert ends == pytest.approx({"one": 0.95, "other = same": 0.94})
    assert all(text.arrow_patch for text in labels.values())
    plt.close("all")


def test_labels_stand_beside_the_panel_and_apart():
    shown = over(last("test_accuracy"), "size", "rule", levels={"chance": 0.9},
                 ylim=(0.9, 2))  # fmt: skip
    data = accuracy(12)
    data["test_accuracy"] = data.test_accuracy - xr.DataArray([0.0, 0.01], dims="rule")
    (axes,) = figure("", "x", [shown]).draw(data).axes
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert set(places) == {"one", "other", "chance"} and axes.get_legend() is None
    assert all(x > 1 for x, _ in places.values())
    assert np.diff(sorted(y for _, y in places.values())).min() > 0.07
    assert all(0 <= y <= 1 for _, y in places.values())  # none over the ticks
    plt.close("all")
