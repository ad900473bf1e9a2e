"""The report as one HTML page: text, style, script and pictures in one file."""

import base64
import io
import platform
from datetime import UTC, datetime
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from PIL import Image

from learnscope.evidence import VERDICTS
from learnscope.evidence.artefacts import details, head, setting
from learnscope.images.formats.folders import open_image
from learnscope.lab.processes import cores
from learnscope.part.template import filled
from learnscope.views.report.contents import Contents

MARKS = {"reproduced": "✓", "differs": "≠", "inconclusive": "?", "not run": "–"}
_COLOURS = 192  # colours of a picture: enough for lines and heat maps, at a third of the size


def page(contents: Contents) -> str:
    """The whole report: `page.html`, filled in."""
    counts = contents.counts()
    return filled(
        __package__, "page.html", artefacts=head(contents.rows), contents=contents,
        counts=counts, details=details, encoded=_encoded, mark=_mark(), marks=MARKS,
        parts=contents.parts,
        rows=contents.rows, setting=setting, version=version("learnscope"),
        date=datetime.now(UTC).date(), machine=f"{platform.system()} {platform.machine()}, "
        f"{cores()} cores, Python {platform.python_version()}",
        summary=", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS),
    )  # fmt: skip


def _mark() -> str:
    """The explorer's mark, as base64."""
    file = resources.files("learnscope.views") / "explorer" / "assets" / "mark.svg"
    return base64.b64encode(file.read_bytes()).decode()


def _encoded(file: Path) -> tuple[str, tuple[int, int]]:
    """A picture in few colours, as base64, and its size."""
    with open_image(file) as image:
        drawn = image.convert("RGBA")
    flat = Image.new("RGB", drawn.size, "white")
    flat.paste(drawn, mask=drawn.getchannel("A"))
    held = io.BytesIO()
    flat.quantize(_COLOURS, dither=Image.Dither.NONE).save(held, "PNG", optimize=True)
    return base64.b64encode(held.getvalue()).decode(), flat.size
