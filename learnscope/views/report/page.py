"""The report as one HTML page: text, style, script and pictures in one file."""

import base64
import io
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from PIL import Image

from learnscope.evidence import VERDICTS
from learnscope.evidence.artefacts import artefacts, details, head, setting
from learnscope.images.formats.folders import open_image
from learnscope.part import PAPERS
from learnscope.views.report.contents import Contents, Defined, Part, Picture

MARKS = {"reproduced": "✓", "differs": "≠", "inconclusive": "?", "not run": "–"}
_COLUMNS = ("study", "where", "claim and setting", "paper", "measured", "verdict", "figures")
_COLOURS = 192  # colours of a picture: enough for lines and heat maps, at a third of the size


def page(contents: Contents) -> str:
    """The whole report."""
    template = files("learnscope.views.report") / "page.html"
    counts = contents.counts()
    names = [escape(part.study.name) for part in contents.parts]
    return Template(template.read_text(encoding="utf-8")).substitute(
        version=escape(version("learnscope")),
        artefacts=escape(head(artefacts(contents.rows))),
        summary=", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS),
        total=str(len(contents.rows)),
        studies="".join(f'<option value="{name}">{name}</option>' for name in names),
        verdicts="".join(_button(verdict, counts[verdict]) for verdict in VERDICTS),
        contents="".join(
            f'<li><a href="#{part.study.name}">{escape(part.study.name)}</a>: '
            f"{escape(part.study.title)}</li>"
            for part in contents.parts
        ),
        columns="".join(f'<th scope="col">{name}</th>' for name in _COLUMNS),
        rows="\n".join(_row(contents, row) for row in contents.rows),
        parts="\n".join(map(_part, contents.parts)),
    )


def _button(verdict: str, count: int) -> str:
    return (
        f'<button type="button" class="verdict {_kind(verdict)}" data-verdict="{verdict}" '
        f'aria-pressed="true">{MARKS[verdict]} {verdict} ({count})</button>'
    )


def _kind(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _row(contents: Contents, row: dict[str, str]) -> str:
    figures = {picture.name: picture.anchor for picture in contents.pictures_of(row)}
    runs = contents.sweeps_of(row)
    seen = _links(figures) + (f'<p class="runs">runs: {_links(runs)}</p>' if runs else "")
    why = "".join(
        f'<p class="why">{escape(text)}</p>' for text in (row["why"], details(row)) if text
    )
    verdict, study = row["verdict"], escape(row["study"])
    cells = (
        f'<a href="#{study}">{study}</a>',
        escape(row["where"]),
        f'{escape(row["statement"])}<p class="setting">{escape(setting(row))}</p>',
        escape(row["reported"]),
        escape(row["measured"]) + why,
        f'<span class="verdict {_kind(verdict)}">{MARKS[verdict]} {verdict}</span>',
        seen,
    )
    inside = "".join(
        f'<td data-name="{name}"><div>{cell}</div></td>'
        for name, cell in zip(_COLUMNS, cells, strict=True)
    )
    return (
        f'<tr id="{study}-claim-{escape(row["id"])}" data-study="{study}" '
        f'data-verdict="{verdict}">{inside}</tr>'
    )


def _links(anchors: dict[str, str]) -> str:
    return ", ".join(
        f'<a href="#{escape(anchor)}">{escape(name)}</a>' for name, anchor in anchors.items()
    )


def _part(part: Part) -> str:
    study = part.study
    figures = experiments = ""
    if part.pictures:
        figures = f"<h3>Figures</h3>{''.join(map(_figure, part.pictures))}"
    if part.experiments:
        swept: dict[str, list[Defined]] = {}
        for one in part.experiments:
            swept.setdefault(one.sweep, []).append(one)
        inside = "\n".join(
            f'<div id="{escape(part.anchor(sweep))}">{"".join(map(_experiment, arms))}</div>'
            for sweep, arms in swept.items()
        )
        experiments = (
            f"<h3>Experiments</h3><p>{len(part.experiments)} definitions, with the conditions of "
            "the theorem that covers each, where there is one. "
            f'<button type="button" class="all">Open all</button></p>{inside}'
        )
    return (
        f'<section id="{study.name}"><h2>{escape(study.name)}: {escape(study.title)}</h2>'
        f"<p>Run it again: <code>learnscope verify {escape(study.name)}</code></p>"
        f'<details class="citation"><summary>Citation (BibTeX)</summary>'
        f'<pre tabindex="0">{escape(PAPERS[study.paper])}</pre></details>'
        f"{figures}{experiments}</section>"
    )


def _figure(picture: Picture) -> str:
    command = f"learnscope run {picture.study}.{picture.name}"
    text, (width, height) = _encoded(picture.file)
    # With its size, so that the layout is fixed before decoding and links land correctly.
    return (
        f'<figure id="{picture.anchor}"><img decoding="async" width="{width}" height="{height}" '
        f'alt="{escape(picture.title)}" src="data:image/png;base64,{text}">'
        f"<figcaption><strong>{escape(picture.name)}.</strong> {escape(picture.title)} "
        f"<code>{escape(command)}</code></figcaption></figure>"
    )


def _encoded(file: Path) -> tuple[str, tuple[int, int]]:
    """A picture in few colours, as base64, and its size."""
    with open_image(file) as image:
        drawn = image.convert("RGBA")
    flat = Image.new("RGB", drawn.size, "white")
    flat.paste(drawn, mask=drawn.getchannel("A"))
    held = io.BytesIO()
    flat.quantize(_COLOURS, dither=Image.Dither.NONE).save(held, "PNG", optimize=True)
    return base64.b64encode(held.getvalue()).decode(), flat.size


def _experiment(defined: Defined) -> str:
    name = f"{defined.sweep}: {defined.arm}" if defined.arm else defined.sweep
    swept = f"<p>Over <code>{escape(defined.over)}</code></p>" if defined.over else ""
    checked = ""
    if defined.conditions is not None:
        checked = f'<div class="wide" tabindex="0">{defined.conditions._repr_html_()}</div>'
    return (
        f"<details><summary>{escape(name)} ({defined.seeds} seeds)</summary>{swept}"
        f'<pre tabindex="0">{escape(defined.toml)}</pre>{checked}</details>'
    )
