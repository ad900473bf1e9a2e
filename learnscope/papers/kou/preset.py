"""The explorer's preset: the diagram's experiment."""

from typing import Any

from learnscope.evidence import PLAIN, Preset
from learnscope.papers.kou.experiments import experiment
from learnscope.probes import Decomposition, NoiseMemorisation, SignalLearning
from learnscope.rules import FullPenalty, PerExamplePenalty


def presets() -> tuple[Preset, ...]:
    penalty: dict[str, Any] = {"rate": 0.1, "weight": 0.02}
    preset = Preset(
        "kou",
        "Benign overfitting of a ReLU CNN",
        experiment(),
        rules=(PerExamplePenalty(**penalty), FullPenalty(**penalty)),
        probes=(SignalLearning(), NoiseMemorisation(), *PLAIN, Decomposition()),
    )
    return (preset,)
