"""The paper's conditions and predictions for an experiment of learnscope."""

import math
from typing import Any

from learnscope.data import SignalNoise
from learnscope.nets import PatchCNN
from learnscope.papers.pegr import theory as pegr
from learnscope.rules import FullPenalty, GradientDescent, PerExamplePenalty
from learnscope.theory import Conditions, Prediction, is_a, plain

SCOPE = (
    "SignalNoise with a two-class PatchCNN(activation='relu2') under gradient descent or a penalty"
)


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    penalties = GradientDescent | PerExamplePenalty | FullPenalty
    return (
        is_a(experiment.data, SignalNoise, batch=None)
        and is_a(experiment.net, PatchCNN, activation="relu2", classes=2)
        and is_a(experiment.rule, penalties)
        and plain(experiment)
    )


def conditions(experiment: Any, **constants: Any) -> Conditions:
    """Condition 3.1, then what the proofs also use (docs/errata.md).

    Another second layer than 1/m is first rescaled to the paper's (`rescaled`). `constants` are
    those of `condition_3_1`: alpha, constant, power, much.
    """
    data, rate, weight, scale = _paper_numbers(experiment)
    listed = pegr.condition_3_1(**data, scale=scale, rate=rate, **constants)
    shared: dict[str, Any] = {k: v for k, v in constants.items() if k in ("much", "constant")}
    return Conditions(
        [*listed, *pegr.implicit_conditions(**data, rate=rate, weight=weight, **shared)]
    )


def predict(experiment: Any, loss: float = 0.05, delta: float = 0.1) -> Prediction:
    """Times of the theorems, early rates, and the winner of the linearised dynamics."""
    data, rate, weight, scale = _paper_numbers(experiment)
    dim, train, width = data["dim"], data["train"], data["width"]
    signal, noise = data["signal"], data["noise"]
    early = pegr.full_rates if isinstance(experiment.rule, FullPenalty) else pegr.rates
    rates = early(**data, rate=rate, weight=weight)
    signal_rate = rates.signal_growth - rates.signal_suppression
    noise_rate = rates.noise_growth - rates.noise_suppression
    ratio = rates.noise_suppression / rates.noise_growth if rates.noise_growth else math.nan
    layer = experiment.net.width, experiment.net.second_layer, _half(experiment)
    critical = pegr.critical_weight(noise, dim, *layer)
    learnable, sizes = signal * scale, (dim, train, width)
    closing = pegr.closing_time(*sizes[1:], signal, scale, rate, delta) if learnable else math.inf
    second = pegr.second_stage(*sizes, signal, rate, loss, delta) if signal else math.inf
    memorised = pegr.memorisation_time(*sizes, noise, rate, loss) if noise else math.inf
    return Prediction(
        {
            "side": "signal" if signal_rate > noise_rate else "noise",
            "overshoots": -noise_rate > 2,
            "signal_rate": signal_rate,
            "noise_rate": noise_rate,
            "suppression_ratio": ratio,
            "critical_weight": critical,
            "critical_noise": pegr.critical_noise(signal, dim, train),
            "closing_time": closing,
            "second_stage": second,
            "memorisation_time": memorised,
        },
        {
            "side": "what grows faster from small weights: signal or noise",
            "overshoots": "whether a penalised step throws noise to more than its negative",
            "signal_rate": "relative growth of <w, mu> in one early step",
            "noise_rate": "relative growth of <w, xi> in one early step",
            "suppression_ratio": "noise suppression over noise growth; above 1, noise dies out",
            "critical_weight": "weight at which that ratio is 1 under the per-example penalty",
            "critical_noise": "noise above which plain descent memorises faster than it learns",
            "closing_time": "T1 of Theorem 3.2, as printed",
            "second_stage": f"T2 of Proposition 5.7, for a training loss of {loss:g}",
            "memorisation_time": f"time of Theorem 3.3 for a training loss of {loss:g}, constant 1",
        },
    )


def boundary(experiment: Any, field: str) -> float | None:
    """Under plain descent: the noise above which memorising outruns learning from small weights."""
    data = experiment.data
    if not isinstance(experiment.rule, GradientDescent) or field != "data.noise":
        return None
    return pegr.critical_noise(float(data.signal), float(data.dim), data.train)


def _half(experiment: Any) -> bool:
    return getattr(experiment.rule, "half", True)


def _paper_numbers(experiment: Any) -> tuple[dict[str, Any], float, float, float]:
    """Data and widths, then rate, weight (convention: half) and scale for the paper's 1/m."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    weight = 0.0 if isinstance(rule, GradientDescent) else float(rule.weight)
    weight = weight if _half(experiment) else 2 * weight
    rate, weight, scale = pegr.rescaled(
        net.width, float(rule.rate), weight, float(net.scale), net.second_layer
    )
    numbers: dict[str, Any] = {
        "dim": float(data.dim), "train": data.train, "width": net.width,
        "signal": float(data.signal), "noise": float(data.noise),
    }  # fmt: skip
    return numbers, rate, weight, scale
