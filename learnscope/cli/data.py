"""The commands `learnscope data ...`."""

from typing import Annotated

import typer
from typer import Argument

from learnscope.cli.options import DataFolder, Quiet, saying, use_data

app = typer.Typer(name="data", help="List image data sets; download one.", no_args_is_help=True)


@app.command("list")
def list_data(data: DataFolder = None) -> None:
    """List the image data sets: which are here, where, and how to get the others."""
    from learnscope.images.listing import print_data_sets

    use_data(data)
    print_data_sets()


@app.command()
def get(
    name: Annotated[str, Argument(metavar="NAME", help="A name that `data list` shows.")],
    data: DataFolder = None,
    quiet: Quiet = False,
) -> None:
    """Download a data set from its publisher, and check that it is the original."""
    from learnscope.images.download import download
    from learnscope.images.listing import download_progress

    say = saying(quiet)
    if name == "digits":
        say("digits comes with learnscope: there is nothing to download.")
        return
    with download_progress(name, quiet) as progress:
        folder, new = download(name, data, progress)
    say(f"{name} is {'now' if new else 'already'} in {folder}")
