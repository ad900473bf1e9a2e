"""The command line: a thin layer over the library. Nothing heavy is imported before its time."""

import sys
import time
from typing import Annotated

import typer

app = typer.Typer(
    name="learnscope",
    help="The laboratory for feature-learning theory: run a paper's experiments, check its claims.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Changes = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FIELD=VALUE[,VALUE...]]...", help="Such as data.noise=0.1,0.5."),
]
Seeds = Annotated[int | None, typer.Option("--seeds", help="How many seeds.", min=1)]
Out = Annotated[str, typer.Option("--out", help="Folder for figures, data and ledger.")]
Scale = Annotated[str, typer.Option("--scale", help="smoke, laptop or paper.")]
Precision = Annotated[str, typer.Option("--precision", help="float32 or float64.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")]
FileName = Annotated[str, typer.Argument(metavar="FILE.toml", help="An experiment, as TOML.")]


@app.command("list")
def list_() -> None:
    """List the studies with their figures, and the parts an experiment can be built from."""
    from learnscope.lab import Experiment
    from learnscope.part import kinds
    from learnscope.studies import STUDIES

    for study in STUDIES.values():
        typer.echo(f"{study.name}: {study.title} ({len(study.claims)} claims)")
        for name, figure in study.figures.items():
            typer.echo(f"  {study.name}.{name}: {figure.title}")
    for slot in ("data", "net", "rule", "probes"):
        typer.echo(f"{slot}: {', '.join(sorted(kinds(Experiment.slots[slot])))}")


@app.command()
def run(
    target: Annotated[
        str | None, typer.Argument(metavar="[STUDY[.FIGURE]]", help="Default: every study.")
    ] = None,
    changes: Changes = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    scale: Scale = "laptop",
    precision: Precision = "float32",
    quiet: Quiet = False,
) -> None:
    """Run a study or one of its figures: writes figures, data and (whole studies) the ledger."""
    _studies(target, changes, seeds, out, scale, precision, quiet)


@app.command()
def verify(
    target: Annotated[
        str | None, typer.Argument(metavar="[STUDY]", help="Default: every study.")
    ] = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    scale: Scale = "laptop",
    precision: Precision = "float32",
    quiet: Quiet = False,
) -> None:
    """Check every claim: like run, and exits with 1 if a claim differs."""
    ledger = _studies(target, None, seeds, out, scale, precision, quiet)
    if ledger is not None and ledger.count("differs"):
        raise typer.Exit(1)


def _studies(target, changes, seeds, out, scale, precision, quiet):
    from learnscope.lab.files import parse_changes
    from learnscope.views.study import run_studies

    if target is not None and "=" in target:
        changes, target = [target, *(changes or [])], None
    return run_studies(
        target, parse_changes(changes or []), seeds, out, scale, precision, quiet=quiet
    )


@app.command()
def sweep(
    file: FileName,
    changes: Changes = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    precision: Annotated[
        str | None, typer.Option("--precision", help="float32 or float64.")
    ] = None,
    coordinates: Annotated[
        str | None, typer.Option("--coordinates", help="auto, ambient, rotate or compressed.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run the experiment of a file over its axes: writes the dataset and its curves."""
    from pathlib import Path

    from learnscope.lab.files import SweepFile, parse_changes
    from learnscope.views.curves import probe_curves
    from learnscope.views.output import Output

    say = (lambda text: None) if quiet else typer.echo
    described = SweepFile.read(file).change(
        parse_changes(changes or []), seeds=seeds, precision=precision, coordinates=coordinates
    )
    output = Output(out)
    started = time.perf_counter()
    data = described.run(progress=not quiet)
    name = Path(file).stem
    say(str(data))
    diverged = int(data.diverged_at.notnull().sum())
    say(
        f"{data.diverged_at.size} trainings in {time.perf_counter() - started:.1f} s, of which "
        f"{data.attrs['compile_seconds']:.1f} s compiling; {diverged} diverged."
    )
    for path in [output.dataset(name, data), *output.figure(name, probe_curves(data))]:
        say(f"wrote {path}")


@app.command()
def conditions(file: FileName, changes: Changes = None) -> None:
    """Show which conditions of the theorem hold for a file's experiment, and what it predicts."""
    from learnscope import theory
    from learnscope.errors import BadInput
    from learnscope.lab.files import SweepFile, parse_changes

    given = parse_changes(changes or [])
    several = [path for path, values in given.items() if len(values) > 1]
    if several:
        raise BadInput(f"conditions takes one value a field; {several[0]} has several.")
    experiment = SweepFile.read(file).change(given).experiment
    typer.echo(str(theory.conditions(experiment)))
    typer.echo("")
    typer.echo(str(theory.predict(experiment)))


def main() -> None:
    """The command `learnscope`: exit codes 0 done, 1 claims differ, 2 bad input."""
    from learnscope.errors import BadInput

    try:
        code = app(standalone_mode=False)
    except BadInput as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.stderr.write("learnscope: interrupted; files that were written are whole.\n")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        # Click's own errors (an unknown command or option) know how to say themselves.
        if not hasattr(error, "format_message"):
            raise
        _fail(f"{error.format_message()}")  # type: ignore[attr-defined]
    sys.exit(code or 0)


def _fail(message: str) -> None:
    sys.stderr.write(f"learnscope: {message}\n")
    sys.exit(2)
