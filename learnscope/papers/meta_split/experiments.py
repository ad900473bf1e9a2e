"""The sweeps: a regime where the theorems separate, the paper's own setting, lemmas, all rules.

*Theorem regime* (`theorem`): d = 1000, M = 500, n = 4 split 2/2 with both labels in both halves,
m = 10, ||xi||^2 = 24, ||z|| = 0.3, sigma_0 = d^-1/2, gamma = 2, J = 5, eta = 0.1, all tasks every
step. It meets Conditions 4.1 to 4.3 (`learnscope.theory.conditions`).

*Section 5.1* (`paper_setting`): d = 1000, K = 343, n = 10, sigma_xi = 10.42, sigma_s = 0.00066,
m = 18, sigma_0 = 0.032. The paper does not say M, the split, the outer optimiser, the tasks per
step or the number of steps, and gives two pairs of rates. Here the split is 5/5, SGD over 16 tasks,
4000 steps, and the readings are: `stated` (M = d/2, the most that Condition 4.2 allows; gamma =
0.001, eta = 0.0001), `decoded` (M = 686 = 2K, with which the losses are nearest to those printed)
and `other rates` (gamma = 0.01, eta = 0.001). Test losses are before adapting.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from learnscope.data import TaskFamily
from learnscope.evidence import BoundarySweep, Sweep
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import Linear, PatchCNN
from learnscope.papers.meta_split.parts.centroid import CentroidError
from learnscope.papers.meta_split.parts.linear_centroid import LinearCentroid
from learnscope.papers.meta_split.parts.linear_tasks import LinearTasks
from learnscope.papers.meta_split.real import real_sweeps
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

DIM, DICTIONARY, RATE, INNER_RATE, INNER_STEPS = 1000, 500, 0.1, 2.0, 5
NOISE_SQUARED = 24.0
TASKS = (4, 8, 16, 32, 64)
SPLITS = ("train-train", "train-validation")
METHODS = (*SPLITS, "vanilla")
TINY = 1e-9  # initial weights at which the inner loop is linear
THRESHOLD = 1 / math.log(DIM)  # Omega(1 / polylog(d)) of Lemma 6.2
WIDTHS = (1, 2, 4, 10, 20)
READINGS: dict[str, dict[str, float]] = {
    "stated": {"dictionary": 500, "inner_rate": 1e-3, "rate": 1e-4},
    "decoded": {"dictionary": 686, "inner_rate": 1e-3, "rate": 1e-4},
    "other rates": {"dictionary": 500, "inner_rate": 1e-2, "rate": 1e-3},
}
SETTINGS = ("5 steps", "5 steps, ReLU", "1 step", "outer > inner")
BUDGET = 12_000  # gradient passes over a task's examples


def noise_of(squared: float, dictionary: int = DICTIONARY) -> float:
    """sigma_xi for E ||xi||^2."""
    return math.sqrt(squared / (DIM - dictionary - 1))


def method(name: str) -> AbstractRule:
    """A method of the theorems."""
    if name == "vanilla":
        return Pooled(rate=RATE)
    return Fomaml(rate=RATE, inner_rate=INNER_RATE, inner_steps=INNER_STEPS, split=name)


def family(**changes: Any) -> TaskFamily:
    """The data of the theorem regime."""
    given: dict[str, Any] = {
        "dim": DIM, "dictionary": DICTIONARY, "tasks": 16, "samples": 4, "validation": 2,
        "signal": 1.0, "task_signal": 0.3, "noise": noise_of(NOISE_SQUARED), "test_tasks": 200,
    }  # fmt: skip
    return TaskFamily(**given | changes)


def theorem(
    rule: AbstractRule,
    probes: tuple[AbstractProbe, ...],
    steps: int,
    every: int,
    start: bool = True,
    **data: Any,
) -> Experiment:
    """The theorem regime."""
    return Experiment(
        data=family(**data),
        net=PatchCNN(width=10, activation="huberised", scale=DIM**-0.5, second_layer="sum"),
        rule=rule, steps=steps, probes=probes, record=Record(every=every, start=start),
    )  # fmt: skip


def watched(name: str) -> tuple[AbstractProbe, ...]:
    """Losses before and after adapting, as the method adapts, and what is learnt."""
    split = "train-train" if name == "vanilla" else name
    steps = 0 if name == "vanilla" else INNER_STEPS
    return (
        TestLoss(), TestAccuracy(), MetaLoss(inner_rate=INNER_RATE, inner_steps=steps, split=split),
        AdaptedTest(inner_rate=INNER_RATE, inner_steps=INNER_STEPS, split=split),
        FeatureLearning(), TaskNoise(),
    )  # fmt: skip


def paper_setting(
    reading: str,
    setting: str,
    split: str,
    steps: int,
    every: int,
    optimiser: str = "sgd",
    **data: Any,
) -> Experiment:
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
    return Experiment(
        data=TaskFamily(**given | data),
        net=PatchCNN(
            width=18, activation="relu" if "ReLU" in setting else "huberised", scale=0.032,
            second_layer="sum",
        ),
        rule=Fomaml(
            rate=rate, inner_rate=inner, inner_steps=1 if setting == "1 step" else INNER_STEPS,
            batch=min(16, (given | data)["tasks"]),
            split=split,
            optimiser=optimiser,
        ),
        steps=steps,
        probes=(TestLoss(), TestAccuracy(), FeatureLearning(), TaskNoise(),
                AdaptedTest(inner_rate=inner, inner_steps=INNER_STEPS)),
        record=Record(every=every),
    )  # fmt: skip


def labels(reading: str, setting: str) -> list[str]:
    """The arms of `tables` in a reading and a setting, one per split."""
    return [f"{reading}: {setting}, {split}" for split in SPLITS]


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


def _rules(seeds: int, budget: int, **data: Any) -> Sweep:
    experiments = {}
    for name, (rule, passes) in budgeted().items():
        steps = max(1, budget // passes)
        split = name.split(", ")[1]
        probes = (
            TestLoss(), TestAccuracy(), FeatureLearning(),
            AdaptedTest(inner_rate=INNER_RATE, inner_steps=INNER_STEPS, split=split),
        )  # fmt: skip
        experiments[name] = theorem(rule, probes, steps, steps, start=False, **data)
    return Sweep.of(experiments, seeds)


def _centroid(seeds: int, cells: int) -> dict[str, Sweep]:
    """Ridge inside, least squares outside: linear tasks, and this paper's data."""
    weights = (zipped({"rule.weight": np.geomspace(1e-2, 1e4, cells).tolist()}),)
    linear = LinearTasks(dim=60, tasks=120, samples=20, validation=10, spread=1.0, test_tasks=50)

    def both(data: Any, probes: tuple[AbstractProbe, ...]) -> Sweep:
        base = Experiment(data, Linear(), LinearCentroid(weight=1.0), 1, probes,
                          Record(every=1, start=False))  # fmt: skip
        return Sweep.of({s: base.replace("rule.split", s) for s in SPLITS}, seeds, weights)

    return {
        "centroid": both(linear, (CentroidError(), TestLoss())),
        "centroid_family": both(family(), (TestLoss(), TestAccuracy())),
    }


def sweeps(scale: str) -> dict[str, Sweep | BoundarySweep]:
    """All sweeps of the study."""
    smoke = scale == "smoke"
    seeds, few = {"smoke": (2, 2), "laptop": (10, 5), "paper": (20, 10)}[scale]
    steps = 40 if smoke else 2000
    tasks = [4, 8] if smoke else list(TASKS)
    many = (zipped({"data.tasks": tasks}),)
    small: dict[str, Any] = {"test_tasks": 20} if smoke else {}
    tiny: dict[str, Any] = {"tasks": 12, "test_tasks": 10} if smoke else {}
    paper_steps, every = (20, 10) if smoke else (4000, 100)
    squared = [0.5, 24.0] if smoke else np.geomspace(0.5, 1000, 9).round(3).tolist()
    phase_steps = 20 if smoke else 600
    plane = (
        zipped({"data.noise": [noise_of(s) for s in squared]}),
        zipped({"data.tasks": [2, 4] if smoke else [2, 4, 8, 16, 32]}),
    )
    amplified: dict[str, Any] = {"inner_rate": INNER_RATE, "inner_steps": INNER_STEPS}
    quick = (TestLoss(), TestAccuracy(), FeatureLearning())

    def each(names: tuple[str, ...], made: Callable[[str], Experiment], seeds: int,
             axes: tuple[Axis, ...]) -> Sweep:  # fmt: skip
        return Sweep.of({name: made(name) for name in names}, seeds, axes)

    return {
        "separation": each(METHODS, lambda name: theorem(
            method(name), watched(name), steps, steps // 20, **small), seeds, many),
        "lemmas": each(SPLITS, lambda name: theorem(
            method(name), (Amplification(split=name, **amplified), FeatureLearning(), TaskNoise(),
                           MetaLoss(split=name, **amplified)),
            steps, max(1, steps // 200), **small),
            seeds, (zipped({"net.scale": [TINY, DIM**-0.5]}),)),
        "width": each(SPLITS, lambda name: theorem(
            method(name), quick, steps, steps, start=False, **small),
            few, (zipped({"net.width": [2, 4] if smoke else list(WIDTHS)}),)),
        "rules": _rules(few, 60 if smoke else BUDGET, **small),
        "phase": each(METHODS, lambda name: theorem(
            method(name), quick, phase_steps, phase_steps, start=False, **small),
            2 if smoke else 3, plane),
        "tables": Sweep.of(
            {label: paper_setting(reading, setting, split, paper_steps, every, **tiny)
             for reading in READINGS
             for setting in (SETTINGS if reading != "other rates" else SETTINGS[:1])
             for split, label in zip(SPLITS, labels(reading, setting), strict=True)},
            3 if scale == "laptop" else few, dim="setting",
        ),
        "adam": Sweep.of(
            {label: paper_setting(
                "stated", setting, split, max(20, paper_steps // 4), every, "adam", **tiny)
             for setting in ("5 steps", "1 step")
             for split, label in zip(SPLITS, labels("Adam", setting), strict=True)},
            2 if smoke else 3, dim="setting",
        ),
        **_centroid(2 if smoke else 20, 3 if smoke else 13),
        **real_sweeps(scale),
    }  # fmt: skip
