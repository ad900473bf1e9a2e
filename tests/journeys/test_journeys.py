"""A theorist's own code, from every place that it can be run from, gives the same bits.

The code is in files of a temporary folder: a rule (SAM), a data model (XOR clusters), an attention
model and arrays. It is run by a script, a notebook in a Jupyter kernel, and the command line; here,
on two worker processes, and with a store. What is stored is used again until the code that it used,
or a data file, changes.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr

from tests.journeys import users
from tests.small import HERE

HELD, WORKERS = {"store": "results"}, {"cluster": 2}

# The end of a script, and the last cell of a notebook: runs a study in several ways.
REPORT = """
def report(study, *ways):
    from tests.journeys.users import digest

    for where in ways:
        found = study(**where)
        print("ran", digest(found), ls.lab.report_of(found).computed, flush=True)
"""
MAIN = """
if __name__ == "__main__":
    import json
    import sys

    report(globals()[sys.argv[1]], *map(json.loads, sys.argv[2:]))
"""
SCRIPT = users.PARTS + users.STUDY + REPORT + MAIN
KERNEL = """
import json
import sys

import nbclient
import nbformat

cells = [nbformat.v4.new_code_cell(text) for text in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(notebook, timeout=300).execute()
for output in (output for cell in cells for output in cell.outputs):
    print(output.get("text", ""), end="")
"""


class Ran(NamedTuple):
    """What a run was: a digest of its bits, and how many trainings were computed."""

    bits: str
    computed: int


def python(folder: Path, *words: str, given: str = "", code: int = 0) -> tuple[list[Ran], str]:
    """Run Python in a folder: what it ran, and what it said."""
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, input=given, text=True, capture_output=True,
        env=os.environ | {"PYTHONPATH": str(HERE)}, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("ran ")]
    return [Ran(bits, int(computed)) for _, bits, computed in lines], done.stdout + done.stderr


def script(folder: Path, study: str, *ways: dict) -> list[Ran]:
    return python(folder, "script.py", study, *map(json.dumps, ways))[0]


def notebook(folder: Path, *cells: str) -> list[Ran]:
    parts = [users.IMPORTS, users.SAM, users.XOR, users.ATTENTION, users.STUDY + REPORT]
    return python(folder, "-c", KERNEL, given=json.dumps([*parts, *cells]))[0]


def sweep(folder: Path, file: str, *words: str) -> Ran:
    _, said = python(folder, "-m", "learnscope", "sweep", file, *words)
    (line,) = (line for line in said.splitlines() if " trainings in " in line)
    with xr.open_dataset(folder / "learnscope-out" / file.replace(".toml", ".nc")) as found:
        return Ran(users.digest(found), int(line.split()[0]))


def write_arrays(folder: Path, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(24, 3, 4))
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", np.where(x[:, 0, 0] > 0, "cat", "dog"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "helper.py": users.HELPER,
        "script.py": SCRIPT,
        "rules.py": users.PARTS,
        "sharp.toml": users.TOML,
        "named.toml": 'parts = ["rules.py"]\n' + users.TOML,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    write_arrays(tmp_path, 0)
    return tmp_path


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The study `sharp`, run and stored by a script in its own process: its folder and bits."""
    place = tmp_path_factory.mktemp("stored")
    (place / "helper.py").write_text(users.HELPER)
    (place / "script.py").write_text(SCRIPT)
    ((bits, computed),) = script(place, "sharp", HELD)
    assert computed == 4
    return place, bits


@pytest.fixture
def sharp(stored: tuple[Path, str]) -> str:
    return stored[1]


def test_a_script_runs_here_on_workers_and_from_the_store(folder: Path, sharp: str):
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    ways = script(folder, "sharp", WORKERS, {}, HELD, HELD)
    assert ways == [(sharp, 4), (sharp, 4), (sharp, 4), (sharp, 0)]


def test_a_changed_helper_module_is_computed_again(stored: tuple[Path, str]):
    place, bits = stored
    helper = place / "helper.py"
    helper.write_text(users.HELPER.replace("1e-30", "1e-3"))
    ((other, computed),) = script(place, "sharp", HELD)
    assert computed == 4 and other != bits


CHANGED_FILE = """
report(heads, {"store": "results"}, {"store": "results"})
x = np.load("x.npy")
np.save("x.npy", 2 * x)
report(heads, {"store": "results"})
np.save("x.npy", x)
report(heads, {"store": "results"})
"""


@pytest.mark.slow
def test_a_changed_data_file_is_computed_again(folder: Path):
    """Arrays by file name, and an attention model swept by label."""
    (folder / "files.py").write_text(users.PARTS + users.STUDY + REPORT + CHANGED_FILE)
    first, again, other, back = python(folder, "files.py")[0]
    assert first.computed == 4 and again == back == (first.bits, 0)
    assert other.computed == 4 and other.bits != first.bits


@pytest.mark.slow
def test_a_model_of_ones_own_on_workers(folder: Path):
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    here, there = script(folder, "heads", {}, WORKERS)
    assert here == there


@pytest.mark.slow
def test_whatever_a_probe_uses_goes_to_workers(folder: Path):
    """Wrapped functions, type aliases, constants, and values that hold functions of the script."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    (folder / "script.py").write_text(users.USES + REPORT + MAIN)
    here, there = script(folder, "watched", {}, WORKERS)
    assert here == there


needs_kernel = pytest.mark.skipif(
    find_spec("nbclient") is None or find_spec("ipykernel") is None,
    reason="needs nbclient and ipykernel (the extra 'dev')",
)
# A function that another cell's class uses; the class itself is not defined again.
REDEFINED = """
def labels(key, size):
    signs = jnp.where(jax.random.bernoulli(key, shape=(size, 2)), 1.0, -1.0)
    return signs, -signs[:, 0] * signs[:, 1]
"""


@needs_kernel
def test_a_notebook_runs_the_same_and_notices_a_changed_cell(folder: Path, sharp: str):
    stored = 'report(sharp, {"store": "results"})'
    one, again, other = notebook(folder, stored, stored, REDEFINED, stored)
    assert one == (sharp, 4) and again == (sharp, 0)
    assert other.computed == 4 and other.bits != sharp


@needs_kernel
@pytest.mark.slow
def test_a_notebook_on_workers(folder: Path, sharp: str):
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    both = "report({}, {{}}, {{'cluster': 2}})"
    here, there, *arrays = notebook(folder, both.format("sharp"), both.format("heads"))
    assert here == there == (sharp, 4)
    assert arrays == script(folder, "heads", {}, {})


@pytest.mark.slow
def test_the_command_line_runs_parts_of_a_file(folder: Path, sharp: str):
    """The same bits as a script's; `tests/cli/test_parts.py` runs such a file with every test."""
    assert sweep(folder, "sharp.toml", "--parts", "rules.py") == (sharp, 4)


@pytest.mark.slow
def test_the_command_line_on_workers_and_with_arrays(folder: Path, sharp: str):
    """The file that names its parts is the same sweep (`tests/cli/test_parts.py`)."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    assert sweep(folder, "named.toml", "--workers", "2", "--store", "none") == (sharp, 4)
    (folder / "arrays.toml").write_text('parts = ["rules.py"]\n' + users.ARRAYS)
    first = sweep(folder, "arrays.toml")
    assert first.computed == 2 and sweep(folder, "arrays.toml") == (first.bits, 0)
    write_arrays(folder, 1)
    assert sweep(folder, "arrays.toml").computed == 2


@pytest.mark.slow
def test_the_command_line_checks_parts_of_a_file(folder: Path):
    _, said = python(folder, "-m", "learnscope", "check", "rules.py")
    assert "Sam" in said and "XorClusters" in said and "✗" not in said


def test_workers_need_a_guard_and_say_so(folder: Path):
    (folder / "bare.py").write_text(users.USES + "watched(cluster=2)\n")
    _, said = python(folder, "bare.py", code=1)
    line = len(users.USES.splitlines()) + 1
    assert f"line {line} of bare.py starts worker processes" in said.splitlines()[-1]
    assert '`if __name__ == "__main__":`' in said
