"""The sweeps: the paper's heat map, its boundary, and the theorem where its condition holds.

The paper's setting: n = 20 training points, m = 10 filters per sign, 10 % of labels flipped, noise
1, 100 steps of full-batch gradient descent, signal 1 to 10, dimension 100 to 1090. The paper omits
the learning rate and the initial scale: with 0.1 and 0.01 the training loss is below 0.3 in every
cell. Condition 4.1 fails there (`learnscope conditions examples/phase_diagram.toml`).

`theorem` meets it, constants 1, from 3 10^5 to 10^8 dimensions. The theorem compares networks at
one training loss, which is reached after a time ~ 1/(rate d): so rate times d is the same at every
d, nine tenths of what the condition allows at the largest. Weights start from 0.01/d.

`published` is compared with the authors' own numbers: test error and training loss of 100 x 100
cells, each a mean over 10 repetitions with new draws (data_test100.csv and data_train100.csv in
github.com/uclaml/Benign_ReLU_CNN, `published_*.csv` here: errors in units of 1/10000, losses to
three digits). Their code has PyTorch's initial weights, biases, and noise that is not orthogonal to
the signal; it averages outputs over the two patches. With outputs summed over patches, as in the
paper's formula, training losses are the published ones; averaged, they are 4 to 300 times as large.
"""

import functools
import math
from pathlib import Path

import numpy as np
import xarray as xr

from learnscope.data import SignalNoise
from learnscope.evidence import BoundarySweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import PatchCNN
from learnscope.probes import Decomposition, GradientBalance, Loss, TestAccuracy
from learnscope.rules import GradientDescent

FLIP = 0.1
LEVEL = 0.7  # halfway between chance and 1 - FLIP
SMALLEST, LARGEST, SIDES_AT = 3e5, 1e8, 1e7  # dimensions
TRAIN, WIDTH, DELTA = 20, 10, 0.1


def experiment(
    signal: float = 2.0, dim: float = 400, rate: float = 0.1, scale: float = 0.01, steps: int = 100
) -> Experiment:
    """The paper's setting."""
    return Experiment(
        data=SignalNoise(dim=dim, train=TRAIN, test=1000, signal=signal, noise=1.0, flip=FLIP),
        net=PatchCNN(width=WIDTH, activation="relu", scale=scale),
        rule=GradientDescent(rate=rate),
        steps=steps,
        probes=(Loss(), TestAccuracy()),
        record=Record(every=steps, start=False),
    )


@functools.cache
def published(of: str) -> xr.DataArray:
    """The authors' heat map over dimension and signal: test `"errors"` or training `"losses"`."""
    cells = np.loadtxt(Path(__file__).with_name(f"published_{of}.csv"), delimiter=",")
    dims, signals = (100 + 10 * np.arange(100), np.round(0.1 * np.arange(100), 1))
    unit = 1e-4 if of == "errors" else 1.0
    return xr.DataArray(unit * cells, {"dim": dims, "signal": signals}, ("dim", "signal"))


SUMMED, AVERAGED = "summed", "averaged"
PATCHES = {SUMMED: "sum", AVERAGED: "patches"}  # of two-layer outputs over patches


def as_published(patches: str = SUMMED) -> Experiment:
    """The setting of the authors' code, with outputs summed or averaged over patches."""
    start = PatchCNN(
        width=WIDTH, activation="relu", second_layer=PATCHES[patches], initial="torch", bias=True
    )
    setting = experiment().replace("net", start).replace("data.orthogonal", False)
    return setting.replace("data.test", 200)  # a draw in all coordinates costs what it has examples


REPETITIONS = 10  # behind every published number


def theorem_dims(dims: np.ndarray) -> Axis:
    """Dimensions with the learning rate and the initial scale that Condition 4.1 allows there."""
    root = math.sqrt(math.log(TRAIN / DELTA))
    bound = max(LARGEST**1.5 / (TRAIN**2 * WIDTH * root), LARGEST / TRAIN)
    rates = 0.9 / bound * LARGEST / dims
    return zipped({"data.dim": dims, "rule.rate": rates, "net.scale": 0.01 / dims}, name="dim")


# n |mu|^4 / (d sigma_p^4) on both sides of the boundary, and where the excess error decays.
RATIOS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
DECAY = (1.0, 2.0, 4.0, 8.0)
SIGNAL = 20.0  # at which coefficients are followed over dimensions
SIZES = Scale(
    cells=(5, 50, 100), seeds=(2, 10, 10), points=(3, 7, 13), steps=(200, 3000, 3000),
    line_seeds=(4, 20, 100), far_seeds=(4, 10, 100), test=(100, 100_000, 100_000),
    every_dim=(99, 6, 3), every_signal=(33, 9, 3), repeated=(4, 100, 200),
)  # fmt: skip


def sweeps(scale: str) -> dict[str, Sweep | BoundarySweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    plane = {"data.signal": np.linspace(1, 10, size.cells),
             "data.dim": np.linspace(100, 1090, size.cells).round()}  # fmt: skip
    small = {"data.dim": np.geomspace(100, 1090, size.points).round().tolist()}
    large = theorem_dims(np.geomspace(SMALLEST, LARGEST, size.points).round())
    line = (LEVEL, "test_accuracy", size.line_seeds)
    far = experiment(dim=10**6, steps=size.steps)
    long = experiment(dim=10**6, steps=2 * size.steps)  # until the loss is small
    for path, values in theorem_dims(np.array([SIDES_AT])).fields.items():
        long = long.replace(path, values[0])
    sides, decay = (
        {"data.signal": [(ratio * SIDES_AT / TRAIN) ** 0.25 for ratio in ratios]}
        for ratios in (RATIOS, DECAY)
    )
    coefficients = experiment(SIGNAL, 10**6, steps=2 * size.steps).replace("data.test", 1)
    coefficients = coefficients.replace("record.every", size.steps // 5)
    coefficients = coefficients.replace("probes", (Loss(), Decomposition(), GradientBalance()))
    unflipped = long.replace("data.flip", 0.0)  # flips of test labels would hide small errors
    cells = published("errors")[:: size.every_dim, :: size.every_signal]
    shown = {"data.signal": cells.signal.values.tolist(), "data.dim": cells.dim.values.tolist()}
    ways = {way: {"net.second_layer": layer} for way, layer in PATCHES.items()}
    return {
        "diagram": arms(experiment(), size.seeds, plane),
        "boundary": BoundarySweep(experiment(), {"data.signal": (0.3, 30.0)}, small, *line),
        "theorem": BoundarySweep(far, {"data.signal": (1.0, 1000.0)}, large, LEVEL,
                                 "test_accuracy", size.far_seeds),
        "sides": arms(long.replace("data.test", 10_000), size.line_seeds, sides),
        "decay": arms(unflipped.replace("data.test", size.test), size.line_seeds, decay),
        "coefficients": arms(coefficients, 2 * size.line_seeds, large),
        "published": arms(as_published(), size.repeated, shown, patches=ways),
    }  # fmt: skip
