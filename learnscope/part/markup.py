"""Tables as text, and tables and parts as HTML for notebooks."""

import dataclasses
from collections.abc import Iterable, Sequence
from html import escape

from learnscope.part.part import AbstractPart


def text_table(rows: Sequence[Sequence[str]], sides: str) -> str:
    """A table as aligned lines; `sides` has <, > or ^ for each column.

    >>> print(text_table([("a", "12"), ("bcd", "3")], "<>"))
    a    12
    bcd   3
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = [zip(row, sides, widths, strict=True) for row in rows]
    lines = ["  ".join(f"{text:{side}{width}}" for text, side, width in row) for row in cells]
    return "\n".join(line.rstrip() for line in lines)


def html_table(heading: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table of plain text.

    >>> html_table(["a"], [["1 < 2"]])
    '<table><thead><tr><th scope="col">a</th></tr></thead><tbody><tr><td>1 &lt; 2</td></tr></tbody></table>'
    """  # noqa: E501
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heading)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_details(summary: str, text: str) -> str:
    """Text that opens when it is asked for."""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>"


def html_part(part: AbstractPart) -> str:
    """A table of a part's fields: the parts inside it with theirs, then the numbers."""
    rows = []
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            inside = isinstance(each, AbstractPart)
            kind = type(each).__name__ if inside else each
            rows.append((field.name, kind, _fields_text(each) if inside else ""))
    return html_table(("", "kind", "fields"), rows)


def _fields_text(part: AbstractPart) -> str:
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return ", ".join(f"{name} = {value}" for name, value in values.items() if value is not None)
