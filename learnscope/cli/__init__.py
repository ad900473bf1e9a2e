"""The command line: a thin layer over the library. Nothing heavy is imported before its time."""

import os
import signal
import sys
import traceback
import warnings
from typing import Annotated, Any, NoReturn

import typer

from learnscope.cli import data, examples, new, pages, runs, studies, sweeps, tools

__all__ = ["app", "main"]

app = typer.Typer(
    name="learnscope",
    help="The laboratory for feature-learning theory: run a paper's experiments, check its claims.",
    epilog="Exit codes: 0 done, 1 claims differ, 2 bad input, 70 unexpected error, "
    "130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"learnscope {installed('learnscope')}")
        raise typer.Exit()


for _module in (studies, sweeps, runs, pages, examples, tools, data, new):
    app.add_typer(_module.app)


def main() -> None:
    """The command `learnscope`, with the exit codes that `--help` lists."""
    from learnscope.errors import BadInput

    if not sys.warnoptions:
        warnings.showwarning = _warn
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: workers end, too
    try:
        code = app(standalone_mode=False)
    except BadInput as error:
        _fail(" ".join(str(error).split()), 2)  # parts print as several lines
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        # Click's own errors (an unknown command or option) know how to say themselves.
        if hasattr(error, "format_message"):
            _fail(error.format_message(), 2)  # type: ignore[attr-defined]
        traceback.print_exc()
        _fail("unexpected error; please report it with the lines above.", 70)
    if code == 130:  # Typer's, or ours: an interrupt
        sys.stderr.write("learnscope: interrupted; stored runs are intact; run again to resume.\n")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)  # without waiting for what still computes
    sys.exit(code or 0)


def _warn(message: Warning | str, category: type[Warning], filename: str, *_: Any) -> None:
    """Warnings of learnscope, and of a user's own files, as sentences; none of other libraries."""
    own = filename.startswith(os.path.dirname(os.path.dirname(__file__)))
    if own or "site-packages" not in filename:
        sys.stderr.write(f"learnscope: {' '.join(str(message).split())}\n")


def _fail(message: str, code: int) -> NoReturn:
    from learnscope.errors import printable

    sys.stderr.write(f"learnscope: {printable(message)}\n" * bool(message))
    sys.exit(code)
