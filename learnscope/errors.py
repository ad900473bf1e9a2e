"""`BadInput`: the one error that a user can cause. Its message is one sentence."""

import contextlib
import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn


class BadInput(ValueError):
    """A value that learnscope cannot use. The message names it and says what is allowed."""


class MissingData(BadInput):
    """A data set that is not on this machine. The message says which files to put where, and
    `anywhere` says it without the folder of this machine, for what is published."""

    def __init__(self, message: str, folder: Path | None = None):
        super().__init__(message)
        self.anywhere = message.replace(str(folder), "the data folder") if folder else message


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


def why_of(error: BaseException) -> str:
    """The sentence of an error."""
    text = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
    lines = [line for line in text.splitlines() if line.strip()] or [type(error).__name__]
    # Equinox puts stacks before its message, and advice after it.
    inside = [line for line in lines if line.startswith("equinox.EquinoxRuntimeError: ")]
    return (inside or lines)[0].strip().removeprefix("equinox.").rstrip(".")


def reason(error: BaseException) -> str:
    """Why something failed: the first line of an error, without its number and full stop."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ("it lacks " if isinstance(error, KeyError) else "") + text.splitlines()[0].rstrip(".")


def printable(text: str) -> str:
    r"""A text without control characters, which a terminal would obey; names in files may hold any.

    >>> print(printable("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


@contextlib.contextmanager
def refusing(
    what: str, after: str = "", kinds: tuple[type[Exception], ...] = (OSError, ValueError)
) -> Iterator[None]:
    """Turn errors of some kinds, by default those of the file system, into one sentence."""
    try:
        yield
    except BadInput:
        raise
    except kinds as error:
        raise BadInput(f"{what}: {reason(error)}{after}.") from None
