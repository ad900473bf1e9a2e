"""The demo: the README's experiment, its figure, and what the figure shows in words."""

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure

from learnscope.data import SignalNoise
from learnscope.figures.style import curves, headline, label_lines, style
from learnscope.lab import Experiment, Record
from learnscope.lab.run import run
from learnscope.nets import PatchCNN
from learnscope.probes import NoiseMemorisation, SignalLearning, TestAccuracy, TrainAccuracy
from learnscope.rules import GradientDescent, PerExamplePenalty

_PLAIN, _PENALTY = "standard training", "with the penalty"
_PANELS = {"test_accuracy": "test accuracy", "signal_learning": "signal learnt",
           "noise_memorisation": "noise memorised"}  # fmt: skip
_UNTIL = 800


def demo(seeds: int = 10, progress: bool = True) -> tuple[Figure, str]:
    """A figure, and the sentences that it shows."""
    experiment = Experiment(
        data=SignalNoise(dim=400, train=20, test=1000, signal=1.0, noise=0.5),
        net=PatchCNN(width=10, activation="relu2", scale=0.01, second_layer="sum"),
        rule=GradientDescent(rate=0.02),
        steps=1500,
        probes=(TrainAccuracy(), TestAccuracy(), SignalLearning(), NoiseMemorisation()),
        record=Record(every=10),
    )
    penalty = PerExamplePenalty(rate=0.02, weight=0.02, until=_UNTIL)
    rules = {_PLAIN: experiment.rule, _PENALTY: penalty}
    data = run(experiment, over={"rule": rules}, seeds=seeds, progress=progress)
    return _drawn(data), _said(data)


def _said(data: xr.Dataset) -> str:
    end = data.isel(step=-1).mean("seed")
    plain, penalty = end.sel(rule=_PLAIN), end.sel(rule=_PENALTY)
    return (
        f"Two networks learn from {data.sizes['seed']} draws of 20 noisy examples. Both fit them "
        f"(training accuracy {plain.train_accuracy:.2f} and {penalty.train_accuracy:.2f}). "
        f"Standard training memorises the noise: test accuracy {plain.test_accuracy:.2f}. A "
        f"penalty on the gradients of single examples, for the first {_UNTIL} steps, leaves the "
        f"signal as the only thing to learn: test accuracy {penalty.test_accuracy:.2f}."
    )


def _drawn(data: xr.Dataset) -> Figure:
    with style():
        figure, grid = plt.subplots(1, len(_PANELS), figsize=(9.6, 3.2))
        for axes, (name, text) in zip(grid, _PANELS.items(), strict=True):
            values = data[name]
            own = [dim for dim in values.dims if dim not in ("rule", "seed", "step")]
            curves(axes, values.max(own), "rule")
            axes.axvline(_UNTIL, color="0.6", linestyle=":", linewidth=1)
            axes.set(xlabel="step", ylabel=text)
        grid[0].text(_UNTIL, 0.75, " the penalty ends", color="0.4", fontsize=8)
        label_lines(grid[-1])
        end = data.test_accuracy.isel(step=-1).mean("seed")
        headline(figure, "The same network, data and start: a penalty on the gradients of single "
                 f"examples takes test accuracy from {float(end.sel(rule=_PLAIN)):.2f} to "
                 f"{float(end.sel(rule=_PENALTY)):.2f}")  # fmt: skip
    return figure
