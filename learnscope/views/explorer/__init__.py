"""The explorer: a web page on this machine, to move a slider and watch signal and noise race."""

from learnscope.views.explorer.server import create, serve

__all__ = ["create", "serve"]
