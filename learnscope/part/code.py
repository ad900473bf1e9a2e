"""The code that decides an experiment's numbers, as a digest.

A part's numbers depend on the module that defines it and on the modules that this one reaches by
imports, name by name: `from learnscope.data import Problem` reaches the module that defines
`Problem`, not the whole package. Docstrings and comments do not count: a better sentence orphans no
stored sweep, a changed formula does.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.util
import inspect
import linecache
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_INSTALLED = tuple(
    str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "purelib", "platlib")
)
_OWN = Path(__file__).resolve().parents[1]
# Words about parts, which decide no number.
_WORDS = ("learnscope.errors", "learnscope.part.plain", "learnscope.part.python",
          "learnscope.part.citations", "learnscope.part.markup", "learnscope.part.units",
          "learnscope.part.document")  # fmt: skip


_Import = ast.Import | ast.ImportFrom
_loaded: dict[str, tuple[Any, int]] = {}
_COMPUTING = ("learnscope", "jax", "jaxlib", "equinox", "optax", "diffrax", "numpy")


@functools.cache
def versions() -> dict[str, str]:
    """The versions of the software that decides numbers; read from files once."""
    found = {}
    for name in _COMPUTING:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@functools.cache
def command() -> str:
    """The command line of this process, with folders by their last names; empty elsewhere."""
    if Path(sys.argv[0]).name not in ("learnscope", "__main__.py"):
        return ""
    words = (Path(word).name if os.sep in word else word for word in sys.argv[1:])
    return shlex.join(["learnscope", *words])


@functools.cache
def commit() -> str | None:
    """The commit that learnscope was checked out at, in short; None if it was installed, or if git
    does not say."""
    asked = ["git", "-C", str(_OWN.parent), "rev-parse", "--short=7", "HEAD"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        if (_OWN.parent / ".git").exists():  # else git would look in the folders above
            return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return None


def reached_by(modules: Iterable[str]) -> set[str]:
    """Modules and all modules that they reach by imports, learnscope's or the user's own."""
    reached: set[str] = set()
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name not in reached and name not in _WORDS and own_file(name) is not None:
            reached.add(name)
            todo += _reaches(name)
    return reached


def code_digest(modules: Iterable[str]) -> str:
    """The digest of modules and of all modules that they reach, learnscope's or the user's own."""
    reached = reached_by(modules)
    text = "".join(f"{name}:{_digest(name)}" for name in sorted(reached))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def own_file(name: str) -> Path | None:
    """A module's source file, unless it is installed software other than learnscope."""
    module = sys.modules.get(name)
    try:
        spec = None if module is not None else importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    path = getattr(spec, "origin", None) if module is None else getattr(module, "__file__", None)
    return None if path is None or not str(path).endswith(".py") else _own(path)


def source_of(thing: Any) -> str:
    """The source of a class or function; in a notebook, whose classes have no file, that of the
    cell which defines it. OSError or TypeError if there is none."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        for text, line in _cells(thing) if isinstance(thing, type) else ():
            for node in ast.walk(ast.parse(text)):
                if not isinstance(node, ast.ClassDef) or node.name != thing.__name__:
                    continue
                if node.lineno <= (line or node.lineno) <= (node.end_lineno or 0):
                    return ast.get_source_segment(text, node) or ""
        raise


def _cells(kind: type) -> Iterator[tuple[str, int | None]]:
    """Cells that may define a class: that of a method, with its line; without methods, the last."""
    for held in vars(kind).values():
        function = inspect.unwrap(getattr(held, "fget", None) or held)
        code = getattr(function, "__code__", None)
        if code is not None and code.co_qualname == f"{kind.__qualname__}.{code.co_name}":
            yield "".join(linecache.getlines(code.co_filename)), code.co_firstlineno
            return
    main = sys.modules.get(kind.__module__)
    if getattr(main, kind.__qualname__, None) is kind:
        for cell in reversed(getattr(main, "In", [])):
            if f"class {kind.__name__}" in cell:
                yield cell, None


@functools.cache
def _own(path: str) -> Path | None:
    """A file, with links resolved, unless it is installed software other than learnscope."""
    resolved = Path(path).resolve()
    own = _OWN in resolved.parents or not str(resolved).startswith(_INSTALLED)
    return resolved if own else None


def _tree(name: str) -> ast.Module:
    """A module's syntax, without docstrings."""
    return _parsed(*_version(name))[0]


def _digest(name: str) -> str:
    return _parsed(*_version(name))[1]


def _version(name: str) -> tuple[Path, int]:
    """A module's file, and when it was written. A file counts as it was when it was first read; a
    module that is reloaded has a new spec, and its file is read again."""
    path, module = own_file(name), sys.modules.get(name)
    assert path is not None
    loaded = getattr(module, "__spec__", None) or module
    if loaded is None or _loaded.get(name, (None,))[0] is not loaded:
        _loaded[name] = loaded, path.stat().st_mtime_ns
    return path, _loaded[name][1]


@functools.cache
def _parsed(path: Path, written: int) -> tuple[ast.Module, str, tuple[_Import, ...]]:
    """A file's syntax without docstrings, its digest, and its imports: a digest of a part's code
    looks at a hundred files, which are read once."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            del body[0]
    return tree, hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(_imports(tree))


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _reaches(name: str) -> tuple[str, ...]:
    """The modules whose names a module imports, wherever it does."""
    _, _, imports = _parsed(*_version(name))
    return tuple(module for node in imports for module in _homes(node, name))


def _imports(node: ast.AST) -> Iterator[_Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Import):
            yield child
        elif isinstance(child, ast.expr):
            continue  # which hold no statements
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield from _imports(child)


def _homes(node: _Import, name: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    package = name if _is_package(name) else name.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    base = ".".join(filter(None, [package if node.level else "", node.module or ""]))
    yield from (_home(base, alias.name) for alias in node.names)


def _is_package(name: str) -> bool:
    path = own_file(name)
    return path is not None and path.name == "__init__.py"


def _home(module: str, name: str) -> str:
    """The module that a name comes from: through the lists of exports of packages."""
    if not _is_package(module):
        return module
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and node.module not in (None, module, ""):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _home(node.module, alias.name)
    inner = f"{module}.{name}"
    return inner if own_file(inner) is not None else module
