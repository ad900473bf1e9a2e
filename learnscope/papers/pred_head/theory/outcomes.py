r"""The features that neurons learned: the share of each feature in the variance of their outputs.

$$\text{share}_{jl} = C_{1l} \alpha_l^6 B_{jl}^6 / \Sigma_{jj},$$

the rest is noise. A neuron has learned a feature if its share is at least `clear`; a network with a
neuron that has learned none is *unsettled*, which is not collapse.
"""

import numpy as np
from jaxtyping import Float

from learnscope.papers.pred_head.parts.population_law import Law

UNSETTLED = "unsettled"


def variance_shares(
    law: Law,
    overlaps: Float[np.ndarray, "*run neuron feature"],
    noise: Float[np.ndarray, "*run neuron"],
) -> Float[np.ndarray, "*run neuron feature"]:
    """Of every feature in every neuron; `noise` are squared norms of the neurons' noise parts."""
    overlaps, noise = np.asarray(overlaps), np.asarray(noise)
    signal = np.asarray(law.within) * overlaps**6
    total = signal.sum(-1) + 15 * float(law.noise) * noise**3
    return signal / total[..., None]


def learned(shares: Float[np.ndarray, "*run neuron feature"], clear: float = 0.9) -> np.ndarray:
    """The feature that every neuron has learned, or -1."""
    return np.where(shares.max(-1) >= clear, shares.argmax(-1), -1)


def outcomes(shares: Float[np.ndarray, "*run neuron feature"], clear: float = 0.9) -> np.ndarray:
    """The outcome of every run: `all` features learned by some neuron, `strong` (all neurons the
    first), `some` (several but not all, or all neurons the same but another), or `unsettled`.

    >>> import numpy as np
    >>> shares = np.array([[[1, 0], [0, 1]], [[1, 0], [1, 0]], [[1, 0], [0.3, 0.3]]])
    >>> outcomes(shares).tolist()
    ['all', 'strong', 'unsettled']
    """
    which = learned(np.asarray(shares), clear)
    features = shares.shape[-1]
    every = np.all([(which == k).any(-1) for k in range(features)], axis=0)
    words = np.where(every, "all", np.where((which == 0).all(-1), "strong", "some"))
    return np.where((which < 0).any(-1), UNSETTLED, words)
