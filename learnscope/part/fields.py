"""Fields of parts: what each accepts, and the words for it.

A *number* is a pytree leaf, traced in a program: a sweep over it is a batch axis. A *count*,
*choice* or *flag* is static: it changes shapes or code, so each value compiles anew.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

Number = float | Array
_MOST = 10**7  # of anything that sizes an array
_LARGEST = 2**1000  # integers beyond it overflow as floats


@dataclasses.dataclass(frozen=True)
class Allowed:
    """The values that a field accepts, and their description."""

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
        """The description: what follows "it must be" in a message."""
        if self.kind == "choice":
            return "one of " + ", ".join(self.names)
        if self.kind == "flag":
            return "true or false"
        noun = "a whole number" if self.whole else "a finite number"
        noun = "a number (or inf)" if self.infinite else noun
        left = f"{'above' if self.open_low else 'at least'} {self.low:g}"
        most = f"{self.high:,}" if isinstance(self.high, int) else f"{self.high:g}"
        right = f"{'below' if self.open_high else 'at most'} {most}"
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
    """A scalar of any library as a Python number; anything else unchanged."""
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
    """A converter for one value or several; several become a tuple."""

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
    high: float = _MOST,
    optional: bool = False,
    each: bool = False,
) -> Any:
    """A whole number that changes shapes or code: static, so each value compiles anew.

    With `each`, a list of whole numbers is allowed as well.
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
    """True or false: static."""
    return eqx.field(static=True, metadata={"allowed": Allowed("flag")}, **_default(default))


def slot(base: type, default: Any = dataclasses.MISSING) -> Any:
    """A part inside a part, of the kind `base`; none is allowed if it is the default."""
    return eqx.field(metadata={"slot": base}, **_default(default))


def slot_list(base: type, default: Any = dataclasses.MISSING) -> Any:
    """A list of parts inside a part, each of the kind `base`."""
    return eqx.field(converter=_each(lambda v: v), metadata={"slots": base}, **_default(default))
