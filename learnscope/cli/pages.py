"""Commands that show something: demo, report, explore."""

import os
import sys
from typing import Annotated

import typer
from typer import Argument, Option

from learnscope.cli.options import RESULTS, Out, Parts, Quiet, Store, echo, saying, use_parts

app = typer.Typer()


def has_screen() -> bool:
    """Whether a picture can be shown. Over SSH or in a container, Linux's opener would only print
    which browsers it did not find."""
    displays = [os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")]
    return not sys.platform.startswith("linux") or any(displays)


@app.command()
def demo(
    out: Out = "learnscope-out",
    no_open: Annotated[bool, Option("--no-open", help="Only write the figure.")] = False,
    quiet: Quiet = False,
) -> None:
    """See in under a minute what learnscope does: one experiment, its figure, an explanation."""
    from learnscope.evidence.output import Output
    from learnscope.views.demo import demo as run_demo

    say, output = saying(quiet), Output(out)
    figure, words = run_demo(progress=not quiet)
    path = output.figure("demo", figure)[0]
    say(f"{words}\n\nThe figure is {path}. More: learnscope list, learnscope explore.")
    if not (no_open or quiet) and has_screen():
        typer.launch(str(path))


@app.command()
def report(
    folder: Annotated[
        str, Argument(metavar="[FOLDER]", help="Output folder of `run` or `verify`.")
    ] = "learnscope-out",
    out: Annotated[str, Option(help="The HTML file.")] = "learnscope-report.html",
    paper: Annotated[str | None, Option(help="Folder for PDFs and LaTeX tables.")] = None,
    quiet: Quiet = False,
    parts: Parts = None,
) -> None:
    """Write a report: one HTML file with ledger, figures and experiments, readable offline.

    It is made from the ledger, figures and data that `learnscope verify` wrote into FOLDER.
    """
    use_parts(parts)
    from pathlib import Path

    from learnscope.evidence.output import Output
    from learnscope.views.report.contents import read_contents
    from learnscope.views.report.latex import write_paper
    from learnscope.views.report.page import page

    say = saying(quiet)
    contents, target = read_contents(folder), Path(out)
    written = Output(target.parent).text(target.name, page(contents))
    say(f"{len(contents.rows)} claims; wrote {written}.")
    if paper is not None:
        count = write_paper(contents, Output(paper))
        say(f"wrote {count} files for a paper into {paper}.")


@app.command()
def explore(
    port: Annotated[
        int, Option(help="Port to listen on; 0 takes any free one.", min=0, max=65535)
    ] = 8050,
    host: Annotated[str, Option(help="Any but the default opens it to the network.")] = "127.0.0.1",
    no_browser: Annotated[bool, Option("--no-browser", help="Only print the address.")] = False,
    store: Store = RESULTS,
    out: Out = "learnscope-out",
    parts: Parts = None,
) -> None:
    """Open the explorer, a web page with sliders for live training, stored sweeps and the ledger.

    Other machines cannot reach the page unless --host allows it.
    """
    use_parts(parts)
    from learnscope.errors import BadInput

    try:
        from learnscope.views.explorer.server import serve
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("dash", "flask", "plotly", "waitress", "werkzeug"):
            raise
        how = "pip install 'learnscope[explorer]'"
        raise BadInput(f"the explorer needs {missing}, which is not installed: {how}.") from None
    serve(port, host, not no_browser, store, out, echo)
