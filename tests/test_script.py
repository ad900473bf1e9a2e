"""The script that docs/from-your-script.md replaces: the page shows it as it is, and it runs."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "from-your-script.md").read_text()
SCRIPT = DOCS / "scripts" / "heat_map.py"


def test_the_page_shows_the_script_as_it_is():
    text = SCRIPT.read_text()
    (shown,) = re.findall(r"^```python title=\"from heat_map.py\"\n(.*?)^```", PAGE, re.S | re.M)
    for definition in re.split(r"\n\n\n", shown.strip()):
        assert definition in text
    assert f"has {len(text.splitlines())} lines" in PAGE


def test_the_script_writes_the_table_that_is_shipped(tmp_path):
    """Its first cell, in another process; a second call goes on where the first ended."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed (pip install 'learnscope[benchmark]')")
    call = [sys.executable, SCRIPT, "--out", tmp_path, "--signals=1", "--dims=1"]
    for repetitions in (1, 2):
        done = subprocess.run([*call, f"--repetitions={repetitions}"], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "heat_map.png").is_file()
    made, shipped = (pd.read_csv(folder / "errors.csv") for folder in (tmp_path, SCRIPT.parent))
    assert list(made["seed"]) == [0, 1]
    pd.testing.assert_frame_equal(made, shipped.head(2), rtol=1e-3)
