"""The paper's symbols and its second layer.

Meng, Cao, Zou, "Per-Example Gradient Regularization Improves Learning Signals from Noisy Data".

| symbol          | argument                                                             |
| --------------- | -------------------------------------------------------------------- |
| d, n, m         | dim, train, width                                                    |
| ||mu||, sigma_p | signal, noise (so ||xi||^2 is about noise^2 * dim)                   |
| sigma_0, eta    | scale, rate                                                          |
| lambda          | weight: the penalty is weight/2 times the squared norm with `half`,  |
|                 | weight times the squared norm without                                |
| a               | second_layer: "mean" (1/m, the paper), "sum" (1) or a number         |
| delta, epsilon  | delta (failure probability), loss (the training loss to reach)       |

Times, bounds and conditions are for the paper's network, a = 1/m. Another one is the same network
under other numbers: see `rescaled`. What orders of magnitude hide is an argument of each function.
"""

import math


def second_layer_scale(second_layer: str | float, width: int) -> float:
    """The modulus a of the second-layer weights."""
    named = {"mean": 1.0 / width, "sum": 1.0, "patches": 0.5}  # of two patches
    if not isinstance(second_layer, str):
        return float(second_layer)
    if second_layer not in named:
        raise ValueError(f"second_layer is {second_layer!r}, but must be a number or one of "
                         f"{', '.join(named)}")  # fmt: skip
    return named[second_layer]


def rescaled(
    width: int, rate: float, weight: float, scale: float, second_layer: str | float
) -> tuple[float, float, float]:
    """Rate, weight and scale at which the paper's network follows the given network's path.

    relu^2 has degree two, so v = sqrt(a m) w turns a relu^2(<w, x>) into relu^2(<v, x>) / m, and
    gradient descent in w into gradient descent in v with a m eta, a m lambda, sqrt(a m) sigma_0.
    """
    factor = second_layer_scale(second_layer, width) * width
    return rate * factor, weight * factor, scale * math.sqrt(factor)


def ratio(top: float, bottom: float) -> float:
    """top / bottom, infinite where there is no noise or no weight to divide by."""
    return math.inf if bottom == 0 else top / bottom


def spread(width: int, delta: float) -> float:
    """sqrt(2 log(8m/delta)): the largest of 2m Gaussians (Lemma B.3)."""
    return math.sqrt(2.0 * math.log(8 * width / delta))
