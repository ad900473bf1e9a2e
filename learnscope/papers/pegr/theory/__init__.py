"""Meng, Cao, Zou (2023): predictions of the gradient-penalty paper, in closed form."""

from learnscope.papers.pegr.theory.bounds import Bounds, noise_bounds, signal_bounds
from learnscope.papers.pegr.theory.condition_3_1 import condition_3_1, implicit_conditions
from learnscope.papers.pegr.theory.predictions import SCOPE, applies, boundary, conditions, predict
from learnscope.papers.pegr.theory.rates import (
    Rates,
    critical_noise,
    critical_weight,
    critical_weight_of_power,
    full_rates,
    rates,
    suggested_weight,
    suppression_ratio,
    theorem_weight,
)
from learnscope.papers.pegr.theory.symbols import rescaled, second_layer_scale
from learnscope.papers.pegr.theory.times import (
    closing_time,
    closing_time_of_power,
    memorisation_time,
    second_stage,
)
from learnscope.papers.pegr.theory.updates import Pieces, Update, squares

__all__ = [
    "SCOPE", "Bounds", "Pieces", "Rates", "Update", "applies", "boundary", "closing_time",
    "closing_time_of_power", "condition_3_1", "conditions", "critical_noise", "critical_weight",
    "critical_weight_of_power",
    "full_rates", "implicit_conditions", "memorisation_time", "noise_bounds", "predict", "rates",
    "rescaled", "second_layer_scale", "second_stage", "signal_bounds", "squares",
    "suggested_weight", "suppression_ratio", "theorem_weight",
]  # fmt: skip
