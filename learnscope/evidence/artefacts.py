"""Artefacts: the figures, tables and statements of a paper, and the verdict that each deserves."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from learnscope.evidence.cell import FEWEST
from learnscope.evidence.finding import HOLDS, VERDICTS, weakest

# An artefact counts under the first of these scopes in which all that is said of it is reproduced.
COUNTED = ("as stated", "regime", "reading", "asymptotic", "")
COLUMNS = (*(scope or "no scope given" for scope in COUNTED), *VERDICTS[1:])
LOOKED = "added after looking"
_OF_THE_PAPER = ("as stated", "regime", "asymptotic")  # scopes that do not contradict each other
Row = Mapping[str, str]  # a row of the ledger


def head(rows: Sequence[Row]) -> str:
    """How many artefacts came to what, in a sentence or two."""
    all_of = [verdict for of in artefacts(rows).values() for verdict in of.values()]
    counted = [f"{all_of.count(c)} {c}" for c in COLUMNS if c in all_of]
    if not all_of:
        return "No artefacts."
    return f"{len(all_of)} artefacts: {', '.join(counted)}.{looked(rows)}{_spared(rows)}"


def _spared(rows: Sequence[Row]) -> str:
    count = early(rows)
    return f" {count} are identities or bounds, which untrained networks pass too." if count else ""


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

    A scope counts if all that is said in it is reproduced, and if no sentence of the artefact is
    left out: one that the scope lacks must be reproduced as stated, in the theorem's regime or
    asymptotically, never in another reading. What differs in a reading refutes nothing while the
    paper's own setting is open; what is fitted counts for nothing.
    """
    scopes: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if _kind(row["scope"]) not in ("beyond", "corrected"):
            fitted = _kind(row["scope"]) == "fitted" and row["verdict"] == "reproduced"
            verdict = "inconclusive" if fitted else row["verdict"]
            said = scopes.setdefault(row["scope"], {})
            said.setdefault(row.get("sentence") or row["statement"], []).append(verdict)
    judged = {scope: {key: weakest(verdicts) for key, verdicts in said.items()}
              for scope, said in scopes.items()}  # fmt: skip
    counted = [_counted(scope, judged) for scope in judged]
    for kind in COUNTED:
        if kind in counted:
            return kind or "no scope given"
    every = {scope: weakest([*said.values()]) for scope, said in judged.items()}
    own = [v for s, v in every.items() if _kind(s) in ("as stated", "regime")]
    left = own or list(every.values())
    found = next((v for v in ("inconclusive", "differs", "not run") if v in left), "")
    return found or ("inconclusive" if left else "")  # a sentence is left out


def _kind(scope: str) -> str:
    return scope.partition(":")[0]


def _counted(scope: str, judged: Mapping[str, Mapping[str, str]]) -> str | None:
    """The weakest kind of scope that it takes, with this one, to cover every sentence."""
    own, kinds = judged[scope], [_kind(scope)]
    if kinds[0] not in COUNTED or set(own.values()) != {"reproduced"}:
        return None
    for sentence in {key for said in judged.values() for key in said} - set(own):
        there = [kind for kind, said in ((_kind(other), said) for other, said in judged.items())
                 if said.get(sentence) == "reproduced" and kind in _OF_THE_PAPER]  # fmt: skip
        if not there:
            return None
        kinds.append(min(there, key=COUNTED.index))
    return max(kinds, key=COUNTED.index)


def early(rows: Sequence[Row]) -> int:
    """The number of artefacts that are reproduced only if rows count which untrained networks, or
    another null, pass as well: identities and bounds."""
    return _without(rows, lambda row: HOLDS in row["null"])


def after_looking(rows: Sequence[Row]) -> int:
    """The number of artefacts that are reproduced only if rows count whose criterion, sizes or
    range were chosen after a look at results."""
    return _without(rows, lambda row: LOOKED in row["flags"])


def _without(rows: Sequence[Row], leaves: Callable[[Row], bool]) -> int:
    """The number of artefacts that are reproduced, but not if some rows are left open."""
    fewer = artefacts([{**r, "verdict": "inconclusive"} if leaves(r) else r for r in rows])
    return sum(v not in VERDICTS[1:] and fewer[study].get(place) in VERDICTS[1:]
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
