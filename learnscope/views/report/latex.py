"""Material for a paper: each study's ledger as a LaTeX table, PDFs, references."""

import re
import unicodedata
from collections.abc import Sequence

from learnscope.evidence.output import Output
from learnscope.views.report.contents import Contents

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
# Characters that pdfLaTeX cannot read, as mathematics.
_GREEK = {
    chr(code): rf"\{name}"
    for name, code in {
        "alpha": 0x3B1, "beta": 0x3B2, "gamma": 0x3B3, "delta": 0x3B4, "varepsilon": 0x3B5,
        "zeta": 0x3B6, "eta": 0x3B7, "theta": 0x3B8, "kappa": 0x3BA, "lambda": 0x3BB,
        "mu": 0x3BC, "nu": 0x3BD,
        "xi": 0x3BE, "pi": 0x3C0, "rho": 0x3C1, "varrho": 0x3F1,
        "sigma": 0x3C3, "tau": 0x3C4, "phi": 0x3C6,
        "psi": 0x3C8, "omega": 0x3C9, "Gamma": 0x393, "Delta": 0x394, "Theta": 0x398,
        "Lambda": 0x39B, "Sigma": 0x3A3, "Phi": 0x3A6, "Psi": 0x3A8, "Omega": 0x3A9,
    }.items()
}  # fmt: skip
_MATHS = _GREEK | {
    "≥": r"\geq", "≤": r"\leq", "±": r"\pm", "×": r"\times", "→": r"\to", "√": r"\surd",
    "≈": r"\approx", "∼": r"\sim", "∝": r"\propto", "≫": r"\gg", "≪": r"\ll", "≠": r"\neq",
    "−": "-", "·": r"\cdot", "∞": r"\infty", "∇": r"\nabla",
    "‖": r"\|", "ℓ": r"\ell", "|": "|", "<": "<", ">": ">",
    "⟨": r"\langle", "⟩": r"\rangle", "ᵀ": r"^\top", "⁽": "^(", "⁾": "^)", "⁻": "^-",
    **{raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{lowered: f"_{digit}" for digit, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")},
}  # fmt: skip
_TABLE = _ESCAPES | {sign: f"${maths}$" for sign, maths in _MATHS.items()}
_TABLE |= {"–": "--", "…": r"\dots{}"}
_ABOVE = {"\u0303": "tilde", "\u0304": "bar"}
_PATTERN = re.compile("(.)([\u0303\u0304])|" + "|".join(map(re.escape, _TABLE)))


def escaped(text: str) -> str:
    r"""Plain text for LaTeX.

    >>> print(escaped("95 % of d_1 & λ"))
    95 \% of d\_1 \& $\lambda$
    """
    return _PATTERN.sub(_written, unicodedata.normalize("NFC", text))


def _written(match: re.Match[str]) -> str:
    below, above = match.groups()
    if below:
        return rf"$\{_ABOVE[above]}{{{_MATHS.get(below, below)}}}$"
    return _TABLE[match.group()]


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
    """Write PDFs of all figures, one table per study, and the references; return their number."""
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
    cited = dict.fromkeys(part.study.citation for part in contents.parts)
    output.text("references.bib", "\n\n".join(cited) + "\n")
    return written + 1
