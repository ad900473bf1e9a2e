"""The explorer's preset: a soft committee machine on its plateau."""

from learnscope.evidence import PLAIN, Preset
from learnscope.papers.online.experiments import committee
from learnscope.probes import GeneralisationError, Overlaps
from learnscope.rules import SphericalDescent


def presets() -> tuple[Preset, ...]:
    preset = Preset(
        "online",
        "Online learning of a soft committee machine",
        committee(dim=1000, batch=10, steps=5000),
        rules=(SphericalDescent(rate=0.01),),
        probes=(GeneralisationError(), Overlaps(), *PLAIN),
        about="Every step sees fresh Gaussian inputs with labels of a teacher. All hidden units "
        "first learn the same mixture of its directions, and then each takes one.",
        sketch=(("input $x$", "noise"),),
    )
    return (preset,)
