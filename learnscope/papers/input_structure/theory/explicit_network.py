"""Lemma 5 of Shi, Wei and Liang (2022): a small network that makes no error."""

import numpy as np

from learnscope.papers.input_structure.theory.law import ExactLaw, PerNeuron

# The proof's two candidates: offset of a tent from its count, and its slope.
_TENTS = ((0.0, 2.0), (0.25, 4.0))


def explicit_neurons(law: ExactLaw) -> tuple[PerNeuron, PerNeuron]:
    r"""Biases and last layer of $g^*$ with $y = g^*(x)$ for every input; $w^*_i = w / (4k)$.

    With $w = \tilde\sigma \sum_{j \in A} M_j$, $\langle w, x \rangle + \mu$ is the count of
    relevant patterns, $\mu$ its mean. On every count p stands a tent with the sign of its label:
    three ReLUs $\pm a\,\mathrm{relu}(\langle w, x \rangle - s + \{1/2, 0, -1/2\})$ (Lemma 7) that
    are $\pm 1$ at p and 0 at the other counts, for $s = p - \mu$, $a = 2$ and as well for
    $s = p - \mu + 1/4$, $a = 4$. One of the two has no bias nearer to 0 than 1/8, and is taken.
    Divided by $4k$, no pre-activation passes 1, so that truncation changes nothing.
    """
    k = law.relevant
    counts = np.arange(k + 1)[:, None] - k * law.mean[0]
    corners = np.array([-0.5, 0.0, 0.5])
    candidates = [(-(counts + beside + corners), slope) for beside, slope in _TENTS]
    bias, slope = max(candidates, key=lambda each: abs(each[0]).min())
    second = slope * law.signs[:, None] * np.array([1.0, -2.0, 1.0])
    return bias.ravel() / (4 * k), 4 * k * second.ravel()
