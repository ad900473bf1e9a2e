"""A part is one file: the battery and the grid find a user's own without another edit."""

import os
import re
import subprocess
import sys
from pathlib import Path

from learnscope.cli.new import Kind, write

ROOT = Path(__file__).parents[2]
SKELETONS = {"data": "Brightness", "net": "SoftplusNet", "rule": "PullToStart", "probe": "Movement"}
MADE = {kind: f"Made{kind.title()}" for kind in SKELETONS}  # by `learnscope new`
NAMES = [*SKELETONS.values(), *MADE.values()]
CHOSEN = f"({' or '.join(NAMES)} or test_probes and signs) and not every_net"
FOUND = "a_data_model[Brightness- a_net[SoftplusNet- a_rule[PullToS storable[Movement- "
FOUND += "documented[Movement] "
FOUND += "a_data_model[MadeData- a_net[MadeNet- a_rule[MadeRule- storable[MadeProbe- "
FOUND += "documented[MadeData] documented[MadeNet] documented[MadeRule] documented[MadeProbe]"
CODE = f"""
import doctest

import pytest

words = ["-v", "-p", "own_parts", "-p", "no:cacheprovider"]
words += ["tests/conformance/test_conformance.py", "-k", {CHOSEN!r}]
assert pytest.main(words) == 0

import own_parts
from learnscope import grid

assert doctest.testmod(own_parts).failed == 0
assert {{"PullToStart", "Brightness"}} <= {{*grid.all_rules(), *grid.all_data()}}
found = grid.run_grid(["PullToStart"], ["Brightness"], 1, "smoke")
assert found.reason.values.tolist() == [[""]], found.reason.values
assert found.test_accuracy.notnull().all() and found.signal_learnt.notnull().all()
print(found.net.item())
"""


def test_the_battery_and_the_grid_find_them(tmp_path):
    """In a process where the skeletons of docs/extending are one module, `own_parts`, which also
    imports what `learnscope new` writes."""
    pages = [(ROOT / "docs" / "extending" / f"{slot}.md").read_text() for slot in SKELETONS]
    code = [re.search(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE) for page in pages]
    made = [f"from {path.stem} import {MADE[kind]}" for kind in MADE
            for path in write(Kind(kind), MADE[kind], f"made_{kind}", tmp_path)[:1]]  # fmt: skip
    (tmp_path / "own_parts.py").write_text("\n".join([*(block[1] for block in code), *made]))
    known = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=known, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for test in FOUND.split():
        assert f"test_{test}" in done.stdout, test
    assert done.stdout.endswith("PatchCNN\n")
