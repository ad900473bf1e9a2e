"""Parts of one's own on the command line: said aloud, from files only, with the same numbers."""

import sys
import textwrap

import pytest

from learnscope.cli.sweep_file import SweepFile
from learnscope.part import own
from learnscope.part.part import kinds
from learnscope.rules import AbstractRule
from tests.small import refused

RULE = """
    import jax
    import jax.numpy as jnp
    import learnscope as ls


    class {name}(ls.rules.GradientDescent):
        '''Descent along {what}.'''

        rate: float = ls.part.number(0.1, above=0)

        def gradient(self, state, problem, key):
            plain = super().gradient(state, problem, key)
            return jax.tree.map(lambda g: {what}, plain)
"""
TOML = """
    {parts}
    steps = 3
    data = {{kind = "SignalNoise", dim = 60, train = 4, test = 9, signal = 1, noise = 0.5}}
    net = {{kind = "PatchCNN", width = 2}}
    rule = {{kind = "{name}", rate = 0.1}}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write files of a user's own; the modules are forgotten again."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)

    def written(file: str, text: str, **values: str):
        path = tmp_path / file
        path.write_text(textwrap.dedent(text).format(**values))
        return path

    yield written
    for name in set(sys.modules) - before:
        if name.startswith("parts_"):
            del sys.modules[name]


def test_check_says_what_holds(call, write):
    good = write("parts_good.py", RULE, name="Doubled", what="2 * g")
    code, out, err = call("check", good)
    assert (code, out.splitlines()[0]) == (0, "Doubled") and "✗" not in out
    assert f"running {good}, for its parts" in err
    bad = write("parts_bad.py", RULE, name="Signed", what="jnp.sign(g)")
    code, out, _ = call("check", bad)
    assert code == 2 and "✗ compression  Signed moved differently in two bases" in out
    empty = write("parts_none.py", "x = 1\n")
    code, _, err = call("check", empty)
    assert code == 2 and "has no data model, net, rule, probe or experiment" in err


@pytest.mark.parametrize("by", ["option", "file"])
def test_a_sweep_with_a_rule_of_ones_own(call, write, by: str):
    write(f"parts_{by}.py", RULE, name=f"By{by}", what="3 * g")
    parts = f'parts = ["parts_{by}.py"]' if by == "file" else ""
    file = write("mine.toml", TOML, parts=parts, name=f"By{by}")
    more = ["--parts", file.parent / "parts_option.py"] if by == "option" else []
    code, out, err = call("sweep", file, "--store", "none", *more)
    assert code == 0 and f"parts_{by}.py, for its parts" in err and "1 trainings" in out


def test_code_runs_only_if_a_file_of_ones_own_asks_for_it(write):
    text = textwrap.dedent(TOML).format(parts='parts = ["x.py"]', name="GradientDescent")
    refused(lambda: SweepFile.parse(text), "only a file of one's own runs code")
    bad = text.replace('["x.py"]', '"x.py"')
    refused(lambda: SweepFile.parse(bad), "parts must be a list of Python files")


def test_parts_of_installed_packages(write, monkeypatch):
    path = write("parts_packaged.py", RULE, name="Packaged", what="g")
    monkeypatch.syspath_prepend(str(path.parent))

    class Point:
        name, value, module = "mine", "parts_packaged", "parts_packaged"

    monkeypatch.setattr(
        own, "entry_points", lambda group: [Point] if group == own.ENTRY_POINTS else []
    )
    own.import_installed()
    assert "Packaged" in kinds(AbstractRule)
    Point.module = "parts_missing"
    refused(own.import_installed, "mine = parts_packaged has parts that cannot be imported")
