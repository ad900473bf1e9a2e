"""The law of patterns in NumPy's float64, for theory that is evaluated outside of a run."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from learnscope.data import Patterns
from learnscope.errors import BadInput, refuse

Values = Float[np.ndarray, " count"]
PerNeuron = Float[np.ndarray, " neuron"]
Components = Float[np.ndarray, "neuron pattern"]


@dataclasses.dataclass(frozen=True)
class ExactLaw:
    r"""What `PatternLaw` says of $\tilde\phi \in \{0, 1\}^D$, relevant patterns first.

    | symbol | field |
    |---|---|
    | Pr of a group and a count of relevant patterns | `chances` |
    | Pr[$\tilde\phi_j = 1$] given the group, $j \notin A$ | `background` |
    | $y$ of every count | `signs` |
    | $d \sigma_\zeta^2$ | `noise` |
    """

    chances: Float[np.ndarray, "group count"]
    background: Float[np.ndarray, "group rest"]
    signs: Values
    noise: float

    @property
    def relevant(self) -> int:
        """k."""
        return len(self.signs) - 1

    @property
    def patterns(self) -> int:
        """D."""
        return self.relevant + self.background.shape[1]

    @property
    def counts(self) -> Values:
        """Pr[r relevant patterns are there], for r = 0, ..., k."""
        return self.chances.sum(0)

    @property
    def positive(self) -> float:
        """Pr[y = +1]."""
        return float(self.counts[self.signs > 0].sum())

    @property
    def mean(self) -> Float[np.ndarray, " pattern"]:
        r"""$E[\tilde\phi]$."""
        present = self.counts @ (np.arange(self.relevant + 1) / self.relevant)
        return np.append(np.full(self.relevant, present), self.chances.sum(1) @ self.background)

    @property
    def scale(self) -> float:
        r"""$\tilde\sigma^2 = \sum_j \mathrm{Var}(\tilde\phi_j) + d \sigma_\zeta^2$ (F.1.1): for
        dictionaries that are not orthonormal the paper's number, which leaves out inner products.
        """
        return float(np.sqrt((self.mean * (1 - self.mean)).sum() + self.noise))

    @property
    def correlation(self) -> float:
        r"""$\gamma = E[y \tilde\phi_j] - E[y] E[\tilde\phi_j]$ for $j \in A$ (A1)."""
        share, weighted = np.arange(self.relevant + 1) / self.relevant, self.signs * self.counts
        return float(weighted @ share - weighted.sum() * (self.counts @ share))


def exact_law(model: Any) -> ExactLaw:
    """The law of a `Patterns` model; groups with the same background are one.

    >>> law = exact_law(Patterns(dim=500, patterns=100, relevant=5, train=1, test=1))
    >>> law.scale, law.correlation, law.chances.shape
    (5.0, 0.25, (1, 6))
    """
    if not isinstance(model, Patterns):
        raise BadInput(f"{type(model).__name__} has no law of patterns: give a Patterns model.")
    with jax.enable_x64(True):
        law = model.law()
    chances, background = np.asarray(law.chances, float), np.asarray(law.background, float)
    background, group = np.unique(background, axis=0, return_inverse=True)
    merged = np.zeros((len(background), chances.shape[1]))
    np.add.at(merged, group.ravel(), chances)
    noise = 0.0 if model.noise is None else float(model.dim) * float(model.noise) ** 2
    return ExactLaw(merged, background, np.asarray(law.signs, float), noise)


def orthonormal_law(model: Any) -> ExactLaw:
    """The same, for models in which a filter matters only by its components along patterns."""
    law = exact_law(model)
    if model.dictionary != "orthonormal":
        refuse(model, "dictionary", "it must be 'orthonormal' here")
    if model.noise:
        refuse(model, "noise", "it must be none here")
    return law
