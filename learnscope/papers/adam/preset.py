"""The explorer's preset: Adam and gradient descent on a feature beside sparse noise."""

from collections.abc import Mapping
from typing import Any

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
        about="Adam moves every coordinate equally far, and sparse noise has many. So it memorises "
              "noise, and learns the feature a little, with the wrong sign; gradient descent "
              "learns the feature.",
        sketch=(("feature $yv$", "direction"), ("sparse noise $\\xi - \\alpha yv$", "sparse")),
        tour=(
            ("Adam fits the training set by its noise.", ""),
            ("Mend it: without feature noise, memorising does no harm.",
             "data.strength=0"),
            ("Break it again: more feature noise.",
             "data.strength=0.4"),
        ),
        outcome=_outcome,
        expected=_expected,
    )  # fmt: skip
    return (preset,)


def _outcome(experiment: Any, last: Mapping[str, Any]) -> str:
    return f"the feature is {'learnt' if last['test_accuracy'] > 0.75 else 'not learnt'}"


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    if float(experiment.data.strength) == 0:
        raise KeyError("strength")  # both learn it in the end
    why = f"noise is learnt {predicted['speed']:.2g} times as fast as the feature"
    return f"the feature is {'not learnt' if predicted['first'] == 'noise' else 'learnt'}", why
