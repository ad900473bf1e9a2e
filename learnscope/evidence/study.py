"""Studies: a paper's sweeps, figures and claims."""

import dataclasses
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput, unknown
from learnscope.evidence.boundary_sweep import BoundarySweep
from learnscope.evidence.claim import Claim
from learnscope.evidence.function_sweep import FunctionSweep
from learnscope.evidence.ledger import Entry, Ledger
from learnscope.evidence.preset import Preset
from learnscope.lab import Experiment
from learnscope.lab.blocks import Plan
from learnscope.lab.origin import origins
from learnscope.lab.run import Report, report_of, run_plan
from learnscope.lab.sweep import Axis, field_kind, programs, zipped
from learnscope.part import PAPERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def check_scale(scale: str, allowed: Iterable[str]) -> str:
    """The scale, if it exists."""
    if scale not in allowed:
        raise unknown("scale", scale, allowed)
    return scale


@dataclasses.dataclass(frozen=True)
class Arm:
    """One of several compared things: an experiment and the axes it is swept over.

    `names` replaces the values of an axis by other names.
    """

    label: str
    experiment: Experiment
    axes: tuple[Axis, ...] = ()
    names: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Arms over the same axes and seeds, stacked along `dim` (None: a single arm). Draws are paired
    between arms."""

    arms: tuple[Arm, ...]
    seeds: int | Sequence[int]
    dim: str | None = "rule"
    coordinates: str = "auto"
    precision: str = "float32"
    _planned: dict[str | None, list[tuple[Plan, float]]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(
        cls,
        experiments: Mapping[str, Experiment],
        seeds: int | Sequence[int],
        axes: tuple[Axis, ...] = (),
        dim: str | None = "rule",
        **settings: Any,
    ) -> "Sweep":
        """Experiments by label, all over the same axes."""
        arms = tuple(Arm(label, each, axes) for label, each in experiments.items())
        return cls(arms, seeds, dim, **settings)

    def run(self, **settings: Any) -> xr.Dataset:
        """One dataset; its attributes `experiment` and `over` hold those of each arm, as JSON.

        `settings` are those of `learnscope.run`: precision, store, cluster, progress.
        """
        plans = self.plans(settings.pop("precision", None))
        ran = [run_plan(plan, **settings) for plan, _ in plans]
        return Report.of(map(report_of, ran)).on(self.stacked(ran))

    def stacked(self, ran: Sequence[xr.Dataset]) -> xr.Dataset:
        """The datasets of the arms as one."""
        loaded = [
            data.load().assign_coords({dim: list(names) for dim, names in arm.names.items()})
            for arm, data in zip(self.arms, ran, strict=True)
        ]
        results = _indexed(loaded)
        shared = set.intersection(*(set(result.coords) for result in results))
        kept = [result.drop_vars(set(result.coords) - shared) for result in results]
        if self.dim is None:
            (stacked,) = kept
        else:
            labels = xr.DataArray([arm.label for arm in self.arms], dims=self.dim, name=self.dim)
            stacked = xr.concat(kept, labels, coords="different", compat="equals", join="outer")
        stacked.attrs = {
            key: value
            for key, value in results[0].attrs.items()
            if key not in ("experiment", "over")
        }
        for name in ("experiment", "over"):
            texts = {arm.label: r.attrs[name] for arm, r in zip(self.arms, results, strict=True)}
            stacked.attrs[name] = json.dumps(texts)
        return stacked

    def plans(self, precision: str | None) -> list[tuple[Plan, float]]:
        """The plans of the runs, to estimate their cost."""
        settings = self.seeds, self.coordinates, precision or self.precision
        if precision not in self._planned:  # which takes seconds, and is asked for twice
            plans = [(Plan.of(arm.experiment, arm.axes, *settings), 1.0) for arm in self.arms]
            self._planned[precision] = plans
        return self._planned[precision]

    def keeps_axes(self, changes: Mapping[str, list[Any]]) -> bool:
        """Whether fields with several values are axes already, so that figures still fit."""
        swept = {path for arm in self.arms for axis in arm.axes for path in axis.fields}
        return all(len(values) == 1 or path in swept for path, values in changes.items())

    def override(self, changes: Mapping[str, list[Any]], seeds: int | None = None) -> "Sweep":
        """The sweep with fields set (one value) or swept (several) in every arm that has them."""
        arms = self.arms
        for path, values in changes.items():
            taken = [has_field(arm.experiment, path) for arm in arms]
            if not any(taken):
                field_kind(arms[0].experiment, path)  # says what is allowed
            arms = tuple(
                _override(arm, path, values) if has else arm
                for arm, has in zip(arms, taken, strict=True)
            )
        for arm in arms:
            programs(arm.experiment, arm.axes)  # validates every value, before any run
        return dataclasses.replace(self, arms=arms, seeds=self.seeds if seeds is None else seeds)


def experiment_of(data: xr.Dataset, arm: str) -> Experiment:
    """The experiment of an arm, read from a sweep's dataset."""
    return origins(data.attrs)[arm].experiment


def _seeds(used: Sequence[xr.Dataset]) -> str:
    """The seeds behind a row: "0 to 34"."""
    ranges = []
    for data in used:
        if "seed" in data.coords and data.sizes.get("seed", 0):
            ranges.append(f"{data.seed.values.min()} to {data.seed.values.max()}")
        elif "seeds" in data.attrs:
            ranges.append(f"0 to {int(data.attrs['seeds']) - 1}")
    return ", ".join(dict.fromkeys(ranges))


def _indexed(results: list[xr.Dataset]) -> list[xr.Dataset]:
    """Number the dims whose sizes differ (neurons of nets of different widths), for stacking."""
    for dim in {dim for result in results for dim in result.dims}:
        sizes = {result.sizes.get(dim) for result in results}
        if len(sizes) > 1 and not any(dim in result.coords for result in results):
            results = [
                result.assign_coords({dim: np.arange(result.sizes[dim])}) for result in results
            ]
    return results


def has_field(experiment: Experiment, path: str) -> bool:
    """Whether an experiment has a field."""
    try:
        field_kind(experiment, path)
    except BadInput:
        return False
    return True


def _override(arm: Arm, path: str, values: list[Any]) -> Arm:
    experiment, axes = arm.experiment, list(arm.axes)
    for position, axis in enumerate(axes):
        if path in axis.fields:
            axes[position] = _with_values(experiment, axis, path, values)
            names = {dim: names for dim, names in arm.names.items() if dim != axis.dim}
            return dataclasses.replace(arm, axes=tuple(axes), names=names)
    if len(values) == 1:
        return dataclasses.replace(arm, experiment=experiment.replace(path, values[0]))
    return dataclasses.replace(arm, axes=(*axes, zipped({path: values})))


def _with_values(experiment: Experiment, axis: Axis, path: str, values: list[Any]) -> Axis:
    """New values on an axis. Zipped fields follow the nearest of their old values; a single value
    for a field that only follows others is set for all of them."""
    first = next(iter(axis.fields))
    if path != first and len(values) == 1:
        return Axis(axis.dim, {**axis.fields, path: values * axis.size})
    old, fields = axis.fields[path], {}
    if len(axis.fields) > 1:
        if not all(map(_is_number, [*old, *values])):
            for value in values:
                experiment.replace(path, value)  # says what is allowed
            others = ", ".join(other for other in axis.fields if other != path)
            raise BadInput(f"'{path}' cannot be changed here: {others} would have to follow it.")
        nearest = [
            min(range(axis.size), key=lambda k, v=value: abs(old[k] - v)) for value in values
        ]
        fields = {p: [given[k] for k in nearest] for p, given in axis.fields.items()}
    return zipped({**fields, path: values}, axis.dim)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure: its title, the sweeps it needs, and how it is drawn from their datasets."""

    title: str
    needs: tuple[str, ...]
    draw: Callable[..., "Drawing"]

    @property
    def words(self) -> str:
        """The title without LaTeX, as a terminal shows it.

        >>> Figure("It takes $d^{1.5}$", (), lambda: None).words
        'It takes d^1.5'
        """
        return re.sub(r"\$([^$]*)\$", lambda found: re.sub(r"[{}\\]", "", found[1]), self.title)


def _field(entry: str, name: str) -> str:
    """A field of a BibTeX entry, without braces and line ends.

    >>> _field("@misc{a, title = {On {SGD}\\n  again}, year = {2023}}", "title")
    'On SGD again'
    """
    found = re.search(rf"\b{name} = \{{(.*?)\}}\s*(?:,\s*\w+ =|\}}\s*$)", entry, flags=re.DOTALL)
    text = re.sub(r"\\'(\w)", "\\1\u0301", found[1]) if found else ""
    return unicodedata.normalize("NFC", " ".join(re.sub(r"[{}]", "", text).split()))


@dataclasses.dataclass(frozen=True)
class Study:
    """One paper: sweeps at a scale, and the figures and claims that refer to them by name.

    `paper` is what to cite: a key of `learnscope.part.PAPERS`, or BibTeX. `headline` names the
    figures to draw when all studies are run together (default: all). `presets` are the explorer's
    starting points.
    """

    name: str
    title: str
    paper: str
    sweeps: Callable[[str], Mapping[str, Sweep | BoundarySweep | FunctionSweep]]
    figures: dict[str, Figure]
    claims: tuple[Claim, ...]
    headline: tuple[str, ...] = ()
    presets: Callable[[], tuple[Preset, ...]] = tuple

    def __post_init__(self):
        if not self.citation.startswith("@"):
            raise unknown(f"paper of {self.name}", self.paper, [*PAPERS, "BibTeX"])

    @property
    def citation(self) -> str:
        """The paper as BibTeX."""
        return PAPERS.get(self.paper, self.paper)

    @property
    def link(self) -> str:
        """The address of the paper; empty if its BibTeX has none."""
        found = re.search(r"url = \{(.+?)\}", self.citation)
        return found.group(1) if found else ""

    @property
    def reference(self) -> str:
        """The paper in a line of Markdown: authors, year, title and address."""
        authors = [name.split(",")[0] for name in _field(self.citation, "author").split(" and ")]
        named = f"{', '.join(authors)} ({_field(self.citation, 'year')})"
        title = f"*{_field(self.citation, 'title')}*"
        return f"{named}, {f'[{title}]({self.link})' if self.link else title}"

    def figure(self, name: str) -> Figure:
        if name not in self.figures:
            raise unknown(f"figure of {self.name}", name, self.figures)
        return self.figures[name]

    def ledger(
        self, datasets: Mapping[str, xr.Dataset], absent: Mapping[str, str] | None = None,
        **made: str,
    ) -> Ledger:  # fmt: skip
        """All claims with their findings; `absent` gives the reason for a missing dataset, `made`
        what is noted in every row (when, and at which commit), unless a dataset says otherwise:
        one from a bundle."""

        def entry(claim: Claim) -> Entry:
            used = [datasets[name] for name in claim.needs if name in datasets]
            precisions = dict.fromkeys(data.attrs.get("precision", "") for data in used)
            facts = {"precision": ", ".join(filter(None, precisions))}
            facts |= {"seeds": _seeds(used)}
            facts |= {"command": f"learnscope {self._command(claim)}", **made}
            elsewhere = [data.encoding["made"] for data in used if "made" in data.encoding]
            for name in elsewhere[0] if elsewhere else ():
                facts[name] = "; ".join(dict.fromkeys(each[name] for each in elsewhere))
            return Entry(self.name, claim, claim.find(datasets, absent), facts)

        return Ledger(map(entry, self.claims))

    def _command(self, claim: Claim) -> str:
        """The shortest command that runs what a claim needs."""
        needs = set(claim.needs)
        fits = [name for name, f in self.figures.items() if needs and needs <= set(f.needs)]
        names = sorted(fits, key=lambda name: len(self.figures[name].needs))
        return f"run {self.name}.{names[0]}" if names else f"verify {self.name}"
