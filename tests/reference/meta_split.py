"""Meta-learning of the two-layer patch network, in plain NumPy float64.

From the formulas of Zuo et al. (sections 3, A and C), with derivatives worked out by hand.

| symbol                 | argument                                                           |
| ---------------------- | ------------------------------------------------------------------ |
| w_{j,r}                | filters, (2 * width, dim): the first half has j = +1               |
| x_{k,i}^{(p)}, y_{k,i} | patches (n, 2, dim) and labels (n,) of one task                    |
| h                      | threshold of the huberised ReLU                                    |
| gamma, J, lambda       | inner_rate, inner_steps, weight                                    |
"""

import numpy as np


def activation(z, h=0.5):
    """0 below 0, z^2 / (2h) up to h, z - h/2 above, with its first two derivatives."""
    value = np.where(z < 0, 0.0, np.where(z <= h, z**2 / (2 * h), z - h / 2))
    slope = np.where(z < 0, 0.0, np.where(z <= h, z / h, 1.0))
    return value, slope, np.where((z > 0) & (z < h), 1 / h, 0.0)


def signs(filters):
    half = len(filters) // 2
    return np.concatenate([np.ones(half), -np.ones(half)])


def output(filters, x):
    """f(W, x) of every example."""
    value, _, _ = activation(np.einsum("fd,npd->fnp", filters, x))
    return signs(filters) @ value.sum(2)


def gradient(filters, x, y):
    """(1/n) sum_i l'_i y_i j sum_p sigma'(<w, x_p>) x_p (appendix C)."""
    _, slope, _ = activation(np.einsum("fd,npd->fnp", filters, x))
    pull = -y / (1 + np.exp(y * output(filters, x)))
    return signs(filters)[:, None] * np.einsum("n,fnp,npd->fd", pull, slope, x) / len(y)


def curvature(filters, x, y, along):
    """The Hessian of the loss times a direction."""
    j = signs(filters)
    _, slope, bend = activation(np.einsum("fd,npd->fnp", filters, x))
    moved = np.einsum("fd,npd->fnp", along, x)
    chance = 1 / (1 + np.exp(y * output(filters, x)))
    change = np.einsum("f,fnp,fnp->n", j, slope, moved)
    first = np.einsum("n,fnp,npd->fd", chance * (1 - chance) * change, slope, x)
    return j[:, None] * (first + np.einsum("n,fnp,npd->fd", -y * chance, bend * moved, x)) / len(y)


def path(filters, x, y, inner_rate, inner_steps, weight=0.0):
    """W, W_1, ..., W_J of the inner loop; proximal with a weight (eq. A.2)."""
    found = [filters]
    for _ in range(inner_steps):
        pull = gradient(found[-1], x, y) + 2 * weight * (found[-1] - filters)
        found.append(found[-1] - inner_rate * pull)
    return found


def wanted(rule, filters, inner, outer, inner_rate, inner_steps, weight):
    """What the outer step descends along, for one task."""
    if rule == "Pooled":
        return gradient(filters, *outer)
    near = rule in ("MetaProx", "Imaml")
    walk = path(filters, *inner, inner_rate, inner_steps, weight if near else 0.0)
    if rule in ("Reptile", "MetaProx"):
        return filters - walk[-1]
    found = gradient(walk[-1], *outer)
    if rule == "Maml":
        for at in reversed(walk[:-1]):
            found = found - inner_rate * curvature(at, *inner, found)
    if rule == "Imaml":
        size = filters.size
        unit = np.eye(size).reshape(size, *filters.shape)
        bend = np.stack([curvature(walk[-1], *inner, one).ravel() for one in unit], axis=1)
        found = np.linalg.solve(np.eye(size) + bend / (2 * weight), found.ravel())
        found = found.reshape(filters.shape)
    return found
