"""Parts: the typed, frozen values that an experiment is built from.

A part is an `equinox.Module`. Its *numbers* (`number`) are pytree leaves: Python floats until the
engine traces them, so that a sweep over a number is a batch axis of one program. Its *counts*,
*choices* and *flags* are static: they change shapes or code, and each value compiles anew. Every
field says what it allows, and every part that exists is valid.
"""

import dataclasses
import functools
import inspect
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, ClassVar, Self

import equinox as eqx
import numpy as np
from jax.core import Tracer

from learnscope.errors import BadInput, refuse, refuse_value, unknown
from learnscope.part.fields import Allowed


class AbstractPart(eqx.Module):
    """Base class of everything that an experiment is made of: validated, printable, storable.

    `papers` are the papers to cite for a part (keys of `learnscope.part.PAPERS`). `typical` gives
    values for `example_of` to use, where limits alone do not say what a field may be.
    """

    papers: ClassVar[tuple[str, ...]] = ()
    typical: ClassVar[Mapping[str, Any]] = {}

    def __new__(cls, *args: Any, **named: Any) -> Self:
        known = {field.name for field in dataclasses.fields(cls)}
        for name in named:
            if name not in known:
                raise unknown(f"field of {cls.__name__}", name, known)
        return super().__new__(cls)

    def __check_init__(self):
        for field in dataclasses.fields(self):
            allowed = field.metadata.get("allowed")
            value = getattr(self, field.name)
            traced = isinstance(value, Tracer)
            if allowed is not None and not traced and not allowed.accepts(value):
                refuse(self, field.name, f"it must be {allowed.words()}")
            base = field.metadata.get("slot")
            optional = value is None and field.default is None
            if base is not None and not optional and not isinstance(value, base):
                known = sorted(kinds(base)) or [base.__name__]
                refuse(self, field.name, f"it must be one of {', '.join(known)}")
            if "slots" in field.metadata:
                self._check_list(field.name, value, field.metadata["slots"])

    def _check_list(self, name: str, value: Any, base: type) -> None:
        if not isinstance(value, tuple):
            refuse(self, name, "it must be a list")
        for each in value:
            if not isinstance(each, base):
                must = f"it must be of the kind {base.__name__}"
                refuse_value(f"{type(self).__name__}.{name}", each, must)

    def contents(self) -> Iterable[np.ndarray]:
        """Arrays that the part stands for beside its fields, such as images of a named data set:
        a stored sweep is of these arrays."""
        return ()

    def replace(self, path: str, value: Any) -> Self:
        """A copy with the field at a dotted path changed, validated like a new part.

        >>> from learnscope.data import SignalNoise
        >>> SignalNoise(dim=9, train=2, test=2, signal=1, noise=1).replace("noise", 0.5).noise
        0.5
        """
        name, _, rest = path.partition(".")
        require_field(self, name)
        inner = getattr(self, name)
        if rest and isinstance(inner, AbstractPart):
            value = inner.replace(rest, value)
        elif rest and isinstance(inner, Mapping):
            if rest not in inner:
                raise unknown(f"entry of {type(self).__name__}.{name}", rest, inner)
            value = {**inner, rest: value}
        elif rest and isinstance(inner, tuple):
            places = [str(i) for i in range(len(inner))]
            if rest not in places:
                raise unknown(f"entry of {type(self).__name__}.{name}", rest, places)
            value = tuple(value if i == rest else old for i, old in zip(places, inner, strict=True))
        elif rest:
            raise BadInput(f"{type(self).__name__}.{name} has no field '{rest}': it is {inner!r}.")
        return dataclasses.replace(self, **{name: value})


def required(kind: type[AbstractPart]) -> set[str]:
    """The fields of a kind of part that have no default."""
    missing = dataclasses.MISSING
    return {field.name for field in dataclasses.fields(kind)
            if field.default is missing and field.default_factory is missing}  # fmt: skip


def require_field(part: AbstractPart, name: str) -> None:
    """Raise `BadInput`, with the nearest valid name, if a part has no such field."""
    names = [field.name for field in dataclasses.fields(part)]
    if name not in names:
        raise unknown(f"field of {type(part).__name__}", name, names)


def allowed(part: AbstractPart, name: str) -> Allowed | None:
    """What a field accepts; None for a field that its class checks."""
    require_field(part, name)
    field = next(f for f in dataclasses.fields(part) if f.name == name)
    return field.metadata.get("allowed")


def allowed_kind(part: AbstractPart, name: str) -> str:
    """The kind of a field: number, shape, count, choice, flag, or other."""
    accepted = allowed(part, name)
    return "other" if accepted is None else "shape" if accepted.shape else accepted.kind


def is_whole(part: AbstractPart, name: str) -> bool:
    """Whether a field takes whole numbers only."""
    accepted = allowed(part, name)
    return accepted is not None and accepted.whole


def shape_path(part: AbstractPart) -> str | None:
    """Where a part, or a part inside it, holds the number that sizes arrays: the dimension.

    >>> from learnscope.data import Pruned, SignalNoise
    >>> shape_path(Pruned(SignalNoise(dim=9, train=2, test=2, signal=1, noise=1)))
    'data.dim'
    """
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if allowed_kind(part, field.name) == "shape":
            return field.name
        inner = shape_path(value) if isinstance(value, AbstractPart) else None
        if inner is not None:
            return f"{field.name}.{inner}"
    return None


def kinds(base: type) -> dict[str, type]:
    """All final (non-abstract) subclasses of `base` by name, including a user's own.

    A class that is defined again under the same name, as in notebooks, replaces the older one.
    """
    _import_shipped()
    return _below(base)


def _below(base: type) -> dict[str, type]:
    classes: dict[str, type] = {}
    for child in base.__subclasses__():
        classes |= _below(child)
        if not child.__name__.startswith(("Abstract", "_")) and not inspect.isabstract(child):
            classes[child.__name__] = child
    return classes


@functools.cache
def _import_shipped() -> None:
    """Import all that learnscope ships (packages above this one, and the papers' own parts), and
    the parts of other installed packages."""
    for name in ("images", "probes"):  # these reach data, nets and rules
        import_module(f"learnscope.{name}")
    list(import_module("learnscope.papers").modules("parts"))
    import_module("learnscope.part.own").import_installed()


def example_of(kind: type[AbstractPart], given: Mapping[str, Any] | None = None) -> Any:
    """A small example of a kind of part: `given` values by field name where a field allows them,
    else the kind's `typical` ones, else its defaults, else a value within the field's limits.

    >>> from learnscope.rules import PerExamplePenalty
    >>> example = example_of(PerExamplePenalty, {"rate": 0.1, "radius": 2.0})
    >>> example.rate, example.weight, example.until
    (0.1, 0.5, inf)
    """
    values, needed = {}, required(kind)
    for field in dataclasses.fields(kind):
        limits = field.metadata.get("allowed")
        wanted = [own[field.name] for own in (given or {}, kind.typical) if field.name in own]
        if field.name in needed and limits is not None:
            usual = 30 if limits.shape else 3 if limits.whole else 0.5
            wanted += [*limits.names[:1], False, usual, limits.low, limits.high]
        fitting = [value for value in wanted if limits is None or limits.accepts(value)]
        if fitting:
            values[field.name] = fitting[0]
        elif field.name in needed:
            raise BadInput(
                f"{kind.__name__} has no example: its class must have typical = "
                f"{{{field.name!r}: ...}}, as this field has no default."
            )
    try:
        return kind(**values)
    except TypeError as error:  # a class that is not finished, say
        raise BadInput(f"{kind.__name__} has no example: {error}.") from None
