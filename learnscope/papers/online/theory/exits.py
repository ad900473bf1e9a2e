r"""Exit times in any dimension: the diffusion of one filter's overlap with one direction.

A step on one example, with the rate $\eta / d$, moves the overlap $m$ of a filter on the unit
sphere by

$$-\frac1d \left(\eta t + \tfrac12 \eta^2 m q\right), \qquad t = s \delta (z - m h), \quad
q = s^2 \delta^2$$

(`moments` has the symbols), up to relative $d^{-1/2}$: an example's squared norm is
$d + O(\sqrt d)$. So $v = \sqrt d\, m$ starts from a normal law and is, in the time $\alpha$ =
examples / d, a diffusion whose drift and variance are means over examples. What is left out is of
the order $d^{-1/2}$, that is, least where examples are too many to be drawn.

Steps are taken in the clock $ds = \frac{|drift| + variance}{1 + |v|} d\alpha$, a change of time
that keeps the law: $v$ grows by a factor of at most $e$ per unit of $s$, in any dimension and for
any information exponent. Steps are those of Euler and Maruyama, of weak order 1. The passage is
interpolated within the last one.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from learnscope.data import link_of
from learnscope.errors import BadInput, refuse_value
from learnscope.nets import normal_grid, shape_of
from learnscope.papers.online.theory.scope import obstacle
from learnscope.probes import fixed_layer
from learnscope.rules import SphericalDescent
from learnscope.space import random

STEP = 0.01  # of the clock
_MOST = 100_000  # steps: a thousand units of the clock
_DEGREE = 16  # of polynomials in m: exact for Hermite links up to he4


class _Place(NamedTuple):
    """Where a path is."""

    count: Array
    before: Array  # |v| one step ago
    v: Array
    since: Array  # alpha one step ago
    alpha: Array


def means(experiment: Any, level: float) -> Float[np.ndarray, "mean power"]:
    """E of t, q, t^2, t q and q^2 as polynomials in m / level, the highest power first."""
    nodes, weights = normal_grid(3)  # z, the filter's own coordinate, label noise
    places = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    m = level * places[:, None]
    with jax.enable_x64(True):
        h = jnp.asarray(m * nodes[:, 0] + np.sqrt(1 - m**2) * nodes[:, 1])
        outputs, slopes = jax.jvp(shape_of(experiment.net.activation), (h,), (jnp.ones_like(h),))
        second = float(fixed_layer(experiment.net)[0])
        y = link_of(experiment.data.link)(jnp.asarray(nodes[:, :1]))
        y = y + float(experiment.data.noise) * nodes[:, 2]
        delta = (second * outputs if experiment.rule.loss == "squared" else 0.0) - y[None]
        push = np.asarray(second * slopes * delta)
    t, q = push * (nodes[:, 0] - m * np.asarray(h)), push**2
    rows = [np.polynomial.polynomial.polyfit(places, values @ weights, _DEGREE)[::-1]
            for values in (t, q, t * t, t * q, q * q)]  # fmt: skip
    return np.array([np.where(abs(row) > 1e-12 * abs(row).max(), row, 0.0) for row in rows])


def exits(
    experiment: Any, dims: np.ndarray, rates: np.ndarray, level: float, seeds: int,
    step: float = STEP,
) -> xr.Dataset:  # fmt: skip
    """The `examples` until |m| is `level`, at each of `dims` with its eta; NaN where a path stays.

    A seed has the same start (in v) and the same noise in every dimension.
    """
    dims, rates = _checked(experiment, dims, rates, level, seeds, step)
    with jax.enable_x64(True):
        table = jnp.asarray(means(experiment, level))
        numbers = jnp.arange(seeds, dtype=jnp.uint32)
        given = [jnp.asarray(values, float) for values in (dims, rates, level, step)]
        alphas = np.asarray(_alphas(table, numbers, *given))
    values = alphas * np.asarray(dims, float)[:, None]
    coords = {"dim": np.asarray(dims, float), "seed": np.arange(seeds)}
    return xr.Dataset({"examples": (("dim", "seed"), values)}, coords)


def _checked(
    experiment: Any, dims: Any, rates: Any, level: Any, seeds: Any, step: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Dimensions and rates as arrays."""
    why = obstacle(experiment)
    one = why is None and (experiment.net.rows, experiment.data.directions) == (1, 1)
    if not one or not isinstance(experiment.rule, SphericalDescent) or experiment.net.readout:
        more = f": {why}" if why else ""
        raise BadInput(f"exit times are those of one filter and one direction, on a sphere{more}.")
    if experiment.data.signs:
        raise BadInput("exit times are those of labels that are numbers: signs must be false.")
    found = []
    for name, values, least in (("dims", dims, 2), ("rates", rates, 0)):
        try:
            array = np.asarray(values, float)
        except (TypeError, ValueError):
            refuse_value(name, values, "it must be a list of numbers")
        if array.ndim != 1 or not array.size or not np.isfinite(array).all():
            refuse_value(name, values, "it must be a list of finite numbers")
        if not (array > least).all():
            refuse_value(name, values, f"each must be above {least}")
        found.append(array)
    if len(found[0]) != len(found[1]):
        raise BadInput(f"there are {len(found[0])} dims and {len(found[1])} rates: each dimension "
                       "needs its own.")  # fmt: skip
    for name, value in (("level", level), ("step", step)):
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not 0 < value < 1:
            refuse_value(name, value, "it must be a number between 0 and 1")
    whole = isinstance(seeds, int | np.integer) and not isinstance(seeds, bool)
    if not whole or not 1 <= seeds < 2**32:
        refuse_value("seeds", seeds, "it must be a count, at least 1")
    return found[0], found[1]


def worse_as_power(examples: xr.DataArray) -> xr.DataArray:
    """The error of the best power of d minus that of the best d (a + b log d), for every seed: root
    mean squares of relative errors. Both forms have two numbers to fit."""
    values = examples.transpose("dim", ...)
    y, dims = values.values, values.dim.values.astype(float)[:, None]
    table = np.log(dims) ** [0, 1]
    fit = table @ np.linalg.pinv(table)
    forms = np.exp(fit @ np.log(y)), dims * (fit @ (y / dims))
    power, line = (np.sqrt(((form / y - 1) ** 2).mean(0)) for form in forms)
    return values.isel(dim=0, drop=True).copy(data=power - line)


@jax.jit
def _alphas(
    table: Array, seeds: Array, dims: Array, rates: Array, level: Array, step: Array
) -> Float[Array, "dim seed"]:
    def one(dim: Array, rate: Array, seed: Array) -> Array:
        key, far = jax.random.key(seed), level * jnp.sqrt(dim)

        def further(at: _Place) -> _Place:
            m = level * at.v / far
            t, q, tt, tq, qq = functools.reduce(lambda sum, c: sum * (at.v / far) + c, table.T)
            mean = rate * t + rate**2 * m * q / 2
            square = rate**2 * (tt + rate * m * tq + rate**2 * m**2 * qq / 4)
            drift, variance = -jnp.sqrt(dim) * mean, square - mean**2
            time = step * (1 + jnp.abs(at.v)) / (jnp.abs(drift) + variance)
            noise = random.normal(random.fold_in(key, at.count), (1,))[0]
            v = at.v + drift * time + jnp.sqrt(variance * time) * noise
            return _Place(at.count + 1, jnp.abs(at.v), v, at.alpha, at.alpha + time)

        def inside(at: _Place) -> Array:
            return (jnp.abs(at.v) < far) & (at.count < _MOST)

        zero = jnp.zeros_like(dim)
        start = random.normal(random.fold_in(key, jnp.asarray(_MOST)), (1,))[0]
        end = jax.lax.while_loop(inside, further, _Place(jnp.asarray(0), zero, start, zero, zero))
        share = (far - end.before) / (jnp.abs(end.v) - end.before)
        passed = end.since + jnp.where(end.count > 0, share, 0.0) * (end.alpha - end.since)
        return jnp.where(inside(end) | (end.count == _MOST), jnp.nan, passed)

    each = jax.vmap(jax.vmap(one, (None, None, 0)), (0, 0, None))
    return each(dims, rates, seeds)
