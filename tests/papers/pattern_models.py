"""Models of patterns as in the paper, and sums over all inputs of small ones."""

import math

import jax
import numpy as np
from scipy.special import ndtr

import learnscope as ls
from tests.data.test_patterns import every


def patterns(patterns=100, relevant=5, **more):
    """The paper's section 6.1, unless told."""
    sizes = {"dim": max(patterns, 500), "train": 1, "test": 1} | more
    return ls.data.Patterns(patterns=patterns, relevant=relevant, **sizes)


def smoothed(z, noise):
    """E min(1, max(z + xi, 0)) and its derivative, in closed form."""

    def ramp(u):
        return u * ndtr(u / noise) + noise * np.exp(-0.5 * (u / noise) ** 2) / math.sqrt(2 * np.pi)

    return ramp(z) - ramp(z - 1), ndtr(z / noise) - ndtr((z - 1) / noise)


def components_of(filters, directions):
    """<w_i, M_j> for a drawn problem's directions, relevant patterns first."""
    rows = [np.asarray(directions[name], float) for name in ("relevant", "background")]
    return np.asarray(filters, float) @ np.concatenate(rows).T


def parts(model):
    """The model's own law, as arrays."""
    with jax.enable_x64(True):
        law = model.law()
        return tuple(np.asarray(x, float) for x in (law.chances, law.background, law.signs))


def by_enumeration(model, q, bias, second, noise, weighted):
    there, likely, y = every(model)
    mean = (likely[:, None] * there).sum(0)
    x = (there - mean) / math.sqrt((likely[:, None] * (there - mean) ** 2).sum())
    shares = np.where(y > 0, likely[y > 0].sum(), likely[y < 0].sum())
    v = likely * y * (0.5 / shares if weighted else 1.0)
    value, slope = smoothed(x @ q.T + bias, noise)
    patterns = np.stack([(v[:, None] * each[:, None] * x).sum(0) for each in slope.T])
    return {
        "filters": -second[:, None] * patterns,
        "bias": -second * (v[:, None] * slope).sum(0),
        "second": -(v[:, None] * value).sum(0),
    }


def neurons(model, number=3, scale=None, seed=0):
    rng, k = np.random.default_rng(seed), model.k
    q = rng.standard_normal((number, model.patterns)) * (1 / k if scale is None else scale)
    return q, rng.standard_normal(number) / k**2, rng.standard_normal(number)
