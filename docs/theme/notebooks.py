"""Every tutorial as a notebook: docs/notebooks, made from the pages' Markdown.

    python docs/theme/notebooks.py [--repository https://github.com/OWNER/NAME]

A block of Python becomes a cell with what the page shows of its output, the text between blocks
another cell. With a repository, a notebook begins with a badge that opens it in Colab, which reads
from GitHub only.
"""

import argparse
import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
_BLOCK = re.compile(
    r'^```python[^\n]*\n(.*?)^```$\n?(?:\n```text title="prints"\n(.*?)^```$\n?)?',
    flags=re.DOTALL | re.MULTILINE,
)
_COLAB = "https://colab.research.google.com"
_INSTALL = "# Not installed yet (on Colab, say)? Then run this first:\n# %pip install learnscope"


def notebook(text: str, name: str, repository: str | None = None) -> dict:
    """The notebook of a page.

    >>> made = notebook("# A\\n```python\\n1 + 1\\n```\\nB\\n", "a")
    >>> [cell["cell_type"] for cell in made["cells"]]
    ['markdown', 'code', 'code', 'markdown']
    """
    cells, place = [], 0
    for found in [*_BLOCK.finditer(text), None]:
        before = prose(text[place : found.start() if found else len(text)])
        cells += [("markdown", before)] if before else []
        if found:
            cells.append(("code", found[1].strip(), found[2] or ""))
            place = found.end()
    if repository:
        path = repository.rstrip("/").partition("github.com/")[2]
        address = f"{_COLAB}/github/{path}/blob/main/docs/notebooks/{name}.ipynb"
        badge = f"[![Open in Colab]({_COLAB}/assets/colab-badge.svg)]({address})\n\n"
        cells[0] = ("markdown", badge + cells[0][1])
    cells.insert(1, ("code", _INSTALL, ""))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": [cell(place, *each) for place, each in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def prose(text: str) -> str:
    """Text between blocks; pages beside the tutorial are in a folder beside the notebook."""
    without = re.sub(r"^\*\[[^]]*\]\(\.\./notebooks/[^)]*\)\*\n+", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\((\w+\.md)", r"](../tutorials/\1", without).strip()


def cell(place: int, kind: str, source: str, printed: str = "") -> dict:
    made = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}}
    made["source"] = source.splitlines(keepends=True)
    lines = printed.splitlines(keepends=True)
    shown = [{"name": "stdout", "output_type": "stream", "text": lines}] if printed else []
    return made | ({"execution_count": None, "outputs": shown} if kind == "code" else {})


def made(repository: str | None = None) -> dict[Path, str]:
    """The text of every notebook, by its file."""
    pages = sorted((DOCS / "tutorials").glob("*.md"))
    return {
        DOCS / "notebooks" / f"{page.stem}.ipynb": json.dumps(
            notebook(page.read_text(), page.stem, repository), indent=1, ensure_ascii=False
        )
        + "\n"
        for page in pages
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--repository", help="where the project is published (GitHub)")
    asked = parser.parse_args()
    for file, text in made(asked.repository).items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        print(f"wrote {file.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
