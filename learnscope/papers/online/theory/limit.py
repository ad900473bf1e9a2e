r"""The deterministic limit of online learning: differential equations of the overlaps.

A step with rate $\rho$ on a batch of $b$ examples moves the overlaps, in the mean, by

$$\Delta M = -\rho\, E\, s \delta z, \qquad
\Delta Q = -\rho\, (E\, s \delta h + (E\, s \delta h)^T)
 + \rho^2 \left(\frac db E\, s s^T \delta^2 + \left(1 - \frac1b\right) g g^T\right),$$

with the mean gradients $g$. In the scaling $\rho = \eta b / d$ these are the equations of Saad and
Solla (1995) in the time $\alpha$ = examples / d, but for the last term, of the order $b / d$.
Deviations of a run are of the order $d^{-1/2}$. A flow $\dot X = F(X)$ and steps of $F$ differ by
$\frac12 F' F$, which is taken off: the flow then passes through the steps, up to $(b / d)^2$.

With filters on spheres, each filter is scaled back to its norm. A trained second layer moves by
$\Delta a_i = -\rho\, E\, \sigma(h_i) \delta$ (Goldt et al. 2019).
"""

import itertools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix
import xarray as xr
from jaxtyping import Array, Float

from learnscope.errors import BadInput, refuse_value
from learnscope.papers.online.theory.moments import Overlap, Task
from learnscope.papers.online.theory.scope import obstacle
from learnscope.part import Number
from learnscope.probes import fixed_layer, generalisation
from learnscope.rules import SphericalDescent

_TOLERANCE = 1e-8
_MOST = 100_000  # steps of the solver
_NAMES = {"teacher_overlap": ("filter", "direction"), "student_overlap": ("filter", "other_filter")}
_SECOND = {"second_layer": ("filter",)}


class Place(NamedTuple):
    """Where a student is: its overlaps, and the second layer if that is trained."""

    overlap: Overlap
    second: Float[Array, " filter"] | None = None


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
            shrink = jnp.diag(own) / jnp.diag(at.student) / 2
            teacher = teacher - shrink[:, None] * at.teacher
            own = own - (shrink[:, None] + shrink[None]) * at.student
        second = None if place.second is None else -self.rate * task.outer(at)
        return Place(Overlap(teacher, own), second)

    def flow(self, _: Any, at: Place, __: Any) -> Place:
        move, bend = jax.jvp(self.move, (at,), (self.move(at),))
        return jax.tree.map(lambda one, two: one - two / 2, move, bend)

    def error(self, at: Place) -> Float[Array, ""]:
        """The generalisation error."""
        return generalisation(self.activation, self.link, self.task(at).second, *at.overlap)[0]

    def solution(self, start: Place, first: Array, last: Array, **given: Any) -> diffrax.Solution:
        controller = diffrax.PIDController(
            _TOLERANCE, _TOLERANCE / 100, dtmin=1e-12 * (1 + last - first)
        )
        return diffrax.diffeqsolve(
            diffrax.ODETerm(self.flow), diffrax.Tsit5(), first, last, None, start,
            max_steps=_MOST, stepsize_controller=controller, throw=False, **given,
        )  # fmt: skip

    def solve(self, start: Place, steps: Float[Array, " record"]) -> Place:
        """The place at the given steps, the first of which is that of the start; NaN where the
        equations have blown up."""
        path = self.solution(start, steps[0], steps[-1], saveat=diffrax.SaveAt(ts=steps)).ys
        assert path is not None
        return jax.tree.map(lambda values: jnp.where(jnp.isfinite(values), values, jnp.nan), path)

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


def _alignment(at: Place) -> Float[Array, ""]:
    norms = jnp.sqrt(jnp.diag(at.overlap.student))[:, None]
    return (jnp.abs(at.overlap.teacher) / jnp.where(norms > 0, norms, 1.0)).max()


def limit(experiment: Any, start: xr.Dataset | None = None) -> xr.Dataset:
    """The overlaps, a trained second layer and the generalisation error at the recorded steps; NaN
    after the equations have blown up.

    They start from those of `start`, a result of `run` with the probe `Overlaps` (and `SecondLayer`
    if that is trained): its first record, one solution for each seed. Every axis of `start`, or the
    value selected on it, sets its field of the experiment. Without `start` filters are independent
    and have no overlap with the teacher: a symmetric state, which specialises only where chance
    breaks the symmetry.
    """
    steps = np.arange(0, experiment.steps + 1, experiment.record.every)
    steps = np.append(steps, experiment.steps) if steps[-1] != experiment.steps else steps

    def solved(flow: Steps, begin: Place) -> Any:
        path, error = _solved(flow, begin, jnp.asarray(steps, float))
        return (*path.overlap, *(() if path.second is None else (path.second,)), error)

    names = _NAMES | (_SECOND if experiment.net.readout else {}) | {"generalisation_error": ()}
    dims = {name: ("step", *dims) for name, dims in names.items()}
    return _each(experiment, start, solved, dims).assign_coords(step=steps)


def exit_time(experiment: Any, level: float, start: xr.Dataset | None = None) -> xr.DataArray:
    """The step at which the limit's alignment (the largest cosine of a filter with a direction) is
    `level`, by root finding; NaN if it stays lower for all steps. `start` is that of `limit`."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        refuse_value("level", level, "it must be a number between 0 and 1")

    def solved(flow: Steps, begin: Place) -> Any:
        return (_exits(flow, begin, jnp.asarray(level), jnp.asarray(float(experiment.steps))),)

    return _each(experiment, start, solved, {"exit_time": ()}).exit_time.assign_attrs(units="step")


def deviation(runs: xr.Dataset, path: xr.Dataset) -> xr.DataArray:
    """The root mean square over entries and records of what runs are off a limit."""
    one, two = (((runs[n] - path[n]) ** 2).mean(dims) for n, dims in _NAMES.items())
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


def _each(
    experiment: Any, start: xr.Dataset | None, solved: Callable[[Steps, Place], Any],
    names: dict[str, tuple[str, ...]],
) -> xr.Dataset:  # fmt: skip
    """Arrays with the given names and dims, for every setting and seed of a start."""
    begin = _start(experiment) if start is None else _first(start, experiment)
    tables = {**_NAMES, **_SECOND}
    own = {dim for dims in tables.values() for dim in dims}
    others = [str(d) for d in begin.teacher_overlap.dims if d not in own]
    axes = [dim for dim in others if dim != "seed"]
    found: list[tuple[np.ndarray, ...]] = []
    for place in itertools.product(*(range(begin.sizes[dim]) for dim in axes)):
        one = begin.isel(dict(zip(axes, place, strict=True)))
        setting = _setting(experiment, one)
        with jax.enable_x64(True):
            rows = [_rows(setting, one, name) for name in tables if name in one]
            at = Place(Overlap(*rows[:2]), rows[2] if setting.net.readout else None)
            found.append(tuple(map(np.asarray, solved(Steps.of(setting), at))))
    variables = {}
    for (name, dims), values in zip(names.items(), zip(*found, strict=True), strict=True):
        whole = np.stack(values).reshape(*(begin.sizes[d] for d in axes), *values[0].shape)
        if "seed" not in others:
            whole = whole.squeeze(len(axes))
        variables[name] = ((*axes, *(["seed"] if "seed" in others else []), *dims), whole)
    coords = {n: c for n, c in begin.coords.items() if not own & set(c.dims) and n != "step"}
    return xr.Dataset(variables).assign_coords(coords).transpose(*others, ...)


def _rows(setting: Any, one: xr.Dataset, name: str) -> Array:
    """A table of a start, for every seed."""
    dims = {**_NAMES, **_SECOND}[name]
    width, count = setting.net.rows, setting.data.directions
    right = dict(zip(dims, {"direction": (width, count)}.get(dims[-1], (width, width)),
                     strict=False))  # fmt: skip
    sizes = {dim: one.sizes[dim] for dim in dims}
    if sizes != right:
        said, must = (", ".join(f"{n} of {d}" for d, n in each.items()) for each in (sizes, right))
        raise BadInput(f"start's {name} has the sizes {said}; the experiment's are {must}.")
    values = one[name].transpose(..., *dims).values
    return jnp.asarray(values, float).reshape(-1, *values.shape[values.ndim - len(dims) :])


def _setting(experiment: Any, one: xr.Dataset) -> Any:
    """The experiment of one position of a start's axes."""
    for name, coord in one.coords.items():
        path = coord.attrs.get("field")
        if coord.ndim == 0 and path is not None:
            if path in json.loads(one.attrs.get("parts", "{}")):
                raise BadInput(f"start has parts on the axis '{name}': solve for one at a time.")
            experiment = experiment.replace(path, coord.item())
    why = obstacle(experiment)
    if why is not None:
        raise BadInput(f"there is no limit for a setting of start: {why}.")
    return experiment


def _start(experiment: Any) -> xr.Dataset:
    width, count = experiment.net.rows, experiment.data.directions
    if experiment.net.readout:
        raise BadInput("a trained second layer starts at random: limit needs a start, a result of "
                       "run with the probes Overlaps and SecondLayer.")  # fmt: skip
    square = float(experiment.net.scale) ** 2 * float(experiment.data.dim)
    teacher, student = np.zeros((width, count)), square * np.eye(width)
    variables = zip(_NAMES.items(), (teacher, student), strict=True)
    return xr.Dataset({name: (dims, table) for (name, dims), table in variables})


def _first(start: xr.Dataset, experiment: Any) -> xr.Dataset:
    names = _NAMES | (_SECOND if experiment.net.readout else {})
    missing = [name for name in names if name not in start]
    if missing:
        probe = "SecondLayer" if missing == list(_SECOND) else "Overlaps"
        raise BadInput(f"start has no {', '.join(missing)}: run it with the probe {probe}.")
    kept = start[list(names)]
    kept = kept.isel(step=0, drop=True) if "step" in kept.dims else kept
    own = {dim for dims in names.values() for dim in dims}
    for dim in set(kept.teacher_overlap.dims) - own - {"seed"}:
        if not any(c.dims == (dim,) and "field" in c.attrs for c in kept.coords.values()):
            raise BadInput(f"start has the dim '{dim}', which is no field of the experiment: solve "
                           "for one of its values at a time.")  # fmt: skip
    return kept
