"""The synthetic sweeps: tables, maps of weights, theorems, and what decides the fate of One Step.

Appendix E leaves the rates open. Initialisation, first rate and noise are those of the theory
(`theory.settings`, Lemma 23). The others are chosen by one procedure for every method (`tuning`):
of the powers of ten from 1e-5 to 1e3 the one with the least training loss after T steps (the middle
one of several with a loss of 0), in a seed that is not used elsewhere.

The law of everything but the untrained weights' cosines is the same for every dimension d, so
Table 3 and Figure 9 read the sweep of Table 1, and `maps` has the cosines.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from learnscope.data import GaussianParity, Patterns
from learnscope.evidence import FunctionSweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import TwoLayer
from learnscope.papers.input_structure import theory
from learnscope.papers.input_structure.exact import kernels, population, wide
from learnscope.papers.input_structure.real import real_sweeps
from learnscope.probes import (
    AbstractProbe,
    Alignment,
    BalancedAccuracy,
    BestReadout,
    CentreCosines,
    KernelFit,
    Loss,
    PatternComponents,
    ReadoutNorm,
    TestAccuracy,
    TestLoss,
    TrainAccuracy,
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
METHODS, CURVES = (NETWORK, NTK, RANDOM, ONE, RESCALED, TWO), (NETWORK, NTK, RANDOM)
EXACT, NAIVE, FASTER = "exact", "naive", "naive, larger rate"
# How one step is computed, and its rate in units of Lemma 23's first rate.
UPDATES = {EXACT: ("exact", 1.0), NAIVE: ("naive", 1.0), FASTER: ("naive", 120.0)}
DIMS, RATIOS, COUNTS, BACKGROUNDS = (100, 2000), (0.8, 0.9), (25_000, 10_000), (0.05, 0.25, 0.5)
FEWER = "n = 10000, m = 300"  # the network that overfits, according to E.2.3
CLUSTERED = {"1": (100, 4, 1.0), "2": (25, 4, 0.7), "3": (100, 5, 1.0)}  # Table 6: d, k, sigma_r
SIZES = Scale(
    seeds=(2, 10, 20), many=(2, 35, 35), patterns=(48, PATTERNS, PATTERNS), relevant=(3, 5, 5),
    part=(25, 1, 1), test=(200, TEST, TEST), batch=(100, BATCH, BATCH), width=(20, 300, 300),
    steps=(20, 600, 600), short=(20, 120, 600), long=(20, 400, 600), few=(2000, 20_000, TRAIN),
    narrow=(20, 100, 300),
    widths=([5, 20], [10, 30, 100], [10, 30, 100, 300, 1000]),
    features=([8, 32], [32, 512], [32, 512, 1024]), ks=((5, 17), (5, 9, 17), (5, 9, 17)),
    powers=([0.0, 1.0], [0.0, 0.6, 0.8, 0.9, 1.0], [0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
    codes=(10, 50, 50), coded=(20, 50, 50), neurons=(40, 800, 800), clustered=(400, 5000, 10_000),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Rates:
    """The rates that `tuning` chose: the second step's, then one for each method."""

    second: float
    network: float
    kernel: float
    random: float
    one: float
    two: float


PARITY_RATES = Rates(100.0, 1.0, 1e-3, 1.0, 1.0, 10.0)
INTERVAL_RATES = Rates(100.0, 1.0, 1.0, 100.0, 1000.0, 1000.0)


@dataclasses.dataclass(frozen=True)
class Setting:
    """The setting of a table: data, m, T, and the rates."""

    data: Patterns
    width: int
    steps: int
    rates: Rates

    @property
    def scales(self) -> theory.Settings:
        return theory.settings(self.data, self.width, self.steps, "lemma_23")

    @property
    def first(self) -> dict[str, Any]:
        """The first step."""
        return {"first_rate": self.scales.first_rate, "noise": self.data.k**-2.0}

    def net(self) -> TwoLayer:
        scales = self.scales
        return TwoLayer(width=self.width, scale=scales.scale, bias_scale=scales.bias_scale,
                        second_scale=scales.second_scale)  # fmt: skip

    def rules(self) -> dict[str, AbstractRule]:
        """By method."""
        rates = self.rates
        steps: dict[str, Any] = self.first | {"second_rate": rates.second}
        grown = rates.second / self.scales.first_rate
        return {
            NETWORK: TwoStep(rate=rates.network, **steps),
            NTK: Linearised(rate=rates.kernel),
            RANDOM: RandomFeatures(rate=rates.random),
            ONE: FrozenFeatures(after=1, rate=rates.one, **steps),
            RESCALED: FrozenFeatures(after=1, rate=rates.two, rescale=grown, head="zero", **steps),
            TWO: FrozenFeatures(after=2, rate=rates.two, **steps),
        }

    def experiment(
        self, rule: AbstractRule, probes: tuple[AbstractProbe, ...], every: int, steps: int = 0
    ) -> Experiment:
        return Experiment(
            data=self.data, net=self.net(), rule=rule, steps=steps or self.steps, probes=probes,
            record=Record(every=every),
        )  # fmt: skip


def parity(scale: str = "laptop", width: int = 0, steps: int = 0, **changes: Any) -> Setting:
    """E.1.1."""
    size = SIZES[scale]
    changes["train"] = changes.get("train", TRAIN) // size.part
    given = {"dim": DIM, "patterns": size.patterns, "relevant": size.relevant, "test": size.test,
             "batch": size.batch} | changes  # fmt: skip
    return Setting(Patterns(**given), width or size.width, steps or size.steps, PARITY_RATES)


def interval(scale: str = "laptop") -> Setting:
    """E.1.2."""
    size = SIZES[scale]
    data = Patterns(
        dim=DIM, patterns=PATTERNS, relevant=30, train=TRAIN // size.part, test=size.test,
        batch=size.batch, label="interval", counts=(20, 30), structure="independent", chance=2 / 3,
    )  # fmt: skip
    return Setting(data, min(100, size.width), min(200, size.steps), INTERVAL_RATES)


def tuning(setting: Setting, seed: int = 1000) -> dict[str, Sweep]:
    """The candidates for every rate, by method; `Rates` have the least `loss` at the end.
    The network's two rates are chosen together; later steps take over its second rate."""
    powers = [10.0**p for p in range(-5, 4)]
    base = setting.experiment(setting.rules()[NETWORK], (Loss(), TestAccuracy()), setting.steps)
    both = {"rule.second_rate": powers[5:], "rule.rate": powers[3:6]}
    found = {NETWORK: arms(base, [seed], both)}
    for method in (NTK, RANDOM, ONE, TWO):
        one = base.replace("rule", setting.rules()[method])
        found[method] = arms(one, [seed], {"rule.rate": powers})
    return found


def table(
    settings: Mapping[str, Setting], seeds: int, free: tuple[str, ...],
    methods: tuple[str, ...] = METHODS,
) -> Sweep:  # fmt: skip
    """Methods as arms, those in `free` also without input structure; settings as an axis."""
    probes = (TrainAccuracy(examples=TEST), TestAccuracy(), BalancedAccuracy(), Alignment())
    given = list(settings.values())
    base = given[0].experiment(given[0].rules()[NETWORK], probes, max(1, given[0].steps // 20))
    bare = [each.data.replace("structure", "none") for each in given]
    learners: dict[str, dict[str, Any]] = {}
    for method in methods:
        rules = {"rule": [each.rules()[method] for each in given]}
        learners[method] = rules
        if method in free:
            learners[method + FREE] = rules | {"data": bare}
    fields = {"data": [each.data for each in given], "net": [each.net() for each in given]}
    return arms(base, seeds, Axis("setting", fields, tuple(settings)), learner=learners)


def _maps(scale: str) -> Sweep:
    """The weights before training, after one step and after two."""
    size = SIZES[scale]
    settings = {
        "parity": parity(scale), "interval": interval(scale),
        **{f"d = {d}": parity(scale, dim=d) for d in DIMS},
        **{f"ratio {r:g}": parity(scale, negative=r) for r in RATIOS},
        **{f"n = {n}": parity(scale, train=n, width=_narrow(n)) for n in COUNTS},
    }  # fmt: skip
    rows: dict[str, dict[str, Any]] = {
        name: {"data": each.data, "net": each.net(), "rule": each.rules()[NETWORK]}
        for name, each in settings.items()
    }
    k = size.coded  # E.3.1, with the scales of parity (the theory has none for codes)
    rows["codes"] = {
        "data": Patterns(dim=DIM, patterns=5 * k, relevant=k, train=TRAIN // size.part, test=200,
                         batch=100, label="codes", structure="independent", codes=size.codes),
        "net": TwoLayer(width=size.width, scale=1 / k, bias_scale=1 / k**2),
        "rule": TwoStep(first_rate=1e-9, second_rate=30.0, rate=1.0, noise=k**-2.0),
    }  # fmt: skip
    base = settings["parity"].experiment(rows["parity"]["rule"], (), 1, 2)
    probes = (WeightMap(), Alignment(), PatternComponents())
    return arms(base.replace("probes", probes), size.seeds, data=rows)


def _narrow(train: int) -> int:
    return 50 if train <= 10_000 else 0


def _gaussian(scale: str) -> Sweep:
    """E.3.2, Table 6, with common training: momentum, small batches, logistic loss, 20 epochs.

    Weights start small: with PyTorch's 1 / sqrt(d) some centres get no neuron of their own.
    """
    size = SIZES[scale]
    train, epoch = size.clustered, size.clustered // 50
    each = {name: GaussianParity(dim=dim, factors=k, train=train, test=2000, noise=noise, batch=50)
            for name, (dim, k, noise) in CLUSTERED.items()}  # fmt: skip
    base = Experiment(
        data=each["1"],
        net=TwoLayer(width=size.neurons, activation="relu", scale=0.005, second_scale=0.03,
                     symmetric=False),
        rule=GradientDescent(rate=0.05, options={"momentum": 0.9}), steps=20 * epoch,
        probes=(TestAccuracy(), CentreCosines()), record=Record(every=2 * epoch),
    )  # fmt: skip
    return arms(base, size.seeds, experiment=each)


def _theorem1(scale: str) -> Sweep:
    """Error by m, with tuned rates."""
    size = SIZES[scale]
    given = [parity(scale, m, size.short, train=size.few * size.part) for m in size.widths]
    axis = zipped({"net.width": size.widths, "rule": [s.rules()[NETWORK] for s in given]})
    probes = (TestAccuracy(), TestLoss())
    base = given[-1].experiment(given[-1].rules()[NETWORK], probes, size.short)
    return arms(base, size.many, axis)


def _theorem2(scale: str) -> Sweep:
    """Random features, from fewer than 2^k to more, with D = 16 k, at rates of unlike norms."""
    size = SIZES[scale]
    data = {f"{k}": Patterns(dim=DIM, patterns=16 * k, relevant=k, train=5000, test=2 * size.test,
                             batch=200) for k in size.ks}  # fmt: skip
    base = Experiment(
        data=data["5"], steps=200 // size.part,
        net=TwoLayer(width=8, scale=1.0, bias_scale=0.1, second_scale=0.0, symmetric=False),
        rule=RandomFeatures(rate=1.0), probes=(TestLoss(), TestAccuracy(), ReadoutNorm()),
        record=Record(every=200 // size.part),
    )  # fmt: skip
    over = {"net.width": size.features, "rule.rate": [0.03, 3.0]}
    return arms(base, size.seeds, over, relevant=data)


def _theorem34(scale: str) -> Sweep:
    """Appendix F: an incoherent dictionary, Gaussian noise, unequal classes, small first weights.
    The theorem allows mu up to sqrt(d)/D and sigma_zeta up to 1/sigma~, times constants: at 1 these
    already blur the count of relevant patterns, so a fifth and a fourth of them are taken."""
    size = SIZES[scale]
    dim = 2 * size.patterns
    setting = parity(scale, size.narrow, size.long, dim=dim, dictionary="equiangular",
                     incoherence=0.2 * dim**0.5 / size.patterns, noise=0.05, negative=0.7,
                     train=size.few * size.part)  # fmt: skip
    scales = theory.settings(setting.data, setting.width, setting.steps, "theorem_34")
    given: dict[str, Any] = {"first_rate": scales.first_rate, "noise": scales.noise}
    rule = TwoStep(second_rate=setting.rates.second, rate=setting.rates.network, **given)
    base = setting.experiment(rule, (TestAccuracy(), BalancedAccuracy(), TestLoss()), size.long)
    small = theory.exact_law(setting.data).scale / (size.patterns * setting.width) ** 0.5
    return arms(base.replace("net.scale", small), size.many)


def _one_step(scale: str) -> dict[str, Sweep]:
    """One step's features, multiplied by 1 to eta2/eta1 before a classifier is trained on them, in
    double precision; and, multiplied, by the probability of background patterns."""
    size = SIZES[scale]
    given = [parity(scale, size.narrow, size.short, train=size.few * size.part, background=p)
             for p in BACKGROUNDS]  # fmt: skip
    setting, probes = given[-1], (TestAccuracy(), TrainAccuracy(examples=TEST), Alignment())
    base = setting.experiment(setting.rules()[RESCALED], probes, setting.steps)
    grown = setting.rates.second / setting.scales.first_rate
    over = {"rule.rescale": [grown**p for p in size.powers]}
    fields = {"data": [s.data for s in given], "net": [s.net() for s in given]}
    learners = {name: {"rule": [s.rules()[name] for s in given]} for name in (ONE, RESCALED)}
    axis = Axis("background", fields, tuple(f"{p:g}" for p in BACKGROUNDS))
    return {
        "scale": arms(base, size.seeds, over, precision="float64"),
        "small_background": arms(base, size.seeds, axis, learner=learners),
    }


def _rounding(scale: str) -> Sweep:
    """The weights after one step in R^d, computed exactly and as the formula stands; the latter
    also at a larger rate, which gives the paper's cosines."""
    setting = parity(scale, 20, train=5000 * SIZES[scale].part)
    updates = {}
    for label, (update, faster) in UPDATES.items():
        rule = setting.rules()[ONE].replace("update", update)
        updates[label] = rule.replace("first_rate", faster * setting.scales.first_rate)
    base = setting.experiment(updates[EXACT], (Alignment(),), 1, 1)
    over = {"data.dim": [60, 120] if scale == "smoke" else [100, 500, 2000]}
    return arms(base, SIZES[scale].seeds, over, coordinates="ambient", update=updates)


def sweeps(scale: str) -> dict[str, Sweep | FunctionSweep]:
    """All sweeps of the study."""
    size, base = SIZES[scale], parity(scale)
    varied = {f"ratio {r:g}": parity(scale, negative=r) for r in RATIOS}
    varied |= {f"n = {n}": parity(scale, _narrow(n), train=n) for n in COUNTS}
    fewer = {FEWER: parity(scale, train=10_000)}
    printed = tuple(method for method in METHODS if method != RESCALED)
    once = base.experiment(base.rules()[NETWORK], (KernelFit(), BestReadout(2 * TEST)), 1, 1)
    part = {"seeds": size.seeds, "scale": scale}
    return {
        "table1": table({"parity": base}, size.seeds, CURVES),
        "table2": table({"interval": interval(scale)}, size.seeds, CURVES),
        "varied": table(varied, size.seeds, (NETWORK,), printed),
        "fewer": table(fewer, size.seeds, (), (NETWORK,)),
        "maps": _maps(scale), "kernels": arms(once, size.seeds), "gaussian": _gaussian(scale),
        "theorem1": _theorem1(scale), "theorem2": _theorem2(scale),
        "theorem34": _theorem34(scale), **_one_step(scale), "rounding": _rounding(scale),
        "population": FunctionSweep(population, part),
        "wide": FunctionSweep(wide, part | {"seeds": size.many}),
        "corollary3": FunctionSweep(kernels, part), **real_sweeps(scale),
    }  # fmt: skip
