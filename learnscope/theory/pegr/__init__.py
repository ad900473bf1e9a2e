"""Meng, Cao, Zou (2023): what the gradient-penalty paper predicts, in numbers and closed forms."""

from learnscope.theory.pegr.bounds import (
    Bounds,
    gradient_bound,
    noise_bounds,
    signal_bounds,
    trajectory_bounds,
)
from learnscope.theory.pegr.conditions import condition_3_1, implicit_conditions
from learnscope.theory.pegr.rates import (
    Rates,
    critical_noise,
    critical_weight,
    full_rates,
    rates,
    suggested_weight,
    suppression_ratio,
    theorem_weight,
)
from learnscope.theory.pegr.symbols import rescaled, second_layer_scale
from learnscope.theory.pegr.times import (
    closing_time,
    convergence_time,
    memorisation_first_stage,
    memorisation_second_stage,
    memorisation_time,
    second_stage,
)

__all__ = [
    "Bounds",
    "Rates",
    "closing_time",
    "condition_3_1",
    "convergence_time",
    "critical_noise",
    "critical_weight",
    "full_rates",
    "gradient_bound",
    "implicit_conditions",
    "memorisation_first_stage",
    "memorisation_second_stage",
    "memorisation_time",
    "noise_bounds",
    "rates",
    "rescaled",
    "second_layer_scale",
    "second_stage",
    "signal_bounds",
    "suggested_weight",
    "suppression_ratio",
    "theorem_weight",
    "trajectory_bounds",
]
