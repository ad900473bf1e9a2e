r"""The deterministic limit of online learning: differential equations of the overlaps.

A step with rate $\rho$ on a batch of $b$ examples moves the overlaps, in the mean, by

$$\Delta M = -\rho\, E\, s \delta z, \qquad
\Delta Q = -\rho\, (E\, s \delta h + (E\, s \delta h)^T)
 + \rho^2 \left(\frac db E\, s s^T \delta^2 + \left(1 - \frac1b\right) g g^T\right),$$

with the mean gradients $g$. In the scaling $\rho = \eta b / d$ these are the equations of Saad and
Solla (1995) in the time $\alpha$ = examples / d, but for the last term, of the order $b / d$.
Deviations of a run are of the order $d^{-1/2}$. A flow $\dot X = F(X)$ and steps of $F$ differ by
$\frac12 F' F$, which is taken off: the flow then passes through the steps, up to $(b / d)^2$.

With filters on spheres, each filter is scaled back to its norm.
"""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from learnscope.errors import BadInput
from learnscope.papers.online.theory.moments import Overlap, Task
from learnscope.part import Number
from learnscope.probes import fixed_layer, generalisation
from learnscope.rules import SphericalDescent

_TOLERANCE = 1e-8
_MOST = 100_000  # steps of the solver
_NAMES = {"teacher_overlap": ("filter", "direction"), "student_overlap": ("filter", "other_filter")}


class Steps(eqx.Module):
    """The mean move of a step, and the flow through such steps."""

    second: Float[Array, " filter"]
    noise: Number
    rate: Number
    dim: Number
    batch: int = eqx.field(static=True)
    activation: str = eqx.field(static=True)
    link: Any = eqx.field(static=True)
    squared: bool = eqx.field(static=True)
    spherical: bool = eqx.field(static=True)

    @staticmethod
    def of(experiment: Any) -> "Steps":
        data, net, rule = experiment.data, experiment.net, experiment.rule
        noise, rate, dim = (jnp.asarray(float(v)) for v in (data.noise, rule.rate, data.dim))
        return Steps(
            fixed_layer(net), noise, rate, dim, data.space.fresh, net.activation, data.link,
            rule.loss == "squared", isinstance(rule, SphericalDescent),
        )  # fmt: skip

    def move(self, at: Overlap) -> Overlap:
        task = Task(self.activation, self.link, self.second, self.noise, self.squared)
        found, width = task.moments(at), len(self.second)
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
        return Overlap(teacher, own)

    def flow(self, _: Any, at: Overlap, __: Any) -> Overlap:
        move, bend = jax.jvp(self.move, (at,), (self.move(at),))
        return jax.tree.map(lambda one, two: one - two / 2, move, bend)

    def solve(self, start: Overlap, steps: Float[Array, " record"]) -> Overlap:
        """The overlaps at the given steps, the first of which is that of the start."""
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(self.flow), diffrax.Tsit5(), steps[0], steps[-1], None, start,
            saveat=diffrax.SaveAt(ts=steps), max_steps=_MOST,
            stepsize_controller=diffrax.PIDController(_TOLERANCE, _TOLERANCE / 100),
        )  # fmt: skip
        assert solution.ys is not None
        return solution.ys


def limit(experiment: Any, start: xr.Dataset | None = None) -> xr.Dataset:
    """The overlaps and the generalisation error at the recorded steps.

    They start from those of `start`, a result of `run` with the probe `Overlaps` (its first record;
    one solution for each seed), or from independent filters without any overlap with the teacher:
    a symmetric state, which specialises only where chance breaks the symmetry.
    """
    steps = np.arange(0, experiment.steps + 1, experiment.record.every)
    steps = np.append(steps, experiment.steps) if steps[-1] != experiment.steps else steps
    begin = _start(experiment) if start is None else _first(start)
    others = [dim for dim in begin.teacher_overlap.dims if dim not in _NAMES["teacher_overlap"]]
    tables = [begin[name].transpose(*others, *dims).values for name, dims in _NAMES.items()]
    shape = tables[0].shape[:-2]
    with jax.enable_x64(True):
        rows = [jnp.asarray(table, float).reshape(-1, *table.shape[-2:]) for table in tables]
        found = _solved(Steps.of(experiment), Overlap(*rows), jnp.asarray(steps, float))
    values = [np.asarray(v).reshape(*shape, *v.shape[1:]) for v in found]
    names = {**_NAMES, "generalisation_error": ()}
    variables = {
        name: ((*others, "step", *dims), value)
        for (name, dims), value in zip(names.items(), values, strict=True)
    }
    coords = {dim: begin[dim].values for dim in others if dim in begin.coords}
    return xr.Dataset(variables, {"step": steps, **coords})


def deviation(runs: xr.Dataset, path: xr.Dataset) -> xr.DataArray:
    """The root mean square over entries and records of what runs are off a limit."""
    one, two = (((runs[n] - path[n]) ** 2).mean(dims) for n, dims in _NAMES.items())
    return ((one + two).isel(step=slice(1, None)).mean("step") / 2) ** 0.5


@eqx.filter_jit
def _solved(flow: Steps, starts: Overlap, steps: Array) -> tuple[Array, Array, Array]:
    def one(start: Overlap) -> tuple[Array, Array, Array]:
        path = flow.solve(start, steps)
        error = jax.vmap(
            lambda at: generalisation(flow.activation, flow.link, flow.second, *at)[0]
        )(path)
        return path.teacher, path.student, error

    return jax.lax.map(one, starts)


def _start(experiment: Any) -> xr.Dataset:
    width, count = experiment.net.width, experiment.data.directions
    square = float(experiment.net.scale) ** 2 * float(experiment.data.dim)
    teacher, student = np.zeros((width, count)), square * np.eye(width)
    variables = zip(_NAMES.items(), (teacher, student), strict=True)
    return xr.Dataset({name: (dims, table) for (name, dims), table in variables})


def _first(start: xr.Dataset) -> xr.Dataset:
    missing = [name for name in _NAMES if name not in start]
    if missing:
        raise BadInput(f"start has no {', '.join(missing)}: run it with the probe Overlaps.")
    kept = start[list(_NAMES)]
    return kept.isel(step=0, drop=True) if "step" in kept.dims else kept
