"""Two steps that find features, then SGD, on the two-layer network, in plain NumPy float64.

From the formulas of Shi, Wei, Liang (2022), with gradients worked out by hand.

| symbol                          | argument                                                   |
| ------------------------------- | ---------------------------------------------------------- |
| w_i, b_i, a_i (eq. 2)           | params: filters (2m, dim), bias (2m,), second (2m,)        |
| x, y                            | x (n, dim), y (n,) in {-1, +1}                             |
| sigma_xi (eq. 3)                | noise, None for none                                       |
| eta^(1), eta^(2), eta^(t)       | rates, by step                                             |
| lambda_w, lambda_a              | decays, by step                                            |
| alpha_y (eq. 295)               | weighted                                                   |
"""

import math

import numpy as np

_erf = np.vectorize(math.erf)


def below(u):
    """The normal distribution function."""
    return 0.5 * (1 + _erf(u / math.sqrt(2)))


def density(u):
    return np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)


def neuron(z, noise):
    """sigma~(z) = E min(1, max(z + xi, 0)) and its derivative."""
    if noise is None:
        return np.clip(z, 0.0, 1.0), ((z > 0) & (z < 1)).astype(float)
    # E max(z + xi - c, 0) at c = 0 and c = 1: the second takes away what is above 1.
    low, high = z / noise, (z - 1) / noise
    value = z * below(low) - (z - 1) * below(high) + noise * (density(low) - density(high))
    return value, below(low) - below(high)


def outputs(params, x, noise=None):
    """g(x) = sum_i a_i sigma~(<w_i, x> + b_i)."""
    return neuron(x @ params["filters"].T + params["bias"], noise)[0] @ params["second"]


def class_weights(y, weighted):
    """1 / (2 Pr[y]) with the shares among the examples (eq. 295), or 1."""
    share = np.mean(y > 0)
    return np.where(y > 0, 0.5 / share, 0.5 / (1 - share)) if weighted else np.ones(len(y))


def gradient(params, x, y, noise=None, weighted=False):
    """Of the mean of alpha_y max(0, 1 - y g(x))."""
    value, slope = neuron(x @ params["filters"].T + params["bias"], noise)
    pull = -y * (y * (value @ params["second"]) < 1) * class_weights(y, weighted) / len(y)
    by_z = pull[:, None] * slope * params["second"]
    return {"filters": by_z.T @ x, "bias": by_z.sum(0), "second": value.T @ pull}


def step(params, slope, rate, decay_w, decay_a):
    """theta - eta (gradient + 2 lambda theta) (eqs. 276 to 278)."""
    pulled = {"filters": decay_w, "bias": 0.0, "second": decay_a}
    return {
        name: (1 - 2 * rate * pulled[name]) * value - rate * slope[name]
        for name, value in params.items()
    }


def train(params, train, batches, rates, decay=0.0, noise=None, weighted=True):
    """The parameters before and after each step: two on all examples, then one a batch.

    `train` and each of `batches` are pairs (x, y); `rates` are those of the first step, the second
    and the others.
    """
    path = [{name: np.array(value, float) for name, value in params.items()}]
    for number, rate in enumerate(rates[:2]):
        slope = gradient(path[-1], *train, noise, weighted)
        gone = 1 / (2 * rate)
        path.append(step(path[-1], slope, rate, gone, gone if number == 1 else 0.0))
    for batch in batches:
        path.append(step(path[-1], gradient(path[-1], *batch), rates[2], decay, decay))
    return path
