r"""The gradient flow of the population loss, for many initialisations.

$\dot B = -\partial L/\partial B$, $\dot W = -2 S W$ for the neurons' noise parts, and
$\dot E = -r\, \partial L/\partial E$: time is in units of $1/\eta$, and `ratio` is
$r = \eta_E/\eta$. The rule `PopulationFlow` integrates the same equations within an
experiment; here they stand alone, with a choice of method:

- `rosenbrock`: this package's (`parts.rosenbrock`), a few milliseconds per run;
- `kvaerno3`, `kvaerno5`: Diffrax's, diagonally implicit, several to twenty times slower: what the
  first is checked against.

An integration that ran out of steps or met a value that is not finite has `reached` short of the
last time, and NaN for what comes after.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Key

from learnscope.data import StrongWeak
from learnscope.papers.pred_head.parts.population_flow import Flow
from learnscope.papers.pred_head.parts.population_law import Law
from learnscope.papers.pred_head.parts.rosenbrock import Walk, integrate
from learnscope.space import Frame

METHODS = ("rosenbrock", "kvaerno3", "kvaerno5")


class Start(NamedTuple):
    """B, G and E of every run before training."""

    overlaps: Float[Array, "run neuron feature"]
    gram: Float[Array, "run neuron neuron"]
    head: Float[Array, "run neuron neuron"]


def draw(model: StrongWeak, width: int, runs: int, key: Key[Array, ""]) -> Start:
    r"""Filters $w_j \sim N(0, I/d)$ and the identity as head, as `PatchEncoder` draws them:
    $B \sim N(0, 1/d)$, $G \sim \text{Wishart}(d - L)/d$. The same price for any d."""
    dim, features = float(model.dim), model.features

    def one(key: Array) -> tuple[Array, Array]:
        _, frame = Frame(dim, features + width).axes(features)
        rows, _ = frame.gaussian_rows(key, width)
        filters = rows / jnp.sqrt(dim)
        beyond = filters[:, features:]
        return filters[:, :features], beyond @ beyond.T

    overlaps, gram = jax.jit(jax.vmap(one))(jax.random.split(key, runs))
    return Start(overlaps, gram, jnp.broadcast_to(jnp.eye(width), gram.shape))


def flow(
    model: StrongWeak, start: Start, times: Any, ratio: float | Float[np.ndarray, " run"],
    head: str = "identity", normalise: str = "batch", stop_gradient: bool = True,
    tolerance: float = 1e-6, method: str = "rosenbrock", most: int = 20000, chunk: int = 50,
) -> xr.Dataset:  # fmt: skip
    """B, G and E of every run at given times (increasing, above 0), preceded by time 0.

    `ratio` may differ between runs. `chunk` runs are integrated side by side, at the pace of the
    slowest.
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, but must be one of {', '.join(METHODS)}")
    with jax.enable_x64(True):
        law = jax.tree.map(lambda x: jnp.asarray(x, float), Law.of(model))
        start = Start(*(jnp.asarray(x, float) for x in start))
        runs = len(start.gram)
        given = jnp.broadcast_to(jnp.asarray(ratio, float), (runs,))
        settings = head, normalise, stop_gradient, method, most, min(chunk, runs)
        solved = _flows(
            law, start, given, jnp.asarray(times, float), jnp.asarray(tolerance, float), settings
        )
        first = [np.asarray(x)[:, None] for x in start]
        overlaps, gram, matrix = (
            np.concatenate([before, np.asarray(after)], axis=1)
            for before, after in zip(first, solved[:3], strict=True)
        )
    return xr.Dataset(
        {
            "overlaps": (("run", "time", "neuron", "feature"), overlaps),
            "gram": (("run", "time", "neuron", "other"), gram),
            "prediction_head": (("run", "time", "neuron", "other"), matrix),
            "reached": ("run", np.asarray(solved[3])),
            "tried": ("run", np.asarray(solved[4])),
        },
        {"time": np.concatenate([[0.0], np.asarray(times, float)])},
    )


@eqx.filter_jit
def _flows(
    law: Law, start: Start, ratios: Array, times: Array, tolerance: Array, settings: tuple
) -> tuple[Array, ...]:
    head, normalise, stop_gradient, method, most, chunk = settings
    solve = _rosenbrock if method == "rosenbrock" else _diffrax

    def one(run: tuple[Start, Array]) -> tuple[Array, ...]:
        begun, ratio = run
        equations = Flow(law, begun.gram, begun.head, 1.0, ratio, head, normalise, stop_gradient)
        first = equations.start(begun.overlaps)
        values, reached, tried = solve(equations, first, times, tolerance, most, method)
        late = times > reached
        values = jnp.where(late[:, None], jnp.nan, values)
        overlaps, turn, matrix = jax.vmap(equations.unpacked)(values)
        return overlaps, jax.vmap(equations.now)(turn), matrix, reached, tried

    return jax.lax.map(one, (start, ratios), batch_size=chunk)


def _rosenbrock(
    equations: Flow, first: Array, times: Array, tolerance: Array, most: int, method: str
) -> tuple[Array, Array, Array]:
    zero = jnp.zeros((), int)
    begun = Walk(jnp.zeros(()), first, jnp.minimum(1e-2, times[0]), zero, zero)

    def on(walk: Walk, until: Array) -> tuple[Walk, Array]:
        walk = integrate(equations, walk, until, tolerance, most)
        return walk, walk.value

    walk, values = jax.lax.scan(on, begun, times)
    return values, walk.time, walk.tried


def _diffrax(
    equations: Flow, first: Array, times: Array, tolerance: Array, most: int, method: str
) -> tuple[Array, Array, Array]:
    import diffrax  # here, since it is slow to import and rarely needed

    solver = {"kvaerno3": diffrax.Kvaerno3, "kvaerno5": diffrax.Kvaerno5}[method]()
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, value, args: equations(value)), solver, 0.0, times[-1],
        jnp.minimum(1e-2, times[0]), first, saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=1e-3 * tolerance),
        max_steps=most, throw=False,
    )  # fmt: skip
    values = solution.ys
    assert isinstance(values, jax.Array)
    done = solution.result == diffrax.RESULTS.successful
    known = jnp.isfinite(values).all(1)
    reached = jnp.where(done, times[-1], jnp.where(known, times, 0.0).max())
    return values, reached, solution.stats["num_steps"]
