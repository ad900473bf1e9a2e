"""What the pages of one explorer share."""

import dataclasses
from pathlib import Path
from typing import Any

from dash import dcc, html

from learnscope.lab.store import Folder
from learnscope.views.explorer.live.training import Trainer

PAGES = {"/": "Live", "/sweeps": "Sweeps", "/ledger": "Ledger"}


@dataclasses.dataclass(frozen=True)
class Site:
    """Who trains, where stored sweeps lie, and where `learnscope verify` wrote to. `whole` holds
    sweeps that were found to have all their runs, which need not be counted again."""

    trainer: Trainer
    store: Folder
    out: Path
    whole: set[tuple[str, str]] = dataclasses.field(default_factory=set)


def message(text: str) -> html.Div:
    """What went wrong, in a sentence, told to screen readers as well."""
    return html.Div(text, className="message", role="alert")


def heading(text: str, about: str) -> html.Header:
    """The head of a page."""
    return html.Header([html.H1(text), html.P(about)])


def labelled(text: str, control, **attributes) -> html.Label:
    """A control inside its label, which names it without an identifier."""
    return html.Label([html.Span(text), control], **attributes)


def named(text: str) -> dict[str, Any]:
    """What screen readers call a region."""
    return {"aria-label": text}


def graph(id: str, **settings) -> dcc.Graph:
    """A plot that fits its place."""
    config: Any = {"displayModeBar": False, "responsive": True}
    return dcc.Graph(id=id, config=config, **settings)
