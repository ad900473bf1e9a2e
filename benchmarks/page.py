"""Write docs/performance.md from what benchmarks print.

Runs the named benchmarks (without names, all) and puts the question, the command and the
printed output of each into its section of the page; other sections stay as they are. Needs what
`make bench` installs, and a machine that does nothing else.

    python benchmarks/page.py [NAME ...]
"""

import argparse
import ast
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
SECTION = re.compile(r"<!-- begin (\w+) -->\n(.*?)<!-- end \1 -->\n", flags=re.DOTALL)


def benchmarks() -> list[Path]:
    """Every benchmark, without the yardsticks and this script."""
    files = sorted(HERE.glob("*.py"))
    return [file for file in files if not file.stem.startswith("torch_") and file.stem != "page"]


def question(name: str) -> str:
    """The first paragraph of a benchmark's docstring."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())) or ""
    return " ".join(text.split("\n\n")[0].split())


def sections(page: str) -> dict[str, str]:
    """The text between the marks of each benchmark."""
    return dict(SECTION.findall(page))


def rewritten(page: str, name: str, printed: str, where: str) -> str:
    """The page with one benchmark's section from what it printed."""
    if name not in sections(page):
        raise SystemExit(f"{PAGE.name} has no section for {name}: add its two marks.")
    body = (
        f"## {question(name)}\n\n`python benchmarks/{name}.py`, {where}:\n\n"
        f"```text\n{printed.strip()}\n```\n\n"
    )
    whole = f"<!-- begin {name} -->\n{body}<!-- end {name} -->\n"
    return SECTION.sub(lambda found: whole if found[1] == name else found[0], page)


def main() -> None:
    known = [file.stem for file in benchmarks()]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    names = parser.parse_args().names or known
    for name in names:
        if name not in known:
            parser.error(f"there is no benchmark {name}; there are {', '.join(known)}")
    where = f"{datetime.now(UTC):%d %B %Y}, {platform.machine()}, {os.cpu_count()} cores"
    failed: list[str] = []
    for name in names:
        print(f"== {name}", flush=True)
        command = [sys.executable, str(HERE / f"{name}.py")]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            failed.append(name)
        if done.stdout:  # a missed bar is printed, too
            PAGE.write_text(rewritten(PAGE.read_text(), name, done.stdout, where))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
