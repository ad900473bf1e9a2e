"""The page of a paper: its artefacts with the paper's sentence, our number and the verdict."""

from collections.abc import Sequence

from learnscope.evidence.artefacts import COUNTED, Row, artefacts, counts, details, looked, setting

_LONGEST = 300  # letters of a text on the page


def page(rows: Sequence[Row], title: str = "", reference: str = "") -> str:
    """A study's rows as Markdown: what it is about, a strip of counts, four lines per artefact."""
    study = rows[0]["study"]
    ((_, found),) = (artefacts(rows) or {study: {}}).items()
    about = [line for line in (title and f"**{title}.**", reference and f"{reference}.") if line]
    lines = [f"# {study}", "", *([" ".join(about), ""] if about else []), *counts({study: found})]
    lines += ["", f"{_made(rows)}{looked(rows)}", ""]
    for place in dict.fromkeys(row["where"] for row in rows):
        of = [row for row in rows if row["where"] == place]
        lines += [f"## {place}", "", *_artefact(of, found.get(place, "")), ""]
    return "\n".join(lines)


def _artefact(rows: Sequence[Row], verdict: str) -> list[str]:
    """The row that decides in four lines, and the others in one."""
    kind = "" if verdict == "no scope given" else verdict
    reproduced = [r for r in rows if r["verdict"] == "reproduced" and _kind(r) == kind]
    shown = next(iter(reproduced if kind in COUNTED else _with(rows, verdict)), rows[0])
    where = setting({**shown, "scope": ""})
    said = shown["statement"].rstrip(".")
    lines = [f"> {said}. The paper: {shown['reported'] or 'as stated'}.", ""]
    lines.append(f"Measured: {_short(shown)}{f' ({where})' if where else ''}.")
    lines.append(f"Null: {shown['null'] or 'none applies'}.")
    scope = f", {shown['scope']}" if shown["scope"] else ""
    command = f" `{shown['command']}`" if shown["command"] else ""
    if shown.get("took"):
        command += f" at {shown['commit']}, {shown['took']} of wall time (`docs/bundles/`)"
    lines += ["", f"**{shown['verdict']}**{scope} (`{shown['id']}`).{_why(shown)}{command}"]
    others = [f"`{r['id']}` {r['verdict']}" for r in rows if r is not shown]
    return [*lines, "", f"Also: {', '.join(others)}."] if others else lines


def _short(row: Row) -> str:
    """What decides: the interval if there is one, otherwise the measurement, cut."""
    number = details({**row, "null": ""})
    text = row["measured"]
    claim = text.partition(": ")[0] if number else text
    return _cut("; ".join(filter(None, [claim, number])) or "nothing")


def _why(row: Row) -> str:
    return (
        f" {_cut(row['why'][0].upper() + row['why'][1:]).removesuffix('.')}." if row["why"] else ""
    )


def _cut(text: str) -> str:
    """A text of bounded length: the whole of it is in ledger.json."""
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _kind(row: Row) -> str:
    return row["scope"].partition(":")[0]


def _with(rows: Sequence[Row], verdict: str) -> list[Row]:
    return [row for row in rows if row["verdict"] == verdict]


def _made(rows: Sequence[Row]) -> str:
    """When and how the rows were measured."""
    made = dict.fromkeys((r["date"], r["commit"], r["scale"], r["precision"]) for r in rows)
    words = [
        f"{date} at {commit or 'an unknown commit'}, scale {scale}"
        + (f", {precision}" if precision else "")
        for date, commit, scale, precision in made
        if date
    ]
    study = rows[0]["study"]
    return (
        f"`learnscope verify {study}` writes this page. Measured {'; '.join(words) or 'earlier'}. "
        "[What the words mean](../extending/claims.md#verdicts); every number is in ledger.json."
    )
