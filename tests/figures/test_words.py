"""Labels follow arithmetic, and a unit says something or is not there."""

import numpy as np
import pytest
import xarray as xr

from learnscope.figures import heat_map, probe_curves
from learnscope.figures.words import variable


def said(data, of):
    """What a heat map and curves call a variable."""
    bar = heat_map(data.sel(rule="GradientDescent"), of).axes[-1].get_ylabel()
    curves = {axes.get_ylabel() for axes in probe_curves(data[[of, "diverged_at"]]).axes}
    assert curves - {""} == {bar}
    return bar


@pytest.mark.parametrize("keep", ["default", True, False])
def test_one_minus_accuracy_is_no_accuracy(by_rule, keep):
    with xr.set_options(keep_attrs=keep):
        accuracy = by_rule.test_accuracy
        data = by_rule.assign(
            error=1 - accuracy, both=accuracy * by_rule.loss, square=accuracy**2,
            minus=-accuracy, log=np.log(by_rule.loss + 1),
        )  # fmt: skip
        alone = (1 - accuracy).to_dataset(name="error")
        assert variable(alone, "error") == "error"
        for name in ("error", "both", "square", "minus", "log"):
            assert variable(data, name) == name
        assert said(data, "error") == "error"
        assert said(data, "test_accuracy") == "test accuracy"
        data["error"] = data.error.assign_attrs(long_name="test error", units="%")
        assert said(data, "error") == "test error (%)"


def test_units_are_said_where_they_say_something():
    data = xr.Dataset({
        "ratio": ("x", [0.5], {"long_name": "a ratio", "units": "1"}),
        "bare": ("x", [0.5], {"long_name": "a number", "units": ""}),
        "seconds": ("x", [0.5], {"long_name": "computing time", "units": "s"}),
    })  # fmt: skip
    assert [variable(data, name) for name in data] == ["a ratio", "a number", "computing time (s)"]
    data["minutes"] = data.seconds / 60
    data["square"] = data.seconds**2
    assert variable(data, "minutes") == "minutes" and variable(data, "square") == "square"
    assert variable(data, "seconds") == "computing time (s)"


def test_no_figure_has_the_unit_one(by_rule):
    for figure in (heat_map(by_rule), probe_curves(by_rule)):
        assert not any("(1)" in axes.get_ylabel() for axes in figure.axes)
