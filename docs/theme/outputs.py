"""What the blocks of a page print and draw, written below them.

    python docs/theme/outputs.py [PAGE ...]

Every Python block of a page is run, in order, in one namespace. What it prints stands in a block of
text below it; what it draws is a picture in docs/images/pages (docs/images/demo.png for the README,
which is made only if it is named). `tests/test_pages.py` runs the same blocks and compares, so that
no output is older than its page; pictures are as old as the code in docs/images/pages/made.json.
"""

import contextlib
import dataclasses
import hashlib
import io
import json
import re
import shutil
import sys
import tempfile
import types
from pathlib import Path

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "images" / "pages"
MADE = FOLDER / "made.json"
_BLOCK = re.compile(
    r"^```(?:python|py)(?P<words>[^\n]*)\n(?P<code>.*?)^```$"
    r'(?:\n\n```text title="prints"\n(?P<shown>.*?)^```$)?'
    r"(?:\n\n!\[(?P<alt>[^]]*)\]\((?P<file>[./]*(?:docs/)?images/(?:pages/[^)]*|demo\.png))\))?",
    flags=re.DOTALL | re.MULTILINE,
)
_TABLE = re.compile(r"\]\(([^)]+\.csv)\)")
_FILE = re.compile(r'title="(\w+)/(\w+)\.py"')
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
_CLOSE = 0.05  # of a number; a twentieth of this absolutely


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of Python with what stands below it, and what it does."""

    found: re.Match[str]
    printed: str
    drawn: list  # of figures

    @property
    def text(self) -> str:
        """The block with its own outputs."""
        head = self.found[0][: self.found.end("code") - self.found.start()] + "```"
        if self.printed:
            head += f'\n\n```text title="prints"\n{self.printed}```'
        if self.drawn:
            head += f"\n\n![{self.found['alt'] or 'What this draws'}]({self.found['file'] or ''})"
        return head


def executed(page: Path, name: str) -> tuple[types.ModuleType, list[Block]]:
    """The module that a page's blocks make, so that its classes can be pickled like those of a
    file; and the blocks. One whose title says "needs data" may end with MissingData. Tables that
    the page links to lie in the folder where it runs. A block whose title is the file of a package
    can be imported from, as that file could."""
    import matplotlib.pyplot as plt

    from learnscope import MissingData

    module, text, blocks = types.ModuleType(name), page.read_text(), []
    sys.modules[name] = module
    for table in _TABLE.findall(text):
        shutil.copy(page.parent / table, Path(table).name)
    with contextlib.ExitStack() as after:
        for found in _BLOCK.finditer(text):
            if file := _FILE.search(found["words"]):
                module.__package__, path = file[1], f"{file[1]}.{file[2]}"
                sys.modules[path] = module
                after.callback(sys.modules.pop, path)
            before = text[: found.start("code")].count("\n")
            code = compile("\n" * before + found["code"], str(page), "exec")
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed):
                    exec(code, module.__dict__)
            except MissingData:
                if "needs data" not in found["words"]:
                    raise
            lines = [f"{line.rstrip()}\n" for line in printed.getvalue().rstrip().splitlines()]
            blocks.append(Block(found, "".join(lines), [plt.figure(k) for k in plt.get_fignums()]))
            plt.close("all")
    return module, blocks


def digests(page: Path) -> dict[str, str]:
    """A digest for every picture of a page: of the code up to and including its block."""
    whole, found = hashlib.sha256(), {}
    for block in _BLOCK.finditer(page.read_text()):
        whole.update(block["code"].encode())
        if block["file"]:
            found[Path(block["file"]).name] = whole.hexdigest()[:16]
    return found


def alike(printed: str, shown: str) -> bool:
    """Whether two outputs are the same but for the last digits, which differ between machines.

    >>> alike("a 0.701 b", "a 0.700 b"), alike("a 0.7 b", "a 0.8 b"), alike("a 1", "b 1")
    (True, False, False)
    """
    texts = [" ".join(_NUMBER.sub("#", each).split()) for each in (printed, shown)]
    pairs = zip(*(_NUMBER.findall(each) for each in (printed, shown)), strict=False)
    numbers = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    near = [abs(a - b) <= _CLOSE * max(abs(a), abs(b), 0.1) for a, b in numbers]
    return texts[0] == texts[1] and all(near)


def rewritten(page: Path) -> str:
    """A page with the outputs of its blocks; pictures are saved."""
    _, blocks = executed(page, f"page_{page.stem}")
    text = page.read_text()
    inside = page.is_relative_to(DOCS)
    up = "../" * (len(page.relative_to(DOCS).parts) - 1) if inside else "docs/"
    for number, block in reversed(list(enumerate(blocks, 1))):
        if not inside:  # the README is short: it shows pictures only
            block = dataclasses.replace(block, printed="")
        new = block.text
        if block.drawn:
            file = FOLDER / f"{page.stem}-{number}.png" if inside else DOCS / "images" / "demo.png"
            FOLDER.mkdir(exist_ok=True)
            block.drawn[-1].savefig(file, dpi=110)
            new = re.sub(r"\([^()]*\)$", f"({up}{file.relative_to(DOCS).as_posix()})", new)
        text = text[: block.found.start()] + new + text[block.found.end() :]
    return text


def main() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update(
        {"figure.figsize": (6.4, 3.6), "figure.constrained_layout.use": True, "font.size": 9}
    )
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted(DOCS.glob("tutorials/*.md"))
    for page in pages:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.write_text(rewritten(page))
        held = json.loads(MADE.read_text()) if MADE.exists() else {}
        MADE.write_text(json.dumps(held | digests(page), indent=1, sort_keys=True) + "\n")
        print(f"wrote {page.relative_to(DOCS.parent)}", flush=True)


if __name__ == "__main__":
    main()
