"""Running studies: sweeps, figures, data and ledger into a folder."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from learnscope.errors import BadInput, MissingData
from learnscope.lab.cluster import opened
from learnscope.lab.files import check_scale
from learnscope.lab.ledger import Ledger
from learnscope.lab.plan import PRECISIONS
from learnscope.studies import SCALES, STUDIES, Computed, Line, Study, Sweep, get
from learnscope.views.output import Output
from learnscope.views.terminal import print_ledger


def run_studies(
    target: str | None,
    changes: Mapping[str, list[Any]],
    seeds: int | None,
    out: str,
    scale: str,
    precision: str | None,
    quiet: bool = False,
    store: str | None = None,
    cluster: Any = None,
    headlines: bool = False,
) -> Ledger | None:
    """Run `study`, `study.figure` or (None) every study; the ledger, if whole studies were run as
    they are (a changed experiment is no longer what a claim is about).

    With `headlines`, of all studies only the figures that they name as such.
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    say = console.print
    check_scale(scale, SCALES)
    if precision is not None and precision not in PRECISIONS:
        raise BadInput(f"precision = {precision!r} must be one of {', '.join(PRECISIONS)}.")
    studies, figures = _choose(target)
    chosen = [(target is None and headlines and s.headline) or figures for s in studies]
    plans = [
        _plan(study, names, changes, seeds, scale)
        for study, names in zip(studies, chosen, strict=True)
    ]
    output = Output(out)
    ledger = Ledger()
    with opened(cluster) as shared:
        settings = {"progress": not quiet, "store": store}
        if precision is not None:
            settings["precision"] = precision
        for study, (sweeps, drawn) in zip(studies, plans, strict=True):
            say(f"{study.name}: {study.title}")
            datasets, absent = {}, {}
            for name, sweep in sweeps.items():
                try:
                    data, report = sweep.run_and_report(**settings, cluster=shared)
                except MissingData as missing:
                    if target is not None and figures is not None:
                        raise
                    absent[name] = str(missing)
                    say(f"  {name}: not run: {missing}")
                    continue
                datasets[name] = data
                say(f"  {name}: {report}")
                output.dataset(f"{study.name}/{name}", data)
            for name in drawn:
                figure = study.figures[name]
                if not set(figure.needs) <= set(datasets):
                    continue
                drawing = figure.draw(*(datasets[need] for need in figure.needs))
                paths = output.figure(f"{study.name}/{name}", drawing)
                say(f"  wrote {paths[0]} and .pdf: {figure.title}")
            if not changes and figures is None:
                ledger.extend(study.ledger(datasets, absent))
    if not ledger:
        say(f"Figures and data are in {output.folder}.")
        return None
    paths = output.ledger(ledger)
    print_ledger(ledger, console)
    say(f"Figures, data and ledger are in {output.folder}; the ledger is {paths[0]}.")
    return ledger


def _choose(target: str | None) -> tuple[list[Study], tuple[str, ...] | None]:
    if target is None:
        return list(STUDIES.values()), None
    name, _, figure = target.partition(".")
    study = get(name)
    if not figure:
        return [study], None
    study.figure(figure)
    return [study], (figure,)


def _plan(
    study: Study,
    figures: tuple[str, ...] | None,
    changes: Mapping[str, list[Any]],
    seeds: int | None,
    scale: str,
) -> tuple[dict[str, Sweep | Line | Computed], list[str]]:
    """The sweeps to run and the figures that can be drawn from them."""
    all_sweeps = study.sweeps(scale)
    wanted = list(study.figures if figures is None else figures)
    needed = {need for name in wanted for need in study.figures[name].needs}
    if figures is None:
        needed |= {need for claim in study.claims for need in claim.needs}
    chosen = {name: sweep for name, sweep in all_sweeps.items() if name in needed}
    fitting = {
        name: sweep.override(changes, seeds)
        for name, sweep in chosen.items()
        if sweep.keeps_axes(changes)
    }
    drawn = [name for name in wanted if set(study.figures[name].needs) <= set(fitting)]
    if wanted and not drawn:
        several = [path for path, values in changes.items() if len(values) > 1]
        raise BadInput(
            f"{', '.join(several)} can have one value only here: the figures of {study.name} have "
            "no axis for more; `learnscope sweep FILE.toml` sweeps anything."
        )
    used = {need for name in drawn for need in study.figures[name].needs}
    if figures is None and not changes:
        used |= set(fitting)
    return {name: sweep for name, sweep in fitting.items() if name in used}, drawn
