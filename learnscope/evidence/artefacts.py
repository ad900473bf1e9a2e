"""Artefacts: the figures, tables and statements of a paper, and the verdict that each deserves."""

from collections.abc import Iterable, Mapping, Sequence

from learnscope.evidence.cell import FEWEST
from learnscope.evidence.finding import VERDICTS, weakest

# An artefact counts under the first of these scopes in which all that is said of it is reproduced.
COUNTED = ("as stated", "regime", "reading", "asymptotic", "")
COLUMNS = (*(scope or "no scope given" for scope in COUNTED), *VERDICTS[1:])
LOOKED = "added after looking"
Row = Mapping[str, str]  # a row of the ledger


def head(rows: Sequence[Row]) -> str:
    """How many artefacts came to what, in a sentence or two."""
    all_of = [verdict for of in artefacts(rows).values() for verdict in of.values()]
    counted = [f"{all_of.count(c)} {c}" for c in COLUMNS if c in all_of]
    if not all_of:
        return "No artefacts."
    return f"{len(all_of)} artefacts: {', '.join(counted)}.{looked(rows)}"


def artefacts(rows: Iterable[Row]) -> dict[str, dict[str, str]]:
    """The strongest verdict of every artefact (the `where` of claims), by study."""
    places: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        places.setdefault(row["study"], {}).setdefault(row["where"], []).append(row)
    found = {study: {place: strongest(of) for place, of in by.items()}
             for study, by in places.items()}  # fmt: skip
    return {study: {p: v for p, v in of.items() if v} for study, of in found.items()}


def strongest(rows: Iterable[Row]) -> str:
    """The strongest verdict that rows about one artefact deserve; empty if none is about the paper.

    All that is said in one scope must be reproduced there. What differs in a reading refutes
    nothing while the paper's own setting is open; what is fitted counts for nothing.
    """
    scopes: dict[str, list[str]] = {}
    for row in rows:
        if not row["scope"].startswith("beyond"):
            fitted = row["scope"].startswith("fitted") and row["verdict"] == "reproduced"
            verdict = "inconclusive" if fitted else row["verdict"]
            scopes.setdefault(row["scope"], []).append(verdict)
    judged = {scope: weakest(verdicts) for scope, verdicts in scopes.items()}
    for kind in COUNTED:
        if any(s.partition(":")[0] == kind and v == "reproduced" for s, v in judged.items()):
            return kind or "no scope given"
    own = [v for s, v in judged.items() if s.partition(":")[0] in ("as stated", "regime")]
    left = own or list(judged.values())
    return next((v for v in ("inconclusive", "differs", "not run") if v in left), "")


def after_looking(rows: Sequence[Row]) -> int:
    """The number of artefacts that are reproduced only if rows count whose criterion, sizes or
    range were chosen after a look at results."""
    planned = artefacts([{**r, "verdict": "inconclusive"} if LOOKED in r["flags"] else r
                         for r in rows])  # fmt: skip
    return sum(v not in VERDICTS[1:] and planned[study].get(place) in VERDICTS[1:]
               for study, of in artefacts(rows).items() for place, v in of.items())  # fmt: skip


def looked(rows: Sequence[Row]) -> str:
    """`after_looking` as a sentence; empty if there is none."""
    count = after_looking(rows)
    return f" {count} of the reproduced ones rest on a choice made after looking." if count else ""


def counts(found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A Markdown table: the number of artefacts with each verdict, one line per study."""
    used = [c for c in COLUMNS if any(c in of.values() for of in found.values())]
    lines = [f"| artefacts of | {' | '.join(used)} |", "|" + "---|" * (len(used) + 1)]
    for study, of in found.items():
        numbers = (str(list(of.values()).count(column)) for column in used)
        lines.append(f"| {study} | {' | '.join(numbers)} |")
    return lines


def setting(row: Row) -> str:
    """A row's setting, with its scope and flags."""
    rates = f"rates {row['rates']}" if row.get("rates") else ""
    return "; ".join(filter(None, [row["setting"], row["scope"], row["flags"], rates]))


def details(row: Row) -> str:
    """The interval that decides, its independent draws, and the nulls, as text."""
    draws = f"{row['draws']} draws" if row["draws"] not in ("", "exact") else row["draws"]
    if draws and row.get("needed", "") not in ("", str(FEWEST)):
        draws += f" (a verdict here needs {row['needed']})"
    null = f"null: {row['null']}" if row["null"] else ""
    return "; ".join(filter(None, [row["interval"], draws, row.get("power", ""), null]))
