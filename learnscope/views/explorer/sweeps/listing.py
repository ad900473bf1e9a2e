"""The list of stored sweeps: one line each, and one for a large family or a boundary's."""

import math
from typing import Any
from urllib.parse import urlencode

from dash import dcc, html

from learnscope.errors import BadInput
from learnscope.lab.boundary import BOUNDARY
from learnscope.lab.store.folder import Stored
from learnscope.views.explorer.site import Site, labelled, message
from learnscope.views.explorer.sweeps.names import differences
from learnscope.views.terminal import LARGE_FAMILY, axes_text, by_family, kinds_text

_MOST_MEMBERS = 200  # of a family, to be listed


def listing(site: Site) -> tuple[list[Any], str | None]:
    """The list, and the identity of the newest sweep."""
    try:
        families, errors = by_family(site.store)
    except BadInput as error:
        return [message(str(error))], None
    rows: list[html.Tr] = []
    differ = differences([stored for members in families.values() for stored in members])
    newest: Stored | None = None
    for family, members in families.items():
        good = []
        for stored in members:
            try:
                with stored.readable():
                    good.append((stored, *_runs(site, stored), _words(stored)))
            except BadInput as error:
                errors.append(error)
        if not good:
            continue
        newest = max([*filter(None, [newest]), *(g[0] for g in good)],
                     key=lambda stored: str(stored.manifest["created"]))  # fmt: skip
        probes = any(_called(stored).startswith(BOUNDARY) for stored, *_ in good)
        if len(good) <= LARGE_FAMILY and not probes:
            rows += [_row(stored, there, total, words, differ.get(stored.name, ""))
                     for stored, there, total, words in good]  # fmt: skip
        else:
            rows.append(_family_row(family, good))
    failed = [message(str(error)) for error in errors]
    if not rows:
        made = html.Code("learnscope sweep FILE.toml")
        return [*failed, html.P([f"There are no sweeps in {site.store.url}; ", made,
                                 " makes one."])], None  # fmt: skip
    names = ("sweep", "made (UTC)", "runs done", "experiment", "axes", "differs in")
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in names]))
    table = html.Table([head, html.Tbody(rows[::-1])], className="listing")
    text = dcc.Input("", id="sweep-search", type="search", placeholder="words of a line")
    found = html.Output("", id="sweep-listed", role="status")
    search = html.Div([labelled("Search", text), found], className="filters", role="search")
    return [*failed, search, html.Div(table, className="scroll")], newest.name if newest else None


def share(there: int, total: int) -> str:
    """How many runs exist, in words."""
    return f"all {total}" if there == total else f"{there} of {total}"


def _runs(site: Site, stored: Stored) -> tuple[int, int]:
    key = (stored.name, stored.manifest["created"])
    total = math.prod(stored.manifest["shape"])
    there = total if key in site.whole else int(stored.finished().sum())
    if there == total:
        site.whole.add(key)
    return there, total


def _words(stored: Stored) -> tuple[str, str, str]:
    day = str(stored.manifest["created"])[:16].replace("T", " ")
    return day, kinds_text(stored), axes_text(stored)


def _called(stored: Stored) -> str:
    """The name that a sweep was given: its file's; none by a version that gave none."""
    return str(stored.manifest.get("called", ""))


def _link(stored: Stored) -> dcc.Link:
    return dcc.Link(stored.name, href="/sweeps?" + urlencode({"id": stored.name}))


def _row(
    stored: Stored, there: int, total: int, words: tuple[str, str, str], differ: str
) -> html.Tr:
    day, kinds, axes = words
    named: dict[str, Any] = {"data-sweep": stored.name}  # the page fills in the study
    name = html.Td([_link(stored), html.Span(_called(stored), className="aside", **named)])
    runs = html.Td(share(there, total), id={"type": "share", "id": stored.name})
    return html.Tr([name, html.Td(day), runs, html.Td(kinds), html.Td(axes), html.Td(differ)])


def _family_row(family: str, good: list[tuple]) -> html.Tr:
    shown = good[::-1][:_MOST_MEMBERS]
    items = [html.Li([_link(stored), f" {axes}"]) for stored, _, _, (_, _, axes) in shown]
    if len(good) > len(shown):
        items.append(html.Li(f"and {len(good) - len(shown)} older ones"))
    called = html.Span(_called(good[-1][0]), className="aside")
    folded = html.Details([html.Summary([f"{family}-... ", called]), html.Ul(items)])
    there, total = (sum(g[place] for g in good) for place in (1, 2))
    day, kinds, _ = good[-1][3]
    return html.Tr([html.Td(folded), html.Td(day), html.Td(share(there, total)), html.Td(kinds),
                    html.Td(f"{len(good)} sweeps"), html.Td("")])  # fmt: skip
