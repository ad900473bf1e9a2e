"""Lemma 6 of Shi, Wei and Liang (2022): the gradient of the first step, pattern by pattern."""

import dataclasses
import math
from typing import Any

import numpy as np
from jaxtyping import Float

from learnscope.papers.input_structure.theory.expectations import expectations
from learnscope.papers.input_structure.theory.law import Components, PerNeuron, orthonormal_law
from learnscope.papers.input_structure.theory.population import checked


@dataclasses.dataclass(frozen=True)
class Lemma6:
    r"""$\nabla_{w_i} L = -a_i \sum_j M_j T_j$, and where the lemma puts $T_j$ (constants 1).

    $$j \in A: |T_j - \beta \gamma / \tilde\sigma| \le \epsilon_e / \tilde\sigma, \qquad
    j \notin A: |T_j| \le \sigma_\phi^2 \epsilon_e \tilde\sigma.$$

    | symbol | field |
    |---|---|
    | $T_j$, $j \in A$ and $j \notin A$ | `relevant`, `background` |
    | $\beta = \Pr[\langle \phi_{-A}, q_{-A} \rangle + b + \xi \in (0, 1)]$ | `beta` |
    | $\beta \gamma / \tilde\sigma$ | `centre` |
    | $\epsilon_e$ | `error` |
    | $\sigma_\phi$ of every background pattern | `spread` |
    | the two bounds | `relevant_bound`, `background_bound` |
    """

    relevant: Float[np.ndarray, "neuron k"]
    background: Float[np.ndarray, "neuron rest"]
    beta: PerNeuron
    centre: PerNeuron
    error: float
    spread: Float[np.ndarray, " rest"]
    relevant_bound: float
    background_bound: Float[np.ndarray, " rest"]

    @property
    def holds(self) -> bool:
        """Whether every neuron is within both bounds."""
        near = abs(self.relevant - self.centre[:, None]) <= self.relevant_bound
        small = abs(self.background) <= self.background_bound
        return bool(near.all() and small.all())


def lemma_6(
    model: Any, components: Components, bias: PerNeuron,
    noise: float, width: int | None = None, delta: float = 0.1,
) -> Lemma6:  # fmt: skip
    r"""All of it exactly, for given neurons ($T_j$ without class weights).

    $$\epsilon_e = \frac{k \log^{1/2}(Dm/\delta) + \log^{3/2}(Dm/\delta)}
    {\sqrt{\sigma_\phi^2 \tilde\sigma^2 (D - k)}}$$

    (Lemma 15), in which $\sigma_\phi^2 \tilde\sigma^2 (D - k)$ is read as the sum of the variances
    of background patterns. m is `width` (none: as many as there are neurons). $T_j$ is near
    $\beta\gamma/\tilde\sigma$ because the background is independent of labels and relevant patterns
    (A2); a mixture is so only for $p_o = 1/2$.

    >>> import numpy as np
    >>> from learnscope.data import Patterns
    >>> model = Patterns(dim=500, patterns=100, relevant=5, train=1, test=1)
    >>> terms = lemma_6(model, np.zeros((1, 100)), np.full(1, 0.5), noise=0.01)
    >>> float(terms.beta[0]), float(terms.centre[0])
    (1.0, 0.05)
    """
    law = orthonormal_law(model)
    q, b, _ = checked(law, components, bias, noise)
    k, count = law.relevant, law.patterns * (len(b) if width is None else width)
    terms = expectations(law, q, b, noise, law.signs).patterns
    without = q.copy()
    without[:, :k] = 0
    beta = expectations(law, without, b, noise, np.ones_like(law.signs)).slope
    rest = law.mean[k:]
    variances = rest * (1 - rest)
    log = math.log(count / delta)
    error = (k * math.sqrt(log) + log**1.5) / math.sqrt(variances.sum())
    return Lemma6(
        relevant=terms[:, :k], background=terms[:, k:], beta=beta,
        centre=beta * law.correlation / law.scale, error=error,
        spread=np.sqrt(variances) / law.scale, relevant_bound=error / law.scale,
        background_bound=variances * error / law.scale,
    )  # fmt: skip
