"""Commands about experiments in files, and the grid: sweep, boundary, conditions, grid."""

from typing import Annotated

import typer
from typer import Argument, Option

from learnscope.cli.options import (
    Changes,
    Computing,
    Experimenting,
    FileName,
    Parts,
    echo,
    use_parts,
    with_options,
)

app = typer.Typer()
Coordinates = Annotated[str | None, Option(help="auto, ambient, rotate or compressed.")]


@app.command()
@with_options
def sweep(
    options: Experimenting, file: FileName, changes: Changes = None, coordinates: Coordinates = None
) -> None:
    """Run a file's experiment over its axes; write the dataset, curves and heat maps.

    An interrupted sweep continues; a stored one is not run again.
    """
    from learnscope.figures.curves import probe_curves
    from learnscope.figures.phase import has_map, heat_map
    from learnscope.lab import report_of
    from learnscope.lab.progress import divergence

    described, name, output = _described(file, changes, coordinates, options)
    options.ask(described.plans())
    found = described.run(progress=not options.quiet, name=name, **options.where)
    report = report_of(found)
    options.say(str(found))
    options.say(f"{report}; {divergence(found) or 'none diverged'}.")
    if report.store:
        options.say(f"stored as {report.store} in {options.store}")
    paths = [output.dataset(name, found), *output.figure(name, probe_curves(found))]
    if has_map(found):
        paths += output.figure(f"{name}-map", heat_map(found))
    for path in paths:
        options.say(f"wrote {path}")


@app.command()
@with_options
def boundary(
    options: Experimenting, file: FileName, changes: Changes = None, coordinates: Coordinates = None
) -> None:
    """Find the phase boundary that a file's table `boundary` defines, and fit its exponent."""
    from learnscope.figures.phase import boundary_figure
    from learnscope.lab import report_of
    from learnscope.views.terminal import boundary_table

    described, name, output = _described(file, changes, coordinates, options)
    options.ask(described.plans(boundary=True))
    found = described.boundary(progress=not options.quiet, **options.where)
    options.say(boundary_table(found))
    options.say(f"{report_of(found)}.")
    name = f"{name}-boundary"
    for path in [output.dataset(name, found), *output.figure(name, boundary_figure(found))]:
        options.say(f"wrote {path}")


def _described(file, changes, coordinates, options):
    """A file's experiment and sweep, with what the command line changes; the name of its results,
    and the folder for them."""
    from pathlib import Path

    from learnscope.cli.sweep_file import SweepFile, parse_changes
    from learnscope.evidence.output import Output

    described = SweepFile.read(file).change(
        parse_changes(changes or []),
        seeds=options.seeds, precision=options.precision, coordinates=coordinates,
    )  # fmt: skip
    return described, Path(file).stem, Output(options.out)


@app.command()
def conditions(file: FileName, changes: Changes = None, parts: Parts = None) -> None:
    """Show which conditions of the theorem hold for an experiment, and what theory predicts."""
    use_parts(parts)
    from learnscope import theory
    from learnscope.cli.sweep_file import SweepFile, parse_changes
    from learnscope.errors import BadInput

    given = parse_changes(changes or [])
    several = [path for path, values in given.items() if len(values) > 1]
    if several:
        raise BadInput(f"conditions takes one value per field; {several[0]} has several.")
    experiment = SweepFile.read(file).change(given).experiment
    echo(str(theory.conditions(experiment)))
    echo("")
    echo(str(theory.predict(experiment)))


@app.command()
@with_options
def grid(
    options: Computing,
    rule: Annotated[list[str] | None, Option(help="A rule; may be repeated. Default: all.")] = None,
    data: Annotated[
        list[str] | None, Option(help="A data model; may be repeated. Default: all.")
    ] = None,
    scale: Annotated[str, Option(help="smoke (seconds) or laptop.")] = "laptop",
) -> None:
    """Run every rule on every data model; write a table as HTML, Markdown, CSV and JSON.

    It shows signal learnt, noise memorised and test accuracy of each pair,
    beside the untrained network of the same seeds, or why a pair does not fit.
    """
    from learnscope.evidence.output import Output
    from learnscope.grid.run import run_grid
    from learnscope.grid.tables import write_grid

    output = Output(options.out)
    found = run_grid(
        rule, data, options.seeds, scale, say=options.say, ask=options.ask, **options.where
    )
    # A part must not take the place of the whole.
    for line in write_grid(output, found, "grid-part" if rule or data else "grid"):
        options.say(line)


@app.command()
def check(
    file: Annotated[str, Argument(metavar="FILE", help="FILE.py with parts, or FILE.toml.")],
    parts: Parts = None,
) -> None:
    """Check your own parts, or an experiment, in small runs.

    The exit code is 2 if a check fails.
    """
    from learnscope.cli.sweep_file import SweepFile
    from learnscope.tools.check import check, parts_in

    use_parts(parts)
    if file.endswith(".py"):
        use_parts([file])
        tables = [check(part) for part in parts_in(file)]
    else:
        tables = [check(SweepFile.read(file).experiment)]
    echo("\n\n".join(map(str, tables)))
    raise typer.Exit(0 if all(tables) else 2)
