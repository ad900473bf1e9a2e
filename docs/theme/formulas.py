"""Formulas as MathML, which browsers draw by themselves: no script, no fonts, no network.

MkDocs calls `on_page_content` with every page's HTML (see `hooks` in mkdocs.yml). The Markdown
extension arithmatex has by then marked formulas; what cannot be converted stops the build.
"""

import html
import re

from latex2mathml.converter import convert

_MARKED = re.compile(
    r'<(span|div) class="arithmatex">\\([\(\[])(.+?)\\[\)\]]</\1>', flags=re.DOTALL
)
_UNKNOWN = {r"\arg": r"\operatorname{arg}"}
_PRIMED = re.compile(r"(_(?:\w|\{[^{}]*\}))('+)")  # primes before indices: one superscript, not two
_PRIME = re.compile(r"<mi>(&#x0203[2-4];)</mi>")


def mathml(formula: str, display: str) -> str:
    """A LaTeX formula as MathML; a command that is not known is an error."""
    for command, known in _UNKNOWN.items():
        formula = re.sub(re.escape(command) + r"(?![a-z])", lambda _, known=known: known, formula)
    written = convert(_PRIMED.sub(r"\2\1", formula), display=display)
    written = _PRIME.sub(r'<mo class="prime">\1</mo>', written)
    if "\\" in written:
        raise ValueError(f"the formula {formula!r} has a command that latex2mathml does not know")
    return written


def on_page_content(text: str, **_) -> str:
    """The page with every marked formula replaced."""

    def replace(found: re.Match[str]) -> str:
        _, bracket, formula = found.groups()
        return mathml(html.unescape(formula), "block" if bracket == "[" else "inline")

    return _MARKED.sub(replace, text)
