"""Phase diagrams of SGD and SAM, their boundaries, and the early stage of training.

The paper's own sizes, rate and radius were not found (`claims`); n, m and p are those of Kou et al.
(2023), whose setting it continues. A batch is half of the data.

What silences noise does not depend on d (`theory`): a radius above σ_0 √(Bm), here five times it,
and a rate below 2 τ √(Bm)/σ_p, here a tenth of it. In the large dimensions all three numbers are a
fifth of those in the heat maps, so that one step's noise in test outputs stays below the signal's.
`boundary_small` is SGD at the small rates of its theory, 100/d; at a fixed rate, at which one step
memorises an example, its exponent is larger (0.33). SAM's boundary is searched for below |μ| = 30:
at 100 its accuracy falls again where d is large."""

import math

import numpy as np

from learnscope.data import SignalNoise
from learnscope.evidence import BoundarySweep, Scale, Sweep, arms
from learnscope.lab import Experiment, Record, zipped
from learnscope.nets import PatchCNN
from learnscope.probes import Decomposition, Loss, SignalLearning, TestAccuracy
from learnscope.rules import GradientDescent, SharpnessAware

FLIP, LEVEL = 0.1, 0.7  # the level is halfway between chance and 1 - FLIP
TRAIN, WIDTH, BATCH, EARLY = 20, 10, 10, 10  # early: after ten steps, five passes over the data
SIGNAL, FAR = 4.0, 1e6  # where dimensions, radii and the early stage are compared
RADII, UNIT = (0.1, 0.3, 1.0, 3.0, 10.0), 0.0002 * math.sqrt(BATCH * WIDTH)  # in σ_0 √(Bm)


def rules(factor: float = 1.0) -> dict[str, GradientDescent | SharpnessAware]:
    """Both rules at one rate."""
    rate, radius = 0.1 * factor, 0.05 * factor
    return {"SGD": GradientDescent(rate=rate), "SAM": SharpnessAware(rate=rate, radius=radius)}


def experiment(
    rule: str = "SGD", signal: float = 3.0, dim: float = 4000, steps: int = 200, factor: float = 1.0
) -> Experiment:
    """Training in half batches."""
    return Experiment(
        data=SignalNoise(
            dim=dim, train=TRAIN, test=1000, signal=signal, noise=1.0, flip=FLIP, batch=BATCH
        ),
        net=PatchCNN(width=WIDTH, activation="relu", scale=0.001 * factor),
        rule=rules(factor)[rule],
        steps=steps,
        probes=(Loss(), TestAccuracy()),
        record=Record(every=steps, start=False),
    )


SIZES = Scale(cells=(4, 16, 40), seeds=(3, 10, 20), line_seeds=(4, 100, 100), points=(3, 4, 11),
              steps=(100, 1000, 1000))  # fmt: skip


def sweeps(scale: str) -> dict[str, Sweep | BoundarySweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    plane = {"data.signal": np.linspace(1, 10, size.cells),
             "data.dim": np.linspace(1000, 20_000, size.cells).round()}  # fmt: skip
    d = np.geomspace(1e4, 1e6, size.points).round()
    small = zipped({"data.dim": d, "rule.rate": 100 / d, "net.scale": 0.02 / d}, name="dim")
    dims = {"data.dim": d.tolist()}
    sgd, sam = (experiment(rule, SIGNAL, FAR, size.steps, factor=0.2) for rule in ("SGD", "SAM"))
    signal, line = {"data.signal": (0.1, 100.0)}, (LEVEL, "test_accuracy", size.line_seeds)
    early = sam.replace("probes", (SignalLearning(), Decomposition()))
    early = early.replace("record", Record(every=EARLY)).replace("data.test", 1)
    return {
        "diagram": arms(experiment(), size.seeds, plane, rule=rules()),
        "boundary_sgd": BoundarySweep(sgd, signal, dims, *line),
        "boundary_sam": BoundarySweep(sam, {"data.signal": (0.1, 30.0)}, dims, *line),
        "boundary_small": BoundarySweep(sgd, signal, small, *line),
        "dims": arms(sgd, size.line_seeds, dims, rule=rules(0.2)),
        "early": arms(early, size.line_seeds, rule=rules(0.2)),
        "radius": arms(sam, size.line_seeds, {"rule.radius": [UNIT * r for r in RADII]}),
    }
