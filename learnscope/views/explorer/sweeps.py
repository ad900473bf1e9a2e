"""PLACEHOLDER for the helper."""

from dash import html


def layout(site, search):
    return html.Div("sweeps")


def register(app, site):
    pass
