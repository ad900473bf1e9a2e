"""The command `examples`: the experiment files that come with learnscope."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from learnscope.cli.options import echo

app = typer.Typer()


def folder() -> Path:
    """Where the files are: inside an installed package, beside it in a clone."""
    package = Path(__file__).parents[1]
    inside = package / "examples"
    return inside if inside.is_dir() else package.parent / "examples"


@app.command()
def examples(
    to: Annotated[str | None, Argument(metavar="[FOLDER]", help="Copy them into FOLDER.")] = None,
) -> None:
    """List the example experiments, or copy them into a folder.

    The first line of a file is its question, the second the command that answers it.
    """
    from learnscope.evidence.output import Output

    files = sorted(folder().glob("*.toml"))
    if to is not None:
        output = Output(to)
        for file in files:
            if (output.folder / file.name).exists():
                echo(f"{output.folder / file.name} exists and is kept.")
            else:
                echo(f"wrote {output.copy(file.name, file)}.")
        return
    for file in files:
        about, command = file.read_text(encoding="utf-8").splitlines()[:2]
        echo(f"{about.removeprefix('# ')}\n  {command.removeprefix('#').strip()}")
    echo("learnscope examples examples    copies these files into a folder, for the commands above")
