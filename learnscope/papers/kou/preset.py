"""The explorer's preset: the diagram's experiment."""

from collections.abc import Mapping
from typing import Any

from learnscope.evidence import PLAIN, Preset, overfitting
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
        about="A network fits all its training labels, although a tenth are flipped. It "
              "still finds the signal if $n\\|\\mu\\|^4$ exceeds $d\\sigma_p^4$; otherwise "
              "noise decides.",
        sketch=(("signal $y\\mu$", "direction"), ("noise $\\xi$", "noise"),
                ("flipped labels", "labels")),
        tour=(
            ("Just below the boundary, overfitting does harm.", ""),
            ("Mend it: a signal of 4 is far above the boundary.",
             "data.signal=4"),
            ("Break it: in 40,000 dimensions the same noise is ten times as long.",
             "data.signal=4&data.dim=40000"),
        ),
        outcome=overfitting,
        expected=_expected,
        scaling={"data.noise": -0.5},
    )  # fmt: skip
    return (preset,)


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    why = f"$n\\|\\mu\\|^4 / (d\\sigma_p^4)$ is {predicted['ratio']:.2g}, and 1 is the boundary"
    return f"overfitting is {predicted['side']}", why
