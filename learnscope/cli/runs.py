"""The commands `learnscope runs ...`."""

from typing import Annotated

import typer
from typer import Argument, Option

from learnscope.cli.options import RESULTS, Store, echo

app = typer.Typer(name="runs", help="List stored sweeps; show, share, repair or remove them.")
SweepIds = Annotated[list[str], Argument(metavar="ID...", help="From `learnscope runs`.")]
Every = Annotated[bool, Option("--all", help="Also list large families in full.")]
SweepId = Annotated[str, Argument(metavar="ID", help="The ID, or the start of it.")]


@app.callback(invoke_without_command=True)
def list_runs(context: typer.Context, store: Store = RESULTS, every: Every = False) -> None:
    """List stored sweeps; show, export, repair or remove one."""
    if context.invoked_subcommand is None:
        list_sweeps(store, every)


@app.command("list")
def list_sweeps(store: Store = RESULTS, every: Every = False) -> None:
    """List stored sweeps; a large family (of a boundary, say) takes one line."""
    from learnscope.lab.store.folder import Folder
    from learnscope.views.terminal import print_runs

    print_runs(Folder(store), every)


@app.command()
def show(id: SweepId, store: Store = RESULTS) -> None:
    """Show a sweep: its experiment, its dataset, and when and where it was computed."""
    from learnscope.lab.store.folder import Folder
    from learnscope.views.terminal import run_details

    folder = Folder(store)
    echo(run_details(folder.stored(folder.find(id))))


@app.command()
def repair(id: SweepId, store: Store = RESULTS) -> None:
    """Check every byte of a sweep and mend it; the next run computes damaged blocks again."""
    from learnscope.lab.store.folder import Folder
    from learnscope.lab.store.repair import repair

    folder = Folder(store)
    echo(repair(folder.stored(folder.find(id))))


@app.command()
def remove(ids: SweepIds, store: Store = RESULTS) -> None:
    """Delete sweeps, or whole families of them (the part before the dash)."""
    from learnscope.lab.store.folder import Folder

    folder = Folder(store)
    for name in [name for id in ids for name in folder.family(id) or [folder.find(id)]]:
        folder.remove(name)
        echo(f"removed {name} from {folder.url}")


@app.command()
def export(
    ids: Annotated[list[str], Argument(metavar="ID...", help="From `learnscope runs`, or `all`.")],
    file: Annotated[str, Argument(metavar="FILE", help="One sweep: FILE.nc; a bundle: FILE.zip.")],
    store: Store = RESULTS,
) -> None:
    """Write a sweep to a NetCDF file, or finished sweeps to a bundle that `import` reads."""
    from pathlib import Path

    from learnscope.errors import BadInput
    from learnscope.evidence.output import Output
    from learnscope.lab.store.bundle import export_bundle
    from learnscope.lab.store.folder import Folder
    from learnscope.part.units import amount

    target, folder = Path(file), Folder(store)
    if target.suffix not in (".nc", ".zip"):
        raise BadInput(
            f"{file} is not allowed: the file must end with .nc (NetCDF, one sweep) or .zip (a "
            "bundle)."
        )
    names = folder.ids() if ids == ["all"] else [folder.find(id) for id in ids]
    if target.suffix == ".zip":
        size = export_bundle(folder, names, target)
        echo(f"wrote {target}: {len(names)} sweeps, {amount(size)}")
        return
    if len(names) != 1:
        raise BadInput(f"{file} holds one sweep, not {len(names)}; a bundle ends with .zip.")
    stored = folder.stored(names[0])
    with stored.readable():
        data = stored.dataset().load()
    echo(f"wrote {Output(target.parent).dataset(target.stem, data)}")


@app.command("import")
def import_(
    file: Annotated[str, Argument(metavar="FILE.zip", help="A bundle, from `runs export`.")],
    store: Store = RESULTS,
) -> None:
    """Put the sweeps of a bundle into the store, where `run` and `verify` find them."""
    from pathlib import Path

    from learnscope.lab.store.bundle import import_bundle
    from learnscope.lab.store.folder import Folder

    for sentence in import_bundle(Folder(store), Path(file)):
        echo(sentence)
