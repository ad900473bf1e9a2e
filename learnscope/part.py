"""Parts: the typed, frozen values that an experiment is built from.

A part is an `equinox.Module`. Its *numbers* (`number`) are pytree leaves, kept as Python floats
until the engine traces them, so that a sweep over a number is a batch axis of one program. Its
*counts*, *choices* and *flags* are static: they change shapes or code, and so recompile. Every
field says what it allows, and a part that exists is valid.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from learnscope.errors import BadInput, unknown

Number = float | Array
_LARGEST = 2**1000  # an integer beyond which there is no float to compare it with


@dataclasses.dataclass(frozen=True)
class Allowed:
    """What a field accepts, and the words for it."""

    kind: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    whole: bool = False
    names: tuple[str, ...] = ()
    optional: bool = False
    infinite: bool = False
    shape: bool = False
    each: bool = False

    def words(self) -> str:
        if self.kind == "choice":
            return "one of " + ", ".join(self.names)
        if self.kind == "flag":
            return "true or false"
        noun = "a whole number" if self.whole else "a finite number"
        noun = "a number (or inf)" if self.infinite else noun
        left = f"{'above' if self.open_low else 'at least'} {self.low:g}"
        right = f"{'below' if self.open_high else 'at most'} {self.high:g}"
        limits = [left] * math.isfinite(self.low) + [right] * math.isfinite(self.high)
        words = " ".join([noun, " and ".join(limits)]).strip() + " or none" * self.optional
        return words + ", or a list of such numbers" * self.each

    def accepts(self, value: object) -> bool:
        if value is None and self.optional:
            return True
        if self.each and isinstance(value, tuple):
            one = dataclasses.replace(self, each=False, optional=False)
            return bool(value) and all(isinstance(v, Tracer) or one.accepts(v) for v in value)
        if self.kind == "choice":
            return value in self.names
        if self.kind == "flag":
            return isinstance(value, bool)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if isinstance(value, int) and abs(value) > _LARGEST:
            return False
        if not math.isfinite(value):
            return self.infinite and value == math.inf
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below and (not self.whole or float(value).is_integer())


def _plain(value: Any) -> Any:
    """Python's own number for whatever scalar came in; other things pass through."""
    if isinstance(value, str) and value == "inf":
        return math.inf
    if isinstance(value, np.generic) or (
        isinstance(value, np.ndarray | jax.Array)
        and value.ndim == 0
        and not isinstance(value, Tracer)
    ):
        return value.item()
    return value


def _plain_float(value: Any) -> Any:
    value = _plain(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and abs(value) <= _LARGEST else value


def _plain_whole(value: Any) -> Any:
    value = _plain(value)
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole else value


def _each(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same for one value, or for several, which become a tuple."""

    def converted(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 1:
            value = value.tolist()
        return tuple(map(convert, value)) if isinstance(value, list | tuple) else convert(value)

    return converted


def _default(default: Any) -> dict[str, Any]:
    return {} if default is dataclasses.MISSING else {"default": default}


def number(
    default: Any = dataclasses.MISSING,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    below: float | None = None,
    whole: bool = False,
    infinite: bool = False,
    shape: bool = False,
    each: bool = False,
    optional: bool = False,
) -> Any:
    """A number that can be swept: a traced leaf. `above` and `below` are strict limits.

    `shape` marks a number that sizes arrays in ambient coordinates (the dimension): there it is
    static, and each value compiles anew. With `each`, a list of numbers is allowed as well.
    """
    allowed = Allowed(
        "number",
        low=low if above is None else above,
        high=high if below is None else below,
        open_low=above is not None,
        open_high=below is not None,
        whole=whole,
        infinite=infinite,
        shape=shape,
        each=each,
        optional=optional,
    )
    convert = _plain_whole if whole else _plain_float
    convert = _each(convert) if each else convert
    return eqx.field(converter=convert, metadata={"allowed": allowed}, **_default(default))


def count(
    default: Any = dataclasses.MISSING,
    *,
    low: int = 1,
    high: float = math.inf,
    optional: bool = False,
    each: bool = False,
) -> Any:
    """A whole number that changes shapes or code: static, so each value compiles anew.

    With `each`, a list of them is allowed as well.
    """
    allowed = Allowed("count", low=low, high=high, whole=True, optional=optional, each=each)
    convert = _each(_plain_whole) if each else _plain_whole
    return eqx.field(
        converter=convert, static=True, metadata={"allowed": allowed}, **_default(default)
    )


def choice(*names: str, default: Any = dataclasses.MISSING) -> Any:
    """One of a few names: static."""
    allowed = Allowed("choice", names=names)
    return eqx.field(static=True, metadata={"allowed": allowed}, **_default(default))


def flag(default: Any = dataclasses.MISSING) -> Any:
    """Yes or no: static."""
    return eqx.field(static=True, metadata={"allowed": Allowed("flag")}, **_default(default))


def slot(base: type, default: Any = dataclasses.MISSING) -> Any:
    """A part inside a part, of some kind; none if that is the default."""
    return eqx.field(metadata={"slot": base}, **_default(default))


class AbstractPart(eqx.Module):
    """Base of everything an experiment is made of: validated, printable, storable.

    `papers` names what to cite for a part (keys of `learnscope.papers.PAPERS`).
    """

    papers: ClassVar[tuple[str, ...]] = ()

    def __check_init__(self):
        for field in dataclasses.fields(self):
            allowed = field.metadata.get("allowed")
            value = getattr(self, field.name)
            traced = isinstance(value, Tracer)
            if allowed is not None and not traced and not allowed.accepts(value):
                raise BadInput(
                    f"{type(self).__name__}.{field.name} = {value!r} is not allowed: "
                    f"it must be {allowed.words()}."
                )
            base = field.metadata.get("slot")
            optional = value is None and field.default is None
            if base is not None and not optional and not isinstance(value, base):
                raise BadInput(
                    f"{type(self).__name__}.{field.name} = {value!r} is not allowed: "
                    f"it must be one of {', '.join(sorted(kinds(base)))}."
                )

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


def require_field(part: AbstractPart, name: str) -> None:
    """Say so, with the nearest valid name, if a part has no such field."""
    names = [field.name for field in dataclasses.fields(part)]
    if name not in names:
        raise unknown(f"field of {type(part).__name__}", name, names)


def allowed(part: AbstractPart, name: str) -> Allowed | None:
    """What a field accepts; None for one that checks itself."""
    require_field(part, name)
    field = next(f for f in dataclasses.fields(part) if f.name == name)
    return field.metadata.get("allowed")


def allowed_kind(part: AbstractPart, name: str) -> str:
    """What a field is: number, shape, count, choice, flag, or other."""
    found = allowed(part, name)
    return "other" if found is None else "shape" if found.shape else found.kind


def is_whole(part: AbstractPart, name: str) -> bool:
    """Whether a field takes whole numbers only."""
    found = allowed(part, name)
    return found is not None and found.whole


def kinds(base: type) -> dict[str, type]:
    """Every final (non-abstract) class below `base` by name, a user's own included.

    A class defined anew under the same name (as notebooks do) replaces the older one.
    """
    found: dict[str, type] = {}
    for child in base.__subclasses__():
        found |= kinds(child)
        if not child.__name__.startswith("Abstract") and not child.__name__.startswith("_"):
            found[child.__name__] = child
    return found
