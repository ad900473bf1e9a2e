"""The sweeps: a regime where the theorems separate, the paper's own setting, lemmas, all rules.

*Theorem regime* (`theorem`): n = 4 split 2/2 with both labels in both halves, m = 10, ||xi||^2 =
24, ||z|| = 0.3, sigma_0 = d^-1/2, gamma = 2, J = 5, eta = 0.1, all tasks every step. At d = 1000 it
meets Conditions 4.1 to 4.3 (`learnscope.theory.conditions`), at d = 10^12 with eta above 1/log(d)
and T of the order of d^(1/4). Compressed coordinates make d = 10^12 as cheap as d = 1000.

*Section 5.1* (`paper_setting`): d = 1000, K = 343, n = 10, sigma_xi = 10.42, sigma_s = 0.00066,
m = 18, sigma_0 = 0.032. The paper does not say M, the split, the outer optimiser, the tasks per
step or the number of steps, and gives two pairs of rates. Here the split is 5/5, SGD over 16 tasks,
and the readings are: `stated` (M = d/2, the most that Condition 4.2 allows; gamma = 0.001, eta =
0.0001), `fitted` (M = 686 = 2K, with which the losses are nearest to those printed) and `other
rates` (gamma = 0.01, eta = 0.001). Test losses are before adapting.
"""

import math
from typing import Any

import numpy as np

from learnscope.data import TaskFamily
from learnscope.evidence import Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import Linear, PatchCNN
from learnscope.papers.meta_split.parts import (
    CentroidError,
    LinearCentroid,
    LinearTasks,
    ScaledLoss,
)
from learnscope.papers.meta_split.real import real_sweeps
from learnscope.papers.meta_split.tuning import tuning_sweeps
from learnscope.probes import (
    AbstractProbe,
    AdaptedTest,
    Amplification,
    FeatureLearning,
    MetaLoss,
    TaskNoise,
    TestAccuracy,
    TestLoss,
)
from learnscope.rules import AbstractRule, Fomaml, Imaml, Maml, MetaProx, Pooled, Reptile

DIM, LARGE = 1000, 10**12
RATE, INNER_RATE, INNER_STEPS, WIDTH, NOISE_SQUARED, SAMPLES = 0.1, 2.0, 5, 10, 24.0, 4
TASKS = 8  # with 4 examples each, ||xi||^2 / (K n) = 0.75
DIMS, RATIOS = [10**3, 10**7, 10**12], [0.125, 0.25, 0.5, 0.75, 1.5, 3.0, 6.0]  # of the plane
MORE_DIMS = [10**3, 10**7, 10**10, 10**12]  # of the lemmas, whose exponents are fitted
SPLITS = ("train-train", "train-validation")
METHODS = (*SPLITS, "vanilla")
QUICK: tuple[AbstractProbe, ...] = (TestLoss(), TestAccuracy(), FeatureLearning())
READINGS: dict[str, dict[str, float]] = {
    "stated": {"dictionary": 500, "inner_rate": 1e-3, "rate": 1e-4},
    "fitted": {"dictionary": 686, "inner_rate": 1e-3, "rate": 1e-4},
    "other rates": {"dictionary": 500, "inner_rate": 1e-2, "rate": 1e-3},
}
SETTINGS = ("5 steps", "5 steps, ReLU", "1 step", "outer > inner")
BUDGET = 12_000  # gradient passes over a task's examples


def sized(dims: list[int], squared: list[float]) -> dict[str, list[Any]]:
    """Fields for dimensions d and lengths E ||xi||^2: M within sqrt(d) and d/2 (as few values as
    possible, since each is a program), sigma_xi, sigma_0."""
    many = [500 if dim < 10**7 else 10**6 for dim in dims]
    noise = [math.sqrt(s / (d - m - 1)) for d, m, s in zip(dims, many, squared, strict=True)]
    return {"data.dim": dims, "data.dictionary": many, "data.noise": noise,
            "net.scale": [dim**-0.5 for dim in dims]}  # fmt: skip


def method(name: str, **changes: Any) -> AbstractRule:
    """A method of the theorems."""
    if name == "vanilla":
        return Pooled(rate=RATE)
    given = {"rate": RATE, "inner_rate": INNER_RATE, "inner_steps": INNER_STEPS, "split": name}
    return Fomaml(**given | changes)


def theorem(
    rule: AbstractRule, probes: tuple[AbstractProbe, ...], steps: int, every: int,
    dim: int = DIM, **data: Any,
) -> Experiment:  # fmt: skip
    """The theorem regime."""
    fields = {path: values[0] for path, values in sized([dim], [NOISE_SQUARED]).items()}
    own = {path.removeprefix("data."): v for path, v in fields.items() if path != "net.scale"}
    given: dict[str, Any] = {
        "tasks": TASKS, "samples": SAMPLES, "validation": SAMPLES // 2, "signal": 1.0,
        "task_signal": 0.3, "test_tasks": 100, **own,
    }  # fmt: skip
    return Experiment(
        data=TaskFamily(**given | data),
        net=PatchCNN(width=WIDTH, activation="huberised", scale=fields["net.scale"],
                     second_layer="sum"),
        rule=rule, steps=steps, probes=probes, record=Record(every=every),
    )  # fmt: skip


def adapting(rule: AbstractRule) -> dict[str, Any]:
    """How probes adapt as a rule does; vanilla training does not."""
    steps = getattr(rule, "inner_steps", 0)
    return {"inner_rate": INNER_RATE, "inner_steps": steps, "split": rule.split}  # type: ignore[attr-defined]


def watched(rule: AbstractRule) -> dict[str, Any]:
    """An arm: a rule, with its own training loss beside what is learnt."""
    return {"rule": rule, "probes": (*QUICK, MetaLoss(**adapting(rule)))}


def paper_setting(
    reading: str, setting: str, split: str, steps: int, every: int, optimiser: str = "sgd",
    **data: Any,
) -> Experiment:  # fmt: skip
    """Section 5.1, in a reading."""
    chosen = READINGS[reading]
    given: dict[str, Any] = {
        "dim": DIM, "dictionary": int(chosen["dictionary"]), "tasks": 343, "samples": 10,
        "validation": 5, "signal": 1.0, "task_signal": 0.00066 * DIM**0.5, "noise": 10.42,
        "test_tasks": 100,
    }  # fmt: skip
    rate, inner = chosen["rate"], chosen["inner_rate"]
    if setting == "outer > inner":
        rate, inner = inner, rate
    activation = "relu" if "ReLU" in setting else "huberised"
    return Experiment(
        data=TaskFamily(**given | data),
        net=PatchCNN(width=18, activation=activation, scale=0.032, second_layer="sum"),
        rule=Fomaml(rate=rate, inner_rate=inner, inner_steps=1 if setting == "1 step" else 5,
                    batch=min(16, (given | data)["tasks"]), split=split, optimiser=optimiser),
        steps=steps, probes=(*QUICK, ScaledLoss()), record=Record(every=every),
    )  # fmt: skip


def labels(reading: str, setting: str) -> list[str]:
    """The arms of `tables` and `adam` in a reading and a setting, one per split."""
    return [f"{reading}: {setting}, {split}" for split in SPLITS]


def _printed(optimiser: str, cases: dict[str, tuple[str, ...]], size: Any, **sizes: Any) -> Sweep:
    """Section 5.1 in some readings, each with some settings; Adam has a name of its own."""
    made = {}
    for reading, settings in cases.items():
        for setting in settings:
            names = labels("Adam" if optimiser == "adam" else reading, setting)
            for split, name in zip(SPLITS, names, strict=True):
                made[name] = paper_setting(reading, setting, split, optimiser=optimiser, **sizes,
                                           **size.section)  # fmt: skip
    return Sweep.of(made, size.seeds, dim="setting")


# The lemmas hold up to T^(1) and T^(2), which come after the start if sigma_0 is small for the
# factor of the inner loop on noise. At d = 10^12 that is so for J = 3; train-train with J = 5 needs
# sigma_0 = 10^-9, which is d^-1/2 for d = 10^18. Rates eta are small, 1/polylog(d), so that these
# times are some fifty to two hundred steps. Label: split, J, sigma_0, eta.
LEMMAS: dict[str, tuple[str, int, float, float]] = {
    "train-train, J = 3": ("train-train", 3, 1e-6, 2e-5),
    "train-train, J = 5": ("train-train", 5, 1e-9, 2e-7),
    "train-validation, J = 3": ("train-validation", 3, 1e-6, 0.01),
    "train-validation, J = 5": ("train-validation", 5, 1e-6, 0.01),
}


def _lemmas(size: Any) -> Sweep:
    made = {}
    for name, (split, inner_steps, scale, rate) in LEMMAS.items():
        rule = method(split, inner_steps=inner_steps, rate=rate)
        probes = (Amplification(**adapting(rule)), FeatureLearning(), TaskNoise())
        made[name] = {"rule": rule, "probes": probes, "net.scale": scale}
    base = theorem(method(SPLITS[0]), (), size.lemma_steps, 5, dim=LARGE, test_tasks=2)
    return arms(base, size.seeds, rule=made)


def budgeted() -> dict[str, tuple[AbstractRule, int]]:
    """Every rule, with the passes over a task's examples per outer step: one for a gradient, two
    for a second derivative along a direction."""
    inner: dict[str, Any] = {"inner_rate": INNER_RATE, "inner_steps": INNER_STEPS}
    near: dict[str, Any] = {**inner, "weight": 0.1}
    j, solver = INNER_STEPS, 5
    rules: dict[str, tuple[AbstractRule, int]] = {}
    for split in SPLITS:
        rules |= {
            f"FOMAML, {split}": (Fomaml(rate=RATE, split=split, **inner), j + 1),
            f"MAML, {split}": (Maml(rate=RATE, split=split, **inner), 3 * j + 1),
            f"iMAML, {split}": (
                Imaml(rate=RATE, split=split, solver_steps=solver, **near), j + 1 + 2 * solver
            ),
            # A step of Reptile adds J gradients; at this rate each counts as much as in FOMAML.
            f"Reptile, {split}": (Reptile(rate=RATE / INNER_RATE, split=split, **inner), j),
            f"MetaProx, {split}": (MetaProx(rate=RATE / INNER_RATE, split=split, **near), j),
            f"pooled, {split}": (Pooled(rate=RATE, split=split), 1),
        }  # fmt: skip
    return rules


def _rules(size: Any, data: dict[str, Any]) -> Sweep:
    """Every rule for one budget: they end at different steps."""
    made = {}
    for name, (rule, passes) in budgeted().items():
        steps = max(1, size.budget // passes)
        adapted = AdaptedTest(INNER_RATE, INNER_STEPS, split=name.split(", ")[1])
        made[name] = theorem(rule, (*QUICK, adapted), steps, steps, **data)
    return Sweep.of(made, size.seeds)


def _centroid(size: Any) -> dict[str, Sweep]:
    """Ridge inside, least squares outside: linear tasks, and this paper's data."""
    weights = {"rule.weight": np.geomspace(1e-6, 1e6, size.weights).tolist()}
    linear = LinearTasks(dim=60, tasks=120, samples=20, validation=10, spread=1.0, test_tasks=50)
    family = theorem(method(SPLITS[0]), (), 1, 1, tasks=16).data

    def both(data: Any, *probes: AbstractProbe) -> Sweep:
        base = Experiment(data, Linear(), LinearCentroid(weight=1.0), 1, probes, Record(every=1))
        splits = {split: {"rule.split": split} for split in SPLITS}
        return arms(base, size.draws, weights, precision="float64", rule=splits)

    return {"centroid": both(linear, CentroidError(), TestLoss()),
            "centroid_family": both(family, TestLoss(), TestAccuracy())}  # fmt: skip


def cells() -> Axis:
    """The plane of d and ||xi||^2 / (K n), as one axis: sigma_xi depends on both."""
    pairs = [(dim, ratio * TASKS * SAMPLES) for dim in DIMS for ratio in RATIOS]
    dims, squared = map(list, zip(*pairs, strict=True))
    return zipped(sized(dims, squared), name="cell")


SIZES = Scale(
    seeds=(2, 10, 20), draws=(3, 30, 30), steps=(40, 1000, 2000), long=(1600, 320_000, 320_000),
    tasks=([8, 16, 32], [4, 8, 16, 32, 64], [4, 8, 16, 32, 64]), plane_steps=(20, 2000, 2000),
    lemma_steps=(20, 300, 300), few=([1, 2], [1, 2, 8], [1, 2, 3, 8]),
    widths=([2, 4], [1, 2, 20], [1, 2, 4, 20]), budget=(60, BUDGET, BUDGET),
    weights=(3, 13, 25), printed=(20, 600, 4000), adam=(20, 250, 1000),
    section=({"tasks": 12, "test_tasks": 10}, {}, {}), small=({"test_tasks": 10}, {}, {}),
)  # fmt: skip


def sweeps(scale: str) -> dict[str, Sweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    small, seeds, large = size.small, size.seeds, {"dim": LARGE, **size.small}
    either = {name: watched(method(name)) for name in SPLITS}
    three = {name: watched(method(name)) for name in METHODS}
    first, split = map(method, SPLITS)
    plane = theorem(first, (), size.plane_steps, size.plane_steps // 4, **small)
    grows = theorem(method(SPLITS[1], rate=0.01), (FeatureLearning(), TaskNoise()),
                    size.lemma_steps, 5, test_tasks=2)  # fmt: skip
    steps, long = size.steps, size.long
    over_dims = zipped(sized(MORE_DIMS, [NOISE_SQUARED] * len(MORE_DIMS)))
    return {
        "separation": arms(theorem(first, (), steps, steps // 10, **small), seeds,
                           {"data.tasks": size.tasks}, rule=three),
        "plane": arms(plane, seeds, cells(), rule=three),
        "long": arms(  # late steps are below the rounding of float32
            theorem(split, watched(split)["probes"], long, long // 40, **large), seeds,
            precision="float64"),
        "lemmas": _lemmas(size),
        "growth": arms(grows, seeds, over_dims),
        "start": arms(
            theorem(first, (), 1, 1, test_tasks=2), seeds, over_dims,
            rule={name: {"rule": method(name), "probes": (Amplification(**adapting(method(name))),)}
                  for name in SPLITS}),
        "inner_steps": arms(
            theorem(first, QUICK, steps, steps, **large), seeds, {"rule.inner_steps": size.few},
            rule={name: method(name) for name in SPLITS}),
        "width": arms(theorem(first, (), steps, steps, **large), seeds,
                      {"net.width": size.widths}, rule=either),
        "rules": _rules(size, large),
        "tables": _printed(
            "sgd", {"stated": SETTINGS, "fitted": SETTINGS[:1], "other rates": SETTINGS[:1]}, size,
            steps=size.printed, every=size.printed // 10),
        "adam": _printed("adam", {"stated": ("5 steps", "1 step")}, size, steps=size.adam,
                         every=size.adam // 10),
        **_centroid(size),
        **real_sweeps(scale),
        **tuning_sweeps(scale),
    }  # fmt: skip
