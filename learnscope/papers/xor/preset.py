"""The explorer's preset: the diagram's experiment."""

from learnscope.evidence import PLAIN, Preset
from learnscope.papers.xor.experiments import experiment
from learnscope.probes import NoiseMemorisation
from learnscope.rules import FullPenalty, SharpnessAware


def presets() -> tuple[Preset, ...]:
    preset = Preset(
        "xor",
        "Benign overfitting on XOR data",
        experiment(),
        rules=(SharpnessAware(rate=0.1, radius=0.05), FullPenalty(rate=0.1, weight=0.02)),
        probes=(*PLAIN, NoiseMemorisation()),
    )
    return (preset,)
