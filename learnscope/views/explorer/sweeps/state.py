"""The state of the sweeps page, and how an address gives it."""

import dataclasses
from typing import Any

import numpy as np

from learnscope.errors import BadInput, unknown
from learnscope.views.explorer.live.state import whole
from learnscope.views.explorer.live.theory import SCORES
from learnscope.views.explorer.sweeps.reading import Opened

NONE, MEAN, LARGEST = "none", "mean", "largest"


@dataclasses.dataclass(frozen=True)
class Chosen:
    """A variable over one or two axes after a recorded step, with one value or the mean of every
    other axis and of the seeds; one component or the largest; and the cell whose runs are shown.

    Positions count from 0 here, from 1 in an address.
    """

    of: str
    x: str | None
    y: str | None
    step: int
    part: tuple[int, ...] | None = None
    at: dict[str, int | None] = dataclasses.field(default_factory=dict)
    cell: tuple[int, int] = (0, 0)

    @staticmethod
    def first(opened: Opened) -> "Chosen":
        """The first view of a sweep: its last two axes, after the last step."""
        y, x = [None, None, *opened.axes][-2:]
        likely = [name for word in SCORES for name in opened.variables if name.endswith(word)]
        of, last = [*likely, *opened.variables][0], opened.data.sizes["step"] - 1
        return Chosen(of, x, y, last, at=_others(opened, {}))

    @staticmethod
    def parse(given: dict[str, str], opened: Opened) -> "Chosen":
        """The state of an address; missing fields are as in the first view."""
        first, given = Chosen.first(opened), dict(given)
        of = given.pop("of", first.of)
        if of not in opened.variables:
            raise unknown("variable of this sweep", of, opened.variables)
        x, y = given.pop("x", first.x or NONE), given.pop("y", None)
        if y is None:
            y = first.y if first.y != x else first.x
            y = NONE if y is None or y == x else y
        for name, allowed in ((x, opened.dims), (y, [*opened.dims, NONE])):
            if name not in allowed and opened.axes:
                raise unknown("axis of this sweep", name, allowed)
        if x == y and opened.axes:
            raise BadInput(f"x and y are both '{x}'; a map needs two axes.")
        x, y = (x, None if y == NONE else y) if opened.axes else (None, None)
        step = _step(given.pop("step", None), opened)
        part = _component(given.pop("part", LARGEST), opened.own(of))
        positions: dict[str, int | None] = {}
        for dim, size in zip(opened.dims, opened.finished.shape, strict=True):
            text = given.pop(f"at.{dim}", None)
            if text is not None:
                positions[dim] = None if text == MEAN else whole(f"at.{dim}", text, 1, size) - 1
        cell = _cell(given.pop("cell", None), opened, [x, y])
        if given:
            known = ["id", "of", "x", "y", "step", "part", "cell"]
            known += [f"at.{dim}" for dim in opened.dims]
            raise unknown("field of an address", next(iter(given)), known)
        return Chosen(of, x, y, step, part, _others(opened, positions), cell)

    @property
    def shown(self) -> tuple[str, ...]:
        """The axes of the map, y before x."""
        return tuple(dim for dim in (self.y, self.x) if dim is not None)

    @property
    def others(self) -> dict[str, int]:
        """Positions on axes that are neither on the map nor averaged over."""
        return {d: i for d, i in self.at.items() if i is not None and d not in self.shown}

    @property
    def averaged(self) -> list[str]:
        """The axes that are averaged over."""
        return [d for d, i in self.at.items() if i is None and d not in self.shown]

    @property
    def position(self) -> dict[str, int]:
        """The position of the cell."""
        pairs = zip((self.x, self.y), self.cell, strict=True)
        return self.others | {dim: i for dim, i in pairs if dim is not None}

    def values(self) -> dict[str, Any]:
        """The values of the page's controls."""
        part = LARGEST if self.part is None else ",".join(str(i + 1) for i in self.part)
        at = {f"at.{d}": MEAN if i is None else str(i + 1) for d, i in self.at.items()}
        return {"of": self.of, "x": self.x, "y": self.y or NONE, "step": self.step, "part": part,
                **at, "cell-x": self.cell[0], "cell-y": self.cell[1]}  # fmt: skip


def _others(opened: Opened, positions: dict[str, int | None]) -> dict[str, int | None]:
    """The given positions; by default the first value of an axis, and the mean over seeds."""
    return {dim: None if dim == "seed" else 0 for dim in opened.dims} | positions


def _step(text: str | None, opened: Opened) -> int:
    steps = np.asarray(opened.data.step.values)
    if text is None:
        return len(steps) - 1
    value = whole("step", text, 0, int(steps[-1]))
    if value not in steps:
        near = int(steps[np.abs(steps - value).argmin()])
        raise BadInput(f"step {value} was not recorded; the nearest that was is {near}.")
    return int(np.flatnonzero(steps == value)[0])


def _component(text: str, own: dict[str, int]) -> tuple[int, ...] | None:
    if text == LARGEST:
        return None
    words = text.split(",")
    if len(words) != len(own):
        needs = f"one number for each of {', '.join(own)}" if own else "no component"
        raise BadInput(f"part = {text[:40]} is not allowed: this variable has {needs}.")
    pairs = zip(words, own.items(), strict=True)
    return tuple(whole(f"part, {dim}", word, 1, size) - 1 for word, (dim, size) in pairs)


def _cell(text: str | None, opened: Opened, shown: list[str | None]) -> tuple[int, int]:
    dims = [dim for dim in shown if dim is not None]
    words = text.split(",") if text else ["1"] * len(dims)
    if len(words) != len(dims):
        raise BadInput(f"cell = {text} is not allowed: it must have {len(dims)} numbers.")
    places = [whole(f"cell, {dim}", word, 1, opened.finished.sizes[dim]) - 1
              for word, dim in zip(words, dims, strict=True)]  # fmt: skip
    return (*places, 0, 0)[0], (*places, 0, 0)[1]
