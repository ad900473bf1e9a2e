"""The sweeps: training on batches (Figure 7 and its ablations), and exact population flows.

The paper names no numbers for its toy. Figure 7's setting here: d = 20, P = 16 patches of which 4
carry the feature, strengths (3, 2), noise 1, and an initialisation in which neuron 1 is ahead on
the strong feature and neuron 2 on the weak one, as the proof assumes without loss of generality.
The theorems' random initialisation is run as a flow of the population loss, where the dimension is
free: strengths (4, 2) and a head 20 times slower than the encoder unless an axis says otherwise.
"""

import math
from typing import Any

import numpy as np
import xarray as xr

from learnscope.data import StrongWeak
from learnscope.evidence import FunctionSweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import PatchEncoder
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.parts import (
    Constancy,
    FeatureShares,
    FeatureStrengths,
    PopulationDescent,
    PopulationFlow,
    PopulationMoments,
)
from learnscope.probes import AbstractProbe, HeadOffDiagonal, NeuronCorrelation
from learnscope.rules import AbstractRule, Contrastive, NonContrastive

PATCHES, FEATURE_PATCHES = 16, 4
STRONG, WEAK = 4.0, 2.0
TILT = (2.0, 1.0, 1.0, 1.3)  # |<w_j, v_l>| sqrt(d) at the start, neuron by neuron
HEAD, BARE, CONTRASTIVE = "head", "no head", "contrastive"
HEADS = {HEAD: {"rule.head": "identity"}, BARE: {"rule.head": "none"}}
RATIO = 0.05  # head rate over encoder rate
DIM = 1000
# Arms of Figure 7 and of section 5.3's ablations. Without normalisation, and for a cosine in two
# dimensions, training is stable at smaller rates only.
ABLATIONS: dict[str, dict[str, Any]] = {
    HEAD: {}, BARE: {"head": "none"}, "no stop-gradient": {"stop_gradient": False},
    "no normalisation": {"normalise": "none", "rate": 1e-3, "head_rate": 1e-3},
    "l2": {"normalise": "l2"}, "l2, no head": {"normalise": "l2", "head": "none"},
    "linear head": {"head": "linear"}, "MLP head": {"head": "mlp", "hidden": 8},
    "symmetric head": {"head": "symmetric"}, "EMA target": {"target": "ema"},
    "EMA, no head": {"target": "ema", "head": "none"},
}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "by strength": {}, "by frequency": {"strengths": (3.0, 3.0), "frequencies": (3.0, 1.0)},
    "co-occurring": {"together": True},
}  # fmt: skip
# Remark 3.2 for the flows: as unequal as strengths of (4, 2).
IMBALANCES: dict[str, dict[str, Any]] = {
    "by frequency": {"strengths": (3.0, 3.0), "frequencies": (64.0, 1.0)},
    "co-occurring": {"together": True},
}
WIDTHS = ((4, 2), (16, 2), (4, 4), (16, 4))  # neurons, features
_RATES = (1e-3, RATIO, 1.0, 10.0)
SIZES = Scale(
    batch=(64, 256, 1024), test=(200, 1000, 2000), steps=(160, 1500, 4000), seeds=(3, 20, 50),
    runs=(3, 48, 50),
    draws=(12, 500, 5000), grown=(12, 5000, 5000), few=(8, 300, 500), chances=(12, 1000, 2500),
    cells=(3, 7, 20), cell_draws=(4, 64, 64), descent=(200, 10_000, 20_000), starts=(10, 36, 100),
    dims=((1e3, 1e4), (1e3, 1e6), (1e2, 1e3, 1e4, 1e6, 1e9)),
    growing=((1e3, 1e12), (1e3, 1e12), (1e3, 1e6, 1e9, 1e12)),
    phases=((1e4, 1e8, 1e12), *((1e4, 1e5, 1e6, 1e7, 1e8, 1e10, 1e12),) * 2),
    ratios=((1.0, 2.0), (1.0, 2.0, 4.0), (1.0, 1.25, 1.5, 2.0, 3.0, 4.0)),
    rates=((RATIO, 10.0), _RATES, _RATES), points=(20, 240, 240), samples=(2000, 20_000, 20_000),
)  # fmt: skip


def model(strong: float = STRONG, dim: float = DIM, **changes: Any) -> StrongWeak:
    """The data of the flows, at some strength of the first feature."""
    given = {"strengths": (strong, WEAK), "noise": 1.0, "batch": 2, "test": 1} | changes
    return StrongWeak(dim, PATCHES, FEATURE_PATCHES, **given)


def toy(batch: int, test: int, **changes: Any) -> StrongWeak:
    """The data of Figure 7."""
    sizes = {"strengths": (3.0, 2.0), "batch": batch, "test": test}
    return model(dim=20, **sizes | changes)


def non_contrastive(name: str) -> NonContrastive:
    """An arm of `ABLATIONS`."""
    settings: dict[str, Any] = {"rate": 0.05, "head_rate": 0.05} | ABLATIONS[name]
    return NonContrastive(**settings)


def trained(data: StrongWeak, rule: AbstractRule, steps: int, *probes: AbstractProbe) -> Experiment:
    """Training on batches from Figure 7's initialisation."""
    net, record = PatchEncoder(width=2, overlaps=TILT), Record(every=max(1, steps // 60))
    return Experiment(data, net, rule, steps, (FeatureStrengths(), *probes), record)


def horizon(dim: float) -> float:
    """Long enough for nearly all draws: T1 is of order d^2, but atypical draws are far slower."""
    return 1e4 * dim**2


def flow(points: int = 1, overlaps: tuple[float, ...] | None = None, **rule: Any) -> Experiment:
    """A population flow from a random initialisation, to a time when nearly all draws settle."""
    given = {"rate": 1.0, "head_rate": RATIO, "horizon": horizon(DIM), "tolerance": 1e-5}
    settings: dict[str, Any] = given | rule
    probes = (PopulationMoments(), FeatureStrengths(), HeadOffDiagonal())
    net, flowing = PatchEncoder(2, overlaps=overlaps), PopulationFlow(points=points, **settings)
    return Experiment(model(), net, flowing, points, probes, Record(every=1))


def _dims(dims: tuple[float, ...], **more: list[float]) -> Axis:
    fields = {"data.dim": list(dims), "rule.horizon": [horizon(d) for d in dims]}
    return zipped(fields | {path.replace("__", "."): v for path, v in more.items()}, name="dim")


def _many(size: Any) -> Sweep:
    """Beyond the paper: more neurons and features, by descent (a flow has too many unknowns)."""
    strengths = {2: (4.0, 2.0), 4: (4.0, 3.3, 2.6, 2.0)}
    base = Experiment(
        model(dim=50), PatchEncoder(width=4), PopulationDescent(rate=0.1, head_rate=0.1 * RATIO),
        size.descent, (PopulationMoments(),), Record(every=size.descent),
    )  # fmt: skip
    return arms(base, max(2, size.seeds), setting={
        size_name(label, width, features): {
            "net.width": width, "data.strengths": strengths[features], **head}
        for width, features in WIDTHS for label, head in HEADS.items()
    })  # fmt: skip


def size_name(head: str, width: int, features: int) -> str:
    """An arm of the sweep `many`."""
    return f"{head}, {width} neurons, {features} features"


def phases(dims: tuple[float, ...], starts: int, triggers: str) -> xr.Dataset:
    """The flow at every event, from starts as the proof has them (the same in every dimension)."""
    begun = theory.proof_starts(model(), starts, math.log(dims[0]))
    return theory.phase_times([model(dim=d) for d in dims], begun, [RATIO] * len(dims), triggers)


def noise_moments(samples: int, draws: int) -> xr.Dataset:
    """E[<u1, xi>^3 <u2, xi>^3] and E[<u1, xi>^5 <u2, xi>] over E[<u, xi>^6] for Gaussian noise and
    two random directions, orthogonal or at 60 degrees."""
    random, found = np.random.default_rng(0), np.zeros((2, 2, draws))
    for draw in range(draws):
        one, other = np.linalg.qr(random.standard_normal((18, 2)))[0].T
        xi = random.standard_normal((samples, 18))
        for k, second in enumerate((other, (one + math.sqrt(3) * other) / 2)):
            a, b = xi @ one, xi @ second
            found[:, k, draw] = np.mean(a**3 * b**3) / 15, np.mean(a**5 * b) / 15
    axes, angles = ("angle", "seed"), ["orthogonal", "60 degrees"]
    return xr.Dataset({"cubes": (axes, found[0]), "fifth": (axes, found[1])},
                      {"angle": angles, "seed": np.arange(draws)})  # fmt: skip


def sweeps(scale: str) -> dict[str, Any]:
    """All sweeps of the study but those on images."""
    size = SIZES[scale]
    sizes = {"batch": size.batch, "test": size.test}
    precise: dict[str, Any] = {"precision": "float64"}
    base = trained(toy(**sizes), non_contrastive(HEAD), size.steps, FeatureShares(),
                   NeuronCorrelation())  # fmt: skip
    rules = {name: non_contrastive(name) for name in ABLATIONS}
    along = trained(base.data, base.rule, size.steps, FeatureShares(), HeadOffDiagonal())  # type: ignore[arg-type]
    steady = toy(**sizes, strengths=(3.0, 2.0, 3.0), together=True, steady=True)
    collapsed = Experiment(steady, PatchEncoder(width=2), rules[BARE], 4 * size.steps,
                           (Constancy(),), Record(every=size.steps))  # fmt: skip
    growing = [WEAK * math.log(d) for d in size.growing]
    return {
        "toy": arms(base, size.seeds,
                    method_name=rules | {CONTRASTIVE: Contrastive(rate=0.02)}),
        "trajectories": arms(along, size.runs, variant={
            name: toy(**sizes, **changes) for name, changes in VARIANTS.items()}),
        "steady": arms(collapsed, size.seeds, normalisation={
            "l2": rules["l2, no head"], "batch": rules[BARE]}),
        "many": _many(size),
        "dimensions": arms(flow(), size.draws, _dims(size.dims), head_kind=HEADS, **precise),
        "growing": arms(flow(), size.grown, _dims(
            size.growing, data__strengths__0=growing,
            rule__head_rate=[1 / math.log(d) for d in size.growing]), head_kind=HEADS, **precise),
        "imbalance": arms(flow(), size.few, variant={
            f"{name}, {label}": {"data": model(**IMBALANCES[name]), **head}
            for name in IMBALANCES for label, head in HEADS.items()}, **precise),
        "no_head": arms(flow(head="none"), size.chances, zipped(
            {"data.strengths.0": [WEAK * r for r in size.ratios]}, name="alpha"), **precise),
        "rates": arms(flow(), size.few, zipped({"rule.head_rate": list(size.rates)}, name="ratio"),
                      ablation={HEAD: {}, "no stop-gradient": {"rule.stop_gradient": False}},
                      **precise),
        "diagram": arms(flow(), size.cell_draws, (
            zipped({"data.strengths.0": (WEAK * np.geomspace(1.05, 4, size.cells)).tolist()},
                   name="alpha"),
            zipped({"rule.head_rate": np.geomspace(1e-4, 10, size.cells).tolist()}, name="ratio"),
        ), **precise),
        "paths": arms(flow(size.points, TILT, first=1.0), 1, _dims(
            (1e3, 1e6), rule__first=[1.0, 1e6]), **precise),
        "phases": FunctionSweep(phases, {"dims": size.phases, "starts": size.starts,
                                         "triggers": "working"}),
        "printed": FunctionSweep(phases, {"dims": (1e6, 1e12), "starts": size.starts,
                                          "triggers": "paper"}),
        "noise": FunctionSweep(noise_moments, {"samples": size.samples, "draws": size.starts}),
    }  # fmt: skip
