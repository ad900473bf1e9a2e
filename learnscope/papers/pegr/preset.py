"""The explorer's preset: the setting of section 4.1."""

from collections.abc import Mapping
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
        about="Twenty examples, each a signal patch and a noise patch: plain training memorises "
              "strong noise. A penalty on every example's own gradient learns the signal instead.",
        sketch=(("signal $y\\mu$", "direction"), ("noise $\\xi$", "noise")),
        tour=(
            ("With the penalty, the network learns the signal.", ""),
            ("Break it: plain training on the same data memorises the noise.",
             "rule=GradientDescent"),
            ("Mend it without a penalty: noise of 0.1 is too weak to win.",
             "rule=GradientDescent&data.noise=0.1"),
        ),
        outcome=_outcome,
        expected=_expected,
        scaling={"data.noise": -0.5},
        panels={
            "signal and noise": ("signal_learning", "noise_memorisation"),
            "decomposition": ("gamma", "rho_bar", "rho_underbar"),
        },
    )  # fmt: skip
    return (preset,)


def _outcome(experiment: Any, last: Mapping[str, Any]) -> str:
    wins = last["signal_learning"] > last["noise_memorisation"]
    return "signal wins" if wins else "noise wins"


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str, str]:
    critical, noise = predicted["critical_noise"], float(experiment.data.noise)
    signal_rate, noise_rate = predicted["signal_rate"], predicted["noise_rate"]
    why = f"signal {_moves(signal_rate)}, noise {_moves(noise_rate)}"
    if isinstance(experiment.rule, GradientDescent):
        side = "above" if noise > critical else "at most"
        why = f"noise {noise:.3g} is {side} the critical {critical:.2g}"
    return f"{predicted['side']} wins", why, "the linearised rates say"


def _moves(rate: float) -> str:
    return f"{'shrinks' if rate < 0 else 'grows'} by {abs(rate):.2g} per step"
