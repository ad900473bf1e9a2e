"""The one error a user can cause: bad input, told in one sentence."""

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """A value that learnscope cannot use; the message names it and says what is allowed."""


class MissingData(BadInput):
    """A data set that is not on this machine; the message says what to put where."""


def unknown(what: str, name: object, allowed: Iterable[str]) -> BadInput:
    """The error for a name that does not exist, with the nearest one that does.

    >>> str(unknown("field of SignalNoise", "niose", ["noise", "dim"]))
    "unknown field of SignalNoise 'niose'; did you mean 'noise'? Allowed: dim, noise"
    """
    names = sorted(allowed)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return BadInput(f"unknown {what} '{name}'{hint} Allowed: {', '.join(names) or 'none'}")
