"""The explorer's preset: Figure 3a, with fewer examples."""

from collections.abc import Mapping
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
        about="Every class has a feature, and noise of a shape of its own. A network that overfits "
              "generalises if features are strong, or if the noise alone tells classes apart.",
        sketch=(("feature $u_y$", "direction"), ("noise $A_y \\zeta$", "shaped")),
        tour=(
            ("Neither the feature nor the noise tells much: overfitting does harm.", ""),
            ("Mend it by the feature: a signal of 3.",
             "data.signal=3"),
            ("Or by the noise: with a ratio of 12 it tells the classes apart.",
             "data.correlation=12"),
        ),
        outcome=_outcome,
        expected=_expected,
        scaling={"data.bulk": -0.5},
        panels={
            "what a logit is made of": (
                "explicit_own", "explicit_other", "implicit_own", "implicit_other",
            ),
            "active neurons": ("active_share", "active_share_least"),
        },
    ),)  # fmt: skip


def _outcome(experiment: Any, last: Mapping[str, Any]) -> str:
    return f"overfitting is {'benign' if last['test_accuracy'] > 0.9 else 'harmful'}"


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    side = predicted["regime"].split()[0]
    snr, ratio = predicted["snr"], predicted["ratio"]
    why = f"the exponents are {snr:.2g} (features) and {ratio:.2g} (noise); one above 10 decides"
    return "" if side == "undetermined" else f"overfitting is {side}", why
