r"""The conditions of Theorems 4.1 and 4.3 of Wen and Li, as inequalities with margins.

The paper's orders are read with constants: $\text{polylog}(d) = \log(d)^{\text{power}}$,
$\text{poly}(d) = d^{\text{degree}}$, $\alpha_1^{O(1)} = \alpha_1^{\text{exponent}}$, and
$\Theta(\cdot)$ as within a factor of `constant` both ways. At dimensions that fit a computer most
of them fail together: they are asymptotic.
"""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from learnscope.data import StrongWeak
from learnscope.nets import PatchEncoder
from learnscope.papers.pred_head.parts.population import PopulationDescent
from learnscope.papers.pred_head.parts.population_flow import PopulationFlow
from learnscope.rules import NonContrastive
from learnscope.theory import Conditions, is_a

SCOPE = "StrongWeak with a PatchEncoder(activation='cubic') under non-contrastive rules"


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    return (
        isinstance(experiment.data, StrongWeak)
        and is_a(experiment.net, PatchEncoder, activation="cubic")
        and isinstance(experiment.rule, NonContrastive | PopulationDescent | PopulationFlow)
    )


def has_head(experiment: Any) -> bool:
    """Whether Theorem 4.1 (a trained head) applies, or 4.3 (none)."""
    return experiment.rule.head != "none" and float(experiment.rule.head_rate) > 0


def conditions(
    experiment: Any, power: float = 1.0, degree: float = 1.0, exponent: float = 1.0,
    constant: float = 2.0,
) -> Conditions:  # fmt: skip
    """The hypotheses of section 3 and of Theorem 4.1 (with a head) or 4.3 (without one)."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    dim = float(data.dim)
    log = math.log(dim)
    polylog, poly = log**power, dim**degree
    # Strength in the sense of Remark 3.2: frequency counts as a sixth root.
    often = (np.asarray(data.shares) / max(data.shares)) ** (1 / 6)
    strong, weak = sorted([0.0, *map(float, np.array(data.strengths, float) * often)])[:-3:-1]
    rate, ratio = float(rule.rate), float(rule.head_rate) / float(rule.rate)
    length = 1.0 if net.scale is None else float(net.scale) * math.sqrt(dim)
    batch = data.batch if isinstance(rule, NonContrastive) else math.inf
    exact = isinstance(rule, PopulationFlow)
    c, p, g, e = f"{constant:g}", f"{power:g}", f"{degree:g}", f"{exponent:g}"
    rows = [
        ("dimension", "d >= 2", dim, ">=", 2.0),
        ("patches", f"P >= log(d)^{p}", data.patches, ">=", polylog),
        ("feature patches, enough", f"P0 >= log(d) / {c}", data.feature_patches, ">=",
         log / constant),
        ("feature patches, few", f"P0 <= {c} log(d)", data.feature_patches, "<=", constant * log),
        ("feature imbalance", f"alpha1 >= alpha2 log(d)^{p}", strong, ">=", weak * polylog),
        ("weak feature", f"alpha2 >= log(d)^{p}", weak, ">=", polylog),
        ("strong feature", "alpha1 <= d^(1/6)", strong, "<=", dim ** (1 / 6)),
        ("initial weights, large enough", f"sigma_0 sqrt(d) >= 1/{c}", length, ">=", 1 / constant),
        ("initial weights, small enough", f"sigma_0 sqrt(d) <= {c}", length, "<=", constant),
        ("batch", f"N >= d^{g}", batch, ">=", poly),
        ("learning rate", f"eta d^{g} <= 1", 0.0 if exact else rate * poly, "<=", 1.0),
        ("steps", "T >= d^2 / eta", _time(experiment), ">=", dim**2),
    ]  # fmt: skip
    if has_head(experiment):
        rows += [
            ("neurons", "m = 2: m <= 2", net.width, "<=", 2.0),
            ("head rate, large enough", f"eta_E / eta >= alpha1^-{e}", ratio, ">=",
             strong**-exponent),
            ("head rate, small enough", f"eta_E / eta <= 1 / log(d)^{p}", ratio, "<=", 1 / polylog),
        ]  # fmt: skip
    theorem = f"The condition of Theorem {'4.1' if has_head(experiment) else '4.3'}"
    return Conditions.of(rows, lambda name: theorem)


def _time(experiment: Any) -> float:
    """The length of training, in units of 1/eta."""
    rule = experiment.rule
    if isinstance(rule, PopulationFlow):
        full = experiment.steps >= rule.points
        end = rule.horizon if full else rule.time(jnp.asarray(experiment.steps))
        return float(rule.rate) * float(end)
    return float(rule.rate) * experiment.steps
