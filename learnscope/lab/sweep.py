"""Sweeps: which fields vary, and how they split into programs and runs."""

import dataclasses
import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from learnscope.errors import BadInput, unknown
from learnscope.lab.experiment import Experiment
from learnscope.part import AbstractPart, allowed_kind, is_whole

Over = Mapping[str, Any] | Sequence[Any] | None
_RESERVED = ("seed", "step", "method", "tolerance", "drop")  # the last three: of `Dataset.sel`


@dataclasses.dataclass(frozen=True)
class Axis:
    """One dim of a sweep: the values of one field, or of several that change together."""

    dim: str
    fields: dict[str, list[Any]]

    @property
    def size(self) -> int:
        return len(next(iter(self.fields.values())))


def zipped(fields: Mapping[str, Iterable[Any]], name: str | None = None) -> Axis:
    """Fields that change together, as one axis named after the first of them (or `name`).

    >>> zipped({"data.noise": [0.5, 1.5], "net.scale": [0.01, 0.001]}).dim
    'noise'
    """
    if not isinstance(fields, Mapping):
        raise BadInput(f"zipped needs a table of fields and their values, not {fields!r}.")
    values = {path: _values(path, given) for path, given in fields.items()}
    if not values:
        raise BadInput("zipped needs at least one field.")
    sizes = {path: len(given) for path, given in values.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{path} has {size}" for path, size in sizes.items())
        raise BadInput(f"zipped fields must have equally many values: {told}.")
    seen = set()
    for setting in zip(*values.values(), strict=True):
        mark = tuple(v if isinstance(v, int | float | str) else repr(v) for v in setting)
        if mark in seen:
            told = ", ".join(repr(value) for value in setting)
            raise BadInput(f"the axis '{', '.join(values)}' has the value {told} twice.")
        seen.add(mark)
    return Axis(name or dim_of(next(iter(values))), values)


def dim_of(path: str) -> str:
    """What an axis over a field is named: by its last name, and by that of a list before a place.

    >>> dim_of("data.noise"), dim_of("data.strengths.1")
    ('noise', 'strengths_1')
    """
    before, _, last = path.rpartition(".")
    return f"{before.rpartition('.')[2]}_{last}" if last.isdigit() else last


def axes(over: Over) -> list[Axis]:
    """The axes of a sweep, from a dict, a zipped axis, or a list of either."""
    if over is None:
        return []
    found: list[Axis]
    if isinstance(over, Axis):
        found = [over]
    elif isinstance(over, Mapping):
        found = [
            dataclasses.replace(value, dim=dim_of(path))
            if isinstance(value, Axis)
            else zipped({path: value})
            for path, value in over.items()
        ]
    elif isinstance(over, list | tuple):
        found = [axis for each in over for axis in axes(each)]
    else:
        raise BadInput(f"over = {over!r} is not allowed: it must map dotted fields to values.")
    dims = [axis.dim for axis in found]
    for dim in dims:
        if dims.count(dim) > 1 or dim in _RESERVED:
            raise BadInput(
                f"the axis '{dim}' is there twice or is reserved; "
                f"name it otherwise with zipped({{...}}, name=...)."
            )
    paths = [path for axis in found for path in axis.fields]
    for path in paths:
        if paths.count(path) > 1:
            raise BadInput(f"the field '{path}' is on two axes.")
    return found


def _values(path: str, given: Any) -> list[Any]:
    if not isinstance(path, str):
        raise BadInput(f"the axis {path!r} is not allowed: it must be a dotted field.")
    if isinstance(given, np.ndarray | jax.Array) and given.ndim > 0:
        given = np.asarray(given).tolist() if given.ndim == 1 else list(given)
    listed = isinstance(given, Iterable) and not isinstance(given, np.ndarray | jax.Array)
    if isinstance(given, str | bytes | Mapping) or not listed:
        raise BadInput(
            f"the axis '{path}' = {given!r} is not allowed: it must be a list of values."
        )
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not values:
        raise BadInput(f"the axis '{path}' has no values.")
    return values


def check_names(found: Sequence[Axis], experiment: Experiment) -> None:
    """Say so if an axis is named like something that the experiment records."""
    outputs = {name: out for probe in experiment.probes for name, out in probe.outputs.items()}
    taken = {"diverged_at", *outputs, *(dim for out in outputs.values() for dim in out.dims)}
    for axis in found:
        if axis.dim in taken:
            raise BadInput(
                f"the axis '{axis.dim}' is named like something that is recorded; "
                "name it otherwise with zipped({...}, name=...)."
            )


def seed_list(seeds: int | Iterable[int]) -> list[int]:
    """Seeds from a count or an iterable."""
    try:
        listed = (
            [operator.index(seed) for seed in seeds]
            if isinstance(seeds, Iterable)
            else list(range(operator.index(seeds)))
        )
    except TypeError:
        raise BadInput(
            f"seeds = {seeds!r} is not allowed: it must be a count or a list of whole numbers."
        ) from None
    if not listed:
        raise BadInput(f"seeds = {seeds!r} is not allowed: there must be at least one.")
    if len(set(listed)) < len(listed) or min(listed) < 0 or max(listed) >= 2**31:
        raise BadInput("seeds must be distinct whole numbers from 0 to 2^31 - 1.")
    return listed


@dataclasses.dataclass(frozen=True)
class Group:
    """The runs of one compiled program: an experiment, and the numbers that vary within it.

    `place` is the position on every structural axis; `varying` maps a field to the numeric axis it
    lies on and to its values there.
    """

    experiment: Experiment
    place: dict[str, int]
    varying: dict[str, tuple[str, np.ndarray]]

    @property
    def shape(self) -> dict[str, int]:
        """How many values each numeric axis has."""
        return {dim: len(values) for dim, values in self.varying.values()}

    @property
    def size(self) -> int:
        """How many settings there are (times seeds: runs)."""
        return math.prod(self.shape.values())


def groups(experiment: Experiment, found: Sequence[Axis], ambient: bool) -> list[Group]:
    """Split a sweep into programs. Every value is validated as its part's constructor would."""
    # Whole parts come first: a field may belong to a part that is swept itself.
    example = _placed(experiment, [(axis, 0) for axis in found if "." not in "".join(axis.fields)])
    numeric = [axis for axis in found if _is_numeric(example, axis, ambient)]
    structural = [axis for axis in found if axis not in numeric]
    result = []
    for place in itertools.product(*(range(axis.size) for axis in structural)):
        base = _placed(experiment, list(zip(structural, place, strict=True)))
        for axis in numeric:
            for position in range(axis.size):
                for path, values in axis.fields.items():
                    base.replace(path, values[position])
        varying = {
            path: (axis.dim, np.asarray(values, float))
            for axis in numeric
            for path, values in axis.fields.items()
        }
        dims = [axis.dim for axis in structural]
        result.append(Group(base, dict(zip(dims, place, strict=True)), varying))
    return result


def _placed(experiment: Experiment, settings: Sequence[tuple[Axis, int]]) -> Experiment:
    """The experiment at a position of some axes, whole parts before their fields."""
    changes = [
        (path, values[position])
        for axis, position in settings
        for path, values in axis.fields.items()
    ]
    for path, value in sorted(changes, key=lambda change: change[0].count(".")):
        experiment = experiment.replace(path, value)
    return experiment


def _is_numeric(experiment: Experiment, axis: Axis, ambient: bool) -> bool:
    """Whether all fields of an axis are numbers that one program can trace."""
    traced = {"number", "entry"} if ambient else {"number", "entry", "shape"}
    numbers = all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for values in axis.fields.values()
        for value in values
    )
    return numbers and all(field_kind(experiment, path) in traced for path in axis.fields)


def field_kind(experiment: Experiment, path: str) -> str:
    """What the field at a path is: number, shape, count, choice, flag, entry or other."""
    part, name = _owner(experiment, path)
    if isinstance(part, tuple):
        part = {str(i): value for i, value in enumerate(part)}
        if name not in part:
            raise unknown(f"entry of {path.rpartition('.')[0]}", name, part)
    if isinstance(part, Mapping):
        return "entry" if isinstance(part.get(name), float) else "other"
    return allowed_kind(part, name)


def field_is_whole(experiment: Experiment, path: str) -> bool:
    """Whether the field at a path takes whole numbers only."""
    part, name = _owner(experiment, path)
    return isinstance(part, AbstractPart) and is_whole(part, name)


def _owner(experiment: Experiment, path: str) -> tuple[Any, str]:
    """The part (or table of options) that the last name of a path is a field of, and that name."""
    head, _, rest = path.partition(".")
    part: Any = experiment
    while rest and not isinstance(part, Mapping):
        allowed_kind(part, head)
        part = getattr(part, head)
        if isinstance(part, Mapping | tuple):
            return part, rest
        if not isinstance(part, AbstractPart):
            raise BadInput(f"'{path}' is not a field: {head} = {part!r} has no fields.")
        head, _, rest = rest.partition(".")
    return part, head


def labels(axis: Axis, path: str) -> list[Any]:
    """Coordinate values: numbers and strings as they are, parts by kind and by what differs."""
    values = axis.fields[path]
    if not any(isinstance(value, AbstractPart) for value in values):
        return [str(v) if v is None or isinstance(v, list | tuple | dict) else v for v in values]
    names = [type(value).__name__ for value in values]
    if len(set(names)) == len(names):
        return names
    return [_signature(value, values) for value in values]


def _signature(value: Any, among: Sequence[Any]) -> str:
    """A part's kind with the fields in which parts of the same kind differ."""
    peers = [other for other in among if type(other) is type(value)]
    differing = [
        f"{field.name}={getattr(value, field.name)!r}"
        for field in dataclasses.fields(value)
        if len({repr(getattr(peer, field.name)) for peer in peers}) > 1
    ]
    return f"{type(value).__name__}({', '.join(differing)})" if differing else type(value).__name__
