"""The explorer's preset: the theorem's regime."""

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
        panels={
            "features and noise learnt": (
                "shared_feature", "task_feature", "training_noise", "validation_noise",
            ),
        },
    ),)  # fmt: skip
