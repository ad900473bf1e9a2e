"""Data sets of images on a terminal: a table of them, and the progress of a download."""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from learnscope.data.registry import SETS, VARIABLE, data_folder, find


def print_data_sets(console: Console | None = None) -> None:
    """A row a data set: what it is, where it is or that it is missing, how to get it."""
    console = console or Console()
    base = data_folder(None)
    table = Table(title="Data sets of images", caption=f"data folder: {base or _nowhere()}")
    for heading in ("name", "what", "where", "how to get it"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("name", "where"))
    table.add_row("digits", "handwritten digits, 8 x 8, 10 classes", "comes with learnscope", "")
    for name, each in SETS.items():
        found = find(name, None)
        get = f"learnscope data get {name}" if each.public else f"by hand: {_files(name)}"
        if found is not None:
            # The folder's own name: the table's caption says where it is.
            table.add_row(name, each.title, f"[green]{found[1].relative_to(base or '.')}[/]", "")
        else:
            table.add_row(name, each.title, "[yellow]missing[/]", get)
    console.print(table)


def _nowhere() -> str:
    return f"none (set --data DIR or {VARIABLE})"


def _files(name: str) -> str:
    return SETS[name].layouts[0].expected()


class _Bar:
    """A bar as pooch wants it: it sets `total`, then calls `update`, `reset` and `close`."""

    def __init__(self, progress: Progress, name: str):
        self.progress, self.task = progress, progress.add_task(name, total=None)

    @property
    def total(self) -> float | None:
        return self.progress.tasks[self.task].total

    @total.setter
    def total(self, size: int) -> None:
        self.progress.start()  # not before: what needs no download shows nothing
        self.progress.update(self.task, total=size or None, completed=0)

    def update(self, count: int) -> None:
        self.progress.advance(self.task, count)

    def reset(self) -> None:
        # Pooch resets before it states the whole as done; `reset` of rich would start the clock.
        self.progress.update(self.task, completed=0)

    def close(self) -> None:
        pass


@contextlib.contextmanager
def download_progress(name: str, quiet: bool) -> Iterator[_Bar | None]:
    """A bar of bytes on the standard error; nothing if quiet."""
    if quiet:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    console = Console(stderr=True)
    progress = Progress(*columns, TransferSpeedColumn(), console=console, transient=True)
    try:
        yield _Bar(progress, name)
    finally:
        if progress.live.is_started:
            progress.stop()
