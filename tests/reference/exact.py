"""The per-example penalty in arithmetic of fifty digits; weights are stepped."""

import mpmath as mp
import numpy as np

_EACH = np.vectorize(lambda v: mp.mpf(float(v)), otypes=[object])
_EXP = np.vectorize(mp.exp, otypes=[object])


def penalised(filters, x, y, rate, weight, until, steps):
    """The filters (relu^2, outputs sum_r s_r sum_p [<w_r, x_p>]_+^2 / m) after each step.

    Example i has the gradient delta_i x_i, with delta = l' s slope. A move along it changes z by
    K_i delta_i (K_i: its own patches' inner products) and f by <s slope, K_i delta_i>; H_i g_i is
    the change of delta_i, by the product rule.
    """
    mp.mp.dps = 50
    w, x, y = _EACH(filters), _EACH(x), _EACH(y)
    rate, weight = mp.mpf(float(rate)), mp.mpf(float(weight))
    count, m = len(y), len(w) // 2
    s = _EACH(np.repeat([1, -1], m))[:, None, None] / m
    own = np.array([example.dot(example.T) for example in x])
    path = [w]
    for t in range(steps):
        z = np.array([w.dot(example.T) for example in x]).transpose(1, 0, 2)
        positive = np.where(z > 0, z, mp.mpf(0))
        slope, f = 2 * s * positive, (s * positive**2).sum((0, 2))
        first = -y / (1 + _EXP(y * f))
        second = -first * (y + first)
        delta = first[None, :, None] * slope
        if t < until:
            shift = np.array([d.dot(k) for d, k in zip(delta.transpose(1, 0, 2), own, strict=True)])
            shift = shift.transpose(1, 0, 2)
            change = (slope * shift).sum((0, 2))
            bend = np.where(z > 0, 2 * s * shift, mp.mpf(0)) * first[None, :, None]
            delta = delta + weight * (bend + (second * change)[None, :, None] * slope)
        for i in range(count):
            w = w - rate / count * delta[:, i].dot(x[i])
        path.append(w)
    return path
