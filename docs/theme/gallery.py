"""The gallery: after a question, the figures that answer it, by `<!-- figures: STUDY.NAME ... -->`.

MkDocs calls `on_page_markdown` with every page's text. Titles are those of the studies; a test
checks that every figure of every study stands somewhere.
"""

import re

_MARK = re.compile(r"<!-- figures: ([\w. ]+) -->")


def on_page_markdown(text: str, **_) -> str:
    """The page with every mark replaced by a table."""
    return _MARK.sub(lambda found: "\n".join(table(found[1].split())), text)


def named(text: str) -> list[str]:
    """The figures that a page names."""
    return [name for marked in _MARK.findall(text) for name in marked.split()]


def table(names: list[str]) -> list[str]:
    from learnscope.papers import get

    lines = ["| figure | command |", "|---|---|"]
    for name in names:
        study, _, figure = name.partition(".")
        lines.append(f"| {get(study).figure(figure).title} | `learnscope run {name}` |")
    return lines
