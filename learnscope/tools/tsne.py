"""t-SNE: points in the plane for images, such that neighbours stay together."""

import numpy as np
from jaxtyping import Float

from learnscope.errors import refuse_value

_EARLY, _CALM, _EXAGGERATED = 0.5, 0.8, 12.0  # early and late momentum, early factor of p_ij
_SMALL = 1e-12


def tsne(
    rows: Float[np.ndarray, "n ..."],
    perplexity: float = 30.0,
    steps: int = 500,
    rate: float | None = None,
) -> Float[np.ndarray, "n 2"]:
    r"""A point in the plane for each row, by exact t-SNE (van der Maaten, Hinton 2008), in float64.

    Let $p_{ij}$ be the symmetrised probability that $i$ picks $j$ as its neighbour under a normal
    law whose width gives every row the same `perplexity`. With

    $$q_{ij} = \frac{(1 + \|y_i - y_j\|^2)^{-1}}{\sum_{k \ne l} (1 + \|y_k - y_l\|^2)^{-1}},$$

    gradient descent with momentum and gains minimises $\mathrm{KL}(P \| Q)$ over the points $y_i$.
    It starts at the first two principal components (nothing is random), and $p_{ij}$ is twelve
    times as large in the first quarter of the steps. Work and memory grow with the square of the
    number of rows: use thousands at most. The default `rate` is n / 48, but at least 50.

    >>> import numpy as np
    >>> rows = np.repeat(np.eye(3), 10, axis=0) + 0.01 * np.arange(30)[:, None]
    >>> tsne(rows, perplexity=5, steps=50).shape
    (30, 2)
    """
    rows = np.asarray(rows, float).reshape(len(rows), -1)
    count = len(rows)
    if not 1 <= perplexity < count:
        must = f"it must be at least 1 and below the number of rows, {count}"
        refuse_value("perplexity", perplexity, must)
    chances = neighbour_chances(rows, perplexity)
    rate = max(count / _EXAGGERATED / 4, 50.0) if rate is None else rate
    early = steps // 4
    y = _principal(rows)
    moved, gains = np.zeros_like(y), np.ones_like(y)
    for step in range(steps):
        slope = divergence_and_slope(chances * (_EXAGGERATED if step < early else 1.0), y)[1]
        # Gains grow for coordinates that keep their direction (Jacobs 1988), as in the original.
        gains = np.maximum(np.where(slope * moved < 0, gains + 0.2, gains * 0.8), 0.01)
        moved = (_EARLY if step < early else _CALM) * moved - rate * gains * slope
        y = y + moved
    return y - y.mean(0)


def neighbour_chances(rows: np.ndarray, perplexity: float) -> Float[np.ndarray, "n n"]:
    """The p_ij: symmetric, zero on the diagonal, with sum 1; bisection finds the widths."""
    far = _squares(rows)
    far /= max(far.mean(), _SMALL)
    np.fill_diagonal(far, np.inf)
    nearest = far.min(1, keepdims=True)
    low, high = np.full((len(rows), 1), 1e-6), np.full((len(rows), 1), 1e6)
    chances = np.zeros_like(far)
    for _ in range(60):
        width = np.sqrt(low * high)
        weights = np.exp(-(far - nearest) * width)
        chances = weights / weights.sum(1, keepdims=True)
        entropy = -np.sum(chances * np.log(np.maximum(chances, _SMALL)), 1, keepdims=True)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, width, low), np.where(wide, high, width)
    return (chances + chances.T) / (2 * len(rows))


def divergence_and_slope(chances: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """KL(P || Q), and its derivative by the points: 4 sum_j (p - q) (y_i - y_j) / (1 + d_ij)."""
    near = 1 / (1 + _squares(y))
    np.fill_diagonal(near, 0)
    low = near / near.sum()
    pull = (chances - low) * near
    slope = 4 * (pull.sum(1)[:, None] * y - pull @ y)
    where = chances > 0
    ratio = np.log(chances[where] / np.maximum(low[where], _SMALL))
    return float(np.sum(chances[where] * ratio)), slope


def _squares(rows: np.ndarray) -> np.ndarray:
    """Squared distances of all pairs."""
    squares = np.einsum("ij,ij->i", rows, rows)
    return np.maximum(squares[:, None] + squares[None] - 2 * rows @ rows.T, 0)


def _principal(rows: np.ndarray) -> np.ndarray:
    """The first two principal components, scaled to 1e-4, with a small shift of equal rows."""
    centred = rows - rows.mean(0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    start = np.zeros((len(rows), 2))
    size = min(2, len(values))
    start[:, :size] = left[:, :size] * values[:size]
    start *= 1e-4 / max(start.std(), _SMALL)
    return start + 1e-6 * np.cos(np.arange(len(rows))[:, None] * np.array([1.0, np.sqrt(2)]))
