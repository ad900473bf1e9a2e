"""The commands `learnscope data ...`, and the option --data of others."""

import os
from typing import Annotated

import typer

DataFolder = Annotated[
    str | None,
    typer.Option("--data", metavar="DIR", help="Folder of image data sets (LEARNSCOPE_DATA)."),
]
data_sets = typer.Typer(help="List image data sets; download one.", no_args_is_help=True)


def use_data(folder: str | None) -> None:
    """Look for data sets there, in this process and those it starts."""
    if folder is not None:
        from pathlib import Path

        from learnscope.errors import BadInput

        if not Path(folder).is_dir():
            raise BadInput(f"--data {folder} is not allowed: there is no such folder.")
        os.environ["LEARNSCOPE_DATA"] = str(Path(folder).resolve())


@data_sets.command("list")
def list_data(data: DataFolder = None) -> None:
    """List data sets of images: what they are, where they were found, how to get them."""
    from learnscope.data.listing import print_data_sets

    use_data(data)
    print_data_sets()


@data_sets.command()
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `learnscope data list` says.")],
    data: DataFolder = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")] = False,
) -> None:
    """Download a data set from where it was published, and check that it is the original."""
    from learnscope.data.download import download
    from learnscope.data.listing import download_progress

    if name == "digits":
        if not quiet:
            typer.echo("digits comes with learnscope: there is nothing to download.")
        return
    with download_progress(name, quiet) as progress:
        folder, new = download(name, data, progress)
    if not quiet:
        typer.echo(f"{name} is {'now' if new else 'already'} in {folder}")
