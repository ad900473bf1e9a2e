"""Commands about studies: list, run, verify."""

from typing import Annotated

import typer
from typer import Argument, Option

from learnscope.cli.options import (
    Changes,
    Experimenting,
    Parts,
    echo,
    saying,
    seconds_of,
    use_parts,
    with_options,
)

app = typer.Typer()
Scale = Annotated[str, Option(help="smoke (a trial), laptop or paper (as published).")]
Budget = Annotated[
    str | None,
    Option(metavar="TIME", help="Stop after this time (2h, 90min), and write what is done."),
]
Bundles = Annotated[
    list[str] | None,
    Option("--from", metavar="FILE.zip", help="Take sweeps from a bundle (`runs export`)."),
]


@app.command("list")
def list_(parts: Parts = None) -> None:
    """List the studies with their figures, and the parts an experiment can be built from."""
    use_parts(parts)
    from learnscope.lab import Experiment
    from learnscope.papers import STUDIES
    from learnscope.part import kinds
    from learnscope.views.terminal import study_lines

    for study in STUDIES.values():
        echo("\n".join(study_lines(study)))
    for slot in ("data", "net", "rule", "probes"):
        echo(f"{slot}: {', '.join(sorted(kinds(Experiment.slots[slot])))}")


@app.command()
@with_options
def run(
    options: Experimenting,
    target: Annotated[
        str | None, Argument(metavar="[STUDY[.FIGURE]]", help="Default: all headlines.")
    ] = None,
    changes: Changes = None,
    scale: Scale = "laptop",
    budget: Budget = None,
    bundles: Bundles = None,
) -> None:
    """Run a study or a figure; write figures, data and (for a whole study) the ledger.

    Without a name, run every study's headline figures.
    """
    if target is not None and "=" in target:
        changes, target = [target, *(changes or [])], None
    _run(target, changes, scale, options, budget, bundles=bundles or (), headlines=True)


@app.command()
@with_options
def verify(
    options: Experimenting,
    target: Annotated[str | None, Argument(metavar="[STUDY]", help="Default: every study.")] = None,
    scale: Scale = "laptop",
    budget: Budget = None,
    bundles: Bundles = None,
) -> None:
    """Check every claim. Like run, but the exit code is 1 if a claim differs.

    With a budget, the most decisive sweeps come first; the next call continues from there.
    """
    ledger = _run(target, None, scale, options, budget, bundles=bundles or ())
    if ledger is not None and ledger.count("differs"):
        raise typer.Exit(1)


def _run(target, changes, scale, options, budget, **more):
    from rich.console import Console

    from learnscope.cli.sweep_file import parse_changes
    from learnscope.evidence.verify import run_studies
    from learnscope.papers import STUDIES
    from learnscope.views.terminal import print_ledger

    ledger = run_studies(
        STUDIES, target, parse_changes(changes or []), options.seeds, options.out, scale,
        options.precision, quiet=options.quiet, ask=options.ask,
        budget=_budget(budget, options), **options.where, **more,
    )  # fmt: skip
    if ledger is not None and not options.quiet:
        print_ledger(ledger, Console(highlight=False, soft_wrap=True))
    return ledger


def _budget(text, options):
    """A time to keep to, and how the cost of sweeps is measured."""
    if text is None:
        return None
    from learnscope.cli.cost import measured
    from learnscope.errors import BadInput
    from learnscope.evidence.budget import Budget
    from learnscope.evidence.session import status

    seconds, store = seconds_of(text), options.where["store"]
    if store is None:
        raise BadInput("--budget needs a store to continue from: --store FOLDER.")
    workers = options.workers or 1

    def cost(sweeps):
        with status(options.quiet) as show:
            return measured(sweeps, store, seconds, show or saying(quiet=True), workers)

    return Budget(text, seconds, cost)
