"""The command that writes a paper's folder, or a part's file, with a test that passes."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from learnscope.cli.options import Quiet, saying

app = typer.Typer()


class Kind(StrEnum):
    """What can be written."""

    paper = "paper"
    data = "data"
    net = "net"
    rule = "rule"
    probe = "probe"


@app.command()
def new(
    kind: Annotated[Kind, Argument(help="What to write.")],
    name: Annotated[str, Argument(help="Such as my_paper (a paper) or MyRule (a part).")],
    folder: Annotated[str, Option("--in", metavar="DIR", help="Where to write it.")] = ".",
    quiet: Quiet = False,
) -> None:
    """Write a paper's folder, or a part's file, to start from: it runs, and has a test.

    A paper has one experiment, one claim and one figure.
    A part is found by its name. Nothing is overwritten.
    """
    say, paper = saying(quiet), kind == Kind.paper
    stem = _paper_name(name) if paper else _part_stem(name)
    home = Path(folder) / stem if paper else Path(folder)
    for path in write(kind, name, stem, home):
        say(f"wrote {path}")
    say(f"test it: python -m pytest {home / f'test_{stem}.py'}")
    if paper:
        say(f"run it: learnscope verify {stem} --parts {home} --scale smoke")
    else:
        say(f"try it: learnscope check {home / f'{stem}.py'}")


def _paper_name(name: str) -> str:
    """The name of a paper, if it may have it."""
    from importlib.util import find_spec
    from keyword import iskeyword

    from learnscope.errors import refuse_value
    from learnscope.papers import names

    usable = name.isidentifier() and name.isascii() and name.islower() and not iskeyword(name)
    if not usable:
        refuse_value("NAME", name, "a paper's must be a Python name in small letters, as my_paper")
    if name in names() or find_spec(name) is not None:
        refuse_value("NAME", name, "there is another paper or Python module of that name")
    return name


def _part_stem(name: str) -> str:
    """The name of the file for a part, if the part may have its name."""
    import re
    from importlib.util import find_spec

    from learnscope.errors import refuse_value
    from learnscope.lab import Experiment
    from learnscope.part import kinds

    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) or name.startswith("Abstract"):
        refuse_value("NAME", name, "a part's must be a class name, as MyRule")
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if any(name in kinds(base) for base in Experiment.slots.values()) or find_spec(stem):
        refuse_value("NAME", name, "there is another part or Python module of that name")
    return stem


def write(kind: Kind, name: str, stem: str, home: Path) -> list[Path]:
    """Write the files of a kind from its templates, and return their paths."""
    from jinja2 import Environment, PackageLoader

    from learnscope.errors import BadInput, refusing

    made = Environment(loader=PackageLoader("learnscope.cli"), keep_trailing_newline=True)
    files = {f"{kind}.py.jinja": f"{stem}.py", "part_test.py.jinja": f"test_{stem}.py"}
    if kind == Kind.paper:
        listed = [file for file in made.list_templates() if file.startswith("paper/")]
        files = {file: Path(file).stem for file in listed}
        files["paper/test.py.jinja"] = f"test_{stem}.py"
    there = [home / file for file in files.values() if (home / file).exists()]
    if there:
        raise BadInput(f"{there[0]} is there already, and is not overwritten.")
    with refusing(f"{home} cannot be written"):
        home.mkdir(parents=True, exist_ok=True)
        for template, file in files.items():
            text = made.get_template(template).render(name=name, stem=stem)
            (home / file).write_text(text, encoding="utf-8")
    return [home / file for file in files.values()]
