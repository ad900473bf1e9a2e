"""The words beside a control: its symbol and its help, from the docstring of its part."""

import dataclasses
import functools
import re

from learnscope.part import AbstractPart, Allowed

_ROW = re.compile(r"^\s*\|(?P<left>.*)\|(?P<right>[^|]*`[^|]*)\|\s*$", re.MULTILINE)
_MOVES = {"number": "Moving it compiles nothing.", "count": "Each value compiles its own program."}


@dataclasses.dataclass(frozen=True)
class Words:
    """The symbol of a field (LaTeX, possibly none) and what its docstring says of it."""

    symbol: str
    help: str


@functools.cache
def words_of(kind: type[AbstractPart]) -> dict[str, Words]:
    """The words of every field that the docstring names: in its table of symbols, or in a sentence.

    >>> from learnscope.data import SignalNoise
    >>> words_of(SignalNoise)["noise"].symbol
    '\\\\sigma_p'
    >>> words_of(SignalNoise)["batch"]
    Words(symbol='', help='`batch` is the mini-batch size (none: the full batch).')
    """
    text = re.sub(r">>>.*", "", kind.__doc__ or "", flags=re.DOTALL)
    symbols: dict[str, tuple[str, str]] = {}
    for row in _ROW.finditer(text):
        names, left = re.findall(r"`(\w+)`", row["right"]), row["left"].strip()
        segments = re.findall(r"\$(.*?)\$", left)
        signs = segments[:1] if len(names) == 1 else ", ".join(segments).split(", ")
        rest = re.sub(r"^\s*`\w+`:?", "", row["right"]).strip()
        for place, name in enumerate(names):
            sign = signs[place] if len(signs) == len(names) else ", ".join(signs)
            said = rest if len(names) == 1 else ""
            symbols[name] = (sign.strip(), said) if "$" in left else ("", left)
    plain = " ".join(_ROW.sub("", text).split())
    sentences = re.split(r"(?<=\.)\s+(?=[A-Z`$(])", plain)
    found = {}
    for field in dataclasses.fields(kind):
        ways = f"`{field.name}`", f"`{field.name}="
        said = [each for each in sentences if any(way in each for way in ways)]
        symbol, rest = symbols.get(field.name, ("", ""))
        found[field.name] = Words(symbol, " ".join(filter(None, [rest, *said])))
    return found


def help_of(kind: type[AbstractPart], name: str, allowed: Allowed) -> str:
    """What a control is for, what it takes, and whether moving it is quick."""
    said = words_of(kind)[name].help
    said = said + "." if said and not said.endswith(".") else said
    takes = f"{kind.__name__}.{name}: {allowed.words()}."
    return " ".join(filter(None, [said, takes, _MOVES.get(allowed.kind, _MOVES["count"])]))


def first_sentence(kind: type[AbstractPart]) -> str:
    """The head of a part's docstring."""
    head = " ".join((kind.__doc__ or "").strip().split("\n\n")[0].split())
    return head.split(". ")[0].rstrip(".") + "." if head else ""
