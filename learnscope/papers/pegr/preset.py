"""The explorer's preset: the setting of section 4.1."""

from typing import Any

from learnscope.evidence import PLAIN, Preset
from learnscope.papers.pegr.experiments import CLOSING, RATE, section_4_1
from learnscope.probes import Decomposition, NoiseMemorisation, SignalLearning
from learnscope.rules import FullPenalty, GradientDescent, PerExamplePenalty


def presets() -> tuple[Preset, ...]:
    penalty: dict[str, Any] = {"rate": RATE, "weight": 0.02, "until": CLOSING}
    chosen = section_4_1(PerExamplePenalty(**penalty), "sum")
    preset = Preset(
        "pegr",
        "Gradient penalties: signal against noise",
        chosen.replace("data.test", 500),  # read at every record
        rules=(GradientDescent(rate=RATE), FullPenalty(**penalty)),
        probes=(SignalLearning(), NoiseMemorisation(), *PLAIN, Decomposition()),
        panels={
            "signal and noise": ("signal_learning", "noise_memorisation"),
            "decomposition": ("gamma", "rho_bar", "rho_underbar"),
        },
    )
    return (preset,)
