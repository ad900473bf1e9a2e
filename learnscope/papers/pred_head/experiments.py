"""The sweeps: training on batches (Figure 7 and its ablations), and exact population flows.

The paper names no numbers for its toy. Figure 7's setting here: d = 20, P = 16 patches of which 4
carry the feature, strengths (3, 2), noise 1, batches of 1024, and an initialisation in which neuron
1 is ahead on the strong feature and neuron 2 on the weak one, as the proof assumes without loss of
generality. The theorems' random initialisation is run as a flow of the population loss, where the
dimension is free: d = 1000 and strengths (4, 2) unless an axis says otherwise.
"""

from typing import Any

import numpy as np

from learnscope.data import StrongWeak
from learnscope.evidence import Sweep
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import PatchEncoder
from learnscope.papers.pred_head.parts.population import PopulationDescent
from learnscope.papers.pred_head.parts.population_flow import PopulationFlow
from learnscope.papers.pred_head.parts.strong_weak import (
    FeatureShares,
    FeatureStrengths,
    Phase,
    PopulationMoments,
)
from learnscope.probes import AbstractProbe, HeadOffDiagonal, NeuronCorrelation, PairLoss
from learnscope.rules import AbstractRule, Contrastive, NonContrastive

PATCHES, FEATURE_PATCHES = 16, 4
STRONG, WEAK = 4.0, 2.0
TILT = (2.0, 1.0, 1.0, 1.3)  # |<w_j, v_l>| sqrt(d) at the start, neuron by neuron
HEAD, BARE = "head", "no head"
HEADS = {HEAD: "identity", BARE: "none"}
RATE, RATIO = 1.0, 0.05  # the flow's rate, and head rate over encoder rate
DIM = 1000
# Arms of Figure 7 and of section 5.3's ablations, with their changes.
ABLATIONS: dict[str, dict[str, Any]] = {
    HEAD: {},
    BARE: {"head": "none"},
    "no stop-gradient": {"stop_gradient": False},
    "no normalisation": {"normalise": "none"},
    "l2": {"normalise": "l2"},
    "l2, no head": {"normalise": "l2", "head": "none"},
    "linear head": {"head": "linear"},
    "MLP head": {"head": "mlp", "hidden": 8},
    "symmetric head": {"head": "symmetric"},
    "EMA target": {"target": "ema"},
    "EMA, no head": {"target": "ema", "head": "none"},
}
CONTRASTIVE = "contrastive"
SIZES = ((2, 2), (4, 2), (8, 2), (16, 2), (4, 4), (8, 4), (16, 4))  # neurons, features
# Rates at which training is stable where the outputs' size, or that of a cosine in two dimensions,
# enters the gradient.
OWN_RATE = {"no normalisation": 1e-3, CONTRASTIVE: 0.02}
VARIANTS: dict[str, dict[str, Any]] = {
    "by strength": {"strengths": (3.0, 2.0)},
    "by frequency": {"strengths": (3.0, 3.0), "frequencies": (3.0, 1.0)},
    "co-occurring": {"strengths": (3.0, 2.0), "together": True},
}


def toy(smoke: bool, **changes: Any) -> StrongWeak:
    """The data of Figure 7."""
    size = {"batch": 64, "test": 200} if smoke else {"batch": 1024, "test": 2000}
    settings: dict[str, Any] = {"strengths": (3.0, 2.0), "noise": 1.0} | size | changes
    return StrongWeak(20, PATCHES, FEATURE_PATCHES, **settings)


def trained(
    data: StrongWeak, rule: AbstractRule, probes: tuple[AbstractProbe, ...], steps: int
) -> Experiment:
    """Training on batches from Figure 7's initialisation."""
    net = PatchEncoder(width=2, overlaps=TILT)
    return Experiment(data, net, rule, steps, probes, Record(every=max(1, steps // 80)))


def non_contrastive(name: str) -> NonContrastive:
    """An arm of `ABLATIONS`."""
    rate = OWN_RATE.get(name, 0.05)
    return NonContrastive(rate=rate, head_rate=rate, **ABLATIONS[name])


def _trainings(smoke: bool, seeds: int) -> dict[str, Sweep]:
    """Figure 7, and its ablations."""
    steps = 160 if smoke else 4000
    basic = (FeatureStrengths(), FeatureShares(), NeuronCorrelation())
    rest = {
        name: trained(toy(smoke), non_contrastive(name), (*basic, PairLoss()), steps)
        for name in ABLATIONS
    }
    contrast = Contrastive(rate=OWN_RATE[CONTRASTIVE])
    rest[CONTRASTIVE] = trained(toy(smoke, batch=64 if smoke else 256), contrast, basic, steps)
    both = {name: rest.pop(name) for name in (HEAD, BARE)}
    return {
        "figure7": Sweep.of(both, seeds, dim="method_name"),
        "ablations": Sweep.of(rest, seeds, dim="method_name"),
    }


def _trajectories(smoke: bool, seeds: int) -> Sweep:
    """Figures 3 and 4: the head along training, for three kinds of imbalance."""
    probes = (FeatureStrengths(), FeatureShares(), HeadOffDiagonal(), Phase())
    rule, steps = non_contrastive(HEAD), 160 if smoke else 4000
    experiments = {
        name: trained(toy(smoke, **changes), rule, probes, steps)
        for name, changes in VARIANTS.items()
    }
    return Sweep.of(experiments, seeds, dim="variant")


def model(strong: float = STRONG) -> StrongWeak:
    """The data of the flows, at some strength of the first feature."""
    return StrongWeak(DIM, PATCHES, FEATURE_PATCHES, (strong, WEAK), 1.0, 2, test=1)


def flow(
    width: int = 2,
    points: int = 1,
    probes: tuple[AbstractProbe, ...] = (PopulationMoments(),),
    strengths: tuple[float, ...] = (STRONG, WEAK),
    dim: float = DIM,
    overlaps: tuple[float, ...] | None = None,
    **rule: Any,
) -> Experiment:
    """A population flow from a random initialisation, to a time when nearly all draws settle."""
    data = StrongWeak(dim, PATCHES, FEATURE_PATCHES, strengths, noise=1.0, batch=2, test=1)
    given = {"rate": RATE, "head_rate": RATIO * RATE, "horizon": horizon(dim)}
    settings: dict[str, Any] = given | rule
    return Experiment(
        data, PatchEncoder(width=width, overlaps=overlaps),
        PopulationFlow(points=points, **settings), points, probes, Record(every=1),
    )  # fmt: skip


def horizon(dim: float) -> float:
    """Long enough for nearly all draws: T1 is of order d^2, but atypical draws are far slower."""
    return 1e4 * dim**2


def _many(smoke: bool, seeds: int) -> Sweep:
    """Beyond the paper: more neurons and features, by descent (a flow has too many unknowns)."""
    strengths = {2: (4.0, 2.0), 4: (4.0, 3.3, 2.6, 2.0)}
    steps = 200 if smoke else 20_000
    experiments = {}
    for width, features in SIZES:
        data = StrongWeak(50, PATCHES, FEATURE_PATCHES, strengths[features], 1.0, 2, test=1)
        for label, head in HEADS.items():
            rule = PopulationDescent(rate=0.1, head_rate=0.1 * RATIO, head=head)
            experiments[size_name(label, width, features)] = Experiment(
                data, PatchEncoder(width=width), rule, steps, (PopulationMoments(),),
                Record(every=steps, start=False),
            )  # fmt: skip
    return Sweep.of(experiments, seeds, dim="setting")


def size_name(head: str, width: int, features: int) -> str:
    """An arm of the sweep `many`."""
    return f"{head}, {width} neurons, {features} features"


def _diagram(smoke: bool) -> Sweep:
    """Success over the strengths' ratio and the rates' ratio."""
    cells = 3 if smoke else 20
    axes = (
        zipped({"data.strengths.0": (WEAK * np.geomspace(1.05, 4, cells)).tolist()},
               name="strength"),
        zipped({"rule.head_rate": np.geomspace(1e-4, 10, cells).tolist()}, name="ratio"),
    )  # fmt: skip
    return Sweep.of({HEAD: flow()}, 4 if smoke else 50, axes, dim=None, precision="float64")


def _dimensions(smoke: bool, seeds: int) -> Sweep:
    dims = [100.0, 1e4] if smoke else [30.0, 100.0, 1e3, 1e4, 1e5, 1e6]
    axis = zipped({"data.dim": dims, "rule.horizon": [horizon(d) for d in dims]}, name="dim")
    probes = (PopulationMoments(), FeatureStrengths(), HeadOffDiagonal())
    flows = {label: flow(probes=probes, head=head) for label, head in HEADS.items()}
    return Sweep.of(flows, seeds, (axis,), dim="head_kind", precision="float64")


def _no_head(smoke: bool) -> Sweep:
    """The arctan formula: more than 2000 draws at each ratio."""
    ratios = [1.0, 2.0] if smoke else [1.0, 1.25, 1.5, 2.0, 3.0, 4.0]
    axis = Axis("strength", {"data.strengths.0": [WEAK * r for r in ratios]})
    flows, seeds = {BARE: flow(head="none")}, 50 if smoke else 2500
    return Sweep.of(flows, seeds, (axis,), dim=None, precision="float64")


def _rates(smoke: bool, seeds: int) -> Sweep:
    """Random initialisation at several head rates, with and without stop-gradient."""
    rates = [0.05, 10.0] if smoke else [0.001, 0.01, 0.05, 0.3, 1.0, 10.0]
    axis = zipped({"rule.head_rate": rates}, name="ratio")
    flows = {HEAD: flow(), "no stop-gradient": flow(stop_gradient=False)}
    return Sweep.of(flows, seeds, (axis,), dim="ablation", precision="float64")


def _phases(smoke: bool, seeds: int) -> Sweep:
    """Trajectories of the four phases, in three dimensions."""
    points = 40 if smoke else 240
    probes = (FeatureStrengths(), HeadOffDiagonal(), PopulationMoments(), Phase())
    dims = [100.0, 1000.0] if smoke else [1e2, 1e3, 1e4, 1e6]
    first, last = [d**2 * 1e-6 for d in dims], [100 * d**2 for d in dims]
    axis = zipped({"data.dim": dims, "rule.horizon": last, "rule.first": first}, name="dim")
    flows = {
        label: flow(points=points, probes=probes, overlaps=TILT, head=head, horizon=1e8)
        for label, head in HEADS.items()
    }
    return Sweep.of(flows, seeds, (axis,), dim="head_kind", precision="float64")


def sweeps(scale: str) -> dict[str, Sweep]:
    """All sweeps of the study."""
    smoke = scale == "smoke"
    seeds = {"smoke": 3, "laptop": 10, "paper": 50}[scale]
    draws = {"smoke": 10, "laptop": 200, "paper": 2000}[scale]
    return {
        **_trainings(smoke, seeds), "trajectories": _trajectories(smoke, seeds),
        "many": _many(smoke, draws // 4), "diagram": _diagram(smoke),
        "dimensions": _dimensions(smoke, draws), "no_head": _no_head(smoke),
        "rates": _rates(smoke, draws), "phases": _phases(smoke, seeds),
    }  # fmt: skip
