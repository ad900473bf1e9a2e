"""What does each step from a script to a lab cost?

The script is docs/scripts/heat_map.py (PyTorch); the steps are the blocks of
docs/from-your-script.md, run in order: lines of code (blank ones count), trainings, CPU seconds.
The script, the loops and the sweep take the same plane; the boundary and the claim are those of
the page. It prints the page's table, and in how many cells script and sweep agree.

    python benchmarks/from_script.py [--cells 10] [--repetitions 10]
"""

import argparse
import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

DOCS = Path(__file__).parents[1] / "docs"
PAGE, SCRIPT = DOCS / "from-your-script.md", DOCS / "scripts" / "heat_map.py"
ROWS = "| {} | {} | {} | {} |"


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        run()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("cells", "repetitions"):
        parser.add_argument(f"--{name}", type=int, default=10)
    given = parser.parse_args()
    cells, repetitions = given.cells, given.repetitions
    code = re.findall(r"^```python[^\n]*\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    _, named, swept, same, boundary, claim = code
    plane = (
        np.linspace(1.0, 10.0, cells).tolist(),
        np.linspace(100, 1090, cells).round().astype(int).tolist(),
        repetitions,
    )
    count, rows = cells**2 * repetitions, []

    def row(words: str, block: str, trainings: str | int, cost: str) -> None:
        rows.append((words, len(block.splitlines()), trainings, cost))

    def each(spent: float) -> str:
        return f"{1000 * spent / count:.2g} ms per training"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        space: dict[str, Any] = {}
        row("the script", SCRIPT.read_text(), count, each(seconds(script(cells, repetitions))))
        first = seconds(lambda: exec(named, space))
        spent = seconds(lambda: space["with_loops"](*plane))
        row("1: named parts, the same loops", named, count, each(spent))
        exec(swept.partition("result =")[0], space)
        for words in ("2: one sweep, compiling counted", "2: the same again, compiled"):
            spent = seconds(lambda: space.update(result=space["swept"](*plane)))
            row(words, swept, count, each(spent))
        compared = io.StringIO()
        begin = time.process_time()
        with contextlib.redirect_stdout(compared):
            exec(same, space)
        row("3: the check", same, "-", f"{time.process_time() - begin:.1f} s")
        for words, block in (("4: the boundary at two dimensions", boundary),
                             ("5: a claim about the sweep", claim)):  # fmt: skip
            spent = [seconds(lambda block=block: exec(block, space)) for _ in range(2)]
            row(words, block, "-", f"{spent[0]:.1f} s, again {spent[1]:.1f} s")
    for line in (("step", "lines", "trainings", "CPU"), ("---",) * 4, *rows):
        print(ROWS.format(*line))
    print(f"\nStep 1 compiles once: {first:.1f} s, not counted in its row. Step 3 says:")
    print(compared.getvalue().strip())


def script(cells: int, repetitions: int) -> Callable[[], Any]:
    """What runs the script on the plane; its table is left in the working folder."""
    spec = importlib.util.spec_from_file_location("heat_map", SCRIPT)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    sys.argv = ["", "--out", ".", *(f"--{axis}={cells}" for axis in ("signals", "dims"))]
    sys.argv.append(f"--repetitions={repetitions}")
    return module.main


if __name__ == "__main__":
    main()
