"""Studies, the ledger, boundaries and stored sweeps on a terminal."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import xarray as xr
from rich.console import Console
from rich.table import Table

from learnscope.errors import BadInput, printable
from learnscope.evidence.artefacts import details, head, setting
from learnscope.evidence.ledger import Ledger
from learnscope.evidence.study import Study
from learnscope.images.registry import SETS
from learnscope.lab.store.folder import Folder, Stored
from learnscope.part.units import amount, duration

LARGE_FAMILY = 3  # more sweeps than this share one line
_COLOURS = {"reproduced": "green", "differs": "yellow", "inconclusive": "cyan", "not run": "dim"}


def study_lines(study: Study) -> list[str]:
    """A study in a list: its paper, then each figure with its minutes (of one core, laptop scale)
    and the data sets that it needs."""
    import learnscope.papers as papers  # later: it imports every paper

    file = Path(papers.__path__[0]) / "minutes.json"  # written by .ci/minutes.py
    minutes = json.loads(file.read_text()).get(study.name, {}) if file.exists() else {}
    sweeps = study.sweeps("laptop")
    about = "; ".join(filter(None, [f"{len(study.claims)} claims", study.link]))
    lines = [f"{study.name}: {study.title} ({about})"]
    for name, figure in study.figures.items():
        known = [minutes[need] for need in figure.needs if need in minutes]
        most = f"about {round(sum(known))} min" if sum(known) >= 1 else "under a minute"
        said = [most] if len(known) == len(figure.needs) else []  # part of a sum is no sum
        if data := needed_data([sweeps[need] for need in figure.needs]):
            said.append(f"needs {' and '.join(data)}")
        about = f" [{'; '.join(said)}]" if said else ""
        lines.append(f"  {study.name}.{name}: {figure.words}{about}")
    return lines


def needed_data(sweeps: list) -> list[str]:
    """The image data sets that sweeps name and that do not come with the package."""
    words = set(re.findall(r"'([\w-]+)'", " ".join(map(repr, sweeps))))
    for arm in (arm for sweep in sweeps for arm in getattr(sweep, "arms", ())):
        if getattr(arm.experiment.data, "name", "") == "rainbow":  # made of another set
            words.add(arm.experiment.data.source)
    return sorted(words & set(SETS))


def print_ledger(ledger: Ledger, console: Console) -> None:
    """A table with one row per claim that was judged, if there is one, and why most of the others
    were not run."""
    reasons = Counter[str]()
    table = Table(title="Ledger", expand=True, show_lines=True)
    for heading, ratio in (
        ("where", 2), ("claim", 5), ("setting", 4), ("paper", 3), ("measured", 5), ("verdict", 2),
    ):  # fmt: skip
        table.add_column(heading, ratio=ratio, overflow="fold")
    for entry in ledger:
        row = entry.to_dict()
        verdict = row["verdict"]
        if verdict == "not run":
            reasons[row["why"]] += 1
            continue
        more = "; ".join(filter(None, [row["why"], details(row)]))
        measured = row["measured"] + (f" ({more})" if more else "")
        table.add_row(
            f"{row['study']}\n{row['where']}", row["statement"], setting(row), row["reported"],
            measured.strip(), f"[{_COLOURS[verdict]}]{verdict}[/]",
        )  # fmt: skip
    if table.row_count:
        console.print(table)
    for reason, count in reasons.most_common(3):
        console.print(f"{count} not run: {reason}", markup=False)
    rows = [entry.to_dict() for entry in ledger]
    console.print(f"{len(ledger)} claims: {ledger.summary()}. {head(rows)}")


def boundary_table(boundary: xr.Dataset) -> str:
    """A boundary as text: one line per value of y, then the exponent."""
    dim = str(boundary.boundary.dims[0])
    lines = [f"{dim:>12}  {boundary.attrs['x']:>12}  {'band':>23}  status"]
    for i, value in enumerate(boundary[dim].values):
        shown = f"{value:.6g}" if np.issubdtype(boundary[dim].dtype, np.number) else str(value)
        at, low, high = (float(boundary[name][i]) for name in ("boundary", "low", "high"))
        middle, band = "-", "-"
        if np.isfinite(at):
            middle = f"{at:.5g}"
        if np.isfinite(low):  # one seed has no band
            band = f"{low:.5g} to {high:.5g}"
        lines.append(f"{shown:>12}  {middle:>12}  {band:>23}  {boundary.status.values[i]}")
    exponent, error = boundary.attrs["exponent"], boundary.attrs["exponent_error"]
    if np.isfinite(exponent):
        lines.append(f"{boundary.attrs['x']} ~ {dim}^{exponent:.4f} (standard error {error:.4f})")
    return "\n".join(lines)


def print_runs(folder: Folder, every: bool = False) -> None:
    """Print one line per sweep, the newest last, and one per large family unless `every`."""
    families, errors = by_family(folder)
    console = Console(highlight=False, soft_wrap=True)
    if not families and not errors:
        console.print(f"there are no sweeps in {folder.url}.")
        return
    for name, members in families.items():
        shown = [(m.name, [m], axes_text(m)) for m in members]
        if not every and len(members) > LARGE_FAMILY:
            shown = [(f"{name}-...", members, f"{len(members)} sweeps")]
        for title, sweeps, words in shown:
            try:
                console.print(printable(f"{_line(title, sweeps)}  {words}"), markup=False)
            except BadInput as error:
                errors.append(error)
    for error in errors:
        console.print(printable(str(error)), markup=False)


def by_family(folder: Folder) -> tuple[dict[str, list[Stored]], list[BadInput]]:
    """The sweeps of a folder by family, the newest last, and what is wrong with the others."""
    listed = list(folder.all())
    good = [each for each in listed if isinstance(each, Stored)]
    families: dict[str, list[Stored]] = {}
    for stored in sorted(good, key=lambda each: str(each.manifest.get("created"))):
        families.setdefault(stored.name.partition("-")[0], []).append(stored)
    return families, [error for error in listed if isinstance(error, BadInput)]


def _line(name: str, sweeps: list[Stored]) -> str:
    """Name, day, fraction of runs that exist, size, and kinds of parts."""
    finished = [stored.finished() for stored in sweeps]
    there, total = sum(int(f.sum()) for f in finished), sum(f.size for f in finished)
    share = "done" if there == total else f"{100 * there / total:.0f} %"
    size = amount(sum(stored.size() for stored in sweeps))
    day = sweeps[0].manifest["created"][:16].replace("T", " ")
    return f"{name:<17}  {day}  {share:>5}  {size:>9}  {kinds_text(sweeps[0])}"


def axes_text(stored: Stored) -> str:
    """The axes of a stored sweep, with how many values each has."""
    dims = (*stored.manifest["values"], "seed")
    return " x ".join(map("{} {}".format, dims, stored.manifest["shape"]))


def run_details(stored: Stored) -> str:
    """Everything about a stored sweep but its numbers."""
    manifest, finished = stored.manifest, stored.finished()
    lines = [
        f"sweep {stored.name}, made {manifest['created']}",
        f"{int(finished.sum())} of {finished.size} trainings stored, {amount(stored.size())}",
        f"computing time {duration(float(np.nansum(np.asarray(stored.array('seconds')[...]))))}",
        f"coordinates {stored.attributes['coordinates_used']}, {stored.attributes['precision']}",
        "software " + ", ".join(f"{k} {v}" for k, v in manifest["software"].items()),
        "machine " + ", ".join(f"{k} {v}" for k, v in manifest["machine"].items()),
    ]
    for session in manifest["sessions"]:
        lines.append(
            f"session {session['begun']}: {session['computed']} computed, {session['reused']} "
            f"reused, {duration(session['seconds'])}, of which {session['compile_seconds']:.1f} s "
            f"compiling; workers {session['workers']}"
        )
    over = json.loads(stored.attributes["over"])
    lines += ["", "over:", *(f"  {path} = {values}" for path, values in over.items())]
    lines += ["", stored.attributes["experiment"].rstrip(), "", str(stored.dataset())]
    return "\n".join(lines)


def kinds_text(stored: Stored) -> str:
    """The parts of a stored sweep's experiment."""
    text = stored.attributes["experiment"]
    names = [line.split('"')[1] for line in text.splitlines() if line.startswith("kind = ")]
    return " x ".join(names) or "experiment"
