"""Imports inside the package point one way only: `part` <- `data` <- `rules` <- ... <- `cli`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "learnscope"
ROOT = Path(__file__).parent.parent / PACKAGE
# A room of the package may import itself and what stands before it in this list.
ORDER = (
    "errors", "part", "space", "data", "nets", "images", "rules", "probes", "engine", "lab",
    "theory", "evidence", "figures", "tools", "papers", "grid", "views", "cli", "__main__",
    "__init__",
)  # fmt: skip


def imports_at_run_time(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import below `node`, inside functions too, except under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from imports_at_run_time(ast.Module(child.orelse, []))
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


def violations(source: str, path: str) -> list[str]:
    """Imports of `source`, the text of the file `path`, that point the wrong way."""
    importer = path.removesuffix(".py").split("/")[1]
    if importer not in ORDER:
        return [f"{path}: {importer} is not in ORDER of tests/test_layers.py: where does it stand?"]
    found = []
    for node in imports_at_run_time(ast.parse(source)):
        for module in imported_modules(node, path):
            head, *rest = module.split(".")
            # A name that is no part (`from learnscope import run`) comes out of the top __init__.
            part = rest[0] if rest and rest[0] in ORDER else "__init__"
            if head == PACKAGE and ORDER.index(part) > ORDER.index(importer):
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
    ("count", "path", "source"),
    [
        (1, "space/frame.py", "from learnscope.nets import PatchCNN"),
        (1, "space/frame.py", "from ..nets.patch import PatchCNN"),
        (1, "rules/penalty.py", "import learnscope.lab.run as run"),
        (1, "rules/penalty.py", "from .. import probes"),
        (1, "rules/penalty.py", "import numpy, learnscope.theory"),
        (1, "lab/run.py", "def run():\n    from ..papers import pegr"),
        (1, "lab/run.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import learnscope.cli"),
        (1, "papers/pegr/claims.py", "from ...views import report"),
        (1, "papers/pegr/claims.py", "from learnscope import Experiment"),
        (1, "errors.py", "from . import *"),
        (1, "helpers.py", "import math"),
        (0, "nets/patch.py", "from ..data import Problem\nfrom .layers import head"),
        (0, "data/__init__.py", "from .frame import Frame as Frame\nfrom . import frame"),
        (0, "cli/main.py", "def main():\n    from learnscope import lab, papers, views"),
        (0, "space/frame.py", "if typing.TYPE_CHECKING:\n    import learnscope.lab"),
        (0, "space/frame.py", "import learnscope_plugin.lab, jax.numpy as jnp"),
    ],
)
def test_a_violation_is_caught_and_what_is_allowed_passes(count, path, source):
    assert len(violations(source, f"{PACKAGE}/{path}")) == count
