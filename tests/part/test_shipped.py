"""Users' own classes on their way to other processes: whole, by source."""

import subprocess
import sys
import textwrap

import pytest

import learnscope as ls
from learnscope.part.own import load_file
from learnscope.part.shipped import is_own, pack, unpack
from tests.small import refused

HELPER = "FACTOR = 3.0\n\n\ndef scaled(g):\n    return FACTOR * g\n"
RULES = """
    import jax
    import learnscope as ls
    from a_helper_of_mine import scaled


    class Scaled(ls.rules.GradientDescent):
        '''Descent with a factor.'''

        power: float = ls.part.number(2.0)

        def gradient(self, state, problem, key):
            return jax.tree.map(scaled, super().gradient(state, problem, key))
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A file with a rule, and a helper module beside it."""
    (tmp_path / "a_helper_of_mine.py").write_text(HELPER)
    (tmp_path / "rules_of_mine.py").write_text(textwrap.dedent(RULES))
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path / "rules_of_mine.py"
    for name in ("a_helper_of_mine", "rules_of_mine"):
        sys.modules.pop(name, None)


def test_what_is_a_users_own():
    assert is_own("tests.small") and is_own("__main__")
    assert not any(map(is_own, ("learnscope.rules", "jax", "numpy", "json")))


def test_a_class_of_a_file_arrives_whole_in_another_process(own, tmp_path):
    rule = load_file(own).Scaled(rate=0.1, power=5.0)
    packed = pack(rule)
    assert set(packed.files) == {"rules_of_mine", "a_helper_of_mine"}
    (tmp_path / "packed").write_bytes(__import__("pickle").dumps(packed))
    code = (
        "import pickle, sys\n"
        "from learnscope.part.shipped import unpack\n"
        "rule = unpack(pickle.load(open(sys.argv[1], 'rb')))\n"
        "print(type(rule).__name__, rule.rate, rule.power)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "packed")]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=120)
    assert done.stdout.split() == ["Scaled", "0.1", "5.0"], done.stderr


def test_what_is_installed_travels_by_name():
    packed = pack(ls.rules.GradientDescent(rate=0.1))
    assert not packed.files and not packed.main
    assert unpack(packed) == ls.rules.GradientDescent(rate=0.1)


def test_a_local_class_is_refused_in_a_sentence():
    class Local(ls.rules.GradientDescent):
        """Inside a function."""

    refused(lambda: pack(Local(rate=0.1)), "define it at the top level")


def test_files_that_cannot_be_parts(tmp_path):
    refused(lambda: load_file(tmp_path / "no.py"), "parts are in a Python file")
    (tmp_path / "broken_parts.py").write_text("1 / 0\n")
    refused(lambda: load_file(tmp_path / "broken_parts.py"), "ZeroDivisionError")
    (tmp_path / "json.py").write_text("")
    refused(lambda: load_file(tmp_path / "json.py"), "another module named 'json'")
