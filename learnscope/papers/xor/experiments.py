"""The sweeps: test error over signal, dimension and sample size, its boundary, and the angle.

The paper's sizes were not found (`claims`): n, m and p are near those of Kou et al. (2023). In the
heat maps rate and scale are theirs, too. Elsewhere d is at least n² (Condition 3.1), weights start
from a tenth of √n/d, and the rate is n m/d: a loss of 0.1 is reached at every d and n alike.

The signal of `XorClusters` is |u|; a cluster's centre is u ± v, with |μ|² = |u|² + |v|². The angle
between centres has cos θ = (1 - r²)/(1 + r²) for |v| = r |u|, so |μ|² (1 - cos θ) = 2 |v|².
"""

import math

import numpy as np

from learnscope.data import XorClusters
from learnscope.evidence import BoundarySweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import PatchCNN
from learnscope.probes import Loss, TestAccuracy
from learnscope.rules import GradientDescent

FLIP, LEVEL = 0.1, 0.7  # the level is halfway between chance and 1 - FLIP
TRAIN, WIDTH = 40, 10
SMALLEST, LARGEST, FAR = 1e5, 1e9, 1e7  # dimensions
SAMPLES, MANY = (80, 160, 320), 160  # in clusters of five or ten, the boundary is higher
RATIOS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # n|μ|⁴ / (d σ⁴), on both sides


def experiment(signal: float = 4.0, dim: float = 500, steps: int = 100) -> Experiment:
    """The setting of the heat maps."""
    return Experiment(
        data=XorClusters(dim=dim, train=TRAIN, test=1000, signal=signal, noise=1.0, flip=FLIP),
        net=PatchCNN(width=WIDTH, activation="relu", scale=0.01),
        rule=GradientDescent(rate=0.1),
        steps=steps,
        probes=(Loss(), TestAccuracy()),
        record=Record(every=steps, start=False),
    )


def regime(dims: list[float], samples: list[int]) -> Axis:
    """Dimensions and sample sizes, with the learning rate and initial scale for each."""
    d, n = np.asarray(dims, float), np.asarray(samples, float)
    fields = {"data.dim": dims, "rule.rate": n * WIDTH / d, "net.scale": 0.1 * n**0.5 / d}
    several = {"data.train": samples} if len(set(samples)) > 1 else {}
    return zipped(several | fields, name="train" if several else "dim")


def at(dim: float, train: int, steps: int) -> Experiment:
    """The setting of `regime` at one dimension and sample size."""
    setting = experiment(dim=dim, steps=steps).replace("data.train", train)
    for path, values in regime([dim], [train]).fields.items():
        setting = setting.replace(path, values[0])
    return setting


def signal_at(ratio: float, dim: float, train: int = TRAIN) -> float:
    """|u| = |v| at which n|μ|⁴/(d σ⁴) has a value: |μ|² = 2 |u|²."""
    return math.sqrt((ratio * dim / train) ** 0.5 / 2)


SIZES = Scale(
    cells=(4, 12, 40), seeds=(2, 10, 20), line_seeds=(4, 20, 100), points=(3, 6, 13),
    many_seeds=(4, 60, 100), samples=((TRAIN,), SAMPLES, SAMPLES), many=(40, MANY, MANY),
    steps=(50, 150, 150),
)  # fmt: skip


def sweeps(scale: str) -> dict[str, Sweep | BoundarySweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    plane = {"data.signal": np.linspace(1, 12, size.cells),
             "data.dim": np.linspace(200, 2000, size.cells).round()}  # fmt: skip
    far, many = (at(FAR, train, size.steps) for train in (TRAIN, size.many))
    dims = np.geomspace(SMALLEST, LARGEST, size.points).round().tolist()
    signal, line = {"data.signal": (1.0, 300.0)}, (LEVEL, "test_accuracy", size.line_seeds)
    several = regime([FAR] * len(size.samples), list(size.samples))
    ratios = {"data.ratio": np.geomspace(0.5, 1.0, 3).tolist()}
    return {
        "diagram": arms(experiment(), size.seeds, plane,
                        train={"20": {"data.train": 20}, "80": {"data.train": 80}}),
        "dims": BoundarySweep(far, signal, regime(dims, [TRAIN] * len(dims)), *line),
        "samples": BoundarySweep(far, signal, several, LEVEL, "test_accuracy", size.many_seeds),
        "angle": BoundarySweep(many, signal, ratios, *line),
        "sides": arms(far, size.line_seeds,
                      {"data.signal": [signal_at(ratio, FAR) for ratio in RATIOS]}),
    }  # fmt: skip
