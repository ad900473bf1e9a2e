r"""The deterministic limit of online learning: differential equations of the overlaps.

A step with rate $\rho$ on a batch of $b$ examples moves the overlaps, in the mean, by

$$\Delta M = -\rho\, E\, s \delta z, \qquad
\Delta Q = -\rho\, (E\, s \delta h + (E\, s \delta h)^T)
 + \rho^2 \left(\frac db E\, s s^T \delta^2 + \left(1 - \frac1b\right) g g^T\right),$$

with the mean gradients $g$. In the scaling $\rho = \eta b / d$ these are the equations of Saad and
Solla (1995) in the time $\alpha$ = examples / d, but for the last term, of the order $b / d$.
Deviations of a run are of the order $d^{-1/2}$. A flow $\dot X = F(X)$ and steps of $F$ differ by
$\frac12 F' F$, which is taken off: the flow then passes through the steps, up to $(b / d)^2$. Where
$|F' F| > |F|$ there is no such flow, and no limit.

With filters on spheres, each filter is scaled back to its norm. A trained second layer moves by
$\Delta a_i = -\rho\, E\, \sigma(h_i) \delta$ (Goldt et al. 2019).
"""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix
import xarray as xr
from jaxtyping import Array, Float

from learnscope.errors import refuse_value
from learnscope.papers.online.theory.moments import Overlap, Task
from learnscope.papers.online.theory.starts import OVERLAPS, SECOND, Place, each
from learnscope.part import Number
from learnscope.probes import fixed_layer, generalisation
from learnscope.rules import SphericalDescent

_TOLERANCE = 1e-8
_MOST = 100_000  # steps of the solver


class Steps(eqx.Module):
    """The mean move of a step, and the flow through such steps."""

    second: Float[Array, " filter"]
    noise: Number
    rate: Number
    dim: Number
    batch: Number
    activation: str = eqx.field(static=True)
    link: Any = eqx.field(static=True)
    squared: bool = eqx.field(static=True)
    spherical: bool = eqx.field(static=True)

    @staticmethod
    def of(experiment: Any) -> "Steps":
        data, net, rule = experiment.data, experiment.net, experiment.rule
        numbers = data.noise, rule.rate, data.dim, data.space.fresh
        noise, rate, dim, batch = (jnp.asarray(float(v)) for v in numbers)
        return Steps(
            fixed_layer(net), noise, rate, dim, batch, net.activation, data.labelling,
            rule.loss == "squared", isinstance(rule, SphericalDescent),
        )  # fmt: skip

    def task(self, at: Place) -> Task:
        second = self.second if at.second is None else at.second
        return Task(self.activation, self.link, second, self.noise, self.squared)

    def move(self, place: Place) -> Place:
        task, at = self.task(place), place.overlap
        found, width = task.moments(at), len(at.teacher)
        inside, beside = found.along[:, width:], found.along[:, :width]
        teacher, own = -self.rate * inside, -self.rate * (beside + beside.T)
        outside = (beside - inside @ at.teacher.T).T
        outside = jax.scipy.linalg.solve_triangular(at.outside, outside, lower=True).T
        mean = inside @ inside.T + outside @ outside.T
        own += self.rate**2 * (self.dim * found.squares / self.batch + (1 - 1 / self.batch) * mean)
        if self.spherical:
            squares = jnp.diag(at.student)
            shrink = jnp.diag(own) / jnp.where(squares > 0, squares, 1.0) / 2
            there = squares > 0  # others stay at 0
            teacher = jnp.where(there[:, None], teacher - shrink[:, None] * at.teacher, 0.0)
            own = own - (shrink[:, None] + shrink[None]) * at.student
            own = jnp.where(there[:, None] & there[None], own, 0.0)
        second = None if place.second is None else -self.rate * task.outer(at)
        return Place(Overlap(teacher, own), second)

    def flow(self, _: Any, at: Place, __: Any) -> Place:
        """NaN where one step changes the next by more than its size: no flow passes through such
        steps, and F - F' F / 2 has zeros at which F has none."""
        move, bend = jax.jvp(self.move, (at,), (self.move(at),))
        smooth = _square(bend) <= _square(move)
        return jax.tree.map(lambda one, two: jnp.where(smooth, one - two / 2, jnp.nan), move, bend)

    def error(self, at: Place) -> Float[Array, ""]:
        """The generalisation error."""
        return generalisation(self.activation, self.link, self.task(at).second, *at.overlap)[0]

    def solution(self, start: Place, first: Array, last: Array, **given: Any) -> diffrax.Solution:
        """It ends early where it blows up or no flow is left: there steps become ever shorter."""
        controller = diffrax.PIDController(
            _TOLERANCE, _TOLERANCE / 100, dtmin=1e-12 * (1 + last - first), force_dtmin=False
        )
        return diffrax.diffeqsolve(
            diffrax.ODETerm(self.flow), diffrax.Tsit5(), first, last, 1.0, start,
            max_steps=_MOST, stepsize_controller=controller, throw=False, **given,
        )  # fmt: skip

    def solve(self, start: Place, steps: Float[Array, " record"]) -> Place:
        """The place at the given steps, the first of which is that of the start; NaN where the
        solution has ended."""
        path = self.solution(start, steps[0], steps[-1], saveat=diffrax.SaveAt(ts=steps)).ys
        assert path is not None
        ended = jax.tree.map(lambda values: jnp.where(jnp.isfinite(values), values, jnp.nan), path)
        return jax.tree.map(lambda values, first: values.at[0].set(first), ended, start)

    def exit(self, start: Place, level: Array, steps: Array) -> Float[Array, ""]:
        """The step at which the alignment is `level`; NaN if it is lower for all steps."""

        def above(t: Any, y: Place, args: Any, **_: Any) -> Array:
            return _alignment(y) - level

        found = self.solution(
            start, jnp.zeros_like(steps), steps, saveat=diffrax.SaveAt(t1=True),
            event=diffrax.Event(above, optimistix.Newton(_TOLERANCE, _TOLERANCE)),
        )  # fmt: skip
        assert found.ts is not None
        passed = found.result == diffrax.RESULTS.event_occurred
        return jnp.where(_alignment(start) >= level, 0.0, jnp.where(passed, found.ts[0], jnp.nan))


def _square(place: Place) -> Float[Array, ""]:
    return jnp.stack([jnp.sum(leaf**2) for leaf in jax.tree.leaves(place)]).sum()


def _alignment(at: Place) -> Float[Array, ""]:
    norms = jnp.sqrt(jnp.diag(at.overlap.student))[:, None]
    return (jnp.abs(at.overlap.teacher) / jnp.where(norms > 0, norms, 1.0)).max()


def limit(experiment: Any, start: xr.Dataset | None = None) -> xr.Dataset:
    """The overlaps, a trained second layer and the generalisation error at the recorded steps; NaN
    after the equations have blown up, or where steps are too large for a flow through them.

    They start from those of `start`, a result of `run` with the probe `Overlaps` (and `SecondLayer`
    if that is trained): its first record, one solution for each seed. Every axis of `start`, or the
    value selected on it, sets its field of the experiment. Without `start` filters are independent
    and have no overlap with the teacher: a symmetric state, which specialises only where chance
    breaks the symmetry.
    """
    steps = np.arange(0, experiment.steps + 1, experiment.record.every)
    steps = np.append(steps, experiment.steps) if steps[-1] != experiment.steps else steps

    def solved(setting: Any, begin: Place) -> Any:
        path, error = _solved(Steps.of(setting), begin, jnp.asarray(steps, float))
        return (*path.overlap, *(() if path.second is None else (path.second,)), error)

    names = OVERLAPS | (SECOND if experiment.net.readout else {}) | {"generalisation_error": ()}
    dims = {name: ("step", *dims) for name, dims in names.items()}
    return each(experiment, start, solved, dims).assign_coords(step=steps)


def exit_time(experiment: Any, level: float, start: xr.Dataset | None = None) -> xr.DataArray:
    """The step at which the limit's alignment (the largest cosine of a filter with a direction) is
    `level`, by root finding; NaN if it stays lower for all steps. `start` is that of `limit`."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        refuse_value("level", level, "it must be a number between 0 and 1")

    def solved(setting: Any, begin: Place) -> Any:
        most = jnp.asarray(float(experiment.steps))
        return (_exits(Steps.of(setting), begin, jnp.asarray(float(level)), most),)

    return each(experiment, start, solved, {"exit_time": ()}).exit_time.assign_attrs(units="step")


def deviation(runs: xr.Dataset, path: xr.Dataset) -> xr.DataArray:
    """The root mean square over entries and records of what runs are off a limit."""
    one, two = (((runs[n] - path[n]) ** 2).mean(dims) for n, dims in OVERLAPS.items())
    return ((one + two).isel(step=slice(1, None)).mean("step") / 2) ** 0.5


@eqx.filter_jit
def _solved(flow: Steps, starts: Place, steps: Array) -> tuple[Place, Array]:
    def one(start: Place) -> tuple[Place, Array]:
        path = flow.solve(start, steps)
        return path, jax.vmap(flow.error)(path)

    return jax.lax.map(one, starts)


@eqx.filter_jit
def _exits(flow: Steps, starts: Place, level: Array, steps: Array) -> Array:
    return jax.lax.map(lambda start: flow.exit(start, level, steps), starts)
