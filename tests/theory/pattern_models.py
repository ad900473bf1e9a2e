"""Small models of patterns, and sums over all of their inputs, for tests of the theory."""

import math

import jax
import numpy as np
from scipy.special import ndtr

import learnscope as ls


def patterns(patterns=100, relevant=5, **more):
    """The paper's section 6.1, unless told."""
    sizes = {"dim": max(patterns, 500), "train": 1, "test": 1} | more
    return ls.data.Patterns(patterns=patterns, relevant=relevant, **sizes)


UNLIKE = (0.1, 0.35, 0.5, 0.62, 0.8, 0.93)
CASES = {
    "parity, mixture": patterns(12, 5),
    "parity, groups": patterns(12, 5, background=0.2),
    "interval, independent": patterns(
        12, 6, label="interval", counts=(2, 4), structure="independent", chance=0.3,
        background=UNLIKE,
    ),
    "counts": patterns(10, 4, label="counts", counts=(0, 3), background=0.3),
    "majority": patterns(9, 3, label="majority", structure="independent", background=0.25),
    "even": patterns(8, 2, background=0.4),
    "one": patterns(7, 1, background=0.1),
    "imbalanced": patterns(11, 5, background=0.3, negative=0.8),
    "imbalanced, interval": patterns(
        11, 5, label="interval", counts=(4, 5), structure="independent", background=UNLIKE,
        negative=0.8,
    ),
    "none": patterns(10, 3, structure="none"),
}  # fmt: skip


def smoothed(z, noise):
    """E min(1, max(z + xi, 0)) and its derivative, in closed form."""

    def ramp(u):
        return u * ndtr(u / noise) + noise * np.exp(-0.5 * (u / noise) ** 2) / math.sqrt(2 * np.pi)

    return ramp(z) - ramp(z - 1), ndtr(z / noise) - ndtr((z - 1) / noise)


def parts(model):
    """The model's own law, as arrays."""
    with jax.enable_x64(True):
        law = model.law()
        return tuple(np.asarray(x, float) for x in (law.chances, law.background, law.signs))


def enumerate_all(model):
    """All 2^D patterns with their probabilities and labels, from the law's definition."""
    chances, background, signs = parts(model)
    k, size = len(signs) - 1, model.patterns
    there = ((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(float)
    count = there[:, :k].sum(1).astype(int)
    subsets = np.array([math.comb(k, r) for r in range(k + 1)])
    likely = sum(
        (own / subsets)[count] * np.where(there[:, k:] > 0, p, 1 - p).prod(1)
        for own, p in zip(chances, background, strict=True)
    )
    return there, likely, signs[count]


def by_enumeration(model, q, bias, second, noise, weighted):
    there, likely, y = enumerate_all(model)
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
