"""What parts say of compressed coordinates: how many they need, and why there can be none."""

from collections.abc import Iterable
from typing import NamedTuple

from learnscope.engine.experiment import Experiment
from learnscope.nets import AbstractInnerProductNet
from learnscope.part import shape_path

# Compression pays up to this ratio of coordinates to dimensions: a training vector needs only the
# coordinates before its own.
_MOST = 1.5


class Room(NamedTuple):
    """The coordinates of a compressed run: all of them, those in which fresh examples must be
    known, and those of directions and training vectors."""

    rank: int
    seen: int | None
    span: int


def room(experiment: Experiment, coordinates: str) -> Room | None:
    """The coordinates for directions, training vectors and filters; None unless compressed."""
    if coordinates != "compressed":
        return None
    data, net, in_use = experiment.data, experiment.net, experiment.rule.pair_filters
    assert isinstance(net, AbstractInnerProductNet)
    span, _, sets = data.space
    seen = None if in_use is None else span + in_use * net.rows
    return Room(span + sets * net.rows, seen, span)


def obstacle(experiment: Experiment, dims: Iterable[float]) -> str | None:
    """Why an experiment cannot be compressed, or None if it can."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    span, compression, sets = data.space
    if compression == "none":
        return f"{type(data).__name__} draws vectors that leave any fixed span"
    if not isinstance(net, AbstractInnerProductNet):
        return f"{type(net).__name__} sees more of its inputs than inner products"
    if rule.basis_dependence is not None:
        return rule.basis_dependence
    if sets > 1 and rule.fresh_obstacle is not None:
        return rule.fresh_obstacle
    dims, path = list(dims), shape_path(data)
    spans = {data.replace(path, int(dim)).space.span for dim in dims if path and len(dims) > 1}
    if len(spans | {span}) > 1:
        return "the dimensions of the sweep need different numbers of coordinates"
    if span > _MOST * min(dims):
        return (
            f"directions and training vectors take {span} coordinates and the dimension is "
            f"only {min(dims):.0f}"
        )
    return None


def in_law(experiment: Experiment) -> bool:
    """Whether data and initial weights can be drawn in compressed coordinates directly."""
    net = experiment.net
    gaussian = isinstance(net, AbstractInnerProductNet) and net.isotropic
    return gaussian and experiment.data.space.compression == "gaussian_rows"
