"""The command line: a thin layer over the library. Nothing heavy is imported before its time."""

import sys
from typing import Annotated, Any

import typer

from learnscope.data_commands import DataFolder, data_sets, use_data

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
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")]
Store = Annotated[str, typer.Option("--store", help="Results folder or URL; 'none' keeps nothing.")]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Compute in so many processes (Dask).", min=1)
]
Cluster = Annotated[
    str | None, typer.Option("--cluster", metavar="ADDRESS", help="Compute on a Dask cluster.")
]
Coordinates = Annotated[
    str | None, typer.Option("--coordinates", help="auto, ambient, rotate or compressed.")
]
MaybePrecision = Annotated[str | None, typer.Option("--precision", help="float32 or float64.")]
RESULTS = "learnscope-results"
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
        str | None, typer.Argument(metavar="[STUDY[.FIGURE]]", help="Default: headlines of all.")
    ] = None,
    changes: Changes = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    scale: Scale = "laptop",
    precision: MaybePrecision = None,
    store: Store = RESULTS,
    workers: Workers = None,
    cluster: Cluster = None,
    data: DataFolder = None,
    quiet: Quiet = False,
) -> None:
    """Run a study or one of its figures: writes figures, data and (whole studies) the ledger.

    Without a name, every study's headline figures.
    """
    use_data(data)
    where = _where(store, workers, cluster) | {"headlines": True}
    _studies(target, changes, seeds, out, scale, precision, quiet, where)


@app.command()
def verify(
    target: Annotated[
        str | None, typer.Argument(metavar="[STUDY]", help="Default: every study.")
    ] = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    scale: Scale = "laptop",
    precision: MaybePrecision = None,
    store: Store = RESULTS,
    workers: Workers = None,
    cluster: Cluster = None,
    data: DataFolder = None,
    quiet: Quiet = False,
) -> None:
    """Check every claim: like run, and exits with 1 if a claim differs."""
    use_data(data)
    where = _where(store, workers, cluster)
    ledger = _studies(target, None, seeds, out, scale, precision, quiet, where)
    if ledger is not None and ledger.count("differs"):
        raise typer.Exit(1)


def _where(store: str, workers: int | None, cluster: str | None) -> dict[str, Any]:
    """Where results go and who computes, as `learnscope.run` takes it."""
    from learnscope.errors import BadInput

    if workers is not None and cluster is not None:
        raise BadInput("--workers starts processes here and --cluster uses others: give one.")
    return {"store": None if store == "none" else store, "cluster": cluster or workers}


def _studies(target, changes, seeds, out, scale, precision, quiet, where):
    from learnscope.lab.files import parse_changes
    from learnscope.views.study import run_studies

    if target is not None and "=" in target:
        changes, target = [target, *(changes or [])], None
    return run_studies(
        target, parse_changes(changes or []), seeds, out, scale, precision, quiet=quiet, **where
    )


@app.command()
def sweep(
    file: FileName,
    changes: Changes = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    precision: MaybePrecision = None,
    coordinates: Coordinates = None,
    store: Store = RESULTS,
    workers: Workers = None,
    cluster: Cluster = None,
    data: DataFolder = None,
    quiet: Quiet = False,
) -> None:
    """Run the experiment of a file over its axes: writes the dataset, its curves and heat maps.

    A sweep that was interrupted continues; one that is stored is not run again.
    """
    from learnscope.views.curves import probe_curves
    from learnscope.views.phase import has_map, heat_map

    use_data(data)
    say = _say(quiet)
    described = _described(file, changes, seeds, precision, coordinates)
    name, output = _output(file, out)
    found, report = described.run_and_report(progress=not quiet, **_where(store, workers, cluster))
    say(str(found))
    say(f"{report}; {int(found.diverged_at.notnull().sum())} diverged.")
    if report.store:
        say(f"stored as {report.store} in {store}")
    paths = [output.dataset(name, found), *output.figure(name, probe_curves(found))]
    if has_map(found):
        paths += output.figure(f"{name}-map", heat_map(found))
    for path in paths:
        say(f"wrote {path}")


@app.command()
def boundary(
    file: FileName,
    changes: Changes = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    precision: MaybePrecision = None,
    coordinates: Coordinates = None,
    store: Store = RESULTS,
    workers: Workers = None,
    cluster: Cluster = None,
    data: DataFolder = None,
    quiet: Quiet = False,
) -> None:
    """Find the phase boundary that a file's table `boundary` asks for, and fit its exponent."""
    from learnscope.views.phase import boundary_figure
    from learnscope.views.terminal import boundary_table

    use_data(data)
    say = _say(quiet)
    described = _described(file, changes, seeds, precision, coordinates)
    name, output = _output(file, out)
    found, report = described.boundary_and_report(
        progress=not quiet, **_where(store, workers, cluster)
    )
    say(boundary_table(found))
    say(f"{report}.")
    name = f"{name}-boundary"
    for path in [output.dataset(name, found), *output.figure(name, boundary_figure(found))]:
        say(f"wrote {path}")


def _say(quiet):
    return (lambda text: None) if quiet else typer.echo


def _described(file, changes, seeds, precision, coordinates):
    """A file's experiment and sweep, with what the command line changes."""
    from learnscope.lab.files import SweepFile, parse_changes

    return SweepFile.read(file).change(
        parse_changes(changes or []), seeds=seeds, precision=precision, coordinates=coordinates
    )


def _output(file, out):
    """What a file's results are called, and the folder for them."""
    from pathlib import Path

    from learnscope.views.output import Output

    return Path(file).stem, Output(out)


app.add_typer(data_sets, name="data")
runs = typer.Typer(help="List stored sweeps; show, remove or export one.")
app.add_typer(runs, name="runs")
SweepIds = Annotated[list[str], typer.Argument(metavar="ID...", help="As `learnscope runs` lists.")]
Every = Annotated[bool, typer.Option("--all", help="Every sweep of large families too.")]
SweepId = Annotated[str, typer.Argument(metavar="ID", help="Or the start of it.")]


@runs.callback(invoke_without_command=True)
def list_runs(context: typer.Context, store: Store = RESULTS, every: Every = False) -> None:
    """List stored sweeps; show, remove or export one."""
    if context.invoked_subcommand is None:
        list_sweeps(store, every)


@runs.command("list")
def list_sweeps(store: Store = RESULTS, every: Every = False) -> None:
    """List stored sweeps; large families (of a boundary, say) as one line."""
    from learnscope.lab.store import Folder
    from learnscope.views.terminal import print_runs

    print_runs(Folder(store), every)


@runs.command()
def show(id: SweepId, store: Store = RESULTS) -> None:
    """Show a sweep: its experiment, its dataset, and who computed it when."""
    from learnscope.lab.store import Folder
    from learnscope.views.terminal import run_details

    folder = Folder(store)
    typer.echo(run_details(folder.stored(folder.find(id))))


@runs.command()
def remove(ids: SweepIds, store: Store = RESULTS) -> None:
    """Delete sweeps, or whole families of them (the part before the dash)."""
    from learnscope.lab.store import Folder

    folder = Folder(store)
    for name in [name for id in ids for name in folder.family(id) or [folder.find(id)]]:
        folder.remove(name)
        typer.echo(f"removed {name} from {folder.url}")


@runs.command()
def export(
    id: SweepId,
    file: Annotated[str, typer.Argument(metavar="FILE.nc", help="Where to write it, as NetCDF.")],
    store: Store = RESULTS,
) -> None:
    """Write a sweep to a NetCDF file."""
    from pathlib import Path

    from learnscope.errors import BadInput
    from learnscope.lab.store import Folder
    from learnscope.views.output import Output

    target = Path(file)
    if target.suffix != ".nc":
        raise BadInput(f"{file} is not allowed: the file must end with .nc (NetCDF).")
    folder = Folder(store)
    stored = folder.stored(folder.find(id))
    with stored.readable():
        data = stored.dataset().load()
    typer.echo(f"wrote {Output(target.parent).dataset(target.stem, data)}")


@app.command()
def grid(
    rule: Annotated[
        list[str] | None, typer.Option("--rule", help="A row; may be repeated. Default: all.")
    ] = None,
    data: Annotated[
        list[str] | None, typer.Option("--data", help="A column; may be repeated. Default: all.")
    ] = None,
    seeds: Seeds = None,
    out: Out = "learnscope-out",
    scale: Annotated[str, typer.Option("--scale", help="smoke or laptop.")] = "laptop",
    store: Store = RESULTS,
    workers: Workers = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
) -> None:
    """Run every rule on every data model, or say why a pair means nothing: a table, a figure.

    Signal learnt, noise memorised and test accuracy of each pair, beside the untrained network of
    the same seeds.
    """
    from learnscope.studies.grid import run_grid
    from learnscope.views.grid import write_grid
    from learnscope.views.output import Output

    say = _say(quiet)
    output = Output(out)
    where = _where(store, workers, cluster)
    found = run_grid(rule, data, seeds, scale, say=say, **where)
    # A part must not take the place of the whole.
    for line in write_grid(output, found, "grid-part" if rule or data else "grid"):
        say(line)


@app.command()
def report(
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Output folder of `run` or `verify`.")
    ] = "learnscope-out",
    out: Annotated[str, typer.Option("--out", help="The HTML file.")] = "learnscope-report.html",
    paper: Annotated[
        str | None,
        typer.Option("--paper", help="Also a folder of PDFs and LaTeX tables for a paper."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Tell what was found: one HTML file with ledger, figures and experiments, which works offline.

    It is made from the ledger, figures and data in FOLDER, which `learnscope verify` writes.
    """
    from pathlib import Path

    from learnscope.views.output import Output
    from learnscope.views.report import page, read_contents, write_paper

    say = _say(quiet)
    contents = read_contents(folder)
    target = Path(out)
    written = Output(target.parent).text(target.name, page(contents))
    say(f"{len(contents.rows)} claims; wrote {written}.")
    if paper is not None:
        count = write_paper(contents, Output(paper))
        say(f"wrote {count} files for a paper into {paper}.")


@app.command()
def explore(
    port: Annotated[
        int, typer.Option("--port", help="0 takes any that is free.", min=0, max=65535)
    ] = 8050,
    host: Annotated[
        str, typer.Option("--host", help="Another than this lets other machines in.")
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only say the address.")] = False,
    store: Store = RESULTS,
    out: Out = "learnscope-out",
) -> None:
    """Open the explorer: move a slider and watch, look into stored sweeps, go through the ledger.

    It is a web page of this machine, which no other can reach unless --host lets it.
    """
    from learnscope.errors import BadInput

    try:
        from learnscope.views.explorer import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dash", "flask", "plotly", "werkzeug"):
            raise
        raise BadInput(
            "the explorer needs Dash, which is not installed: pip install 'learnscope[explorer]'."
        ) from None
    serve(port, host, not no_browser, store, out, typer.echo)


@app.command()
def influence(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help=".npz, .csv or .csv.gz, or a folder of class folders. Default: bundled digits.",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="The column or array that holds the labels.")
    ] = None,
    top: Annotated[
        int, typer.Option("--top", help="Images a class at each end.", min=1, max=20)
    ] = 5,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also distances to class means and neighbours.")
    ] = False,
    out: Out = "learnscope-out",
    quiet: Quiet = False,
) -> None:
    """Score how atypical every image of a data set is for its class: a table, a contact sheet.

    Also draws the noise correlation of the classes. Scores are those of eq. (10) in Xu, Chen
    (2025), Rethinking Benign Overfitting in Two-Layer Neural Networks.
    """
    import numpy as np

    from learnscope import tools
    from learnscope.views import scores as words
    from learnscope.views.influence import contact_sheet, correlation_map, has_correlation_map
    from learnscope.views.output import Output

    say = _say(quiet)
    data = words.digits(label) if file is None else tools.read_labelled(file, label)
    output = Output(out)
    scores = tools.influence_scores(data.images, data.labels)
    columns = words.baseline_columns(data) if baselines else {}
    say(words.summary(data, scores))
    name = f"{data.name}-influence"
    paths = [output.text(f"{name}.csv", words.score_table(data, scores, columns))]
    if np.isfinite(scores).any():
        paths += output.figure(name, contact_sheet(data, scores, top))
    if has_correlation_map(data):
        correlation = tools.noise_correlation(data.images, data.labels)
        paths += output.figure(f"{data.name}-correlation", correlation_map(correlation))
    else:
        say("noise correlations are not drawn: no class has two images, or classes are too many.")
    for path in paths:
        say(f"wrote {path}")


@app.command()
def collapse(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help=".npy or .npz: an array, examples by units.")
    ],
    array: Annotated[
        str | None, typer.Option("--array", metavar="NAME", help="Which array of an .npz.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", help="Folder for the figure and report.json.")
    ] = None,
    dead: Annotated[
        float | None, typer.Option("--dead", help="Deviation of a dead unit, relative to others.")
    ] = None,
    duplicate: Annotated[
        float | None, typer.Option("--duplicate", help="|correlation| of duplicate units.")
    ] = None,
    dimensional: Annotated[
        float | None, typer.Option("--dimensional", help="Share of rank of dimensional collapse.")
    ] = None,
    partial: Annotated[
        float | None, typer.Option("--partial", help="Share of rank of partial collapse.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Say whether representations of your own have collapsed: a table, a verdict, a figure.

    Effective rank, singular values, correlations of units, dead and duplicate units. The exit
    code is 0 whatever the verdict.
    """
    from learnscope import tools

    say = _say(quiet)
    limits = {"dead": dead, "duplicate": duplicate, "dimensional": dimensional, "partial": partial}
    limits = {name: value for name, value in limits.items() if value is not None}
    representations = tools.read_representations(file, array)
    if out is None:
        say(str(tools.collapse_report(representations, **limits)))
        return
    from learnscope.views.collapse import write_report
    from learnscope.views.output import Output

    output = Output(out)
    report = tools.collapse_report(representations, **limits)
    say(str(report))
    for path in write_report(output, report, file):
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
        sys.stderr.write("learnscope: interrupted; what was stored is whole; run again to go on.\n")
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
