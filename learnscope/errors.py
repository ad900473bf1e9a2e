"""`BadInput`: the one error that a user can cause. Its message is one sentence."""

import difflib
from collections.abc import Iterable
from typing import Any, NoReturn


class BadInput(ValueError):
    """A value that learnscope cannot use. The message names it and says what is allowed."""


class MissingData(BadInput):
    """A data set that is not on this machine. The message says which files to put where."""


def refuse(part: Any, field: str, must: str) -> NoReturn:
    """Raise `BadInput` for a field of a part; `must` says what is allowed: "it must be ..."."""
    refuse_value(f"{type(part).__name__}.{field}", getattr(part, field), must)


def refuse_value(name: str, value: object, must: str) -> NoReturn:
    """Raise `BadInput` for an argument of a function.

    >>> refuse_value("seeds", 0, "it must be at least 1")
    Traceback (most recent call last):
    learnscope.errors.BadInput: seeds = 0 is not allowed: it must be at least 1.
    """
    shown = repr(value) if "\n" not in repr(value) else type(value).__name__
    raise BadInput(f"{name} = {shown} is not allowed: {must}.") from None


def unknown(what: str, name: object, allowed: Iterable[str]) -> BadInput:
    """The error for an unknown name, with the nearest known one as a hint.

    >>> str(unknown("field of SignalNoise", "niose", ["noise", "dim"]))
    "unknown field of SignalNoise 'niose'; did you mean 'noise'? Allowed: dim, noise"
    """
    names = sorted(allowed)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return BadInput(f"unknown {what} '{name}'{hint} Allowed: {', '.join(names) or 'none'}")
