"""The sweeps: the paper's heat map, its boundary, and the boundary where the theorem holds.

The paper's setting: n = 20 training points, m = 10 filters per sign, 10 % of labels flipped, noise
1, 100 steps of full-batch gradient descent, signal 1 to 10, dimension 100 to 1090. The paper omits
the learning rate and the initial scale: with 0.1 and 0.01 the training loss is below 0.3 in every
cell. Condition 4.1 fails there (`learnscope conditions examples/phase_diagram.toml`).

`theorem` meets it, constants 1, from 3 10^5 to 10^8 dimensions. The theorem compares networks at
one training loss, which is reached after a time ~ 1/(rate d): so rate times d is the same at every
d, nine tenths of what the condition allows at the largest. Weights start from 0.01/d.
"""

import math

import numpy as np

from learnscope.data import SignalNoise
from learnscope.evidence import BoundarySweep, Sweep
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import PatchCNN
from learnscope.probes import Loss, TestAccuracy
from learnscope.rules import GradientDescent

FLIP = 0.1
LEVEL = 0.7  # halfway between chance and 1 - FLIP
THEOREM_STEPS = 3000
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


def theorem_dims(dims: np.ndarray) -> Axis:
    """Dimensions with the learning rate and the initial scale that Condition 4.1 allows there."""
    root = math.sqrt(math.log(TRAIN / DELTA))
    bound = max(LARGEST**1.5 / (TRAIN**2 * WIDTH * root), LARGEST / TRAIN)
    rates = 0.9 / bound * LARGEST / dims
    return zipped({"data.dim": dims, "rule.rate": rates, "net.scale": 0.01 / dims}, name="dim")


def sweeps(scale: str) -> dict[str, Sweep | BoundarySweep]:
    """All sweeps of the study."""
    cells, seeds, points, steps = {
        "smoke": (5, 2, 3, 200),
        "laptop": (50, 10, 7, THEOREM_STEPS),
        "paper": (100, 10, 13, THEOREM_STEPS),
    }[scale]
    signals = np.linspace(1, 10, cells)
    dims = np.linspace(100, 1090, cells).round()
    plane = (zipped({"data.signal": signals}), zipped({"data.dim": dims}))
    far = experiment(dim=10**6, steps=steps)
    large = np.geomspace(SMALLEST, LARGEST, points).round()
    small = {"data.dim": np.geomspace(100, 1090, points).round().tolist()}
    line_seeds = {"smoke": 4, "laptop": 20, "paper": 100}[scale]
    line = (LEVEL, "test_accuracy", line_seeds)
    sides = zipped({"data.signal": [(ratio * SIDES_AT / TRAIN) ** 0.25 for ratio in RATIOS]})
    long = experiment(dim=10**6, steps=2 * steps)  # until the loss is small
    for path, values in theorem_dims(np.array([SIDES_AT])).fields.items():
        long = long.replace(path, values[0])
    return {
        "diagram": Sweep.of({"ReLU CNN": experiment()}, seeds, plane, dim="net"),
        "boundary": BoundarySweep(experiment(), {"data.signal": (0.3, 30.0)}, small, *line),
        "theorem": BoundarySweep(far, {"data.signal": (1.0, 1000.0)}, theorem_dims(large), *line),
        "sides": Sweep.of({"ReLU CNN": long}, line_seeds, (sides,), dim="net"),
    }


# n |mu|^4 / (d sigma_p^4) on both sides of the boundary.
RATIOS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
