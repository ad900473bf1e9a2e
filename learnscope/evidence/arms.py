"""Arms of a sweep: one experiment, changed in one way for each arm."""

from collections.abc import Mapping, Sequence
from typing import Any

from learnscope.errors import BadInput
from learnscope.evidence.study import Arm, Sweep, has_field
from learnscope.lab import Axis, Experiment, zipped
from learnscope.part import field_kind


def arms(
    base: Experiment, seeds: int | Sequence[int],
    over: Axis | Sequence[Axis] | Mapping[str, Any] = (), *,
    coordinates: str = "auto", precision: str = "float32", **stacked: Mapping[str, Any],
) -> Sweep:  # fmt: skip
    """A sweep of arms over shared axes and seeds; without arms, a sweep of the base alone.

    One keyword names the dim that the arms are stacked along: `rule={"standard":
    GradientDescent(0.1), ...}`. An arm is a part that takes the place of the base's (data, net or
    rule), or a table of fields and values. A list of values there follows the first axis. A field
    of the axes that an arm does not have (the weight of a penalty) is left out for it.
    """
    if len(stacked) > 1:
        raise BadInput(f"arms are stacked along one dim, not along {', '.join(stacked)}.")
    if isinstance(over, Mapping):
        over = [zipped({path: values}) for path, values in over.items()]
    axes = (over,) if isinstance(over, Axis) else tuple(over)
    settings: dict[str, Any] = {"coordinates": coordinates, "precision": precision}
    if not stacked:
        return Sweep((Arm("", base, axes),), seeds, dim=None, **settings)
    dim, changes = next(iter(stacked.items()))
    made = tuple(_arm(label, base, change, axes) for label, change in changes.items())
    for path in (path for axis in axes for path in axis.fields):
        if not any(has_field(arm.experiment, path) for arm in made):
            field_kind(base, path)  # says what is allowed
    return Sweep(made, seeds, dim, **settings)


def _arm(label: str, base: Experiment, change: Any, axes: tuple[Axis, ...]) -> Arm:
    fields = change if isinstance(change, Mapping) else {_slot(change): change}
    for path, value in fields.items():
        if not isinstance(value, list):
            base = base.replace(path, value)
    kept = [{p: v for p, v in axis.fields.items() if has_field(base, p)} for axis in axes]
    follow = {path: value for path, value in fields.items() if isinstance(value, list)}
    if follow and not kept:
        raise BadInput(f"{', '.join(follow)} has several values, but there is no axis to follow.")
    if follow:
        kept[0] |= follow
    own = (Axis(axis.dim, f, axis.names) for axis, f in zip(axes, kept, strict=True))
    return Arm(label, base, tuple(own))


def _slot(part: Any) -> str:
    """The place of a part in an experiment."""
    for slot, kind in Experiment.slots.items():
        if isinstance(part, kind):
            return slot
    raise BadInput(f"an arm must be a part or a table of fields, not {part!r}.")
