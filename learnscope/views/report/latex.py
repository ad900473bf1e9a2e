"""What goes into a paper: the ledger of a study as a LaTeX table, PDFs, references."""

import re
from collections.abc import Sequence

from learnscope.papers import PAPERS
from learnscope.views.output import Output
from learnscope.views.report.contents import Contents

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
# What pdfLaTeX does not read by itself, in the words of mathematics.
_SYMBOLS = {
    "λ": r"$\lambda$", "μ": r"$\mu$", "σ": r"$\sigma$", "ξ": r"$\xi$", "η": r"$\eta$",
    "α": r"$\alpha$", "γ": r"$\gamma$", "Γ": r"$\Gamma$", "ν": r"$\nu$", "ρ": r"$\rho$",
    "π": r"$\pi$", "≥": r"$\geq$", "≤": r"$\leq$", "±": r"$\pm$", "×": r"$\times$",
    "→": r"$\to$", "√": r"$\surd$", "≈": r"$\approx$", "∼": r"$\sim$", "–": "--", "…": r"\dots{}",
    "²": r"$^2$", "³": r"$^3$", "₁": r"$_1$", "₂": r"$_2$", "|": r"$|$", "<": r"$<$", ">": r"$>$",
}  # fmt: skip
_TABLE = {**_ESCAPES, **_SYMBOLS}
_PATTERN = re.compile("|".join(map(re.escape, _TABLE)))


def escaped(text: str) -> str:
    r"""Plain text for LaTeX.

    >>> print(escaped("95 % of d_1 & λ"))
    95 \% of d\_1 \& $\lambda$
    """
    return _PATTERN.sub(lambda found: _TABLE[found.group()], text)


def ledger_table(study: str, rows: Sequence[dict[str, str]]) -> str:
    """A `longtable` of a study's claims: where, claim, paper, measured, verdict."""
    lines = [
        "% needs \\usepackage{booktabs,longtable,array}",
        "\\begin{longtable}{>{\\raggedright}p{.12\\linewidth}>{\\raggedright}p{.28\\linewidth}"
        ">{\\raggedright}p{.18\\linewidth}>{\\raggedright}p{.26\\linewidth}l}",
        f"\\caption{{Claims of {escaped(study)} and what was measured.}}\\\\",
        "\\toprule where & claim & paper & measured & verdict \\\\ \\midrule \\endhead",
        "\\bottomrule \\endfoot",
    ]
    for row in rows:
        measured = row["measured"] + (f" ({row['why']})" if row["why"] else "")
        cells = (row["where"], row["statement"], row["reported"], measured.strip(), row["verdict"])
        lines.append(" & ".join(map(escaped, cells)) + r" \\")
    return "\n".join([*lines, "\\end{longtable}", ""])


def write_paper(contents: Contents, output: Output) -> int:
    """PDFs of all figures, a table a study, and the references; how many files."""
    written = 0
    for part in contents.parts:
        name = part.study.name
        rows = [row for row in contents.rows if row["study"] == name]
        output.text(f"{name}-ledger.tex", ledger_table(name, rows))
        written += 1
        for picture in part.pictures:
            vector = picture.file.with_suffix(".pdf")
            if vector.is_file():
                output.copy(f"{name}-{picture.name}.pdf", vector)
                written += 1
    cited = dict.fromkeys(part.study.paper for part in contents.parts)
    output.text("references.bib", "\n\n".join(PAPERS[key] for key in cited) + "\n")
    return written + 1
