"""The index of the API: every public name with its first sentence and an anchor (`ls.run`).

MkDocs calls `on_page_markdown` with every page's text (see `hooks` in mkdocs.yml); the mark below
stands on one page. Names come from the packages' own `__all__`, so none can be missing.
"""

import html
import inspect
from importlib import import_module
from importlib.util import find_spec

MARK = "<!-- every public name -->"
ROOMS = ("data", "images", "nets", "rules", "probes", "lab", "theory", "evidence", "figures",
         "papers", "tools", "grid", "views")  # fmt: skip
PAGES = {"images": "data", "papers": "studies"}  # rooms that stand on a page of another name
ENGINE = ("draw", "one_run")  # names of ls.lab that stand below `learnscope.engine.one_run`
METHODS = {
    "Experiment": ("learnscope.lab", "Experiment", "replace from_toml to_toml from_dict to_dict "
                   "to_json from_json to_python citation"),
    "result.learnscope": ("learnscope.views.accessor", "Scope", "experiment final curves heat_map"),
}  # fmt: skip


def on_page_markdown(text: str, **_) -> str:
    """The page with its mark replaced by the index."""
    return text.replace(MARK, "\n".join(index())) if MARK in text else text


def index() -> list[str]:
    """One table per room, after the names of `import learnscope as ls`."""
    import learnscope

    rooms = {*ROOMS, "studies"}
    own = [name for name in learnscope.__all__ if name not in rooms]
    lines = table("ls", {name: getattr(learnscope, name) for name in own}, "lab")
    for title, (module, kind, names) in METHODS.items():
        owner = getattr(import_module(module), kind)
        found = {name: getattr(owner, name) for name in names.split() if hasattr(owner, name)}
        lines += table(title, found, None)
    for room in ROOMS:
        module = import_module(f"learnscope.{room}")
        page = PAGES.get(room, room)
        lines += table(f"ls.{room}", {n: getattr(module, n) for n in module.__all__}, page)
    return lines


def table(owner: str, found: dict[str, object], page: str | None) -> list[str]:
    lines = ["", f"## {owner} {{ #{owner} }}", "", "| name | |", "|---|---|"]
    for name, value in found.items():
        path = f"{owner}.{name}"
        shown = f'<span id="{path}"><code>{name}</code></span>'
        if page and owner != "ls" and documented(name, value):
            inside = f"learnscope.{path.removeprefix('ls.')}"
            shadowed = find_spec(inside) is not None or (owner == "ls.lab" and name in ENGINE)
            if shadowed:  # by a module of the same name: it has an entry of its own
                inside = f"{value.__module__}.{name}"
            shown = f'<a id="{path}" href="{page}.html#{inside}"><code>{name}</code></a>'
        lines.append(f"| {shown} | {sentence(value)} |")
    return lines


def documented(name: str, value: object) -> bool:
    """Whether the room's page has an entry: classes and functions have one."""
    kind = inspect.isclass(value) or inspect.isfunction(value)
    return kind and bool(value.__doc__) and value.__name__ == name


def sentence(value: object) -> str:
    """The first sentence of a docstring, or a constant's value."""
    if isinstance(value, property):
        value = value.fget
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        text = repr(value)
        text = text if len(text) < 90 and " object at " not in text else type(value).__name__
        return f"<code>{html.escape(text).replace('|', '&#124;')}</code>"
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return first.partition(". ")[0].rstrip(".").replace("|", "&#124;") + "."
