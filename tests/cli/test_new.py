"""`learnscope new`: what it writes passes as it stands; nothing is overwritten."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from learnscope import papers
from tests.small import HERE, refused

PARTS = {"data": "MadeData", "net": "MadeNet", "rule": "MadeRule", "probe": "MadeProbe"}
RULES = "E,F,I,UP,B,SIM,RUF"


@pytest.fixture
def own(monkeypatch):
    """Papers that a test takes in are forgotten again."""
    monkeypatch.setattr(papers, "_own", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    papers.studies.cache_clear()
    for name in set(sys.modules) - before:
        if name.partition(".")[0].startswith("made_"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("tests", "passed"),
    [(["made_paper", "test_made_rule.py"], 2), pytest.param(["."], 5, marks=pytest.mark.slow)],
)
def test_what_is_written_passes_its_test_and_lint(call, tmp_path, tests, passed):
    """All kinds in one folder, tested in a process of its own."""
    for kind, name in {"paper": "made_paper", **PARTS}.items():
        code, out, _ = call("new", kind, name)
        assert code == 0 and "wrote" in out
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py"))
    assert len(files) == 14 and "made_paper/test_made_paper.py" in files and "made_net.py" in files
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), str(tmp_path)])}
    python = [sys.executable, "-m"]
    tested = ["-p", "no:cacheprovider", "-p", "no:dash", "-W", "error", *tests]
    for words in (["ruff", "check", "--isolated", "--select", RULES, "."],
                  ["ruff", "format", "--isolated", "--check", "."],
                  ["ruff", "format", "--config", str(HERE / "pyproject.toml"), "--check", "."],
                  ["pytest", *tested]):  # fmt: skip
        command = [*python, *words]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert f"{passed} passed" in done.stdout


@pytest.mark.slow
def test_what_is_written_has_types(call, tmp_path):
    """In pyright's own mode, which is stricter than learnscope's."""
    for kind, name in {"paper": "made_typed", **PARTS}.items():
        call("new", kind, name)
    env = os.environ | {"PYTHONPATH": str(HERE)}
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_folder_is_a_study_for_every_command(call, own):
    call("new", "paper", "made_study")
    parts = ["--parts", "made_study"]
    code, out, err = call("verify", "made_study", *parts, "--scale", "smoke", "--store", "none")
    assert code == 0 and "running made_study, for its parts" in err and "no verdicts" in out
    page = Path("learnscope-out/papers/made_study.md").read_text()
    assert "Test error falls with the signal" in page
    assert Path("learnscope-out/made_study/error.png").exists()
    code, out, _ = call("list", *parts)
    assert code == 0 and "made_study.error" in out
    code, _, _ = call("report", *parts, "--out", "report.html")
    assert code == 0 and "@misc{made_study" in Path("report.html").read_text()
    assert papers.add("made_study") is papers.get("made_study")


@pytest.mark.parametrize("tested", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_folder_of_the_walk_through_is_a_paper(call, own, tmp_path, tested):
    """Files of docs/extending/paper.md take the place of those that `learnscope new` writes."""
    page = (HERE / "docs" / "extending" / "paper.md").read_text()
    files = re.findall(r'^```python title="my_xor/(\w+\.py)"\n(.*?)^```', page, re.M | re.S)
    assert len(files) == 4
    home = tmp_path / "made_xor"
    call("new", "paper", "made_xor")
    for name, text in files:
        assert (home / name).exists()
        (home / name).write_text(text.replace("my_xor", "made_xor"))
    study = papers.add("made_xor")
    assert set(study.sweeps("smoke")) == {need for claim in study.claims for need in claim.needs}
    if tested:
        import_module("made_xor.test_made_xor").test_claims_and_figures()


def test_folders_that_are_no_papers_are_refused(call, own, tmp_path):
    (tmp_path / "made_empty").mkdir()
    code, _, err = call("list", "--parts", "made_empty")
    assert code == 2 and "lacks an __init__.py or study.py" in err
    call("new", "paper", "made_twin")
    study = tmp_path / "made_twin" / "study.py"
    study.write_text(study.read_text().replace('name="made_twin"', 'name="kou"'))
    refused(lambda: papers.add("made_twin"), "there is another study 'kou'")
    study.write_text("1 / 0\n")
    sys.modules.pop("made_twin.study")
    refused(lambda: papers.add("made_twin"), "ZeroDivisionError")
    study.write_text("STUDY = 3\n")
    refused(lambda: papers.add("made_twin"), "must hold a Study named STUDY")


@pytest.mark.parametrize(
    ("words", "said"),
    [(("paper", "My Paper"), "a Python name in small letters"),
     (("paper", "class"), "a Python name in small letters"),
     (("paper", "kou"), "another paper or Python module"),
     (("paper", "json"), "another paper or Python module"),
     (("rule", "my_rule"), "a class name, as MyRule"),
     (("rule", "AbstractMine"), "a class name, as MyRule"),
     (("data", "SignalNoise"), "another part or Python module"),
     (("probe", "Json"), "another part or Python module"),
     (("theorem", "Mine"), "theorem")],
)  # fmt: skip
def test_bad_names_get_one_sentence(refuse, words, said):
    refuse("new", *words, said=said, out=".")


def test_nothing_is_overwritten(call, tmp_path):
    for kind, name, file in (
        ("paper", "made_once", "made_once/claims.py"), ("rule", "MadeOnce", "made_once.py")
    ):  # fmt: skip
        path = tmp_path / "here" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        code, _, err = call("new", kind, name, "--in", "here")
        assert code == 2 and "is there already" in err and path.read_text() == "mine"
        assert err.count("\n") == 1
