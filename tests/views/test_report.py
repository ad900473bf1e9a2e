"""The report: from an output folder to a page and to parts of a paper; and what it refuses."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from learnscope.evidence.output import Output
from learnscope.papers import STUDIES
from learnscope.views.report.contents import read_contents
from learnscope.views.report.latex import escaped, ledger_table, write_paper
from learnscope.views.report.page import page
from tests.views.conftest import write_output


@pytest.fixture
def folder(tmp_path):
    """As `learnscope verify pegr` leaves it, with one figure."""
    write_output(tmp_path)
    return tmp_path


def test_the_page_holds_all_of_it_and_a_claim_leads_to_its_figure(folder):
    text = page(read_contents(folder))
    assert text.count("<tr id=") == len(STUDIES["pegr"].claims)
    assert "1 reproduced, 1 differs" in text
    assert "a &lt;b&gt; &amp; c" in text and "<b>" not in text
    assert 'src="data:image/png;base64,' in text
    assert "@article{meng2023pegr" in text
    assert "learnscope run pegr.figure1" in text
    # Offline: nothing is fetched from elsewhere; and every link within the page has a target.
    assert not re.findall(r'<(?!a )[^>]*(?:src|href)="(?!data:|#)[^"]*"', text)
    assert re.findall(r'<a href="(https:[^"]*)"', text) == ["https://arxiv.org/abs/2303.17940"]
    assert f"Made {datetime.now(UTC).date()}" in text and "Python 3." in text
    assert re.search(r'class="bar" role="img" aria-label="1 reproduced, 1 differs, ', text)
    shown = r"<strong>figure1.</strong> All losses fall. Claims about it: \d+ "
    assert re.search(shown, text)  # the picture's own heading
    targets = set(re.findall(r'id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= targets
    pictures = re.findall(r'<img (?!class="mark")[^>]*alt="([^"]*)"', text)
    assert pictures and all(pictures)
    contents = read_contents(folder)
    (row,) = [r for r in contents.rows if r["id"] == "losses.literal"]
    assert [picture.name for picture in contents.pictures_of(row)] == ["figure1"]
    assert contents.sweeps_of(row) == {}, "there is no dataset in the folder"


def test_parts_for_a_paper(folder, tmp_path):
    out = tmp_path / "paper"
    count = write_paper(read_contents(folder), Output(out))
    names = sorted(path.name for path in out.iterdir())
    assert names == ["pegr-figure1.pdf", "pegr-ledger.tex", "references.bib"]
    assert count == 3


def test_latex_is_escaped():
    row = dict.fromkeys(("where", "statement", "reported", "measured", "why"), "5 % & x_1")
    assert r"5 \% \& x\_1 & 5 \% \& x\_1" in ledger_table("a_b", [row | {"verdict": "differs"}])
    assert escaped("{~^}\\") == r"\{\textasciitilde{}\textasciicircum{}\}\textbackslash{}"


def test_pdflatex_can_read_whatever_a_ledger_tells():
    """Accented letters it reads by itself; of other signs it knows those in the table only."""
    ledger = (Path(__file__).parents[2] / "docs" / "ledger.json").read_text(encoding="utf-8")
    texts = [ledger] + [
        text
        for study in STUDIES.values()
        for claim in study.claims
        for text in (claim.where, claim.statement, claim.reported, claim.setting, claim.reason)
    ]
    assert not {sign for text in texts for sign in escaped(text) if ord(sign) > 255}
    assert escaped("σ̃ ≫ 10⁴") == r"$\tilde{\sigma}$ $\gg$ 10$^4$"


@pytest.mark.parametrize(
    "written", ["", "{", "[1]", '[{"study": "pegr"}]', '{"a": 1}', "[" + "[" * 3000]
)
def test_a_damaged_ledger(folder, refuse, written):
    (folder / "ledger.json").write_text(written, encoding="utf-8")
    refuse("report", folder, said="ledger.json")


def test_a_damaged_dataset_or_no_ledger(folder, refuse, tmp_path):
    (folder / "pegr" / "literal.nc").write_bytes(b"not HDF5")
    refuse("report", folder, said="literal.nc cannot be read")
    refuse("report", tmp_path / "nothing", said="learnscope verify")


def test_a_damaged_figure(folder, refuse):
    (figure, *_) = folder.glob("pegr/*.png")
    figure.write_bytes(figure.read_bytes()[:40])
    refuse("report", folder, said=f"{figure} is not a whole PNG")


def test_the_command(folder, call):
    code, *_ = call("report", folder, "--out", folder / "r.html", "--paper", folder / "p")
    assert code == 0
    assert (folder / "r.html").stat().st_size > 10_000
    assert (folder / "p" / "references.bib").is_file()
