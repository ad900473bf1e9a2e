"""The explorer's preset: the theorem's regime."""

from collections.abc import Mapping
from typing import Any

from learnscope.evidence import Preset
from learnscope.papers.meta_split.experiments import INNER_RATE, RATE, method, theorem
from learnscope.probes import AdaptedTest, FeatureLearning, TaskNoise, TestAccuracy, TestLoss
from learnscope.rules import Imaml, Maml, MetaProx, Pooled, Reptile


def presets() -> tuple[Preset, ...]:
    inner: dict[str, Any] = {"inner_rate": INNER_RATE, "inner_steps": 2}
    meta = {"rate": RATE, **inner}
    return (Preset(
        "meta_split",
        "Meta-learning: what the split is for",
        theorem(method("train-validation"), (TestLoss(),), steps=400, every=1),
        rules=(Maml(**meta), Reptile(**meta), MetaProx(**meta, weight=0.1),
               Imaml(**meta, weight=1.0), Pooled(rate=RATE)),
        probes=(FeatureLearning(), TaskNoise(), TestLoss(), TestAccuracy(),
                AdaptedTest(**inner, split="train-train")),
        about="Tasks share a feature, and each example brings noise. Adapting to half of a task "
              "and learning from the rest finds the feature; without the split, noise wins.",
        sketch=(("tasks, $y\\nu_k$", "tasks"), ("noise $\\xi$", "noise")),
        tour=(
            ("With the split, the shared feature is learnt.", ""),
            ("Break it: without the split, noise is learnt.",
             "rule.split=train-train"),
            ("Vanilla training does not adapt, and learns the feature here.",
             "rule=Pooled"),
        ),
        outcome=_outcome,
        expected=_expected,
        scaling={"data.noise": -0.5},
        panels={
            "features and noise learnt": (
                "shared_feature", "task_feature", "training_noise", "validation_noise",
            ),
        },
    ),)  # fmt: skip


def _outcome(experiment: Any, last: Mapping[str, Any]) -> str:
    learnt = last["adapted_test_accuracy"] > 0.75  # halfway between chance and all
    return f"the shared feature is {'learnt' if learnt else 'not learnt'}"


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    rule = experiment.rule
    method = "vanilla" if isinstance(rule, Pooled) else rule.split
    growth = predicted[f"advantage {method}"]
    why = f"the feature grows {growth:.2g} times as fast as noise"
    return f"the shared feature is {'learnt' if growth > 1 else 'not learnt'}", why
