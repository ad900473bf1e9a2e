"""The sweeps: Tables 1 to 5, maps of the weights, the theorems, and two artefacts of arithmetic.

Appendix E leaves the rates open ("properly set"). Initialisation, first rate and noise are those of
the theory (`theory.input_structure.settings`, with the first rate of Lemma 23); with its second
rate, 1, the network stays at the majority rule's 84 % (sweep `theorem1`), so that it is 30 here for
parity and 1000 for the interval. Rates of the fixed-feature methods are near the best of a grid of
factors of 3 that comes close to what the paper reports. Each run has 50000 training examples and
5000 test examples; training accuracy is that of the first 5000.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from learnscope.data import GaussianParity, Patterns
from learnscope.evidence import Arm, Sweep
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import TwoLayer
from learnscope.papers.input_structure import theory
from learnscope.papers.input_structure.real import real_sweeps
from learnscope.probes import (
    AbstractProbe,
    Alignment,
    BalancedAccuracy,
    BestReadout,
    CentreCosines,
    Clusters,
    KernelFit,
    Loss,
    PatternComponents,
    ReadoutNorm,
    TestAccuracy,
    TestLoss,
    TrainAccuracy,
    WeightGradients,
    WeightMap,
)
from learnscope.rules import (
    AbstractRule,
    FrozenFeatures,
    GradientDescent,
    Linearised,
    RandomFeatures,
    TwoStep,
)

DIM, PATTERNS, TRAIN, TEST, BATCH = 500, 100, 50_000, 5_000, 1_000
NETWORK, NTK, RANDOM = "network", "NTK", "random features"
ONE, RESCALED, TWO = "one step", "one step, rescaled", "two steps"
FREE = ", no structure"
BASE = "base"  # label of a table's only arm
METHODS = (NETWORK, NTK, RANDOM, ONE, RESCALED, TWO)
EXACT, NAIVE, FASTER = "exact", "naive", "naive, larger rate"
# How one step is computed, and its rate in units of Lemma 23's first rate.
UPDATES = {EXACT: ("exact", 1.0), NAIVE: ("naive", 1.0), FASTER: ("naive", 120.0)}
DIMS, RATIOS, SIZES = (100, 2000), (0.8, 0.9), (25_000, 10_000)


@dataclasses.dataclass(frozen=True)
class Setting:
    """The setting of a table: data, m, T, and the rates that the paper does not give."""

    data: Patterns
    width: int
    steps: int
    second_rate: float
    rate: float
    head_rate: float
    kernel_rate: float
    random_rate: float

    @property
    def scales(self) -> theory.Settings:
        return theory.settings(self.data, self.width, self.steps, "lemma_23")

    @property
    def noise(self) -> float:
        return self.data.k**-2.0

    def net(self) -> TwoLayer:
        scales = self.scales
        return TwoLayer(
            width=self.width, scale=scales.scale, bias_scale=scales.bias_scale,
            second_scale=scales.second_scale,
        )  # fmt: skip

    def rules(self) -> dict[str, AbstractRule]:
        """By method."""
        first: dict[str, Any] = {
            "first_rate": self.scales.first_rate, "second_rate": self.second_rate,
            "noise": self.noise,
        }  # fmt: skip
        grown = self.second_rate / self.scales.first_rate
        return {
            NETWORK: TwoStep(rate=self.rate, **first),
            NTK: Linearised(rate=self.kernel_rate),
            RANDOM: RandomFeatures(rate=self.random_rate),
            ONE: FrozenFeatures(after=1, rate=self.head_rate, **first),
            RESCALED: FrozenFeatures(
                after=1, rate=self.head_rate, rescale=grown, head="zero", **first
            ),
            TWO: FrozenFeatures(after=2, rate=self.head_rate, **first),
        }

    def experiment(
        self, rule: AbstractRule, probes: tuple[AbstractProbe, ...], every: int, steps: int = 0
    ) -> Experiment:
        return Experiment(
            data=self.data, net=self.net(), rule=rule, steps=steps or self.steps, probes=probes,
            record=Record(every=every),
        )  # fmt: skip


def parity(smoke: bool = False, **changes: Any) -> Setting:
    """E.1.1."""
    small: dict[str, Any] = {"patterns": 48, "test": 200, "batch": 100}
    given: dict[str, Any] = {
        "dim": DIM, "patterns": PATTERNS, "relevant": 3 if smoke else 5, "train": TRAIN,
        "test": TEST, "batch": BATCH,
    }  # fmt: skip
    width, steps = (20, 20) if smoke else (changes.pop("width", 300), 600)
    changes.pop("width", None)
    if smoke:
        changes |= small | {"train": changes.get("train", TRAIN) // 25}
    given |= changes
    return Setting(Patterns(**given), width, steps, 30.0, 1.0, 1.0, 3e-4, 0.0062)


def interval(smoke: bool = False) -> Setting:
    """E.1.2."""
    small: dict[str, Any] = {"train": 2000, "test": 200, "batch": 100} if smoke else {}
    given: dict[str, Any] = {
        "dim": DIM, "patterns": PATTERNS, "relevant": 30, "train": TRAIN, "test": TEST,
        "batch": BATCH, "label": "interval", "counts": (20, 30), "structure": "independent",
        "chance": 2 / 3,
    }  # fmt: skip
    width, steps = (20, 20) if smoke else (100, 200)
    return Setting(Patterns(**given | small), width, steps, 1000.0, 1.0, 100.0, 1.0, 10.0)


def table(
    settings: Mapping[str, Setting],
    seeds: int,
    free: tuple[str, ...],
    axes: tuple[Axis, ...] = (),
    left_out: tuple[str, ...] = (),
) -> Sweep:
    """All methods as one axis, those in `free` also without input structure; the key of a setting
    follows the method's name."""
    probes = (TrainAccuracy(examples=TEST), TestAccuracy(), BalancedAccuracy(), Alignment())
    base = next(iter(settings.values()))
    names, fields = [], {"rule": [], "data": [], "net": []}
    for key, setting in settings.items():
        rules, bare = setting.rules(), setting.data.replace("structure", "none")
        methods = [name for name in METHODS if name not in left_out]
        cases = [(name, rules[name], setting.data) for name in methods]
        cases += [(name + FREE, rules[name], bare) for name in free]
        for name, rule, data in cases:
            names.append(name + key)
            for field, value in (("rule", rule), ("data", data), ("net", setting.net())):
                fields[field].append(value)
    axis = zipped(fields, name="learner")
    every = max(1, base.steps // 20)
    experiment = base.experiment(base.rules()[NETWORK], probes, every)
    return Sweep((Arm(BASE, experiment, (axis, *axes), {"learner": names}),), seeds, dim=None)


def codes(smoke: bool) -> Experiment:
    """E.3.1: 50 codes per label, with the scales of parity with k = 50 (the theory has none)."""
    k = 20 if smoke else 50
    data = Patterns(
        dim=DIM, patterns=2 * k if smoke else 250, relevant=k, train=2000 if smoke else TRAIN,
        test=200, batch=100, label="codes", structure="independent", codes=10 if smoke else 50,
    )  # fmt: skip
    return Experiment(
        data=data, net=TwoLayer(width=20 if smoke else 300, scale=1 / k, bias_scale=1 / k**2),
        rule=TwoStep(first_rate=1e-9, second_rate=30.0, rate=1.0, noise=k**-2.0), steps=2,
        probes=(WeightMap(), Alignment()),
    )  # fmt: skip


def _maps(smoke: bool, seeds: int) -> Sweep:
    """The weights before training, after one step and after two."""
    settings = {
        "parity": parity(smoke),
        "interval": interval(smoke),
        **{f"d = {d}": parity(smoke, dim=d) for d in DIMS},
        **{f"ratio {r:g}": parity(smoke, negative=r) for r in RATIOS},
        f"n = {SIZES[0]}": parity(smoke, train=SIZES[0]),
        f"n = {SIZES[1]}": parity(smoke, train=SIZES[1], width=50),
    }
    probes = (WeightMap(), Alignment())
    experiments = {
        name: setting.experiment(setting.rules()[NETWORK], probes, 1, 2)
        for name, setting in settings.items()
    }
    return Sweep.of(experiments | {"codes": codes(smoke)}, seeds, dim="data")


def mixture(dim: int, factors: int, noise: float, smoke: bool) -> Experiment:
    """E.3.2, Table 6, with common training: momentum, small batches, logistic loss, 20 epochs.

    Weights start small: with PyTorch's 1 / sqrt(d) some centres get no neuron of their own.
    """
    train, batch = (400, 50) if smoke else (10_000, 100)
    return Experiment(
        data=GaussianParity(
            dim=dim, factors=factors, train=train, test=200 if smoke else 2000, noise=noise,
            batch=batch,
        ),
        net=TwoLayer(
            width=40 if smoke else 800, activation="relu", scale=0.005, second_scale=0.03,
            symmetric=False,
        ),
        rule=GradientDescent(rate=0.05, options={"momentum": 0.9}),
        steps=20 * train // batch,
        probes=(TrainAccuracy(), TestAccuracy(), CentreCosines()),
        record=Record(every=train // batch),
    )  # fmt: skip


def _theorem1(smoke: bool, seeds: int) -> Sweep:
    """Error by m and T, with tuned rates and with the theorem's."""
    widths = [5, 20] if smoke else [10, 30, 100, 300, 1000]
    probes = (TestAccuracy(), TestLoss(), Alignment())
    arms = []
    for label in ("tuned rates", "rates of Theorem 26"):
        settings = [dataclasses.replace(parity(smoke), width=width) for width in widths]
        rules = []
        for setting in settings:
            rule = setting.rules()[NETWORK]
            if label != "tuned rates":
                given = theory.settings(setting.data, setting.width, setting.steps)
                rule = TwoStep(
                    first_rate=given.first_rate, second_rate=given.second_rate, rate=given.rate,
                    noise=given.noise,
                )  # fmt: skip
            rules.append(rule)
        axis = zipped({"net.width": widths, "rule": rules}, name="width")
        base = settings[-1]
        arms.append(Arm(label, base.experiment(rules[0], probes, base.steps // 20), (axis,)))
    return Sweep(tuple(arms), seeds, dim="rates")


def _theorem2(smoke: bool, seeds: int) -> Sweep:
    """Random features, from fewer than 2^k to more, with D >= 16 k."""
    features = [8, 32] if smoke else [16, 64, 256, 1024, 4096]
    probes = (TestLoss(), TestAccuracy(), ReadoutNorm(), BestReadout(examples=2 * TEST))
    arms = []
    for k in (3, 5) if smoke else (3, 5, 7, 9):
        data = Patterns(
            dim=DIM, patterns=64 if smoke else 160, relevant=k, train=2000 if smoke else 20_000,
            test=200 if smoke else TEST, batch=100 if smoke else BATCH,
        )  # fmt: skip
        base = Experiment(
            data=data,
            net=TwoLayer(
                width=features[0], scale=1.0, bias_scale=0.1, second_scale=0.0, symmetric=False
            ),
            rule=RandomFeatures(rate=1.0),
            steps=20 if smoke else 300,
            probes=probes,
            record=Record(every=20 if smoke else 300, start=False),
        )
        rates = [8.0 / n for n in features]
        axis = zipped({"net.width": features, "rule.rate": rates}, name="features")
        arms.append(Arm(f"{k}", base, (axis,)))
    return Sweep(tuple(arms), seeds, dim="relevant")


def _scale_artefact(smoke: bool, seeds: int) -> Sweep:
    """One step's features multiplied by 1 to eta2/eta1 before a classifier is trained on them."""
    setting = parity(smoke)
    rule = setting.rules()[RESCALED]
    assert isinstance(rule, FrozenFeatures)
    most = float(rule.rescale)
    powers = [0.0, 1.0] if smoke else [0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    axis = zipped({"rule.rescale": [most**p for p in powers]})
    base = setting.experiment(rule, (TestAccuracy(), Alignment()), setting.steps)
    return Sweep.of({RESCALED: base}, seeds, (axis,), dim="learner")


def _cosine_artefact(smoke: bool, seeds: int) -> Sweep:
    """The weights after one step in R^d, computed exactly and as the formula stands; the latter
    also at a larger rate, which gives the paper's cosines."""
    dims = [60, 120] if smoke else [100, 500, 2000]
    setting = parity(smoke)
    experiments = {}
    for label, (update, faster) in UPDATES.items():
        rule = setting.rules()[ONE].replace("update", update)
        rule = rule.replace("first_rate", faster * setting.scales.first_rate)
        experiments[label] = setting.experiment(rule, (Alignment(),), 1, 1)
    axes = (zipped({"data.dim": dims}),)
    return Sweep.of(experiments, seeds, axes, dim="update", coordinates="ambient")


def sweeps(scale: str) -> dict[str, Sweep]:
    """All sweeps of the study."""
    smoke = scale == "smoke"
    seeds = {"smoke": 2, "laptop": 5, "paper": 20}[scale]
    base = parity(smoke)
    curves = (NETWORK, NTK, RANDOM)
    grid = (TrainAccuracy(examples=TEST), TestAccuracy(), Clusters(), PatternComponents(), Loss())
    ratios = {f" | {r:g}": parity(smoke, negative=r) for r in RATIOS}
    sized = {f" | {n:g}": parity(smoke, train=n, width=300 if n > 10_000 else 50) for n in SIZES}
    gaussian = {"1": (100, 4, 1.0), "2": (25, 4, 0.7), "3": (100, 5, 1.0)}
    by_dim = (zipped({"data.dim": list(DIMS)}),)

    def network(seeds: int, *settings: Any) -> Sweep:
        return Sweep.of({NETWORK: base.experiment(base.rules()[NETWORK], *settings)}, seeds,
                        dim="learner")  # fmt: skip

    return {
        "table1": table({"": base}, seeds, METHODS),
        "table2": table({"": interval(smoke)}, seeds, curves),
        "table3": table({"": base}, seeds, curves, by_dim),
        "table4": table(ratios, seeds, curves),
        "table5": table(sized, seeds, curves),
        "maps": _maps(smoke, 1 if scale == "laptop" else seeds),
        "steps": network(seeds, grid, 1, 5),
        "agreement": network(1, (WeightGradients(),), 1, 30),
        "kernels": network(seeds, (KernelFit(), BestReadout(examples=2 * TEST)), base.steps),
        "gaussian": Sweep.of(
            {name: mixture(*given, smoke) for name, given in gaussian.items()},
            2 if smoke else 3, dim="experiment",
        ),
        "theorem1": _theorem1(smoke, min(seeds, 3)),
        "theorem2": _theorem2(smoke, min(seeds, 3)),
        "scale": _scale_artefact(smoke, min(seeds, 3)),
        "rounding": _cosine_artefact(smoke, min(seeds, 3)),
        **real_sweeps(scale),
    }  # fmt: skip
