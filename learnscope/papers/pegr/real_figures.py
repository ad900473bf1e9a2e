"""Figures 5 and 6 on images: the training loss and the test accuracy, one picture per reading."""

import math
from typing import Any

import xarray as xr
from matplotlib.axes import Axes

from learnscope.evidence import Figure, experiment_of, student
from learnscope.figures import brief, figure, steps

_WORDS = {
    "mnist_unit": "pixels 0 to 1, λ = 0.1",
    "mnist_bytes": "pixels 0 to 255, λ = 0.1",
    "mnist_standard": "pixels of mean 0 and variance 1, λ = 0.1",
    "mnist_scaled": "noise added to bytes, then pixels 0 to 1, λ = 0.1",
    "mnist_working": "pixels 0 to 1, λ = 1/E‖x‖²",
    "mnist_full": "pixels 0 to 1, λ = 1/E‖x‖², and the full penalty",
}


def closing(data: xr.Dataset) -> float:
    """The step from which on the penalty is switched off."""
    return float(experiment_of(data, "PEGR").to_dict()["rule"]["until"])


def _panel(variable: str, place: int, label: str, guessing: float, top: float):
    """The curves at the lowest (0) or highest (-1) level of noise, with all runs' band."""

    def draw(axes: Axes, data: Any) -> None:
        (one,) = data.values()
        noise = float(one.noise[place])
        steps(variable, "rule", where={"noise": noise}, marks=[closing(one)], ylim=(0, top),
              levels={"guessing": guessing}, title=f"σp = {noise:.3g}",
              ylabel=label)(axes, data)  # fmt: skip

    return draw


def gains(data: xr.Dataset) -> list[str]:
    """PEGR's test accuracy minus standard training's, paired by seed, at every level of noise."""
    last = data.test_accuracy.isel(step=-1)
    apart = last.sel(rule="PEGR") - last.sel(rule="standard")
    lost = "PEGR or standard training diverges"
    return [f"{brief(student(one)) if one.notnull().all() else lost} at σp = {float(one.noise):.3g}"
            for one in apart.transpose("noise", "seed")]  # fmt: skip


def _figure(name: str) -> Figure:
    rows = [[_panel("loss", place, "training loss (nat)" * (place == 0), math.log(10), 3.2)
             for place in (0, -1)],
            [_panel("test_accuracy", place, "test accuracy" * (place == 0), 0.1, 1.0)
             for place in (0, -1)]]  # fmt: skip

    def words(data: xr.Dataset) -> str:
        return (f"PEGR minus standard test accuracy: {', '.join(gains(data))}\n({_WORDS[name]}; "
                f"95 % intervals, 10-90 % of {data.sizes['seed']} seeds; dotted: penalty off)"
        )  # fmt: skip

    return figure(f"Figures 5 and 6: LeNet5 on noisy MNIST, {_WORDS[name]}", name, rows, words,
                  (10.4, 6), 4, sharex=True)  # fmt: skip


REAL_FIGURES: dict[str, Figure] = {name: _figure(name) for name in _WORDS}
