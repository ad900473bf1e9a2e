"""The explorer's application: three pages, served to this machine only by default."""

import logging
import os
import secrets
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import flask
import matplotlib
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.exceptions import DashException
from werkzeug.exceptions import HTTPException

from learnscope.errors import BadInput
from learnscope.lab.store.folder import Folder
from learnscope.views.explorer.doorkeeper import LOOPBACK, check, names
from learnscope.views.explorer.ledger import page as ledger
from learnscope.views.explorer.live import export
from learnscope.views.explorer.live import page as live
from learnscope.views.explorer.live.catalogue import presets
from learnscope.views.explorer.live.training import Trainer
from learnscope.views.explorer.site import PAGES, Site, message, named, plain_text
from learnscope.views.explorer.sweeps import page as sweeps
from learnscope.views.explorer.wsgi import MOST_BODY, bind

_LAYOUTS = {"/": live.layout, "/sweeps": sweeps.layout, "/ledger": ledger.layout}
_STUDY = "/ledger/"  # a study's own page


def create(
    store: str | os.PathLike[str] = "learnscope-results",
    out: str | os.PathLike[str] = "learnscope-out",
    hosts: tuple[str, ...] = LOOPBACK,
    token: str | None = None,
) -> Dash:
    """The application, for `serve` or any WSGI server. It answers only to the host names `hosts`
    and (with a `token`, which its address or a cookie must hold) to numbers, so that no other web
    site can reach it under its own name."""
    site = Site(Trainer(), Folder(store), Path(out))
    app = Dash("learnscope", title="learnscope", update_title="", serve_locally=True,
               assets_folder=str(Path(__file__).parent / "assets"),
               suppress_callback_exceptions=True)  # fmt: skip
    app.index_string = app.index_string.replace("<html>", '<html lang="en">')
    app.layout = _frame()
    app.server.config["MAX_CONTENT_LENGTH"] = MOST_BODY
    app.server.before_request(lambda: check(hosts, token))
    app.server.register_error_handler(BadInput, lambda error: plain_text(str(error), 400))
    app.server.register_error_handler(Exception, _unexpected)
    _register_pages(app, site)
    for page in (live, sweeps, ledger, export):
        page.register(app, site)
    return app


def serve(
    port: int = 8050,
    host: str = "127.0.0.1",
    browser: bool = True,
    store: str | os.PathLike[str] = "learnscope-results",
    out: str | os.PathLike[str] = "learnscope-out",
    say: Callable[[str], object] = print,
) -> None:
    """Serve the explorer until Ctrl+C; port 0 takes any free port."""
    matplotlib.use("agg")  # figures are drawn in threads of the server, where no window can open
    # Small runs finish sooner on one thread than on several that wait for each other, and the
    # browser needs a core, too. XLA reads this when it first computes.
    os.environ.setdefault("NPROC", "1")
    presets()  # imports every study: the first visitor need not wait for that
    token = None if host in LOOPBACK else secrets.token_urlsafe(24)
    server = bind(create(store, out, (*LOOPBACK, *names(host)), token).server, host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{server.port}/"
    address += f"?token={token}" if token else ""
    say(f"the explorer is at {address} (Ctrl+C stops it)")
    if browser:
        webbrowser.open(address)
    busy = server.run()
    say("stopped")
    if busy:  # Python cannot end cleanly while a thread is inside XLA, and training may take long
        sys.stdout.flush()
        os._exit(0)


def _frame() -> html.Div:
    """The frame around every page: links, and a place for the page."""
    links = [dcc.Link(name, href=path, id=f"to-{name.lower()}") for path, name in PAGES.items()]
    mark = html.Strong([html.Span(className="mark"), "learnscope"])
    return html.Div(
        [
            dcc.Location(id="location", refresh="callback-nav"),
            html.A("Skip to the content", href="#page", className="skip"),
            html.Nav([mark, *links], className="pages", **named("Pages")),
            html.Main(id="page", tabIndex=-1),
        ]
    )


def _register_pages(app: Dash, site: Site) -> None:
    app.clientside_callback(ClientsideFunction("frame", "mark"), Input("location", "pathname"))

    @app.callback(
        Output("page", "children"), Input("location", "pathname"), State("location", "search")
    )
    def show(path: str | None, search: str | None):
        path = path or "/"
        given = (search or "").lstrip("?")
        if path.startswith(_STUDY) and path != _STUDY:
            return ledger.layout(site, given, path.removeprefix(_STUDY)[:200])
        if path not in _LAYOUTS:
            pages = ", ".join(PAGES.values())
            return message(f"There is no page {path[:200]}; choose from {pages}.")
        return _LAYOUTS[path](site, given)


def _unexpected(error: Exception) -> flask.Response:
    """A refusal in one sentence, without internals of the server."""
    if isinstance(error, HTTPException):
        return plain_text(f"{error.name}.", error.code or 500)
    kinds = (KeyError, TypeError, ValueError, AttributeError, IndexError, DashException)
    if isinstance(error, kinds):  # Dash's own: of callbacks that the pages do not have
        logging.getLogger("learnscope").info("a request was refused", exc_info=error)
        return plain_text("This request is not one that the explorer's pages make.", 400)
    logging.getLogger("learnscope").error("a request failed", exc_info=error)
    return plain_text("The explorer failed on this request; its log says why.", 500)
