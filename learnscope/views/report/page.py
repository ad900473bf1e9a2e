"""The report as one HTML page: text, style, script and pictures in one file."""

import base64
import io
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from PIL import Image

from learnscope.lab.ledger import VERDICTS
from learnscope.papers import PAPERS
from learnscope.views.report.contents import Contents, Defined, Part, Picture

MARKS = {"reproduced": "✓", "differs": "≠", "not run": "–"}
_COLOURS = 192  # of a picture: lines and heat maps need no more, at a third of the size


def page(contents: Contents) -> str:
    """The whole report."""
    template = files("learnscope.views.report") / "page.html"
    counts = contents.counts()
    return Template(template.read_text(encoding="utf-8")).substitute(
        version=escape(version("learnscope")),
        summary=", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS),
        total=str(len(contents.rows)),
        studies="".join(_option(part.study.name) for part in contents.parts),
        verdicts="".join(_button(verdict, counts[verdict]) for verdict in VERDICTS),
        contents="".join(
            f'<li><a href="#{part.study.name}">{escape(part.study.name)}</a>: '
            f"{escape(part.study.title)}</li>"
            for part in contents.parts
        ),
        rows="\n".join(_row(contents, row) for row in contents.rows),
        parts="\n".join(map(_part, contents.parts)),
    )


def _option(name: str) -> str:
    return f'<option value="{escape(name)}">{escape(name)}</option>'


def _button(verdict: str, count: int) -> str:
    return (
        f'<button type="button" class="verdict {_kind(verdict)}" data-verdict="{verdict}" '
        f'aria-pressed="true">{MARKS[verdict]} {verdict} ({count})</button>'
    )


def _kind(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _row(contents: Contents, row: dict[str, str]) -> str:
    links = ", ".join(
        f'<a href="#{picture.anchor}">{escape(picture.name)}</a>'
        for picture in contents.pictures_of(row)
    )
    why = f'<p class="why">{escape(row["why"])}</p>' if row["why"] else ""
    verdict = row["verdict"]
    return (
        f'<tr id="{escape(row["study"])}-claim-{escape(row["id"])}" '
        f'data-study="{escape(row["study"])}" data-verdict="{verdict}">'
        f'<td><a href="#{escape(row["study"])}">{escape(row["study"])}</a></td>'
        f"<td>{escape(row['where'])}</td>"
        f'<td>{escape(row["statement"])}<p class="setting">{escape(row["setting"])}</p></td>'
        f"<td>{escape(row['reported'])}</td><td>{escape(row['measured'])}{why}</td>"
        f'<td><span class="verdict {_kind(verdict)}">{MARKS[verdict]} {verdict}</span></td>'
        f"<td>{links}</td></tr>"
    )


def _part(part: Part) -> str:
    study = part.study
    experiments = ""
    if part.experiments:
        inside = "\n".join(map(_experiment, part.experiments))
        experiments = (
            f"<h3>Experiments</h3><p>{len(part.experiments)} definitions, each with the conditions "
            f"of the theorem that is about it.</p>{inside}"
        )
    return (
        f'<section id="{study.name}"><h2>{escape(study.name)}: {escape(study.title)}</h2>'
        f"<p>Run it again: <code>learnscope verify {escape(study.name)}</code></p>"
        f"<details><summary>Citation (BibTeX)</summary><pre>{escape(PAPERS[study.paper])}</pre>"
        f"</details>{''.join(map(_figure, part.pictures))}{experiments}</section>"
    )


def _figure(picture: Picture) -> str:
    command = f"learnscope run {picture.study}.{picture.name}"
    return (
        f'<figure id="{picture.anchor}"><img loading="lazy" alt="{escape(picture.title)}" '
        f'src="data:image/png;base64,{_encoded(picture.file)}">'
        f"<figcaption><strong>{escape(picture.name)}.</strong> {escape(picture.title)} "
        f"<code>{escape(command)}</code></figcaption></figure>"
    )


def _encoded(file: Path) -> str:
    """A picture in few colours, as text."""
    with Image.open(file) as image:
        flat = Image.new("RGB", image.size, "white")
        flat.paste(image.convert("RGBA"), mask=image.convert("RGBA").getchannel("A"))
        small = flat.quantize(_COLOURS, dither=Image.Dither.NONE)
    held = io.BytesIO()
    small.save(held, "PNG", optimize=True)
    return base64.b64encode(held.getvalue()).decode()


def _experiment(defined: Defined) -> str:
    name = f"{defined.sweep}: {defined.arm}" if defined.arm else defined.sweep
    swept = f"<p>Over <code>{escape(defined.over)}</code></p>" if defined.over else ""
    checked = ""
    if defined.conditions is not None:
        checked = f'<div class="wide">{defined.conditions._repr_html_()}</div>'
    return (
        f"<details><summary>{escape(name)} ({defined.seeds} seeds)</summary>{swept}"
        f"<pre>{escape(defined.toml)}</pre>{checked}</details>"
    )
