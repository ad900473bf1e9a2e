"""Curves: a line is one setting, and a band its seeds."""

import numpy as np
import pytest
import xarray as xr

from learnscope.figures import probe_curves
from tests.figures.conftest import title
from tests.small import refused


def bands(axes):
    """Low and high ends of every band at the last step."""
    ends = []
    for band in axes.collections:
        (path,) = band.get_paths()
        last = path.vertices[path.vertices[:, 0] == path.vertices[:, 0].max()]
        ends.append((last[:, 1].min(), last[:, 1].max()))
    return ends


def labels(figure):
    """The names of lines, below the panels or beside the last of each row, from above."""
    below = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return below or [text.get_text() for panel in panels(figure) for text in panel.texts]


def panels(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def settings(**axes):
    """A result in which all seeds of a setting agree, and settings do not."""
    axes = {dim: list(range(n)) if isinstance(n, int) else n for dim, n in axes.items()}
    shape = [len(values) for values in axes.values()]
    values = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(*shape, 1, 1)
    loss = (*axes, "seed", "step"), np.broadcast_to(values, (*shape, 5, 2))
    diverged = (*axes, "seed"), np.full((*shape, 5), np.nan)
    return xr.Dataset({"loss": loss, "diverged_at": diverged}, {**axes, "step": [0, 5]})


@pytest.mark.parametrize("axes", [
    {}, {"noise": 3}, {"rate": 2, "noise": 3}, {"rate": 3, "noise": 3}, {"noise": 2, "rule": 4},
    {"dim": 9, "rate": 9, "noise": 9}, {"noise": 3, "width": 1, "rule": ["a", "b", "c"]},
])  # fmt: skip
def test_a_band_is_over_seeds_only(axes):
    data = settings(**axes)
    figure = probe_curves(data)
    shown = []
    for panel in panels(figure):
        ends = bands(panel)
        assert all(low == high for low, high in ends) and 0 < len(ends) <= 6  # seeds agree
        shown += [low for low, _ in ends]
    assert len(set(shown)) == len(shown) and set(shown) <= set(data.loss.values.ravel())
    assert "median and 10-90 % of 5 seeds" in title(figure)
    assert ("shown: " in title(figure)) == (len(shown) < data.loss.size / 10)


def test_few_seeds_are_drawn_one_by_one():
    data = settings(rule=["a", "b"]).isel(seed=slice(3))
    data["loss"] = data.loss + data.seed
    figure = probe_curves(data)
    (panel,) = panels(figure)
    assert "median and every run of 3 seeds" in title(figure) and not panel.collections
    ends = sorted(line.get_ydata()[-1] for line in panel.lines)
    assert ends == [0, 1, 1, 1, 2, 2, 2, 3]  # two medians, and 0, 1, 2 beyond 0 and 1


def test_few_settings_are_lines_with_names_and_many_are_panels():
    figure = probe_curves(settings(rule=["a", "b"], noise=2))
    assert len(panels(figure)) == 1 and not figure.legends
    assert labels(figure) == [f"rule = {r}, noise = {n}" for r in "ba" for n in (1, 0)]
    figure = probe_curves(settings(noise=3, rate=2, rule=["a", "b"]))
    assert labels(figure) == [f"noise = {n}" for n in (2, 1, 0)]
    assert len(figure.axes[-1].texts) == 3  # beside the last panel only
    titles = [f"rule = {r}, rate = {n}" for r in "ab" for n in (0, 1)]
    assert [axes.get_title() for axes in panels(figure)] == titles
    figure = probe_curves(settings(noise=20, rate=20))
    assert "shown: 6 of 20 values of noise, 4 of 20 values of rate" in title(figure)
    assert labels(probe_curves(settings())) == []


def test_names_stand_where_lines_end():
    (panel,) = panels(probe_curves(settings(rule=["a", "b"])))
    low, high = panel.get_ylim()
    for text, line in zip(panel.texts, panel.lines[::-1], strict=True):
        at = (line.get_ydata()[-1] - low) / (high - low)
        assert abs(text.xy[1] - at) < 0.01 and abs(text.get_position()[1] - at) < 0.05
        assert text.xy[0] > 0.9


def test_a_hue_has_the_lines_and_their_ends_in_the_heading():
    figure = probe_curves(settings(rule=["a", "b"], noise=2), "rule")
    assert labels(figure) == ["b", "a"] and len(panels(figure)) == 2
    assert title(figure).startswith("Loss at step 5: 0.5 (a), 2.5 (b)")
    refused(lambda: probe_curves(settings(noise=2), "rule"), "noise")


def test_a_single_axis_has_its_ends_in_the_heading():
    """Of a long one, the first and the last."""
    assert title(probe_curves(settings(noise=2))).startswith(
        "Loss at step 5: 0 (noise = 0), 1 (noise = 1)"
    )
    assert title(probe_curves(settings(noise=5))).startswith(
        "Loss at step 5: 0 (noise = 0), 4 (noise = 4)"
    )


def test_a_real_result_and_what_is_left_of_it(by_rule):
    figure = probe_curves(by_rule)
    assert {axes.get_ylabel() for axes in figure.axes} >= {"training loss (nat)", "test accuracy"}
    one = probe_curves(by_rule.sel(rule="GradientDescent", signal=1.0))
    assert "rule = GradientDescent" in title(one) and len(panels(one)) == 2
    assert "seeds" not in title(probe_curves(by_rule.mean("seed")))
    refused(lambda: probe_curves(by_rule.learnscope.final), "no steps")
    assert by_rule.learnscope.curves().axes


def test_runs_that_diverge_do_not_flatten_the_others():
    data = settings(noise=3)
    data["loss"] = data.loss.where((data.noise < 2) | (data.step < 5), np.nan)
    data["loss"] = data.loss.where((data.noise < 2) | (data.step > 0), 1e30)
    data["diverged_at"] = data.diverged_at.where(data.noise < 2, 3.0)
    figure = probe_curves(data)
    assert figure.axes[0].get_ylim() == (-0.05, 1.05) and len(labels(figure)) == 3
    assert "no number (noise = 2)" in title(figure) and "5 of 15 runs diverged" in title(figure)
