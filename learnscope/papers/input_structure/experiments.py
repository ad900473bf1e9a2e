"""The synthetic sweeps: tables, maps of weights, theorems, and what decides the fate of One Step.

Appendix E leaves the rates open. Initialisation, first rate and noise are those of the theory
(`theory.settings`, Lemma 23). The others are chosen by one procedure for every method (`tuning` in
`tests/papers/test_input_structure_study.py`): of the powers of ten from 1e-5 to 1e3 the one with
the least training loss after T steps (the middle one of several with a loss of 0), in a seed that
is not used elsewhere.

The law of everything but the untrained weights' cosines is the same for every dimension d, so
Table 3 and Figure 9 read the sweep of Table 1, and `maps` has the cosines.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from learnscope import probes, rules
from learnscope.data import GaussianParity, Patterns
from learnscope.evidence import FunctionSweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import TwoLayer
from learnscope.papers.input_structure import theory
from learnscope.papers.input_structure.exact import kernels, population, wide
from learnscope.papers.input_structure.real import real_sweeps
from learnscope.rules import AbstractRule

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
_ACCURACIES = (probes.TrainAccuracy(examples=TEST), probes.TestAccuracy())
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


class Rates(NamedTuple):
    """The rates that tuning chose: the second step's, then one for each method."""

    second: float
    network: float
    kernel: float
    random: float
    one: float
    two: float


PARITY_RATES = Rates(100.0, 1.0, 1e-3, 1.0, 1.0, 10.0)
INTERVAL_RATES = Rates(100.0, 1.0, 1.0, 100.0, 1000.0, 1000.0)


class Setting(NamedTuple):
    """The setting of a table: data, m, T, and the rates."""

    data: Patterns
    width: int
    steps: int
    rates: Rates

    @property
    def scales(self) -> theory.Settings:
        return theory.settings(self.data, self.width, self.steps, "lemma_23")

    def net(self) -> TwoLayer:
        scales = self.scales
        return TwoLayer(width=self.width, scale=scales.scale, bias_scale=scales.bias_scale,
                        second_scale=scales.second_scale)  # fmt: skip

    @property
    def grown(self) -> float:
        """The second step's rate over the first's."""
        return self.rates.second / self.scales.first_rate

    def rules(self) -> dict[str, AbstractRule]:
        """By method."""
        rates = self.rates
        steps: dict[str, Any] = {"first_rate": self.scales.first_rate, "noise": self.data.k**-2.0,
                                 "second_rate": rates.second}  # fmt: skip
        return {
            NETWORK: rules.TwoStep(rate=rates.network, **steps),
            NTK: rules.Linearised(rate=rates.kernel),
            RANDOM: rules.RandomFeatures(rate=rates.random),
            ONE: rules.FrozenFeatures(after=1, rate=rates.one, **steps),
            RESCALED: rules.FrozenFeatures(after=1, rate=rates.two, rescale=self.grown,
                                           head="zero", **steps),
            TWO: rules.FrozenFeatures(after=2, rate=rates.two, **steps),
        }  # fmt: skip

    def experiment(
        self, rule: str | AbstractRule, watched: tuple[probes.AbstractProbe, ...],
        every: int = 0, steps: int = 0,
    ) -> Experiment:  # fmt: skip
        """An experiment with a rule or the name of a method; recorded at the end, unless told."""
        rule, steps = self.rules()[rule] if isinstance(rule, str) else rule, steps or self.steps
        return Experiment(data=self.data, net=self.net(), rule=rule, steps=steps, probes=watched,
                          record=Record(every=every or steps))  # fmt: skip


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


def table(
    settings: Mapping[str, Setting], seeds: int, free: tuple[str, ...],
    methods: tuple[str, ...] = METHODS, base: Experiment | None = None, axis: str = "setting",
) -> Sweep:  # fmt: skip
    """Methods as arms, those in `free` also without input structure; settings as an axis."""
    given = list(settings.values())
    if base is None:
        watched = (*_ACCURACIES, probes.BalancedAccuracy(), probes.Alignment())
        base = given[0].experiment(NETWORK, watched, max(1, given[0].steps // 20))
    bare = [each.data.replace("structure", "none") for each in given]
    learners: dict[str, dict[str, Any]] = {}
    for method in methods:
        learners[method] = {"rule": [each.rules()[method] for each in given]}
        if method in free:
            learners[method + FREE] = learners[method] | {"data": bare}
    fields = {"data": [each.data for each in given], "net": [each.net() for each in given]}
    return arms(base, seeds, Axis(axis, fields, tuple(settings)), learner=learners)


def _varied(scale: str) -> dict[str, Setting]:
    """Tables 4 and 5: unequal classes, and fewer examples (of 10,000, with 50 neurons)."""
    found = {f"ratio {r:g}": parity(scale, negative=r) for r in RATIOS}
    for n in COUNTS:
        found[f"n = {n}"] = parity(scale, 50 if n <= 10_000 else 0, train=n)
    return found


def _maps(scale: str) -> Sweep:
    """The weights before training, after one step and after two."""
    size = SIZES[scale]
    settings = {"parity": parity(scale), "interval": interval(scale)}
    settings |= {f"d = {d}": parity(scale, dim=d) for d in DIMS} | _varied(scale)
    rows: dict[str, dict[str, Any]] = {
        name: {"data": each.data, "net": each.net(), "rule": each.rules()[NETWORK]}
        for name, each in settings.items()
    }
    k = size.coded  # E.3.1, with the scales of parity (the theory has none for codes)
    rows["codes"] = {
        "data": Patterns(dim=DIM, patterns=5 * k, relevant=k, train=TRAIN // size.part, test=200,
                         batch=100, label="codes", structure="independent", codes=size.codes),
        "net": TwoLayer(width=size.width, scale=1 / k, bias_scale=1 / k**2),
        "rule": rules.TwoStep(first_rate=1e-9, second_rate=30.0, rate=1.0, noise=k**-2.0),
    }  # fmt: skip
    watched = (probes.WeightMap(), probes.Alignment(), probes.PatternComponents())
    return arms(settings["parity"].experiment(NETWORK, watched, 1, 2), size.seeds, data=rows)


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
        rule=rules.GradientDescent(rate=0.05, options={"momentum": 0.9}), steps=20 * epoch,
        probes=(probes.TestAccuracy(), probes.CentreCosines()), record=Record(every=2 * epoch),
    )  # fmt: skip
    return arms(base, size.seeds, experiment=each)


def _theorem1(scale: str) -> Sweep:
    """Error by m, with tuned rates."""
    size = SIZES[scale]
    given = [parity(scale, m, size.short, train=size.few * size.part) for m in size.widths]
    axis = zipped({"net.width": size.widths, "rule": [s.rules()[NETWORK] for s in given]})
    base = given[-1].experiment(NETWORK, (probes.TestAccuracy(), probes.TestLoss()))
    return arms(base, size.many, axis)


def _theorem2(scale: str) -> Sweep:
    """Random features, from fewer than 2^k to more, with D = 16 k, at rates of unlike norms."""
    size = SIZES[scale]
    data = {f"{k}": Patterns(dim=DIM, patterns=16 * k, relevant=k, train=5000, test=2 * size.test,
                             batch=200) for k in size.ks}  # fmt: skip
    base = Experiment(
        data=data["5"], steps=200 // size.part,
        net=TwoLayer(width=8, scale=1.0, bias_scale=0.1, second_scale=0.0, symmetric=False),
        rule=rules.RandomFeatures(rate=1.0), record=Record(every=200 // size.part),
        probes=(probes.TestLoss(), probes.TestAccuracy(), probes.ReadoutNorm()),
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
    rule = rules.TwoStep(first_rate=scales.first_rate, second_rate=setting.rates.second,
                         rate=setting.rates.network, noise=scales.noise)  # fmt: skip
    watched = (probes.TestAccuracy(), probes.BalancedAccuracy(), probes.TestLoss())
    small = theory.exact_law(setting.data).scale / (size.patterns * setting.width) ** 0.5
    return arms(setting.experiment(rule, watched).replace("net.scale", small), size.many)


def _one_step(scale: str) -> dict[str, Sweep]:
    """One step's features, multiplied by 1 to eta2/eta1 before a classifier is trained on them, in
    double precision; and, multiplied, by the probability of background patterns."""
    size = SIZES[scale]
    given = {f"{p:g}": parity(scale, size.narrow, size.short, train=size.few * size.part,
                              background=p) for p in BACKGROUNDS}  # fmt: skip
    setting = given["0.5"]
    base = setting.experiment(RESCALED, (*_ACCURACIES[::-1], probes.Alignment()))
    over = {"rule.rescale": [setting.grown**p for p in size.powers]}
    methods = (ONE, RESCALED)
    return {
        "scale": arms(base, size.seeds, over, precision="float64"),
        "small_background": table(given, size.seeds, (), methods, base, "background"),
    }


def _rounding(scale: str) -> Sweep:
    """The weights after one step in R^d, computed exactly and as the formula stands; the latter
    also at a larger rate, which gives the paper's cosines. Few neurons, at the rate of m = 300."""
    setting = parity(scale, 20, train=5000 * SIZES[scale].part)
    updates, first = {}, parity(scale).scales.first_rate
    for label, (update, faster) in UPDATES.items():
        rule = setting.rules()[ONE].replace("update", update)
        updates[label] = rule.replace("first_rate", faster * first)
    base = setting.experiment(updates[EXACT], (probes.Alignment(),), 1, 1)
    over = {"data.dim": [60, 120] if scale == "smoke" else [100, 500, 2000]}
    return arms(base, SIZES[scale].seeds, over, coordinates="ambient", update=updates)


def sweeps(scale: str) -> dict[str, Sweep | FunctionSweep]:
    """All sweeps of the study."""
    size, base = SIZES[scale], parity(scale)
    printed = tuple(method for method in METHODS if method != RESCALED)
    solved = (probes.KernelFit(), probes.BestReadout(2 * TEST))
    part = {"seeds": size.seeds, "scale": scale}
    return {
        "table1": table({"parity": base}, size.seeds, CURVES),
        "table2": table({"interval": interval(scale)}, size.seeds, CURVES),
        "varied": table(_varied(scale), size.seeds, (NETWORK,), printed),
        "fewer": table({FEWER: parity(scale, train=10_000)}, size.seeds, (), (NETWORK,)),
        "maps": _maps(scale), "gaussian": _gaussian(scale), "rounding": _rounding(scale),
        "kernels": arms(base.experiment(NETWORK, solved, 1, 1), size.seeds),
        "theorem1": _theorem1(scale), "theorem2": _theorem2(scale),
        "theorem34": _theorem34(scale), **_one_step(scale),
        "population": FunctionSweep(population, part),
        "wide": FunctionSweep(wide, part | {"seeds": size.many}),
        "corollary3": FunctionSweep(kernels, part), **real_sweeps(scale),
    }  # fmt: skip
