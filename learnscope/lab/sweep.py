"""Sweeps: which fields vary, how they split into programs, and the shape of blocks."""

import contextlib
import dataclasses
import itertools
import json
import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from learnscope.engine.experiment import Experiment
from learnscope.engine.program import Program
from learnscope.errors import BadInput, refuse_value
from learnscope.part import AbstractPart, field_kind, labels
from learnscope.part.plain import plain, values_of
from learnscope.probes.probe import RESERVED

Over = Mapping[str, Any] | Sequence[Any] | None
_RENAME = "name it otherwise with zipped({...}, name=...)"
_RESERVED = (*RESERVED, "method", "tolerance", "drop")  # the last three: of `Dataset.sel`
_MOST_SEEDS = 10**7
# Blocks are cut for 2 cores (weight 2) and for 8 (weight 1); starting one costs as much as this
# many short runs.
_CORES, _BLOCK_COST = {2: 2, 8: 1}, 2
_CHECKED = 1000  # numbers of an axis that are checked one by one


@dataclasses.dataclass(frozen=True)
class Axis:
    """One dim of a sweep: the values of one field, or of several that change together."""

    dim: str
    fields: dict[str, list[Any]]
    names: tuple[str, ...] | None = None  # a user's labels of the values

    def labels(self, path: str) -> list[Any]:
        """Labels of a field's values: the user's, or read off the values."""
        return labels(self.fields[path]) if self.names is None else list(self.names)

    @property
    def size(self) -> int:
        return len(next(iter(self.fields.values())))

    def settings(self) -> list[dict[str, Any]]:
        """The fields and their values at every position."""
        positions = zip(*self.fields.values(), strict=True)
        return [dict(zip(self.fields, values, strict=True)) for values in positions]

    def coords(self) -> dict[str, Any]:
        """The coordinates of the axis: the first field by the name of the dim, others by path."""
        return {
            (self.dim if i == 0 else path): (self.dim, self.labels(path), {"field": path})
            for i, path in enumerate(self.fields)
        }


def zipped(fields: Mapping[str, Iterable[Any]], name: str | None = None) -> Axis:
    """Fields that change together, as one axis named after the first of them (or `name`).

    >>> zipped({"data.noise": [0.5, 1.5], "net.scale": [0.01, 0.001]}).dim
    'noise'
    """
    if not isinstance(fields, Mapping) or not fields:
        raise BadInput(f"zipped needs a table of fields and their values, not {fields!r}.")
    for path in fields:
        if not isinstance(path, str):
            raise BadInput(f"the axis {path!r} is not allowed: it must be a dotted field.")
    values = {path: values_of(f"the axis '{path}'", given) for path, given in fields.items()}
    if len({len(listed) for listed in values.values()}) > 1:
        sizes = ", ".join(f"{path} has {len(listed)}" for path, listed in values.items())
        raise BadInput(f"zipped fields must have equally many values: {sizes}.")
    first, *more = values.values()
    marks: Sequence[Any] = first  # plain numbers, of which there may be millions, or
    if more or not {type(value) for value in first} <= {int, float}:
        kinds = (int, float, str)
        settings = zip(first, *more, strict=True)
        marks = [tuple(v if isinstance(v, kinds) else repr(v) for v in each) for each in settings]
    mark, times = Counter(marks).most_common(1)[0]
    if times > 1:
        text = ", ".join(repr(listed[marks.index(mark)]) for listed in values.values())
        raise BadInput(f"the axis '{', '.join(values)}' has the value {text} twice.")
    return Axis(name or dim_of(next(iter(values))), values)


def dim_of(path: str) -> str:
    """The name of an axis over a field: its last name, with the list's name before a position.

    >>> dim_of("data.noise"), dim_of("data.strengths.1")
    ('noise', 'strengths_1')
    """
    before, _, last = path.rpartition(".")
    return f"{before.rpartition('.')[2]}_{last}" if last.isdigit() else last


def axes(over: Over) -> list[Axis]:
    """The axes of a sweep, from a dict, a zipped axis, or a list of either."""
    listed: list[Axis]
    if over is None:
        return []
    if isinstance(over, Axis):
        listed = [over]
    elif isinstance(over, Mapping):
        listed = [_axis(path, value) for path, value in over.items()]
    elif isinstance(over, list | tuple):
        listed = [axis for each in over for axis in axes(each)]
    else:
        refuse_value("over", over, "it must map dotted fields to values")
    dims = Counter([*_RESERVED, *(axis.dim for axis in listed)])
    paths = Counter(path for axis in listed for path in axis.fields)
    for dim in (dim for dim, times in dims.items() if times > 1):
        raise BadInput(f"the axis '{dim}' is there twice or is reserved; {_RENAME}.")
    for path in (path for path, times in paths.items() if times > 1):
        raise BadInput(f"the field '{path}' is on two axes.")
    return listed


def _axis(path: str, value: Any) -> Axis:
    """The axis of one field: its values, or values by the labels that a user gives them."""
    if isinstance(value, Axis):
        return dataclasses.replace(value, dim=dim_of(path))
    if not isinstance(value, Mapping):
        return zipped({path: value})
    names = tuple(map(str, value))
    return dataclasses.replace(zipped({path: list(value.values())}), names=names)


def part_tables(swept: Sequence[Axis]) -> dict[str, str]:
    """Parts on axes by field and label, as tables, where they have a text form: an attribute of
    the dataset."""
    tables: dict[str, dict[str, Any]] = {}
    for axis in swept:
        for path, values in axis.fields.items():
            for place in (i for i, v in enumerate(values) if isinstance(v, AbstractPart)):
                with contextlib.suppress(BadInput):
                    tables.setdefault(path, {})[axis.labels(path)[place]] = plain(values[place])
    return {"parts": json.dumps(tables)} if tables else {}


def seed_list(seeds: int | Iterable[int]) -> list[int]:
    """Seeds from a count or an iterable."""
    try:
        given = seeds if isinstance(seeds, Iterable) else range(operator.index(seeds))
        listed = [operator.index(seed) for seed in itertools.islice(given, _MOST_SEEDS + 1)]
    except TypeError:
        refuse_value("seeds", seeds, "it must be a count or a list of whole numbers")
    if not listed:
        refuse_value("seeds", seeds, "there must be at least one")
    if len(listed) > _MOST_SEEDS:
        raise BadInput(f"there are too many seeds: {_MOST_SEEDS:,} are allowed.")
    if len(set(listed)) < len(listed) or min(listed) < 0 or max(listed) >= 2**31:
        raise BadInput("seeds must be distinct whole numbers from 0 to 2^31 - 1.")
    return listed


def programs(experiment: Experiment, swept: Sequence[Axis], ambient: bool = False) -> list[Program]:
    """Split a sweep into programs, and validate every value as its part's constructor would.

    In ambient coordinates a number that sizes arrays cannot be traced: each value is a program.
    """
    # Whole parts come first: a field may belong to a part that is swept itself.
    whole = [axis.settings()[0] for axis in swept if "." not in "".join(axis.fields)]
    example = changed(experiment, *whole)
    traced = ("number", "entry") if ambient else ("number", "entry", "shape")
    numeric = [
        axis
        for axis in swept
        if all(type(value) in (int, float) for values in axis.fields.values() for value in values)
        and all(field_kind(example, path) in traced for path in axis.fields)
    ]
    structural = [axis for axis in swept if axis not in numeric]
    numbers = [(axis.dim, path, values) for axis in numeric for path, values in axis.fields.items()]
    varying = {path: (dim, np.asarray(values, float)) for dim, path, values in numbers}
    split = []
    for settings in itertools.product(*(enumerate(axis.settings()) for axis in structural)):
        base = changed(experiment, *(setting for _, setting in settings))
        for path, (_, values) in varying.items():
            for value in _telling(values):
                base.replace(path, value)  # refuses what is not allowed
        place = {axis.dim: i for axis, (i, _) in zip(structural, settings, strict=True)}
        split.append(Program(base, place, varying))
    outputs = {name: out for probe in experiment.probes for name, out in probe.outputs.items()}
    taken = {*outputs, *(dim for out in outputs.values() for dim in out.dims)}
    for dim in (axis.dim for axis in swept if axis.dim in taken):
        raise BadInput(f"the axis '{dim}' has the name of a recorded value; {_RENAME}.")
    return split


def check_numbers(split: Sequence[Program], precision: str) -> None:
    """Refuse numbers that a precision cannot hold: they would be infinite."""
    most = float(np.finfo(precision).max)
    swept = [values for program in split for _, values in program.varying.values()]
    leaves = jax.tree.leaves([program.experiment for program in split])
    for value in (*leaves, *(extreme for v in swept for extreme in (v.max(), v.min()))):
        if isinstance(value, int | float) and most < abs(value) < math.inf:
            raise BadInput(f"{value:g} is too large a number for {precision}.")


def _telling(values: np.ndarray) -> list[float]:
    """Numbers that are all allowed only if a whole axis is: a field allows an interval, perhaps of
    whole numbers only. A short axis is checked value by value."""
    if values.size <= _CHECKED:
        return values.tolist()
    some = values[:: values.size // _CHECKED]
    return [*some, values.min(), values.max(), values[np.argmax(values % 1 != 0)]]


def changed(experiment: Experiment, *settings: dict[str, Any]) -> Experiment:
    """The experiment with some fields changed, whole parts before their fields."""
    changes = [change for setting in settings for change in setting.items()]
    for path, value in sorted(changes, key=lambda change: change[0].count(".")):
        experiment = experiment.replace(path, value)
    return experiment


def block_shape(shape: Sequence[int], batch: int, limit: int) -> tuple[int, ...]:
    """The shape of equal blocks for runs computed in whole batches, at most `limit` per block.

    Candidates take the trailing dims whole, part of one dim, and 1 along those before. The best
    one has the least to compute, counting padding to whole batches and idle cores.

    >>> block_shape((100, 100, 10), batch=10, limit=512)
    (1, 50, 10)
    >>> block_shape((7, 6), batch=10, limit=512)
    (5, 6)
    """
    best, least = tuple(1 for _ in shape), math.inf
    for split in range(len(shape)):
        whole = math.prod(shape[split + 1 :])
        for side in range(1, shape[split] + 1):
            if side * whole > max(limit, 1):
                break
            count = math.prod(shape[:split]) * -(-shape[split] // side)
            each = batch * -(-side * whole // batch) + _BLOCK_COST
            cost = sum(weight * each * -(-count // cores) for cores, weight in _CORES.items())
            if cost < least or (cost == least and side * whole > math.prod(best)):
                best = (*(1 for _ in shape[:split]), side, *shape[split + 1 :])
                least = cost
    return best
