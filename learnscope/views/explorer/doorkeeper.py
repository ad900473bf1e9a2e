"""Who may use the explorer: host names, other web sites, and the token beyond this machine."""

import ipaddress
import secrets
import socket
from urllib.parse import urlsplit

import flask

from learnscope.views.explorer.site import PAGES, plain_text

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_COOKIE = "learnscope-token"


def names(host: str) -> tuple[str, ...]:
    """The names of this machine under which an address can be reached."""
    return () if host in LOOPBACK else (host, socket.gethostname(), socket.getfqdn())


def check(hosts: tuple[str, ...], token: str | None) -> flask.Response | None:
    """Refuse a request of another web site, or without the token; None if it is welcome."""
    host = _host(flask.request.host)
    if host not in hosts and not (token and _is_number(host)):
        return plain_text(f"This explorer answers to {', '.join(hosts)} only.", 403)
    if _is_foreign():
        return plain_text("This explorer does not answer to other web sites.", 403)
    return None if token is None else _check_token(token)


def _is_foreign() -> bool:
    """Whether another web site makes the request. Links to a page may be followed from any site."""
    request = flask.request
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        return True
    followed = request.headers.get("Sec-Fetch-Mode") == "navigate" and request.method == "GET"
    if followed and request.path in PAGES:
        return False
    return request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")


def _check_token(token: str) -> flask.Response | None:
    request = flask.request
    if secrets.compare_digest(request.cookies.get(_COOKIE, "").encode(), token.encode()):
        return None
    if not secrets.compare_digest(request.args.get("token", "").encode(), token.encode()):
        return plain_text("This explorer needs the token of the address that it printed.", 403)
    # So that links and history do not hold the token.
    where = request.path if request.path in PAGES else "/"
    answer = flask.make_response(flask.redirect(where))
    answer.set_cookie(_COOKIE, token, httponly=True, samesite="Strict")
    return answer


def _host(asked: str) -> str:
    name = asked.rpartition(":")[0] if asked.rpartition(":")[2].isdigit() else asked
    return name.strip("[]")


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
