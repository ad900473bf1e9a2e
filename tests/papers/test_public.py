"""A paper's folder uses the public names of the package, and its own folder: nothing else."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "learnscope" / "papers"
PUBLIC = ("data", "images", "nets", "rules", "probes", "lab", "theory", "evidence", "figures",
          "tools", "part", "errors", "space")  # fmt: skip


def _public(package: str, name: str) -> bool:
    """Whether a package lists a name; `errors` is a module without a list."""
    listed = getattr(import_module(package), "__all__", None)
    return not name.startswith("_") if listed is None else name in listed


def private_imports(source: str, paper: str) -> list[str]:
    """What a file in a paper's folder imports of learnscope beyond the public names."""
    own, packages = f"learnscope.papers.{paper}", {f"learnscope.{name}" for name in PUBLIC}
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.partition(".")[0] == "learnscope"]
            found += [name for name in names if name not in packages]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level or module.partition(".")[0] != "learnscope":
                found += ["." * node.level + module] if node.level else []
            elif module == "learnscope":
                found += [a.name for a in node.names if a.name not in PUBLIC]
            elif module in packages:
                found += [f"{module}.{a.name}" for a in node.names if not _public(module, a.name)]
            elif module != own and not module.startswith(own + "."):
                found.append(module)
    return found


def test_papers_use_the_public_api():
    files = sorted(file for file in ROOT.glob("*/**/*.py"))
    assert ROOT / "pegr" / "claims.py" in files
    found = {file.relative_to(ROOT).as_posix(): private_imports(
        file.read_text(encoding="utf-8"), file.relative_to(ROOT).parts[0]) for file in files
    }  # fmt: skip
    assert not {file: names for file, names in found.items() if names}


@pytest.mark.parametrize("source", [
    "from learnscope.lab.sweep import dim_of", "import learnscope.rules.losses",
    "from learnscope import Experiment", "from learnscope.rules import LinearCentroid",
    "from learnscope.papers.kou.figures import error", "def f():\n    from ..kou import theory",
    "from learnscope.papers import get",
])  # fmt: skip
def test_a_private_import_is_caught(source):
    assert len(private_imports(source, "pegr")) == 1


@pytest.mark.parametrize("paper", ["online", "sam", "xor", "adam"])
def test_a_paper_is_at_most_250_lines(paper):
    """Of experiments, claims and figures, with nothing of them elsewhere but theory and parts."""
    files = {file.stem: file for file in (ROOT / paper).glob("*.py")}
    assert set(files) <= {"__init__", "experiments", "claims", "figures", "study", "preset",
                          "theory", "parts"}  # fmt: skip
    counted = [
        files[name].read_text(encoding="utf-8") for name in ("experiments", "claims", "figures")
    ]
    assert sum(text.count("\n") for text in counted) <= 250
