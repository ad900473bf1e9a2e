r"""The gradient of the first two steps on infinitely many examples, exactly.

While $|g(x)| < 1$ everywhere, the hinge loss is linear,
$L = E[\alpha_y] - \sum_i a_i E[\alpha_y y\,\tilde\sigma(z_i)]$ with
$z_i = \langle w_i, x \rangle + b_i$ and $\tilde\sigma$ the truncated ReLU smoothed by the noise in
the neurons (eq. 3). With an orthonormal dictionary $z_i = \langle \phi, q_i \rangle + b_i$, where
$q_{ij} = \langle w_i, M_j \rangle$: what lies outside of the dictionary's span plays no part, and
is gone after the first step, whose decay takes all of $w^{(0)}$ away.

$$\langle M_j, \nabla_{w_i} L \rangle = -a_i E[\alpha_y y \phi_j \tilde\sigma'(z_i)], \quad
\partial_{b_i} L = -a_i E[\alpha_y y \tilde\sigma'(z_i)], \quad
\partial_{a_i} L = -E[\alpha_y y \tilde\sigma(z_i)].$$

| symbol | argument |
|---|---|
| $q$ | `components` along the patterns, relevant ones first |
| $b$, $a$ | `bias`, `second` |
| $\sigma_\xi$ | `noise` |
| $\alpha_y$ (eq. 295) | 1 / (2 Pr[y]) if `weighted`, else 1 |
| $\eta^{(1)}$, $\eta^{(2)}$ | `first_rate`, `second_rate` |
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from learnscope.errors import BadInput, refuse_value
from learnscope.nets import Weights
from learnscope.papers.input_structure.theory.expectations import expectations
from learnscope.papers.input_structure.theory.law import (
    Components,
    ExactLaw,
    PerNeuron,
    orthonormal_law,
)


def components_of(filters: Any, directions: Mapping[str, Any]) -> Components:
    r"""$q_{ij} = \langle w_i, M_j \rangle$ for a drawn problem's `directions`."""
    rows = [np.asarray(directions[name], float) for name in ("relevant", "background")]
    return np.asarray(filters, float) @ np.concatenate(rows).T


def population_gradient(
    model: Any, components: Components, bias: PerNeuron, second: PerNeuron, noise: float,
    weighted: bool = False,
) -> Weights:  # fmt: skip
    """The gradient of the hinge loss where outputs are below 1; `filters` are components along the
    patterns, relevant ones first.

    >>> import numpy as np
    >>> from learnscope.data import Patterns
    >>> model = Patterns(dim=500, patterns=100, relevant=5, train=1, test=1)
    >>> bias, second = np.full(1, 0.5), np.ones(1)
    >>> gradient = population_gradient(model, np.zeros((1, 100)), bias, second, noise=0.01)
    >>> float(gradient.filters[0, 0])  # -gamma / sigma~
    -0.05
    """
    law = orthonormal_law(model)
    q, b, a = checked(law, components, bias, noise, second)
    return _gradient(law, q, b, a, noise, weighted)


def two_steps(
    model: Any, components: Components, bias: PerNeuron, second: PerNeuron, first_rate: float,
    second_rate: float, noise: float, weighted: bool = False,
) -> list[Weights]:  # fmt: skip
    r"""Parameters after the first and after the second step of `rules.TwoStep`, had it infinitely
    many examples; `filters` along the patterns, relevant ones first.

    $\lambda_w = 1/(2\eta)$ in both steps and $\lambda_a = 1/(2\eta)$ in the second leave
    $w = -\eta \nabla_w L$ and $a^{(2)} = -\eta \nabla_a L$. `output_bound` tells whether outputs
    are below 1.
    """
    law = orthonormal_law(model)
    q, b, a = checked(law, components, bias, noise, second)
    steps = []
    for rate, kept in ((first_rate, 1.0), (second_rate, 0.0)):
        by: Any = _gradient(law, q, b, a, noise, weighted)
        q, b, a = -rate * by.filters, b - rate * by.bias, kept * a - rate * by.second
        steps.append(Weights(q, b, a))
    return steps


def output_bound(
    model: Any, components: Components, bias: PerNeuron, second: PerNeuron, noise: float
) -> float:
    r"""What $|g(x)|$ cannot exceed for any input, so that the hinge is linear where it is below 1:
    $|\sum_i a_i \tilde\sigma(b_i)| + \sum_i |a_i| \max_x |z_i - b_i|$, since $\tilde\sigma$ has
    slopes of at most 1. Neurons with the same $q$ and $b$ are one: twins cancel.
    """
    law = orthonormal_law(model)
    q, b, a = checked(law, components, bias, noise, second)
    rows, which = np.unique(np.column_stack([q, b]), axis=0, return_inverse=True)
    q, b, a = rows[:, :-1], rows[:, -1], np.bincount(which.ravel(), a, len(rows))
    centred = np.stack([-law.mean, 1 - law.mean]) / law.scale
    away = np.maximum((q[:, None] * centred).max(1).sum(1), -(q[:, None] * centred).min(1).sum(1))
    at_bias = expectations(law, np.zeros_like(q), b, noise, np.ones_like(law.signs)).value
    return float(abs(a @ at_bias) + abs(a) @ away)


def checked(
    law: ExactLaw, components: Any, bias: Any, noise: float, second: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Components, biases and last layer (ones, unless given) as float64 arrays that fit."""
    q, b = np.asarray(components, float), np.asarray(bias, float)
    a = np.ones_like(b) if second is None else np.asarray(second, float)
    if q.ndim != 2 or q.shape[1] != law.patterns:
        raise BadInput(
            f"components have shape {q.shape}: it must be (neurons, {law.patterns}), one a pattern."
        )
    for name, each in (("bias", b), ("second", a)):
        if each.shape != (len(q),):
            raise BadInput(f"{name} has shape {each.shape}: it must be ({len(q)},), one a neuron.")
    if not noise > 0:
        refuse_value("noise", noise, "it must be above 0")
    return q, b, a


def _gradient(
    law: ExactLaw, q: np.ndarray, b: np.ndarray, a: np.ndarray, noise: float, weighted: bool
) -> Weights:
    means = expectations(law, q, b, noise, law.signs * law.class_weights(weighted))
    return Weights(-a[:, None] * means.patterns, -a * means.slope, -means.value)
