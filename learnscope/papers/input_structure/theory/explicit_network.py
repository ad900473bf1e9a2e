"""Lemma 5 of Shi, Wei and Liang (2022): a small network that makes no error."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from learnscope.nets import TwoLayer, Weights
from learnscope.papers.input_structure.theory.law import ExactLaw, orthonormal_law

# The proof's two candidates: offset of a tent from its count, and its slope.
_TENTS = ((0.0, 2.0), (0.25, 4.0))
_HALF = 0.5  # a tent's half width


def explicit_network(
    model: Any, directions: Mapping[str, Float[Array, "some rank"]]
) -> tuple[TwoLayer, Weights]:
    r"""$g^*$ with $y = g^*(x)$ for every input, for a drawn problem's `directions` and any $P$.

    With $w = \tilde\sigma \sum_{j \in A} M_j$, $\langle w, x \rangle + \mu$ is the count of
    relevant patterns, $\mu$ its mean. On every count p stands a tent with the sign of its label:
    three ReLUs $\pm a\,\mathrm{relu}(\langle w, x \rangle - s + \{1/2, 0, -1/2\})$ (Lemma 7) that
    are $\pm 1$ at p and 0 at the other counts, for $s = p - \mu$, $a = 2$ and as well for
    $s = p - \mu + 1/4$, $a = 4$. One of the two has no bias nearer to 0 than 1/8, and is taken.
    Divided by $4k$, no pre-activation passes 1, so that truncation changes nothing.

    All bounds hold as printed: $3(k+1)$ neurons, $w^*_i = w / (4k)$, $|a^*_i| \le 32k$,
    $1/(32k) \le |b^*_i| \le 1/2$, $|\langle w^*_i, x \rangle + b^*_i| \le 1$.

    >>> import jax
    >>> from learnscope.data import Patterns
    >>> model = Patterns(dim=50, patterns=20, relevant=5, train=100, test=1)
    >>> problem = model.sample(jax.random.key(0))
    >>> net, params = explicit_network(model, problem.directions)
    >>> float(abs(net(params, problem.train.x) - problem.train.y).max()) < 1e-4
    True
    """
    law = orthonormal_law(model)
    k, rows = law.relevant, directions["relevant"]
    bias, second = explicit_neurons(law)
    filters = jnp.tile(law.scale / (4 * k) * rows.sum(0)[None], (len(bias), 1))
    bias, second = (jnp.asarray(each, rows.dtype) for each in (bias, second))
    net = TwoLayer(width=len(bias), activation="truncated", symmetric=False)
    return net, Weights(filters.astype(rows.dtype), bias, second)


def explicit_neurons(
    law: ExactLaw,
) -> tuple[Float[np.ndarray, " neuron"], Float[np.ndarray, " neuron"]]:
    """Biases and last layer of that network: three neurons per count."""
    k, average = law.relevant, law.relevant * law.mean[0]
    counts = np.arange(k + 1)[:, None] - average
    corners = np.array([-_HALF, 0.0, _HALF])
    candidates = [(-(counts + beside + corners), slope) for beside, slope in _TENTS]
    bias, slope = max(candidates, key=lambda each: abs(each[0]).min())
    second = slope * law.signs[:, None] * np.array([1.0, -2.0, 1.0])
    return bias.ravel() / (4 * k), 4 * k * second.ravel()
