"""The explorer's preset: the diagram's experiment."""

from collections.abc import Mapping
from typing import Any

from learnscope.evidence import PLAIN, Preset, overfitting
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
        about="The label is the product of two signs, which no linear model learns. A ReLU network "
              "does, flipped labels and all, if $n\\|\\mu\\|^4$ exceeds $d\\sigma_p^4$.",
        sketch=(("centre $\\pm u \\pm v$", "clusters"), ("noise $\\xi$", "noise")),
        tour=(
            ("Above the boundary, overfitting is benign.", ""),
            ("Break it: with a signal of 1 noise decides.",
             "data.signal=1"),
            ("Mend it: a signal of 8 is learnt in 10,000 dimensions, too.",
             "data.signal=8&data.dim=10000"),
        ),
        outcome=overfitting,
        expected=_expected,
        scaling={"data.noise": -0.5},
    )  # fmt: skip
    return (preset,)


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    name = "$n\\|\\mu\\|^4 (1 - \\cos\\theta)^2 / (d\\sigma_p^4)$"
    why = f"{name} is {predicted['ratio']:.2g}, and 1 is the boundary"
    return f"overfitting is {predicted['side']}", why
