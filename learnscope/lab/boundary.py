"""`boundary`: where a response crosses a level, found by bisection instead of filling a grid."""

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from learnscope.engine.experiment import Experiment
from learnscope.errors import BadInput, refuse_value
from learnscope.lab.blocks import Plan
from learnscope.lab.cluster import opened
from learnscope.lab.crossing import CROSSED, Crossing, bracket, crossings, fit_exponent, widened
from learnscope.lab.last import after_last_step
from learnscope.lab.run import Report, report_of, run_plan
from learnscope.lab.sweep import Axis, axes, dim_of, seed_list, zipped
from learnscope.part import field_is_whole, field_kind, value_at
from learnscope.probes import Output

BOUNDARY = "boundary of"  # what its sweeps are called begins with this
_GRID = 9  # values of x that are tried first, over the whole range
_SPAN = 100.0  # default range of x: the field's value / 100 to value * 100
_DOUBLINGS = 7  # default values of y: the field's value, doubled so often
_RESAMPLES = 2000
_TIMES = 4  # about how many times as many runs there are as on the first grid
_PLANNED = {"coordinates", "precision"}  # the settings that a plan depends on
_REFINEMENTS = 2  # passes of four more points about each band's ends


def boundary(
    experiment: Experiment,
    x: str | Mapping[str, Iterable[float]],
    y: str | Mapping[str, Iterable[Any]] | Axis,
    at: float,
    of: str,
    seeds: int | Iterable[int] = 10,
    *,
    tolerance: float = 0.001,
    level: float = 0.95,
    **settings: Any,
) -> xr.Dataset:
    """The value of `x` at which the mean of `of` over seeds, after the last step, crosses `at`,
    for every value of `y`; with a confidence band, and the exponent of x ~ y^exponent.

    `x` is a field and its range, {"data.signal": (1, 10)}; `y` a field and its values,
    {"data.dim": [100, 1000]}, or fields that change together (`zipped`). For a field name alone,
    the range of x is the experiment's own value / 100 to value * 100, and the values of y are its
    own value, doubled up to seven times.

    A grid over the range is tried first. It shows where the response crosses; if it never does, or
    does so several times, `status` says so. Then every crossing is bisected, for all values of y at
    once in one program, until it is known to `tolerance` (relative, if the range is positive).
    Seeds are shared, so the response is one function of x. The band is a bootstrap over seeds,
    widened for few of them to cover as often as its `level` says (one has none: NaN). The
    exponent's error is of the same bootstrap, widened if the points scatter about the line by more
    than their own errors. The `settings` are those of `run`.

    Variables: `boundary`, `low`, `high`, `status`, and the values of x with their means, `tried`
    and `mean`. Attributes: `exponent` and `exponent_error` (one standard error), NaN if there is
    nothing to fit.
    """
    if not isinstance(experiment, Experiment):
        refuse_value("experiment", experiment, "it must be an Experiment")
    output, listed = _output(experiment, of, at), seed_list(seeds)
    field, low, high = _range(experiment, x)
    axis = _axis(experiment, y)
    if field in axis.fields:
        raise BadInput(f"'{field}' cannot be both x and y of a boundary.")
    for name, value in {"tolerance": tolerance, "level": level}.items():
        if not isinstance(value, int | float) or not 0 < value < 1:
            refuse_value(name, value, "it must be between 0 and 1")
    planned = {name: settings.pop(name) for name in _PLANNED & settings.keys()}
    with opened(settings.get("cluster"), later=_TIMES - 1) as shared:
        settings |= {"cluster": shared}
        given = (of, at, level, listed, planned, settings)
        search = _Search(experiment, field, low, high, axis, *given)
        lines = search.lines(tolerance)
    return Report.of(search.reports).on(search.dataset(lines, output.long_name))


def first_plan(
    experiment: Experiment, x: Any, y: Any, seeds: Any = 10, **more: Any
) -> tuple[Plan, float]:
    """The sweep that a boundary begins with, and about how many times as many runs it has."""
    over = [_axis(experiment, y), _grid(experiment, *_range(experiment, x))]
    planned = {name: more[name] for name in _PLANNED & more.keys()}
    return Plan.of(experiment, over, seeds, **planned), _TIMES


def _grid(experiment: Experiment, field: str, low: float, high: float) -> Axis:
    """The values of x that are tried first, equally spaced (in log x if all are positive)."""
    first, last = (math.log(low), math.log(high)) if low > 0 else (low, high)
    points = np.linspace(first, last, _GRID)
    points = np.exp(points) if low > 0 else points
    points[0], points[-1] = low, high
    points = np.unique(points.round()) if field_is_whole(experiment, field) else points
    return zipped({field: points.tolist()}, name="x of the boundary")


@dataclasses.dataclass
class _Line:
    """What is known at one value of y: the x tried, in order, the responses there (x by seed), and
    the bracket of the crossing."""

    setting: dict[str, Any]
    tried: np.ndarray
    values: np.ndarray
    crossing: Crossing

    def new(self, points: list[float]) -> list[float]:
        """Those of some x that were not tried yet."""
        return [x for x in dict.fromkeys(points) if x not in self.tried]


@dataclasses.dataclass(frozen=True)
class _Search:
    """A boundary that is asked for. u is log x where x is positive, else x itself."""

    experiment: Experiment
    field: str
    low: float
    high: float
    axis: Axis
    of: str
    at: float
    level: float
    seeds: list[int]
    planned: dict[str, Any]
    settings: dict[str, Any]
    reports: list[Report] = dataclasses.field(default_factory=list)

    def u(self, x: np.ndarray | float) -> np.ndarray:
        return np.log(x) if self.low > 0 else np.asarray(x, float)

    def x(self, u: np.ndarray | float) -> np.ndarray:
        return np.exp(u) if self.low > 0 else np.asarray(u, float)

    def _points(self, *u: float) -> list[float]:
        """The x at some u that can be tried: whole numbers if the field takes no others."""
        whole = field_is_whole(self.experiment, self.field)
        return [float(round(x)) if whole else x for x in map(float, map(self.x, u))]

    def lines(self, tolerance: float) -> list[_Line]:
        """A line for every y, from a grid over the whole range, with its crossing bisected and its
        band refined."""
        grid = _grid(self.experiment, self.field, self.low, self.high)
        tried = np.array(grid.fields[self.field])
        found = zip(self.axis.settings(), self._run([self.axis, grid]), strict=True)
        lines = [_Line(y, tried, v, bracket(self.u(tried), v, self.at)) for y, v in found]
        while wanted := [(line, point) for line in lines for point in self.middle(line, tolerance)]:
            for (line, point), mean in zip(wanted, self.extend(wanted), strict=True):
                line.crossing = line.crossing.narrowed(self.u(point).item(), mean)
        for _ in range(_REFINEMENTS):
            self.extend([(line, point) for line in lines for point in self.refinements(line)])
        return lines

    def middle(self, line: _Line, tolerance: float) -> list[float]:
        """The untried x that halves a line's bracket, unless that is narrow enough."""
        if line.crossing.status != CROSSED:
            return []
        left, right = line.crossing.left, line.crossing.right
        ends = self.x(np.array([left, right]))
        wide = ends[1] - ends[0] > tolerance * np.abs(ends).max()
        return line.new(self._points((left + right) / 2)) if wide else []

    def extend(self, wanted: list[tuple[_Line, float]]) -> list[float]:
        """Try an x on each of some lines, all in one run; return the mean responses."""
        if not wanted:
            return []
        fields = {path: [line.setting[path] for line, _ in wanted] for path in self.axis.fields}
        fields[self.field] = [x for _, x in wanted]
        values = self._run([zipped(fields, name=self.axis.dim)])
        for (line, x), new in zip(wanted, values, strict=True):
            place = np.searchsorted(line.tried, x)
            line.tried = np.insert(line.tried, place, x)
            line.values = np.insert(line.values, place, new, axis=0)
        return [new.mean() for new in values]

    def _run(self, over: list[Axis]) -> np.ndarray:
        """The response after the last step: the dims of some axes, then seeds."""
        plan = Plan.of(self.experiment, over, self.seeds, **self.planned)
        data = run_plan(plan, **self.settings, name=f"{BOUNDARY} {self.of} = {self.at:g}")
        self.reports.append(report_of(data))
        return after_last_step(data[self.of]).values.astype(float)

    def _band(self, line: _Line) -> tuple[np.ndarray, float, float]:
        """Resampled crossings of a line, and the ends of their central part."""
        count = len(self.seeds)
        # The same weights (seed by draw) for every y, since seeds are shared.
        times = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), _RESAMPLES)
        means = line.values @ (times.T / count)
        draws = crossings(self.u(line.tried), means, self.at, line.crossing.rising)
        tail = 100 * (1 - self.level) / 2
        low, high = np.percentile(draws, [tail, 100 - tail])
        return draws, float(low), float(high)

    def refinements(self, line: _Line) -> list[float]:
        """Untried x at the ends of a line's band and between them and the crossing."""
        if line.crossing.status != CROSSED:
            return []
        _, low, high = self._band(line)
        centre = line.crossing.estimate
        return line.new(self._points(low, (low + centre) / 2, (centre + high) / 2, high))

    def dataset(self, lines: list[_Line], response: str) -> xr.Dataset:
        """The result, labelled."""
        draws = np.full((len(lines), _RESAMPLES), np.nan)
        centre, low, high = np.full((3, len(lines)), np.nan)
        tried, mean = np.full((2, len(lines), max(len(line.tried) for line in lines)), np.nan)
        for i, line in enumerate(lines):
            here = np.s_[i, : len(line.tried)]
            tried[here], mean[here] = line.tried, line.values.mean(1)
            if line.crossing.status == CROSSED:
                centre[i] = line.crossing.estimate
                draws[i], *ends = self._band(line)
                wide = widened(np.array(ends), centre[i], len(self.seeds), self.level)
                low[i], high[i] = np.clip(wide, *self.u(line.tried[[0, -1]]))
        y, exponent, error = next(iter(self.axis.fields.values())), np.nan, np.nan
        if self.low > 0 and all(isinstance(v, int | float) and v > 0 for v in y):
            exponent, error = fit_exponent(np.log(y), centre, draws)
        dim, name = self.axis.dim, dim_of(self.field)
        of = lambda words: {"long_name": words, "field": self.field}  # noqa: E731
        status = [line.crossing.status for line in lines]
        return xr.Dataset(
            {
                "boundary": (dim, self.x(centre), of(name)),
                "low": (dim, self.x(low), of(f"{name}, lower end")),
                "high": (dim, self.x(high), of(f"{name}, upper end")),
                "status": (dim, status, {"long_name": "what was found"}),
                "tried": ((dim, "try"), tried, of(name)),
                "mean": ((dim, "try"), mean, {"long_name": f"mean of {response}"}),
            },
            self.axis.coords(),
            {
                "experiment": self.experiment.text(),
                "x": self.field,
                "y": json.dumps(list(self.axis.fields)),
                "of": self.of,
                "at": float(self.at),
                "seeds": len(self.seeds),
                "level": self.level,
                "exponent": float(exponent),
                "exponent_error": float(error),
            },
        )


def _output(experiment: Experiment, of: str, at: Any) -> Output:
    """The output of the experiment's probes whose crossing of a level is asked for."""
    outputs = {name: out for probe in experiment.probes for name, out in probe.outputs.items()}
    if of not in outputs:
        refuse_value("of", of, f"the experiment's probes record {', '.join(sorted(outputs))}")
    if outputs[of].dims:
        dims = ", ".join(outputs[of].dims)
        refuse_value("of", of, f"it must be one number per run, without dims {dims}")
    if isinstance(at, bool) or not isinstance(at, int | float) or not np.isfinite(at):
        refuse_value("at", at, "it must be a finite number")
    low, high = outputs[of].low, outputs[of].high
    if not low < at < high:
        limits = f"between {low:g} and {high:g}" if np.isfinite(high) else f"above {low:g}"
        refuse_value("at", at, f"{of} lies {limits}")
    return outputs[of]


def _range(experiment: Experiment, x: Any) -> tuple[str, float, float]:
    if isinstance(x, Mapping) and len(x) == 1:
        field, limits = next(iter(x.items()))
        limits = list(limits) if isinstance(limits, Iterable) else [limits]
    elif isinstance(x, str):
        value = _number(experiment, x)
        field, limits = x, [value / _SPAN, value * _SPAN]
    else:
        refuse_value("x", x, "it must be a field, or a field and its range")
    if field_kind(experiment, field) not in ("number", "shape", "entry"):
        refuse_value("x", field, "it must be a number that can be swept")
    numbers = all(isinstance(v, int | float) and np.isfinite(v) for v in limits)
    if len(limits) != 2 or not numbers or not limits[0] < limits[1]:
        must = "it must be two finite numbers, the smaller first"
        refuse_value(f"the range of '{field}'", limits, must)
    return field, float(limits[0]), float(limits[1])


def _axis(experiment: Experiment, y: Any) -> Axis:
    if isinstance(y, str):
        value = _number(experiment, y)
        y = {y: [value * 2**k for k in range(_DOUBLINGS + 1)]}
    listed = axes(y)
    if len(listed) != 1:
        raise BadInput("y must be one field and its values, or fields that change together.")
    for path in listed[0].fields:
        field_kind(experiment, path)  # refuses what is no field
    return listed[0]


def _number(experiment: Experiment, path: str) -> float:
    if field_kind(experiment, path) not in ("number", "shape", "count"):
        raise BadInput(f"'{path}' needs its values: {{'{path}': [...]}}.")
    return value_at(experiment, path)
