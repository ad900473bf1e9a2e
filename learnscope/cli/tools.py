"""Tools for data of your own: influence, collapse."""

from typing import Annotated

import typer
from typer import Argument, Option

from learnscope.cli.options import Out, Quiet, saying

app = typer.Typer()


@app.command()
def influence(
    file: Annotated[
        str | None,
        Argument(help=".npz, .csv(.gz) or a folder of class folders. Default: bundled digits."),
    ] = None,
    label: Annotated[str | None, Option(help="Column or array of the labels.")] = None,
    top: Annotated[int, Option(help="Images per class, at each end.", min=1, max=20)] = 5,
    baselines: Annotated[bool, Option("--baselines", help="Add simpler measures.")] = False,
    out: Out = "learnscope-out",
    quiet: Quiet = False,
) -> None:
    """Score how atypical each image is for its class; write a table and a contact sheet.

    Also draw the noise correlation of the classes. Scores are those of
    eq. (10) in Xu and Chen (2025).
    """
    import numpy as np

    from learnscope import tools
    from learnscope.evidence.output import Output
    from learnscope.views import scores as words
    from learnscope.views.influence import contact_sheet, correlation_map, has_correlation_map

    say = saying(quiet)
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
        say("noise correlations are not drawn: too many classes, or none with two images.")
    for path in paths:
        say(f"wrote {path}")


@app.command()
def collapse(
    file: Annotated[
        str, Argument(metavar="FILE", help=".npy or .npz: an array, examples by units.")
    ],
    array: Annotated[str | None, Option(metavar="NAME", help="Which array of an .npz.")] = None,
    out: Annotated[str | None, Option(help="Folder for the results.")] = None,
    dead: Annotated[float | None, Option(help="Relative deviation of a dead unit.")] = None,
    duplicate: Annotated[float | None, Option(help="|correlation| of duplicate units.")] = None,
    dimensional: Annotated[
        float | None, Option(help="Rank fraction of dimensional collapse.")
    ] = None,
    partial: Annotated[float | None, Option(help="Rank fraction of partial collapse.")] = None,
    quiet: Quiet = False,
) -> None:
    """Find out whether your own representations have collapsed: a table, a verdict, a figure.

    They show effective rank, singular values, correlations of units,
    dead and duplicate units. The exit code is 0 whatever the verdict.
    """
    from learnscope import tools
    from learnscope.evidence.output import Output

    say = saying(quiet)
    limits = {"dead": dead, "duplicate": duplicate, "dimensional": dimensional, "partial": partial}
    limits = {name: value for name, value in limits.items() if value is not None}
    representations = tools.read_representations(file, array)
    output = None if out is None else Output(out)
    report = tools.collapse_report(representations, **limits)
    say(str(report))
    if output is not None:
        from learnscope.views.collapse import write_report

        for path in write_report(output, report, file):
            say(f"wrote {path}")
