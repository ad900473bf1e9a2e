r"""Fourier transforms of the law of patterns, with one pattern left out at a time.

For $z = \sum_l \theta_l \tilde\phi_l$ and a node $t$, with $c_l = e^{it\theta_l} = 1 + u_l$: given
the group, background patterns are independent, so that $E\,e^{itz}$ has the factor

$$\prod_{l \notin A} (1 + p_l u_l),$$

and given the count $r$ of relevant patterns, all subsets of $A$ of that size are equally likely, so
that the other factor is the mean of $\prod_{l \in S} c_l$ over them, $E_r = e_r(c) / \binom kr$
with the elementary symmetric polynomials. No factor is ever divided by: $1 + p_l u_l$ vanishes at
$p_l = 1/2$, $t\theta_l = \pi$.

Arrays begin with the pattern or count; what follows are points, each a node of a neuron.
"""

import numpy as np
from jaxtyping import Complex, Float


def rotations(angle: Float[np.ndarray, "..."]) -> Complex[np.ndarray, "..."]:
    r"""$e^{ia} - 1 = 2i \sin(a/2)\, e^{ia/2}$, to full relative accuracy."""
    sine, cosine = np.sin(angle / 2), np.cos(angle / 2)
    turned = np.empty(angle.shape, complex)
    turned.real, turned.imag = -2 * sine**2, 2 * sine * cosine
    return turned


def envelope(
    turn: Float[np.ndarray, "neuron rest"],
    at: Float[np.ndarray, " node"],
    background: Float[np.ndarray, "group rest"],
) -> Float[np.ndarray, "neuron node"]:
    r"""What the background's factor does not exceed in modulus, in any group and with any one
    pattern left out: $\prod_l \sqrt{1 - 4 p_l (1 - p_l) \sin^2(t\theta_l/2)}$ without its least
    factor."""
    least, others = np.ones((2, len(background), len(turn), len(at)))
    for each, chance in zip(turn.T, background.T, strict=True):
        spread = (4 * chance * (1 - chance))[:, None, None]
        factor = 1 - spread * np.sin(each[:, None] * (at / 2)) ** 2
        others *= np.maximum(least, factor)
        np.minimum(least, factor, out=least)
    return np.sqrt(others.max(0))


def prefix_products(
    u: Complex[np.ndarray, "rest ..."], chance: Float[np.ndarray, " rest"]
) -> Complex[np.ndarray, "rest+1 ..."]:
    r"""$\prod_{l < j} (1 + p_l u_l)$ for every j; the last is the whole product."""
    products = np.ones((len(chance) + 1, *u.shape[1:]), complex)
    for j, p in enumerate(chance):
        np.multiply(products[j], 1 + p * u[j], out=products[j + 1])
    return products


def subset_means(u: Complex[np.ndarray, "k ..."]) -> Complex[np.ndarray, "k+1 k+1 ..."]:
    r"""$E_r - 1$ of the first n patterns, at [n, r]; 0 for $r > n$.

    The n-th pattern is in a random subset of size r of the first n with probability r/n:
    $E_r^{(n)} = \frac{n-r}{n} E_r^{(n-1)} + \frac rn (1 + u_n) E_{r-1}^{(n-1)}$. All terms are at
    most 1, so that nothing is lost by rounding for any k; and 1 is taken away, so that nothing is
    lost either where all $u$ are as small as after a first step, $10^{-9}$.
    """
    k = len(u)
    means = np.zeros((k + 1, k + 1, *u.shape[1:]), complex)
    for n in range(1, k + 1):
        for r in range(1, n + 1):
            below = means[n - 1, r - 1]
            means[n, r] = (r / n) * (below + u[n - 1] * (1 + below))
            means[n, r] += ((n - r) / n) * means[n - 1, r]
    return means


def subset_slopes(
    u: Complex[np.ndarray, "k ..."],
    means: Complex[np.ndarray, "k+1 k+1 ..."],
    weights: Complex[np.ndarray, "k+1 ..."],
) -> Complex[np.ndarray, "k ..."]:
    r"""$c_j \,\partial / \partial c_j \sum_r w_r E_r$ for every relevant j: the part of the sum in
    which j is in the subset.

    The recursion of `subset_means` run backwards, with $\lambda^{(k)} = w$:
    $\lambda_r^{(n-1)} = \frac{n-r}{n} \lambda_r^{(n)} + \frac{r+1}{n} c_n \lambda_{r+1}^{(n)}$,
    whose sum of moduli does not grow. All k derivatives cost as much as the sum itself.
    """
    slopes, back = np.zeros_like(u), weights.copy()
    for n in range(len(u), 0, -1):
        turn = 1 + u[n - 1]
        for r in range(1, n + 1):
            slopes[n - 1] += (r / n) * (1 + means[n - 1, r - 1]) * back[r]
        slopes[n - 1] *= turn
        for r in range(n):
            back[r] = ((n - r) / n) * back[r] + ((r + 1) / n) * turn * back[r + 1]
    return slopes
