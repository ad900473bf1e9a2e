"""The explorer's preset: the diagram's experiment."""

from learnscope.evidence import PLAIN, Preset
from learnscope.papers.sam.experiments import experiment, rules
from learnscope.probes import NoiseMemorisation, SignalLearning


def presets() -> tuple[Preset, ...]:
    preset = Preset(
        "sam",
        "Sharpness-aware minimisation against SGD",
        experiment("SAM"),
        rules=(rules()["SGD"],),
        probes=(SignalLearning(), NoiseMemorisation(), *PLAIN),
    )
    return (preset,)
