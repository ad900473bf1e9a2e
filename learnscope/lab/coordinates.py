"""Which coordinates a sweep runs in: ambient, rotated, or compressed in law."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from learnscope.errors import BadInput
from learnscope.lab.experiment import Experiment
from learnscope.lab.sweep import Group
from learnscope.nets import AbstractInnerProductNet
from learnscope.rules import AbstractPairRule

COORDINATES = ("auto", "ambient", "rotate", "compressed")
# Coordinates a dimension up to which it pays: training vectors need only those before their own.
_MOST = 1.5


class Room(NamedTuple):
    """Coordinates that a compressed run has, those that fresh examples must be known in, and those
    of directions and training vectors."""

    rank: int
    seen: int | None
    span: int


def room(experiment: Experiment) -> Room:
    """Room for directions, training vectors and filters."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    assert isinstance(net, AbstractInnerProductNet)
    in_use = 1 + rule.targets if isinstance(rule, AbstractPairRule) else None
    seen = None if in_use is None else data.span + in_use * net.rows
    return Room(data.span + data.sets * net.rows, seen, data.span)


def obstacle(experiment: Experiment, dims: Iterable[float]) -> str | None:
    """Why an experiment cannot be compressed, or None if it can."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    if data.compression == "none":
        return f"{type(data).__name__} draws vectors that leave any fixed span"
    if not isinstance(net, AbstractInnerProductNet):
        return f"{type(net).__name__} sees more of its inputs than inner products"
    if rule.basis_dependence is not None:
        return rule.basis_dependence
    if data.sets > 1:
        name = type(rule).__name__
        known = isinstance(rule, AbstractPairRule)
        reason = (
            rule.fresh_obstacle if known else f"{name} may meet a fresh example twice in a step"
        )
        if reason is not None:
            return reason
    dims = list(dims)
    if len({data.replace("dim", int(dim)).span for dim in dims if len(dims) > 1} | {data.span}) > 1:
        return "the dimensions of the sweep need different numbers of coordinates"
    needed, smallest = data.span, min(dims)
    if needed > _MOST * smallest:
        return (
            f"directions and training vectors take {needed} coordinates and the dimension is only "
            f"{smallest:.0f}"
        )
    return None


def in_law(experiment: Experiment) -> bool:
    """Whether data and initial weights can be drawn in compressed coordinates directly."""
    net = experiment.net
    gaussian = isinstance(net, AbstractInnerProductNet) and net.isotropic
    return gaussian and experiment.data.compression == "gaussian_rows"


def choose(asked: str, groups: Sequence[Group]) -> str:
    """The coordinates for a whole sweep: `ambient`, `rotate` or `compressed`.

    One choice for all of it, since a seed's draw is the same only in the same coordinates, and
    comparisons within a sweep are paired. `auto` compresses if every experiment allows it.
    """
    if asked not in COORDINATES:
        raise BadInput(
            f"coordinates = {asked!r} is not allowed: it must be one of {', '.join(COORDINATES)}."
        )
    if asked == "ambient":
        return "ambient"
    if asked == "rotate" and any(group.experiment.data.sets > 1 for group in groups):
        raise BadInput(
            "coordinates = 'rotate' is not possible: every step draws new vectors, which no "
            "rotation holds; use 'compressed', 'ambient' or 'auto'."
        )
    for group in groups:
        _, dims = group.varying.get("data.dim", ("", [float(group.experiment.data.dim)]))
        reason = obstacle(group.experiment, dims)
        if reason is not None:
            if asked == "auto":
                return "ambient"
            raise BadInput(
                f"coordinates = {asked!r} is not possible: {reason}; use 'ambient' or 'auto'."
            )
    drawn = all(in_law(group.experiment) for group in groups)
    return "compressed" if drawn and asked != "rotate" else "rotate"
