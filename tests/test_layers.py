"""Imports inside the package point one way only: `data` <- `nets` <- `rules` <- ... <- `cli`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "learnscope"
ROOT = Path(__file__).parent.parent / PACKAGE

# A part of the package may import itself and what stands before it in this list. DESIGN gives the
# levels; within one (`data, nets`; `probes, theory`; ...) the right one may import the left.
ORDER = (
    "errors",
    "markup",
    "papers",
    "part",
    "data",
    "nets",
    "rules",
    "probes",
    "theory",
    "lab",
    "tools",
    "studies",
    "views",
    "accessor",
    "data_commands",
    "cli",
    "__main__",
    "__init__",
)


def is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def imports_at_run_time(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import below `node`, inside functions too, except under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and is_type_checking(child.test):
            for branch in child.orelse:
                yield from imports_at_run_time(ast.Module([branch], []))
        else:
            yield from imports_at_run_time(child)


def imported_modules(node: ast.Import | ast.ImportFrom, path: str) -> list[str]:
    """Absolute dotted names that an import in the file `path` (`learnscope/cli.py`) binds."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    package = path.split("/")[:-1]
    base = package[: len(package) - node.level + 1] if node.level else []
    module = ".".join([*base, *([node.module] if node.module else [])])
    return [f"{module}.{alias.name}" for alias in node.names]


def part_of(module: str) -> str | None:
    """The part of the package that a dotted name belongs to; None for other packages."""
    head, *rest = module.split(".")
    if head != PACKAGE:
        return None
    # A name that is no part (`from learnscope import Experiment`) comes out of the top __init__.
    return rest[0] if rest and rest[0] in ORDER else "__init__"


def violations(source: str, path: str) -> list[str]:
    """Imports of `source`, the text of the file `path`, that point the wrong way."""
    importer = path.removesuffix(".py").split("/")[1]
    if importer not in ORDER:
        return [f"{path}: {importer} is not in ORDER of tests/test_layers.py: where does it stand?"]
    found = []
    for node in imports_at_run_time(ast.parse(source)):
        for module in imported_modules(node, path):
            part = part_of(module)
            if part is not None and ORDER.index(part) > ORDER.index(importer):
                found.append(f"{path}:{node.lineno}: {importer} may not import {module}")
    return found


def test_imports_point_one_way():
    files = sorted(ROOT.rglob("*.py"))
    assert ROOT / "__init__.py" in files
    found = []
    for file in files:
        path = file.relative_to(ROOT.parent).as_posix()
        found += violations(file.read_text(encoding="utf-8"), path)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("learnscope/data/frame.py", "from learnscope.nets import PatchCNN"),
        ("learnscope/data/frame.py", "from ..nets.patch import PatchCNN"),
        ("learnscope/data/__init__.py", "from ..lab import run"),
        ("learnscope/rules/penalty.py", "import learnscope.lab.engine as engine"),
        ("learnscope/rules/penalty.py", "from learnscope import lab"),
        ("learnscope/rules/penalty.py", "from .. import probes"),
        ("learnscope/rules/penalty.py", "import numpy, learnscope.theory"),
        ("learnscope/lab/run.py", "def run():\n    from ..studies import pegr"),
        ("learnscope/lab/run.py", "try:\n    import learnscope.views\nexcept ImportError: pass"),
        ("learnscope/studies/pegr/claims.py", "from ...views import report"),
        ("learnscope/studies/pegr/claims.py", "import learnscope as ls"),
        ("learnscope/studies/pegr/claims.py", "from learnscope import Experiment"),
        ("learnscope/part.py", "from .data import Problem"),
        ("learnscope/errors.py", "from .part import Part"),
        ("learnscope/errors.py", "from . import *"),
        ("learnscope/lab/run.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import learnscope.cli"),
        ("learnscope/helpers.py", "import math"),
    ],
)
def test_a_violation_is_caught(path, source):
    assert len(violations(source, path)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("learnscope/nets/patch.py", "from ..data import Problem\nfrom .layers import head"),
        ("learnscope/rules/penalty.py", "from ..nets import PatchCNN\nfrom ..errors import Bad"),
        ("learnscope/part.py", "from .errors import Bad"),
        ("learnscope/data/__init__.py", "from .frame import Frame as Frame\nfrom . import frame"),
        ("learnscope/cli.py", "def main():\n    from learnscope import lab, studies, views"),
        ("learnscope/__init__.py", "from . import data\nfrom .lab import run"),
        ("learnscope/__main__.py", "from learnscope.cli import main"),
        ("learnscope/data/frame.py", "if TYPE_CHECKING:\n    from ..lab import Experiment"),
        ("learnscope/data/frame.py", "if typing.TYPE_CHECKING:\n    import learnscope.lab"),
        ("learnscope/data/frame.py", "import learnscope_plugin.lab, jax.numpy as jnp"),
    ],
)
def test_what_is_allowed_passes(path, source):
    assert violations(source, path) == []
