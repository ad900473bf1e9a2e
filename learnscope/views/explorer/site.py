"""State and layout helpers shared by all pages."""

import dataclasses
from pathlib import Path
from typing import Any

import flask
from dash import dcc, html

from learnscope.lab.store.folder import Folder
from learnscope.views.explorer.live.training import Trainer

PAGES = {"/": "Live", "/sweeps": "Sweeps", "/ledger": "Ledger"}


@dataclasses.dataclass(frozen=True)
class Site:
    """The trainer, the store, the output folder, and the sweeps that are known to be whole."""

    trainer: Trainer
    store: Folder
    out: Path
    whole: set[tuple[str, str]] = dataclasses.field(default_factory=set)


def plain_text(text: str, code: int) -> flask.Response:
    """An answer of one sentence."""
    return flask.Response(text + "\n", code, mimetype="text/plain")


def message(text: str) -> html.Div:
    """What went wrong, in a sentence; screen readers announce it."""
    return html.Div(text, className="message", role="alert")


def heading(text: str, about: str) -> html.Header:
    """The head of a page."""
    return html.Header([html.H1(text), html.P(about)])


def labelled(text: str, control, **attributes) -> html.Label:
    """A control inside its label."""
    return html.Label([html.Span(text), control], **attributes)


def named(text: str) -> dict[str, Any]:
    """The name of a region, for screen readers."""
    return {"aria-label": text}


def graph(id: str, **settings) -> dcc.Graph:
    """A plot that fits its place."""
    config: Any = {"displayModeBar": False, "responsive": True}
    return dcc.Graph(id=id, config=config, **settings)
