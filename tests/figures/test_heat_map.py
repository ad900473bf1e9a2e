"""Heat maps: every cell is seen, no mean is hidden, theory speaks of what is shown."""

import json

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.collections import QuadMesh

import learnscope as ls
from learnscope.figures import draw_heat_map, has_map, heat_map
from tests.figures.conftest import EXPERIMENT, NOISES, SIGNALS, title
from tests.small import DESCENT, PENALTY, refused, run

THEORY = "theory, constant 1"


def maps(figure):
    """The panels with a map, without colour bars."""
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def lines(axes):
    return [line.get_label() for line in axes.get_lines()]


def mesh_of(axes) -> QuadMesh:
    (mesh,) = [each for each in axes.collections if isinstance(each, QuadMesh)]
    return mesh


def drawn(x, y, values=None):
    """A map over given values: its panel, and the pixels between the edges of its cells."""
    figure, axes = plt.subplots()
    shape = len(y), len(x)
    table = np.arange(np.prod(shape), dtype=float).reshape(shape) if values is None else values
    draw_heat_map(axes, xr.DataArray(table, {"y": y, "x": x}, ("y", "x")), "x", "y")
    figure.canvas.draw()
    corners = axes.transData.transform(mesh_of(axes).get_coordinates().reshape(-1, 2))
    corners = corners.reshape(shape[0] + 1, shape[1] + 1, 2)
    return axes, np.diff(corners[0, :, 0]), np.diff(corners[:, 0, 1])


@pytest.mark.parametrize("values", [
    [0.01, 0.1, 1.0, 10.0], [1, 2, 3], [1, 2, 5, 10, 20, 50, 100], [0, 1, 10, 100, 1000], [7.0],
    [0.0], [1e-9], [-3.0, 4.0], [1.0, 1000.0], [1, 2, np.inf], ["a", "b", "c"], ["a"],
])  # fmt: skip
def test_every_column_and_row_is_seen(values):
    for x, y in ((values, [1.0, 2.0]), ([1.0, 2.0], values)):
        axes, *sides = drawn(x, y)
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        edges = mesh_of(axes).get_coordinates()
        assert (edges[0, 0] == (left, low)).all() and (edges[-1, -1] == (right, high)).all()
        for widths in sides:
            assert (widths > 4).all(), widths  # pixels, of 300 to 500


def test_edges_are_geometric_means_on_logarithmic_axes_and_arithmetic_ones_on_linear_axes():
    axes, across, up = drawn(NOISES, SIGNALS)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    edges = mesh_of(axes).get_coordinates()
    np.testing.assert_allclose(edges[0, :, 0] ** 2, np.array([1e-5, 1e-3, 0.1, 10, 1000]))
    np.testing.assert_allclose(edges[:, 0, 1], [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(across, across[0])
    np.testing.assert_allclose(up, up[0])


def test_numbers_in_no_order_lie_where_they_belong():
    axes, *_ = drawn([5.0, 1.0, 3.0], [1.0], np.array([[5.0, 1.0, 3.0]]))
    assert mesh_of(axes).get_array().ravel().tolist() == [1, 3, 5]


def test_numbers_side_by_side_are_labelled():
    axes, *_ = drawn([0.0, 1.0, 10.0, 100.0, 1000.0], [1.0])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0", "1", "10", "100", "1000"]


def test_a_panel_for_every_rule_on_one_scale(by_rule):
    figure = heat_map(by_rule, "test_accuracy", x="noise", y="signal")
    panels = maps(figure)
    rules = ["GradientDescent", "PerExamplePenalty"]
    assert [axes.get_title() for axes in panels] == [f"rule = {rule}" for rule in rules]
    last = by_rule.test_accuracy.isel(step=-1).mean("seed").transpose("rule", "signal", "noise")
    for axes, rule in zip(panels, rules, strict=True):
        shown = mesh_of(axes)
        np.testing.assert_allclose(shown.get_array().reshape(3, 4), last.sel(rule=rule))
        assert shown.get_clim() == (float(last.min()), float(last.max()))
    assert "mean over 3 seeds" in title(figure) and "rule" not in title(figure)
    assert len(maps(heat_map(by_rule))) == 4  # two variables


def test_a_category_may_be_an_axis(by_rule):
    (axes,) = maps(heat_map(by_rule.sel(signal=1.0), "loss", x="noise", y="rule"))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == by_rule.rule.values.tolist()
    assert lines(axes) == []


def repeated(data, **axis):
    """The same result on one more axis."""
    return data.expand_dims(axis, create_index_for_new_dim=True)


def test_a_further_axis_of_numbers_is_selected_and_never_averaged_over(by_rule):
    wide = repeated(by_rule, width=[10, 20])
    refused(lambda: heat_map(wide, x="noise", y="signal"), ".sel(width=10)", "no mean")
    assert not has_map(wide) and has_map(by_rule)
    for left in (wide.sel(width=20), wide.isel(width=[1])):
        chosen = heat_map(left, "loss", x="noise", y="signal")
        assert len(maps(chosen)) == 2 and "width = 20" in title(chosen)


def test_axes_are_chosen_so_that_a_map_shows_most(by_rule):
    def chosen(data):
        axes = maps(heat_map(data, "loss"))[0]
        return axes.get_xlabel(), axes.get_ylabel()

    assert chosen(by_rule) == ("data.signal", "data.noise")
    assert chosen(by_rule.transpose("noise", "signal", "rule", ...)) == (
        "data.signal", "data.noise")  # fmt: skip
    assert chosen(by_rule.isel(signal=[0])) == ("data.noise", "rule")
    assert chosen(by_rule.isel(rule=[0], noise=[0])) == ("data.signal", "data.noise")


def test_there_are_only_so_many_panels(by_rule):
    many = repeated(by_rule, net=[f"n{i}" for i in range(13)])
    refused(lambda: heat_map(many, "loss"), "26", "at most 24", ".sel(net='n0')")
    assert not has_map(many)
    assert len(maps(heat_map(many.sel(rule="GradientDescent"), "loss"))) == 13


def test_theory_is_drawn_for_the_rule_that_it_is_about(by_rule):
    descent, penalty = maps(heat_map(by_rule, "loss"))
    assert lines(descent) == [THEORY] and lines(penalty) == []
    chosen = by_rule.sel(rule="GradientDescent")
    assert lines(maps(heat_map(chosen, "loss"))[0]) == [THEORY]
    for other in (
        by_rule.sel(rule="PerExamplePenalty"),
        by_rule.sel(rule="PerExamplePenalty", drop=True),  # a rule that nobody knows
        by_rule.mean("rule", keep_attrs=True),
    ):
        assert lines(maps(heat_map(other, "loss"))[0]) == []


def test_theory_is_drawn_for_the_data_that_is_selected():
    over = {"data.dim": [30, 480], "data.noise": NOISES, "data.signal": SIGNALS}
    result = run(EXPERIMENT, over=over)
    for dim in (30, 480):
        (axes,) = maps(heat_map(result.sel(dim=dim), "loss", x="noise", y="signal"))
        (line,) = axes.get_lines()
        told = [ls.theory.boundary(EXPERIMENT.replace("data.dim", dim).replace("data.signal", s),
                                   "data.noise") for s in SIGNALS]  # fmt: skip
        np.testing.assert_allclose(line.get_xdata(), told)
    (axes,) = maps(heat_map(result.isel(dim=0, drop=True), "loss", x="noise", y="signal"))
    assert lines(axes) == []


def test_no_theory_where_fields_change_together():
    zipped = ls.zipped({"data.noise": NOISES, "data.dim": [30, 40, 50, 60]})
    (axes,) = maps(heat_map(run(EXPERIMENT, over=[zipped, {"data.signal": SIGNALS}]), "loss"))
    assert lines(axes) == []


def test_theory_speaks_of_the_rule_of_each_panel():
    """Of an older result, which does not say what its axis holds, only of the experiment's own."""
    rules = [DESCENT, ls.rules.GradientDescent(rate=0.1), PENALTY]
    over = {"rule": rules, "data.noise": NOISES, "data.signal": SIGNALS}
    result = run(EXPERIMENT, over=over)
    for expected in ([[THEORY], [THEORY], []], [[THEORY], [], []]):
        own, other, penalty = maps(heat_map(result, "loss"))
        assert own.get_title() == "rule = GradientDescent(rate=0.3)"
        assert [lines(axes) for axes in (own, other, penalty)] == expected
        result.attrs.pop("parts", None)


def test_a_measured_boundary_is_drawn_on_its_own_rule(by_rule, found):
    descent, penalty = maps(heat_map(by_rule, "loss", boundary=found))
    assert lines(descent) == [THEORY, "found by bisection"] and lines(penalty) == []
    asked = heat_map(by_rule.sel(rule="PerExamplePenalty"), "loss", boundary=found)
    assert lines(maps(asked)[0]) == ["found by bisection"]
    over_rules = {"x": "noise", "y": "rule", "boundary": found}
    refused(lambda: heat_map(by_rule.sel(signal=1.0), "loss", **over_rules), "over signal")


def test_what_is_left_of_a_result_is_drawn_too(by_rule):
    final = by_rule.learnscope.final
    assert len(maps(final.learnscope.heat_map())) == 4
    assert "seed" not in title(heat_map(by_rule.mean("seed"), "loss"))
    assert len(maps(heat_map(by_rule[["loss"]]))) == 2
    by_filter = by_rule.assign(size=by_rule.loss * xr.DataArray([1.0, 2.0, 3.0], dims="filter"))
    figure = heat_map(by_filter[["size"]].sel(rule="GradientDescent"), x="noise", y="signal")
    expected = 3 * by_rule.loss.sel(rule="GradientDescent").isel(step=-1).mean("seed")
    shown = mesh_of(maps(figure)[0]).get_array().reshape(3, 4)
    np.testing.assert_allclose(shown, expected.transpose("signal", "noise"), rtol=1e-6)
    assert figure.axes[-1].get_ylabel() == "max of size"
    refused(lambda: heat_map(by_rule.loss), "give the values a name")
    refused(lambda: heat_map(by_rule, "los"), match="unknown variable of this sweep 'los'")
    refused(lambda: heat_map(by_rule, x="nose"), match="unknown axis of this sweep 'nose'")
    refused(lambda: heat_map(by_rule, x="noise", y="noise"), match="x and y are both 'noise'")
    refused(lambda: heat_map(by_rule.isel(rule=0, noise=0)), match="a heat map needs two axes")


def test_a_line_outside_a_map_has_no_legend(by_rule):
    few = by_rule.sel(rule="GradientDescent").isel(noise=[0, 1])
    (axes,) = maps(heat_map(few, "loss"))
    assert lines(axes) == [] and axes.get_legend() is None


def test_cells_without_a_finite_run_are_grey_and_the_title_says_so(by_rule):
    data = by_rule.sel(rule="GradientDescent").copy(deep=True)
    assert "finite" not in title(heat_map(data, "loss"))
    data["loss"] = data.loss.where((data.noise > 0.05) | (data.signal > 1.5), np.nan)
    data["loss"] = data.loss.where((data.noise < 5) | (data.seed > 0), np.inf)
    figure = heat_map(data, "loss", x="noise", y="signal")
    (axes,) = maps(figure)
    shown = mesh_of(axes).get_array().reshape(3, 4)
    last = data.loss.isel(step=-1).transpose("signal", "noise", "seed")
    assert shown.mask.sum() == 1 and shown.mask[0, 0]
    np.testing.assert_allclose(shown[:, 3], last[:, 3, 1:].mean("seed"))
    assert "as far as finite (grey: none is)" in title(figure)


def test_theory_is_that_of_the_arm_in_a_study_of_several_experiments(by_rule):
    arms = {"plain": EXPERIMENT, "penalty": EXPERIMENT.replace("rule", PENALTY)}
    data = by_rule.rename(rule="arm").assign_coords(arm=list(arms))
    over = {"data.noise": NOISES, "data.signal": SIGNALS}
    data.attrs["experiment"] = json.dumps({name: arm.to_toml() for name, arm in arms.items()})
    data.attrs["over"] = json.dumps(dict.fromkeys(arms, json.dumps(over)))
    assert [lines(axes) for axes in maps(heat_map(data, "loss"))] == [[THEORY], []]
    assert lines(maps(heat_map(data.sel(arm="plain"), "loss"))[0]) == [THEORY]
    assert lines(maps(heat_map(data.sel(arm="plain", drop=True), "loss"))[0]) == []
    data.attrs["experiment"] = "no TOML"
    assert [lines(axes) for axes in maps(heat_map(data, "loss"))] == [[], []]
