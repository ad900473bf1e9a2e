r"""What needs no training run: population gradients, training of very wide nets, and kernels.

`wide` is the training of Theorem 26 at its printed rates, with infinitely many examples and
$p_o = 1/2$. As $m \to \infty$, $\eta^{(1)} \sim m^{-3}$ vanishes, and so does $w^{(1)}$. The second
step then gives $w = a^{(0)} \frac\gamma{\tilde\sigma} g(b) \sum_{j \in A} M_j$,
$g(b) = \Phi(b/\sigma_\xi) - \Phi((b - 1)/\sigma_\xi)$, and $a^{(2)} = 0$: a neuron sees nothing of
an input but its count r of relevant patterns,

$$z(r) = b + \frac{u}{\tilde\sigma} \left(r - \frac k2\right), \quad
u = a^{(0)} \frac\gamma{\tilde\sigma} g(b), \quad
a^{(0)} \frac\gamma{\tilde\sigma^2}, b \sim N(0, k^{-4}).$$

This stays so: background patterns are independent of the count, and have no gradient. So the state
is (a, u, b) of every neuron. The m pairs are represented by a sample of `PAIRS` of them, and the
$T = m^{4/3}$ steps of rate $\eta = k^2 / (T m^{1/3})$ by fewer steps over the same time $\eta T$:
in each of them no output moves by more than about 0.1.
"""

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from scipy.special import ndtr

from learnscope.data import Patterns
from learnscope.evidence import Scale
from learnscope.papers.input_structure import theory

PAIRS = 100
WITH, WITHOUT = "with structure", "without structure"
INPUTS, COUNT = "of inputs", "of the relevant count"  # kernels; the latter knows A
SIZES = Scale(
    patterns=([48, 96], [100, 400, 1600], [100, 400, 1600]), neurons=(3, 20, 100),
    pairs=([1e2, 1e4], [1e2, 1e4, 1e6, 1e7, 1e8], [1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8]),
    ks=([5], [5, 9, 13], [5, 7, 9, 11, 13]), train=(100, 500, 2000),
)  # fmt: skip


def _model(patterns: int, relevant: int, **more: Any) -> Patterns:
    return Patterns(dim=patterns, patterns=patterns, relevant=relevant, train=1, test=1, **more)


def population(seeds: int, scale: str) -> xr.Dataset:
    """Lemmas 5 and 6, section 5.1 and Theorem 4, by exact gradients at random neurons, k = 5."""
    size, k = SIZES[scale], 5
    rows = [[_first_steps(patterns, k, size.neurons, seed) for patterns in size.patterns]
            for seed in range(seeds)]  # fmt: skip
    dims, coords = ("seed", "patterns"), {"patterns": size.patterns}
    data = xr.Dataset(
        {name: (dims, [[each[name] for each in row] for row in rows]) for name in rows[0][0]},
        coords,
    )
    law = theory.exact_law(_model(100, k))
    bias, second = theory.explicit_neurons(law)
    z = (np.arange(k + 1)[:, None] - k * law.mean[0]) / (4 * k) + bias
    kept = np.repeat([1, 1], [len(bias) - 3, 3]), np.repeat([1, 0], [len(bias) - 3, 3])
    errors = [abs(np.clip(z, 0, 1) @ (second * some) - law.signs).max() for some in kept]
    return data.assign(explicit_error=("tents", errors)).assign_coords(tents=["all", "one less"])


def _first_steps(patterns: int, k: int, neurons: int, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    q = random.normal(size=(neurons, patterns)) / k
    bias, second = random.normal(size=neurons) / k**2, np.ones(neurons)
    model, bare = _model(patterns, k), _model(patterns, k, structure="none")
    noise, rate = k**-2.0, theory.settings(model, 300, 600, "lemma_23").first_rate
    terms = theory.lemma_6(model, q, bias, noise)
    unit = theory.exact_law(model).correlation / theory.exact_law(model).scale  # gamma / sigma~
    steps = theory.two_steps(model, q, bias, second, rate, 1.0, noise)
    ratio = [np.linalg.norm(s.filters[:, k:]) / np.linalg.norm(s.filters[:, :k]) for s in steps]
    free = theory.population_gradient(bare, q, bias, second, noise).filters
    return {
        "beta": terms.beta.min(),
        "relevant_error": abs(terms.relevant - terms.centre[:, None]).max() / unit,
        "background": abs(terms.background).max() / unit,
        "first_ratio": ratio[0], "second_ratio": ratio[1],
        "structured_query": abs(terms.relevant).min() * theory.exact_law(model).scale,
        "free_query": abs(free).max() * theory.exact_law(bare).scale,
        "tolerance": 1 / theory.query_bound(patterns, k),
    }  # fmt: skip


def wide(seeds: int, scale: str) -> xr.Dataset:
    """The hinge loss before the training of Theorem 26 and the least one during it; and the bound
    of eq. (279)."""
    ks, pairs = [3, 5], SIZES[scale].pairs
    least = np.array([[_least_loss(k, m, seeds) for m in pairs] for k in ks])
    losses = np.stack([np.ones_like(least), least])
    bounds = [[(k**8 + k**3 + k**2) / m ** (2 / 3) for m in pairs] for k in ks]
    dims = ("step", "relevant", "width", "seed")
    both = {"loss": (dims, losses), "bound": (dims[1:3], bounds)}
    return xr.Dataset(both, {"relevant": ks, "width": pairs, "step": [0, 1]})


def _least_loss(k: int, m: float, seeds: int) -> np.ndarray:
    draws = np.stack([np.random.default_rng(s).normal(size=(2, PAIRS)) for s in range(seeds)])
    steps = int(min(m ** (4 / 3), max(200, 10 * m ** (2 / 3) / k**2)))
    return least_loss(theory.exact_law(_model(100, k)), m, draws / k**2, steps)


def least_loss(law: theory.ExactLaw, m: float, draws: np.ndarray, steps: int) -> np.ndarray:
    r"""The least hinge loss during the training of m pairs of neurons, from draws (seed, 2, pair)
    of $a^{(0)} \gamma / \tilde\sigma^2$ and b."""
    k, time = law.relevant, law.relevant**2 / m ** (1 / 3)
    a, b = np.concatenate([draws, draws * [[-1], [1]]], -1).transpose(1, 0, 2)
    u = law.scale * a * (ndtr(b * k**2) - ndtr((b - 1) * k**2))
    x = (np.arange(k + 1) - k / 2) / law.scale
    with jax.enable_x64(True):
        given = law.counts, law.signs, x, m / draws.shape[-1], time / steps, steps
        start = jnp.zeros_like(b), jnp.asarray(u), jnp.asarray(b)
        return np.asarray(jax.vmap(lambda now: _descend(now, *given))(start))


@jax.jit
def _descend(start: Any, chance: Any, y: Any, x: Any, each: Any, rate: Any, steps: Any) -> Any:
    """The least loss over so many steps, where a neuron stands for `each`."""

    def step(_: Any, now: Any) -> Any:
        (a, u, b), least = now
        z = u[:, None] * x[None] + b[:, None]
        seen, inside = jnp.clip(z, 0, 1), ((z > 0) & (z < 1)).astype(z.dtype)
        margin = y * (each * (a @ seen))
        pull = chance * y * (margin <= 1)
        moved = (
            a + rate * (seen @ pull),
            u + rate * a * (inside @ (pull * x)) / (y.size - 1),
            b + rate * a * (inside @ pull),
        )
        return moved, jnp.minimum(least, chance @ jnp.maximum(1 - margin, 0))

    return jax.lax.fori_loop(0, steps, step, (start, jnp.asarray(jnp.inf, x.dtype)))[1]


def kernels(seeds: int, scale: str) -> xr.Dataset:
    """Corollary 3: the least test hinge loss of c f, f = sum_i alpha_i K(z_i, x) by ridge
    regression with a Gaussian kernel on D = 16 k patterns, over ridges and factors c; and the norm
    of alpha. Choosing by the test loss favours the kernel."""
    size = SIZES[scale]
    found = np.array([[_kernel(k, size.train, seed) for k in size.ks] for seed in range(seeds)])
    dims = ("seed", "relevant", "kernel")
    coords = {"relevant": size.ks, "kernel": [INPUTS, COUNT]}
    return xr.Dataset({"loss": (dims, found[..., 0]), "norm": (dims, found[..., 1])}, coords)


def _kernel(k: int, train: int, seed: int) -> list[tuple[float, float]]:
    random, size = np.random.default_rng(seed), train + 2000
    present = random.integers(0, 2, (size, 16 * k))
    alike = random.integers(0, 2, (2, size))  # half of the inputs have all relevant ones, or none
    present[:, :k] = np.where(alike[0][:, None], alike[1][:, None], present[:, :k])
    count = present[:, :k].sum(1)
    y, x = 2.0 * (count % 2) - 1, (2.0 * present - 1) / math.sqrt(16 * k)
    return [_ridge(each[:train], y[:train], each[train:], y[train:])
            for each in (x, 2.0 * count[:, None])]  # fmt: skip


def _ridge(x: np.ndarray, y: np.ndarray, tested: np.ndarray, truth: np.ndarray) -> tuple:
    def kernel(one: np.ndarray) -> np.ndarray:
        return np.exp(one @ x.T - (one**2).sum(1)[:, None] / 2 - (x**2).sum(1) / 2)

    values, vectors = np.linalg.eigh(kernel(x))
    seen, own = kernel(tested) @ vectors, vectors.T @ y
    found = []
    for ridge, factor in itertools.product(10.0 ** np.arange(-4, 3), 2.0 ** np.arange(-3, 6)):
        alpha = factor * own / (np.maximum(values, 0) + ridge)
        loss = np.maximum(1 - truth * (seen @ alpha), 0).mean()
        found.append((loss, np.linalg.norm(alpha)))
    return min(found)
