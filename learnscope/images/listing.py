"""Terminal output for data sets of images: a table, and a bar for downloads."""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from learnscope.images.registry import SETS, VARIABLE, data_folder, find


def print_data_sets() -> None:
    """Print one row per data set: what it is, where it is (or "missing"), and how to get it."""
    base, nowhere = data_folder(None), f"none (set --data DIR or {VARIABLE})"
    table = Table(title="Data sets of images", caption=f"data folder: {base or nowhere}")
    for heading in ("name", "what", "where", "how to get it"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("name", "where"))
    table.add_row("digits", "handwritten digits, 8 x 8, 10 classes", "comes with learnscope", "")
    for name, each in SETS.items():
        location = find(name, None)
        by_hand = f"by hand: {each.layouts[0].expected()}"
        get = f"learnscope data get {name}" if each.public else by_hand
        if location is not None:
            # The folder's own name: the table's caption says where it is.
            table.add_row(name, each.title, f"[green]{location[1].relative_to(base or '.')}[/]", "")
        else:
            table.add_row(name, each.title, "[yellow]missing[/]", get)
    Console().print(table)


class _Bar:
    """A progress bar for pooch, which sets `total`, then calls `update`, `reset` and `close`."""

    def __init__(self, progress: Progress, name: str):
        self.progress, self.task = progress, progress.add_task(name, total=None)

    @property
    def total(self) -> float | None:
        return self.progress.tasks[self.task].total

    @total.setter
    def total(self, size: int) -> None:
        self.progress.start()  # only now: without a download there is no bar
        self.progress.update(self.task, total=size or None, completed=0)

    def update(self, count: int) -> None:
        self.progress.advance(self.task, count)

    def reset(self) -> None:
        # Pooch resets before its last update; `reset` of rich would restart the clock.
        self.progress.update(self.task, completed=0)

    def close(self) -> None:
        pass


@contextlib.contextmanager
def download_progress(name: str, quiet: bool) -> Iterator[_Bar | None]:
    """A progress bar in bytes on standard error; none if quiet."""
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
