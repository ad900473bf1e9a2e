"""The sweeps: section 5.1 in both readings of "20 epochs", and the theorem where it can be run.

Section 5.1: K = 5 classes, d = 1000, m = 100 neurons per class, rate 0.05, 20 epochs of gradient
descent. Read literally, that is 20 full-batch steps with the gradient of eq. (1), which has a 1/m;
nothing is fitted by then. In the other reading the gradient lacks that 1/m, as it does in eqs.
(122) to (133) of the appendix: the rate is then 0.05 m = 5, and everything is fitted.

Weights start Gaussian with the variance of PyTorch's default initialisation, 1/(3d), but for figure
3b, whose noise is uniform and which takes that initialisation itself (neither can be drawn in
compressed coordinates). The whole transition in Gamma lies below about 150: it is spaced evenly in
its logarithm.

The theorem (`theorem`, `lemmas`, `strong`, `blocks`): K = 3, n = 9, m = 100, d = 10^6 to
10^12. The bulk is R^(-1/4), so that |A^T A|_F = 1 for shared noise at every d and the SNR term is
|S| |u|^4; patches times c, weights times 1/c and the rate times 1/c^2 give the same run. Condition
1 then holds with constants 1, but for the Omega of (b), which contradicts (c) (docs/errata.md).
Weights start at what (c) allows ("condition"), or at a hundredth of |A^T A|_F / |A|_F^3 ("small"):
there (124), which drops them beside the noise that is learnt, is true.
"""

import math
from typing import Any

import numpy as np

from learnscope import probes
from learnscope.data import ClassNoise
from learnscope.evidence import FunctionSweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import PatchCNN
from learnscope.papers.benign import theory
from learnscope.papers.benign.real import real_sweeps
from learnscope.probes import AbstractProbe
from learnscope.rules import GradientDescent

CLASSES, DIM, WIDTH, PER_CLASS, RATE, STEPS = 5, 1000, 100, 100, 0.05, 20
READINGS = {"literal": RATE, "no 1/m": RATE * WIDTH}
WEAK = 1e-6  # feature strength of figure 4b: practically none
MINORITY = 50
LOSSES = {"plain": "logistic", "class-balanced": "balanced", "logit-adjusted": "adjusted"}
# Feature strength and noise correlation ratio: both sides, and near the boundary.
PLACES = {"strong feature": (3.8, 1.0), "own noise": (WEAK, 100.0), "between": (0.8, 1.0)}
NOISES, STARTS = ("gaussian", "uniform", "rademacher", "triangular"), ("condition", "small")
_BASIC: tuple[AbstractProbe, ...] = (probes.TrainAccuracy(), probes.TestAccuracy())
_TAIL, _LOSS = (*_BASIC, probes.ClassAccuracy()), (probes.Loss(), *_BASIC)
_STAGES = (probes.Loss(), probes.Residual())
_LEMMAS = (*_LOSS, probes.Residual(), probes.GradientBalance(), probes.NoiseSpectrum(),
           probes.ActiveNeurons(), probes.Activations())  # fmt: skip

SMALL_CLASSES, SMALL_SIZE = 3, 3  # of the theorem
SNRS = (0.1, 1.0, 2.0, 4.0, 16.0)
DIMS = [10**6, 10**12]
RATIOS = [1.0, 4.0, 16.0, 64.0]
# Where noise is not shared: dimension, spikes per class, and so many examples per class that few
# neurons see none of them (of 3, an eighth would never learn).
WIDE, BLOCK, BLOCK_SIZE = 300_000, 128, 10
TAILS = (0.5, 0.1)
TAIL_RATIOS = [1.0, 2.0, 4.0, 16.0, 128.0, 1400.0]  # of section 5.1; fine where accuracy dips
SIZES = Scale(
    cells=(3, 4, 20), edge=(4, 5, 20), seeds=(2, 10, 10), most_seeds=(2, 35, 100),
    test=(100, 1000, 1000), per_class=(10, PER_CLASS, PER_CLASS), many=(50, 200, 200),
    steps=(200, 10_000, 40_000), often=(20, 1000, 1000), points=(200, 3000, 3000),
    long=(1200, 60_000, 240_000),
)  # fmt: skip


def experiment(
    reading: str = "no 1/m", watched: tuple[AbstractProbe, ...] = _BASIC, initial: str = "gaussian",
    **data: Any,
) -> Experiment:  # fmt: skip
    """Section 5.1's setting."""
    given: dict[str, Any] = {
        "dim": DIM, "classes": CLASSES, "train_per_class": PER_CLASS, "test": 1000, "signal": 1.0,
        "correlation": 1.2,
    }  # fmt: skip
    net: dict[str, Any] = {"width": WIDTH, "activation": "relu", "classes": CLASSES}
    return Experiment(
        data=ClassNoise(**given | data),
        net=PatchCNN(**net, scale=1 / math.sqrt(3 * DIM), initial=initial),
        rule=GradientDescent(rate=READINGS[reading]), steps=STEPS, probes=watched,
        record=Record(every=STEPS),
    )  # fmt: skip


def theorem(
    dim: float = DIMS[0], snr: float = 1.0, start: str = "small", steps: int = 10_000,
    watched: tuple[AbstractProbe, ...] = _LOSS, every: int | None = None, **data: Any,
) -> Experiment:  # fmt: skip
    """The theorem's setting, at a value of the SNR term |S| |u|^4 of statement 2a."""
    rest = dim - SMALL_CLASSES
    given: dict[str, Any] = {
        "dim": int(dim), "classes": SMALL_CLASSES, "train_per_class": SMALL_SIZE, "test": 1000,
        "signal": (snr / SMALL_SIZE) ** 0.25, "bulk": rest**-0.25,
    }  # fmt: skip
    setting = Experiment(
        data=ClassNoise(**given | data),
        net=PatchCNN(width=WIDTH, activation="relu", classes=SMALL_CLASSES, scale=1.0),
        rule=GradientDescent(rate=1.0), steps=steps, probes=watched,
        record=Record(every=every or steps),
    )  # fmt: skip
    bounds = {condition.name: condition for condition in theory.conditions(setting)}
    allowed = min(bounds[name].right for name in ("initial weights", "initial weights, either"))
    scale = {"condition": 0.9 * allowed, "small": 0.01 * rest**-0.75}[start]
    setting = setting.replace("net.scale", scale)
    return setting.replace("rule.rate", 0.9 / bounds["learning rate"].left)


def _far(snrs: tuple[float, ...]) -> tuple[Axis, dict[str, dict[str, list[Any]]]]:
    """An axis of dimensions, with the bulk and the rate there, and the initial weights of the two
    arms; all are allowed at every value of the SNR term."""

    def least(path: str, start: str = "small") -> list[float]:
        part, name = path.split(".")
        return [min(theorem(dim, snr, start).to_dict()[part][name] for snr in snrs) for dim in DIMS]

    bulk, rate = least("data.bulk"), least("rule.rate")
    axis = zipped({"data.dim": DIMS, "data.bulk": bulk, "rule.rate": rate}, name="dim")
    return axis, {start: {"net.scale": least("net.scale", start)} for start in STARTS}


def _section_5_1(size: Any) -> dict[str, Sweep]:
    """Figures 2 to 4, other noises, the long tail and unequal classes."""
    small = {"test": size.test, "train_per_class": size.per_class}
    weak = {"test": size.test, "signal": WEAK}
    readings = {name: {"rule.rate": rate} for name, rate in READINGS.items()}
    plane = {"data.signal": np.linspace(0.001, 3.8, size.cells).tolist(),
             "data.correlation": np.geomspace(1, 1400, size.cells).tolist()}  # fmt: skip
    edge = {"data.signal": np.linspace(0.001, 1.2, size.edge).tolist(),
            "data.correlation": np.geomspace(1, 16, size.edge).tolist()}  # fmt: skip
    counts = np.unique(np.linspace(10, size.many, min(size.cells, 3)).round().astype(int)).tolist()
    sized = zipped({"data.train_per_class": counts}, name="size")
    by_size = (zipped({"data.signal": np.linspace(0.01, 4, size.cells)}), sized)
    by_ratio = (zipped({"data.correlation": np.geomspace(1, 800, size.cells)}), sized)
    signals, ratios = (list(each) for each in zip(*PLACES.values(), strict=True))
    places = zipped({"data.signal": signals, "data.correlation": ratios})
    noises = {noise: {"data.noise": noise} for noise in NOISES}
    tails = {f"{share:g}": {"probes": (*_TAIL, probes.LongTailAccuracy(share))}
             for share in (0.2, 0.05)}  # fmt: skip
    unlike = [[MINORITY] + [others] * (CLASSES - 1) for others in (10, size.many)]
    others = zipped({"data.train_per_class": unlike}, name="others")
    losses = {label: {"rule.loss": loss} for label, loss in LOSSES.items()}
    long_tailed = experiment(watched=(*_TAIL, probes.LongTailAccuracy()), correlation=50.0, **weak)
    uniform = experiment(noise="uniform", initial="torch", **small)
    return {
        "figure3a": arms(experiment(**small), size.seeds, plane, reading=readings),
        "figure3b": arms(uniform, size.seeds, plane, reading=readings),
        "figure4a": arms(experiment(test=size.test), size.seeds, by_size, reading=readings),
        "figure4b": arms(experiment(**weak), size.seeds, by_ratio, reading=readings),
        "edge": arms(experiment(**small), size.seeds, edge),
        "noises": arms(experiment(**small), size.most_seeds, places, noise=noises),
        "tail": arms(experiment(**small | weak), size.seeds, {"data.correlation": TAIL_RATIOS},
                     share=tails),
        "majority": arms(long_tailed, size.seeds, others, loss=losses),
    }  # fmt: skip


def _theorem_1(size: Any) -> dict[str, Sweep]:
    """Statements 1 to 3 and the lemmas."""
    long = {"steps": size.steps, "test": size.points}
    (far, starts), (near, starts_near) = _far(SNRS), _far((1.0,))
    signals = zipped({"data.signal": [(snr / SMALL_SIZE) ** 0.25 for snr in SNRS]})
    lemmas = theorem(steps=size.steps, test=300, watched=_LEMMAS, every=size.often)
    strong = theorem(DIMS[0], 3 * (15 * (DIMS[0] - 3) ** 0.5) ** 2 * 100, steps=size.long,
                     watched=_STAGES, every=size.long // 600)  # fmt: skip
    blocks = theorem(WIDE, 1e-4, block=BLOCK, correlation=RATIOS[-1], train_per_class=BLOCK_SIZE,
                     **long)  # fmt: skip
    shares = {f"{share:g}": {"probes": (*_LOSS, probes.LongTailAccuracy(share),
                                        probes.Activations())} for share in TAILS}  # fmt: skip
    return {
        "theorem": arms(theorem(**long), size.seeds, (far, signals), start=starts),
        "lemmas": arms(lemmas, size.most_seeds, near, start=starts_near),
        "strong": arms(strong, size.seeds),
        "blocks": arms(blocks, size.seeds, {"data.correlation": RATIOS}, share=shares),
    }


def sweeps(scale: str) -> dict[str, Sweep | FunctionSweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    return {**_section_5_1(size), **_theorem_1(size), **real_sweeps(scale)}
