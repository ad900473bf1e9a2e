"""The explorer's preset: Figure 3a, with fewer examples."""

from typing import Any

from learnscope.evidence import PLAIN, Preset
from learnscope.papers.benign.experiments import RATE, experiment
from learnscope.probes import ActiveNeurons, Contributions
from learnscope.rules import FullPenalty, PerExamplePenalty

_WIDTH = 20  # a fifth of the paper's, with the rate to match: one second of work instead of ten


def presets() -> tuple[Preset, ...]:
    chosen = experiment(train_per_class=20, test=500).replace("net.width", _WIDTH)
    chosen = chosen.replace("steps", 100).replace("record.every", 1)
    penalty: dict[str, Any] = {"rate": RATE * _WIDTH, "weight": 0.001}
    return (Preset(
        "benign",
        "Benign overfitting: noise of a class's own",
        chosen.replace("rule.rate", RATE * _WIDTH),
        rules=(PerExamplePenalty(**penalty), FullPenalty(**penalty)),
        probes=(Contributions(), *PLAIN, ActiveNeurons()),
        panels={
            "what a logit is made of": (
                "explicit_own", "explicit_other", "implicit_own", "implicit_other",
            ),
            "active neurons": ("active_share", "active_share_least"),
        },
    ),)  # fmt: skip
