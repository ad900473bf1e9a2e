"""The explorer's preset: the diagram's experiment."""

from collections.abc import Mapping
from typing import Any

from learnscope.evidence import PLAIN, Preset, overfitting
from learnscope.papers.sam.experiments import experiment, rules
from learnscope.probes import NoiseMemorisation, SignalLearning


def presets() -> tuple[Preset, ...]:
    preset = Preset(
        "sam",
        "Sharpness-aware minimisation against SGD",
        experiment("SAM"),
        rules=(rules()["SGD"],),
        probes=(SignalLearning(), NoiseMemorisation(), *PLAIN),
        about="A step along the gradient at the worst point nearby leaves noise unlearnt, because "
              "filters are silent there. Plain SGD memorises it, and needs a stronger signal.",
        sketch=(("signal $y\\mu$", "direction"), ("noise $\\xi$", "noise"),
                ("worst point nearby", "ball")),
        tour=(
            ("With a radius of 0.05 noise is silent, and the signal is learnt.", ""),
            ("Break it: a radius of 0.001 silences nothing.",
             "data.signal=2&rule.radius=0.001"),
            ("Mend it: the weak signal suffices with the first radius.",
             "data.signal=2"),
        ),
        outcome=overfitting,
        expected=_expected,
        scaling={"data.noise": -0.5},
    )  # fmt: skip
    return (preset,)


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    silent = predicted["silenced"]
    why = (
        f"the perturbation is {silent:.2g} times the initial overlap with noise, and 1 silences it"
    )
    return f"overfitting is {'benign' if silent >= 1 else 'harmful'}", why
