r"""The first two steps on infinitely many examples, exactly; Lemma 6 about the first of them.

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

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from learnscope.errors import BadInput, refuse_value
from learnscope.nets import Weights
from learnscope.papers.input_structure.theory.expectations import expectations
from learnscope.papers.input_structure.theory.law import (
    Components,
    ExactLaw,
    PerNeuron,
    orthonormal_law,
)


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
    q, b, a = _checked(law, components, bias, second, noise)
    values = law.signs
    if weighted:
        values = 0.5 * values / np.where(values > 0, law.positive, 1 - law.positive)
    means = expectations(law, q, b, noise, values)
    return Weights(-a[:, None] * means.patterns, -a * means.slope, -means.value)


def two_steps(
    model: Any, components: Components, bias: PerNeuron, second: PerNeuron, first_rate: float,
    second_rate: float, noise: float, weighted: bool = False,
) -> list[Weights]:  # fmt: skip
    r"""Parameters after the first and after the second step of `rules.TwoStep`, had it infinitely
    many examples and outputs below 1; `filters` along the patterns, relevant ones first.

    $\lambda_w = 1/(2\eta)$ in both steps and $\lambda_a = 1/(2\eta)$ in the second leave
    $w = -\eta \nabla_w L$ and $a^{(2)} = -\eta \nabla_a L$.
    """
    q, b, a = components, bias, second
    steps = []
    for rate, kept in ((first_rate, 1.0), (second_rate, 0.0)):
        by: Any = population_gradient(model, q, b, a, noise, weighted)
        q, b, a = -rate * by.filters, b - rate * by.bias, kept * a - rate * by.second
        steps.append(Weights(q, b, a))
    return steps


class Lemma6(NamedTuple):
    r"""$\nabla_{w_i} L = -a_i \sum_j M_j T_j$, and what the lemma puts $T_j$ near to.

    | symbol | field |
    |---|---|
    | $T_j$, $j \in A$ (near the centre) and $j \notin A$ (near 0) | `relevant`, `background` |
    | $\beta = \Pr[\langle \phi_{-A}, q_{-A} \rangle + b + \xi \in (0, 1)]$ | `beta` |
    | $\beta \gamma / \tilde\sigma$ | `centre` |
    """

    relevant: Float[np.ndarray, "neuron k"]
    background: Float[np.ndarray, "neuron rest"]
    beta: PerNeuron
    centre: PerNeuron


def lemma_6(model: Any, components: Components, bias: PerNeuron, noise: float) -> Lemma6:
    r"""All of it exactly, for given neurons ($T_j$ without class weights).

    $T_j$ is near $\beta\gamma/\tilde\sigma$ because the background is independent of labels and
    relevant patterns (A2); a mixture is so only for $p_o = 1/2$.

    >>> import numpy as np
    >>> from learnscope.data import Patterns
    >>> model = Patterns(dim=500, patterns=100, relevant=5, train=1, test=1)
    >>> terms = lemma_6(model, np.zeros((1, 100)), np.full(1, 0.5), noise=0.01)
    >>> float(terms.beta[0]), float(terms.centre[0])
    (1.0, 0.05)
    """
    law = orthonormal_law(model)
    q, b, _ = _checked(law, components, bias, np.ones(len(bias)), noise)
    terms = expectations(law, q, b, noise, law.signs).patterns
    without, k = q.copy(), law.relevant
    without[:, :k] = 0
    beta = expectations(law, without, b, noise, np.ones_like(law.signs)).slope
    return Lemma6(terms[:, :k], terms[:, k:], beta, beta * law.correlation / law.scale)


def _checked(
    law: ExactLaw, components: Any, bias: Any, second: Any, noise: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Components, biases and last layer as float64 arrays that fit."""
    q, b, a = (np.asarray(each, float) for each in (components, bias, second))
    for name, each, shape in (
        ("components", q, (len(q), law.patterns)), ("bias", b, (len(q),)), ("second", a, (len(q),)),
    ):  # fmt: skip
        if each.shape != shape:
            raise BadInput(f"{name} has shape {each.shape}: it must be {shape}.")
    if not noise > 0:
        refuse_value("noise", noise, "it must be above 0")
    return q, b, a
