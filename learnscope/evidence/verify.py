"""Running studies: sweeps, figures, data and ledger into a folder."""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from learnscope.engine.size import check_precision
from learnscope.errors import BadInput, MissingData, unknown, why_of
from learnscope.evidence.boundary_sweep import BoundarySweep
from learnscope.evidence.budget import Budget, Job, jobs_of, spend
from learnscope.evidence.bundled import read_bundles, taken
from learnscope.evidence.function_sweep import FunctionSweep
from learnscope.evidence.ledger import Entry, Ledger, read_rows
from learnscope.evidence.output import Output
from learnscope.evidence.scale import SCALES
from learnscope.evidence.session import Session, status
from learnscope.evidence.study import Study, Sweep, check_scale
from learnscope.lab.blocks import Plans, nominal
from learnscope.lab.cluster import opened
from learnscope.lab.progress import divergence
from learnscope.lab.run import report_of
from learnscope.part.code import commit

_SMOKE = "smoke sizes are for tests and give no verdicts"
_MANY = 5  # sweeps, whose planning takes long


def run_studies(
    known: Mapping[str, Study],
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
    ask: Callable[[Plans], None] = lambda plans: None,
    budget: Budget | None = None,
    bundles: Sequence[str] = (),
) -> Ledger | None:
    """Run `study`, `study.figure` or (None) all `known` studies. The ledger is returned if whole
    studies were run unchanged: claims are not about changed experiments.

    `headlines` restricts a run of all studies to the figures that they name as such. `ask` receives
    the plans before anything is run. Within a `budget`, sweeps are stored in the order of
    `schedule` until the time is over. Claims on others keep the row that the folder has of them.
    Sweeps that `bundles` hold (files of `runs export`) are taken from there.
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    say = console.print
    check_scale(scale, SCALES)
    if precision is not None:
        check_precision(precision)
    studies, figures = _choose(known, target)
    chosen = [(target is None and headlines and s.headline) or figures for s in studies]
    plans = [
        _plan(study, names, changes, seeds, scale)
        for study, names in zip(studies, chosen, strict=True)
    ]
    output = Output(out)
    if not changes and figures is None:
        _with_others(Ledger(), output, known)  # fail before any run if the ledger is damaged
    asked = {(study.name, name): sweep for study, (sweeps, _) in zip(studies, plans, strict=True)
             for name, sweep in sweeps.items()}  # fmt: skip
    there = taken(read_bundles(bundles), asked, scale, precision)
    paired = zip(studies, plans, strict=True)
    jobs = [job for study, (sweeps, _) in paired for job in jobs_of(study, sweeps)
            if (study.name, job.name) not in there]  # fmt: skip
    listed = list(_planned(jobs, precision, quiet, say))
    if budget is None:
        ask([run for runs in listed for run in runs])
    ledger, undrawn = Ledger(), []
    made = {"date": str(datetime.now(UTC).date()), "commit": commit() or "", "scale": scale}
    with opened(cluster) as shared:
        settings = {"progress": not quiet, "store": store}
        if precision is not None:
            settings["precision"] = precision
        unfinished, missing = set[tuple[str, str]](), set[tuple[str, str]]()
        if budget is not None:
            unfinished = spend(budget, jobs, listed, say, **settings, cluster=shared)
            settings["progress"] = False
        session = Session([nominal(runs) for runs in listed], show=bool(settings["progress"]))
        for study, (sweeps, drawn) in zip(studies, plans, strict=True):
            say(f"{study.name}: {study.title}")
            datasets, absent = {}, {}
            waiting = list(drawn)

            def draw(study=study, datasets=datasets, waiting=waiting) -> None:
                """Every figure whose data are there, and which is not drawn yet."""
                for name in [n for n in waiting if set(study.figures[n].needs) <= set(datasets)]:
                    waiting.remove(name)
                    figure = study.figures[name]
                    try:
                        drawing = figure.draw(*(datasets[need] for need in figure.needs))
                    except Exception as error:
                        if not changes:
                            raise
                        undrawn.append(f"{study.name}.{name} ({why_of(error)})")
                        continue
                    mark = "smoke run: no evidence" if scale == "smoke" else ""
                    paths = output.figure(f"{study.name}/{name}", drawing, mark)
                    say(f"  wrote {paths[0]} and .pdf: {figure.words}")

            for name, sweep in sweeps.items():
                if (study.name, name) in there:
                    data = datasets[name] = there[study.name, name]
                    made_at = data.encoding["made"]
                    say(f"  {name}: from a bundle, made on {made_at['date']} at "
                        f"{made_at['commit']} in {made_at['took']}")  # fmt: skip
                    output.dataset(f"{study.name}/{name}", data)
                    draw()
                    continue
                name_of = f"  {name} ({session})"
                if budget is not None and (study.name, name) in unfinished:
                    absent[name] = budget.over(study.name, scale)
                    session.next()
                    continue
                try:
                    data = sweep.run(**settings | {"progress": session}, cluster=shared)
                except MissingData as lacking:
                    if target is not None and figures is not None:
                        raise
                    absent[name] = lacking.anywhere
                    missing.add((study.name, name))
                    say(f"{name_of}: not run: {lacking}")
                    continue
                finally:
                    session.next()
                datasets[name] = data
                lost = divergence(data) if "diverged_at" in data else ""
                say(f"{name_of}: {'; '.join(filter(None, (str(report_of(data)), lost)))}")
                output.dataset(f"{study.name}/{name}", data)
                draw()
            if not changes and figures is None:
                rows = study.ledger(datasets, absent, **made)
                ledger.extend(rows.unjudged(_SMOKE) if scale == "smoke" else rows)
    if undrawn:
        changed = ", ".join(f"{path} = {values}" for path, values in changes.items())
        raise BadInput(f"with {changed} these cannot be drawn: {'; '.join(undrawn)}.")
    if not ledger:
        say(f"Figures and data are in {output.folder}.")
        return None
    whole = _with_others(ledger, output, known, unfinished, missing)
    ledger = Ledger(entry for entry in whole if entry.study in {s.name for s in studies})
    paths = output.ledger(whole, known)
    say(f"Figures, data and ledger are in {output.folder}; the ledger is {paths[0]}.")
    return ledger


def _with_others(
    ledger: Ledger, output: Output, known: Mapping[str, Study],
    unfinished: Collection[tuple[str, str]] = (), missing: Collection[tuple[str, str]] = (),
) -> Ledger:  # fmt: skip
    """The ledger with the folder's rows of other studies, in the order of studies. Rows that the
    folder holds at another precision are judged by both. What an unfinished sweep leaves open
    keeps its row (with today's claim, if it was not run), and so does what a smoke run computes
    and what was judged where the data are."""
    new, order = {entry.study for entry in ledger}, list(known)
    there = read_rows(output.folder) if (output.folder / "ledger.json").exists() else ()
    old = {(row["study"], row["id"]): Entry.from_dict(row) for row in there}

    def beside(new: Entry) -> Entry:
        before = old.get((new.study, new.claim.id), new)
        judged = before.finding.verdict != "not run"
        late, lacking = (
            any((new.study, need) in kind for need in new.claim.needs)
            for kind in (unfinished, missing)
        )
        if late and not judged:
            return dataclasses.replace(before, claim=new.claim)
        if late or (lacking and judged) or new.finding.why == _SMOKE:
            kept = dataclasses.replace(before.claim, sentence=new.claim.sentence)  # a key only
            return dataclasses.replace(before, claim=kept)
        return new.beside(before)

    both = map(beside, ledger)
    others = (entry for entry in old.values() if entry.study not in new)
    place = lambda entry: order.index(entry.study) if entry.study in order else len(order)  # noqa: E731
    return Ledger(sorted([*both, *others], key=place))


def _planned(
    jobs: list[Job], precision: str | None, quiet: bool, say: Callable[[str], None]
) -> Iterator[Plans]:
    """The plans of every sweep, with a line that says how far it is."""
    with status(quiet) as show:
        if show is None and len(jobs) > _MANY:
            say(f"planning {len(jobs)} sweeps")
        for number, job in enumerate(jobs, 1):
            if show is not None:
                show(f"planning {number} of {len(jobs)} sweeps: {job.study} {job.name}")
            try:
                yield job.sweep.plans(precision)
            except MissingData:  # reported when the sweep is run
                yield []


def _choose(
    known: Mapping[str, Study], target: str | None
) -> tuple[list[Study], tuple[str, ...] | None]:
    if target is None:
        return list(known.values()), None
    name, _, figure = target.partition(".")
    if name not in known:
        raise unknown("study", name, known)
    study = known[name]
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
) -> tuple[dict[str, Sweep | BoundarySweep | FunctionSweep], list[str]]:
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
        how = "have several values" if several else "be changed"
        raise BadInput(
            f"{', '.join(several or changes)} cannot {how} here: no figure of {study.name} could "
            "show it; `learnscope sweep FILE.toml` sweeps anything."
        )
    used = {need for name in drawn for need in study.figures[name].needs}
    if figures is None and not changes:
        used |= set(fitting)
    return {name: sweep for name, sweep in fitting.items() if name in used}, drawn
