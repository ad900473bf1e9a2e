"""The explorer's preset: Adam and gradient descent on a feature beside sparse noise."""

from learnscope.evidence import PLAIN, Preset
from learnscope.papers.adam.experiments import RULES, experiment
from learnscope.probes import NoiseMemorisation, SignalLearning


def presets() -> tuple[Preset, ...]:
    preset = Preset(
        "adam",
        "Adam against gradient descent",
        experiment(steps=300).replace("rule", RULES["Adam"]),
        rules=(RULES["GD"],),
        probes=(SignalLearning(), NoiseMemorisation(), *PLAIN),
    )
    return (preset,)
