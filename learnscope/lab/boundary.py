"""`boundary`: where a response crosses a level, found by bisection instead of filling a grid."""

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab.crossing import CROSSED, Crossing, bracket, crossings, fit_exponent
from learnscope.lab.experiment import Experiment
from learnscope.lab.plan import experiment_text
from learnscope.lab.run import Report, run_and_report
from learnscope.lab.sweep import Axis, axes, dim_of, field_is_whole, field_kind, seed_list, zipped
from learnscope.probes import Output

_GRID = 9  # values of x that are tried first, over the whole range
_SPAN = 100.0  # the range around a field's own value, if none is given: so many times less and more
_DOUBLINGS = 7  # values of y, if none are given: the field's own, and doubled so often
_RESAMPLES = 2000
_REFINEMENTS = 2  # passes of four more points about each band's ends


def boundary(
    experiment: Experiment,
    x: str | Mapping[str, Iterable[float]],
    y: str | Mapping[str, Iterable[Any]] | Axis,
    at: float,
    of: str,
    seeds: int | Iterable[int] = 10,
    coordinates: str = "auto",
    precision: str = "float32",
    store: str | os.PathLike[str] | None = None,
    cluster: Any = None,
    progress: bool = True,
    *,
    tolerance: float = 0.001,
    level: float = 0.95,
) -> xr.Dataset:
    """The value of `x` at which the mean of `of` over seeds, after the last step, crosses `at`,
    for every value of `y`; with a confidence band, and the exponent of x ~ y^exponent.

    `x` is a field and its range, {"data.signal": (1, 10)}; `y` a field and its values,
    {"data.dim": [100, 1000]}, or fields that change together (`zipped`). A name alone stands for a
    range a hundred times below and above the experiment's own value (x), and for that value doubled
    seven times (y).

    A grid over the range is tried first: it shows where the response crosses, or that it never does
    or does so several times, which `status` then says instead of a made-up number. Then every
    crossing is bisected, all values of y at once in one program, until it is known to `tolerance`
    (relative, if the range is positive). Seeds are shared, so that the response is one function of
    x; the band resamples them (bootstrap, central `level`), and so does the exponent's error, which
    is widened where the points scatter more about the line than their own errors explain.

    Variables: `boundary`, `low`, `high`, `status`, and what was tried: `tried`, `mean`. Attributes:
    `exponent` and `exponent_error` (one standard error), NaN where there is nothing to fit.
    """
    return boundary_and_report(
        experiment, x, y, at, of, seeds, coordinates=coordinates, precision=precision, store=store,
        cluster=cluster, progress=progress, tolerance=tolerance, level=level,
    )[0]  # fmt: skip


def boundary_and_report(
    experiment: Experiment,
    x: Any,
    y: Any,
    at: float,
    of: str,
    seeds: int | Iterable[int] = 10,
    *,
    tolerance: float = 0.001,
    level: float = 0.95,
    **settings: Any,
) -> tuple[xr.Dataset, Report]:
    """`boundary`, and a report of what it took; `settings` are those of `run`."""
    if not isinstance(experiment, Experiment):
        raise BadInput(f"experiment = {experiment!r} is not allowed: it must be an Experiment.")
    response = _Response.of_run(experiment, of, seeds, settings)
    field, low, high = _range(experiment, x)
    axis = _values(experiment, y)
    if field in axis.fields:
        raise BadInput(f"'{field}' cannot be both x and y of a boundary.")
    _check_level(response, at)
    for name, value, most in (("tolerance", tolerance, 1), ("level", level, 1)):
        if not isinstance(value, int | float) or not 0 < value < most:
            raise BadInput(f"{name} = {value!r} is not allowed: it must be between 0 and {most}.")
    scale = _Scale(low > 0, field_is_whole(experiment, field))
    first, last = scale(np.array([low, high])).tolist()
    points = scale.back(np.linspace(first, last, _GRID))
    points[0], points[-1] = low, high
    points = np.unique(points.round()) if scale.whole else points
    tried = [points] * axis.size
    values = list(response.grid(axis, field, points))
    known = [bracket(scale(p), v, at) for p, v in zip(tried, values, strict=True)]

    while True:
        todo = [
            i
            for i, found in enumerate(known)
            if found.status == CROSSED and scale.is_wide(found, tolerance)
        ]
        if not todo:
            break
        middles = [scale.middle(known[i]) for i in todo]
        for i, x_new, new in response.along(axis, field, todo, middles):
            known[i] = known[i].narrowed(scale(np.array(x_new)).item(), new.mean(), at)
            tried[i], values[i] = np.append(tried[i], x_new), np.concatenate([values[i], new[None]])

    band = _Band(response.count, at, level)
    crossed = [i for i, found in enumerate(known) if found.status == CROSSED]
    for _ in range(_REFINEMENTS):
        places, wanted = [], []
        for i in crossed:
            low_end, high_end = band.ends(scale(tried[i]), values[i], known[i])
            centre = known[i].estimate
            for u in (low_end, (low_end + centre) / 2, (centre + high_end) / 2, high_end):
                point = scale.rounded(float(scale.back(u)))
                if point not in tried[i] and (i, point) not in zip(places, wanted, strict=True):
                    places.append(i)
                    wanted.append(point)
        for i, x_new, new in response.along(axis, field, places, wanted):
            tried[i], values[i] = np.append(tried[i], x_new), np.concatenate([values[i], new[None]])
    found = _dataset(axis, field, of, at, scale, tried, values, known, response, band)
    return found, Report.of(response.reports)


@dataclasses.dataclass(frozen=True)
class _Scale:
    """Bisection happens in log x where x is positive, else in x itself; some x are whole."""

    log: bool
    whole: bool

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.log(x) if self.log else np.asarray(x, float)

    def back(self, u: np.ndarray | float) -> np.ndarray:
        return np.exp(u) if self.log else np.asarray(u, float)

    def middle(self, found: Crossing) -> float:
        """The x between the ends of a bracket."""
        return self.rounded(float(self.back((found.left + found.right) / 2)))

    def rounded(self, x: float) -> float:
        return float(round(x)) if self.whole else x

    def is_wide(self, found: Crossing, tolerance: float) -> bool:
        """Whether a bracket is to be halved once more."""
        ends = self.back(np.array([found.left, found.right]))
        if self.whole and self.middle(found) in ends.round():
            return False
        largest = np.abs(ends).max()
        return bool(ends[1] - ends[0] > tolerance * largest)


class _Band:
    """Resampled crossings: the same draws of seeds for every y, since seeds are shared."""

    def __init__(self, seeds: int, at: float, level: float):
        self._at, self.level = at, level
        weights = np.full(seeds, 1 / seeds)
        self._shares = np.random.default_rng(0).multinomial(seeds, weights, _RESAMPLES).T / seeds

    def draws(self, u: np.ndarray, values: np.ndarray, found: Crossing) -> np.ndarray:
        order = np.argsort(u)
        return crossings(u[order], values[order] @ self._shares, self._at, found.rising)

    def ends(self, u: np.ndarray, values: np.ndarray, found: Crossing) -> tuple[float, float]:
        tail = 100 * (1 - self.level) / 2
        low, high = np.percentile(self.draws(u, values, found), [tail, 100 - tail])
        return float(low), float(high)


@dataclasses.dataclass(frozen=True)
class _Response:
    """The number that is bisected: a probe's output after the last step."""

    experiment: Experiment
    of: str
    output: Output
    seeds: list[int]
    settings: dict[str, Any]
    reports: list[Report]

    @staticmethod
    def of_run(experiment: Experiment, of: str, seeds: Any, settings: dict) -> "_Response":
        outputs = {n: o for probe in experiment.probes for n, o in probe.outputs.items()}
        if of not in outputs:
            raise BadInput(
                f"of = {of!r} is not allowed: the experiment's probes record "
                f"{', '.join(sorted(outputs))}."
            )
        if outputs[of].dims:
            raise BadInput(
                f"of = {of!r} is not allowed: it is not one number a run but has dims "
                f"{', '.join(outputs[of].dims)}."
            )
        return _Response(experiment, of, outputs[of], seed_list(seeds), settings, [])

    def grid(self, axis: Axis, field: str, points: np.ndarray) -> np.ndarray:
        """(y, x, seed), every y with every x."""
        return self._run([axis, zipped({field: points.tolist()}, name="x of the boundary")])

    @property
    def count(self) -> int:
        return len(self.seeds)

    def along(
        self, axis: Axis, field: str, which: list[int], points: list[float]
    ) -> Iterator[tuple[int, float, np.ndarray]]:
        """For each of some values of y, an x of its own: which y, which x, values a seed."""
        if not which:
            return
        fields = {path: [values[i] for i in which] for path, values in axis.fields.items()}
        found = self._run([zipped({**fields, field: points}, name=axis.dim)])
        yield from zip(which, points, found, strict=True)

    def _run(self, over: list[Axis]) -> np.ndarray:
        data, report = run_and_report(self.experiment, over, self.seeds, **self.settings)
        self.reports.append(report)
        return data[self.of].isel(step=-1).values.astype(float)


def _range(experiment: Experiment, x: Any) -> tuple[str, float, float]:
    if isinstance(x, Mapping) and len(x) == 1:
        field, limits = next(iter(x.items()))
        limits = list(limits) if isinstance(limits, Iterable) else [limits]
    elif isinstance(x, str):
        value = _number(experiment, x)
        field, limits = x, [value / _SPAN, value * _SPAN]
    else:
        raise BadInput(f"x = {x!r} is not allowed: it must be a field, or a field and its range.")
    if field_kind(experiment, field) not in ("number", "shape", "entry"):
        raise BadInput(f"x = '{field}' is not allowed: it must be a number that can be swept.")
    numbers = all(isinstance(v, int | float) and np.isfinite(v) for v in limits)
    if len(limits) != 2 or not numbers or not limits[0] < limits[1]:
        raise BadInput(
            f"the range of '{field}' = {limits!r} is not allowed: it must be two finite numbers, "
            "the smaller first."
        )
    return field, float(limits[0]), float(limits[1])


def _values(experiment: Experiment, y: Any) -> Axis:
    if isinstance(y, str):
        value = _number(experiment, y)
        y = {y: [value * 2**k for k in range(_DOUBLINGS + 1)]}
    found = axes(y)
    if len(found) != 1:
        raise BadInput("y must be one field and its values, or fields that change together.")
    for path in found[0].fields:
        field_kind(experiment, path)
    return found[0]


def _number(experiment: Experiment, path: str) -> float:
    kind = field_kind(experiment, path)
    if kind not in ("number", "shape", "count"):
        raise BadInput(f"'{path}' needs its values: {{'{path}': [...]}}.")
    part: Any = experiment
    for name in path.split("."):
        part = getattr(part, name)
    return part


def _check_level(response: _Response, at: Any) -> None:
    low, high = response.output.low, response.output.high
    if isinstance(at, bool) or not isinstance(at, int | float) or not np.isfinite(at):
        raise BadInput(f"at = {at!r} is not allowed: it must be a finite number.")
    if not low < at < high:
        limits = f"between {low:g} and {high:g}" if np.isfinite(high) else f"above {low:g}"
        raise BadInput(f"at = {at!r} is not allowed: {response.of} lies {limits}.")


def _dataset(
    axis: Axis,
    field: str,
    of: str,
    at: float,
    scale: _Scale,
    tried: list[np.ndarray],
    values: list[np.ndarray],
    known: list[Crossing],
    response: _Response,
    band: "_Band",
) -> xr.Dataset:
    found = np.full((axis.size, _RESAMPLES), np.nan)
    centre, low, high = np.full((3, axis.size), np.nan)
    for i, crossing in enumerate(known):
        order = np.argsort(tried[i])
        tried[i], values[i] = tried[i][order], values[i][order]
        if crossing.status == CROSSED:
            centre[i] = crossing.estimate
            found[i] = band.draws(scale(tried[i]), values[i], crossing)
            low[i], high[i] = band.ends(scale(tried[i]), values[i], crossing)
    first = next(iter(axis.fields))
    exponent = error = np.nan
    if scale.log and all(isinstance(v, int | float) and v > 0 for v in axis.fields[first]):
        exponent, error = fit_exponent(np.log(axis.fields[first]), centre, found)
    longest = max(len(t) for t in tried)

    def padded(rows: list[np.ndarray]) -> np.ndarray:
        return np.stack([np.pad(r, (0, longest - len(r)), constant_values=np.nan) for r in rows])

    name = dim_of(field)
    coords: dict[str, Any] = {
        (axis.dim if k == 0 else path): (axis.dim, list(given), {"field": path})
        for k, (path, given) in enumerate(axis.fields.items())
    }
    unit = {"units": "1", "field": field}
    return xr.Dataset(
        {
            "boundary": (axis.dim, scale.back(centre), {"long_name": name, **unit}),
            "low": (axis.dim, scale.back(low), {"long_name": f"{name}, lower end", **unit}),
            "high": (axis.dim, scale.back(high), {"long_name": f"{name}, upper end", **unit}),
            "status": (axis.dim, [c.status for c in known], {"long_name": "what was found"}),
            "tried": ((axis.dim, "try"), padded(tried), {"long_name": name, **unit}),
            "mean": (
                (axis.dim, "try"),
                padded([v.mean(1) for v in values]),
                {"long_name": f"mean of {response.output.long_name}", "units": "1"},
            ),
        },
        coords,
        {
            "experiment": experiment_text(response.experiment),
            "x": field,
            "y": json.dumps(list(axis.fields)),
            "of": of,
            "at": float(at),
            "seeds": response.count,
            "level": band.level,
            "exponent": float(exponent),
            "exponent_error": float(error),
        },
    )
