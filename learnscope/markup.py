"""Tables as HTML, for notebooks and for the report."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(heading: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table of plain text.

    >>> html_table(["a"], [["1 < 2"]])
    '<table><thead><tr><th scope="col">a</th></tr></thead><tbody><tr><td>1 &lt; 2</td></tr></tbody></table>'
    """  # noqa: E501
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heading)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_details(summary: str, text: str) -> str:
    """Text that opens when it is asked for."""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>"
