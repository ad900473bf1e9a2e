"""What does each step from a script to a lab cost?

The blocks of docs/from-your-script.md, run in order: lines of code (blank ones count), trainings,
CPU seconds. The script, the loops and the sweep take one plane of signals, dimensions (100 to 1090)
and repetitions; the boundary and the claim are those of the page. It prints the page's table.

    python benchmarks/from_script.py [--cells 10] [--repetitions 10]
"""

import argparse
import contextlib
import io
import os
import re
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

import learnscope as ls

PAGE = Path(__file__).parents[1] / "docs" / "from-your-script.md"
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
    code = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    script, named, swept, boundary, claim = code[:5]
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
        seconds(lambda: exec(script, space))
        row("the script", script, count, each(seconds(lambda: space["script"](*plane))))
        first = seconds(lambda: exec(named, space))
        spent = seconds(lambda: space["with_loops"](*plane))
        row("1: named parts, the same loops", named, count, each(spent))
        sweep = lambda: ls.run(  # noqa: E731
            space["experiment"],
            over={"data.signal": plane[0], "data.dim": plane[1]},
            seeds=repetitions,
            progress=False,
        )
        row("2: one sweep, compiling counted", swept, count, each(seconds(sweep)))
        row("2: the same again, compiled", swept, count, each(seconds(sweep)))
        seconds(lambda: exec(swept, space))  # the claim uses it
        for words, block in (("3: the boundary at two dimensions", boundary),
                             ("4: a claim, with its sweep of 72 trainings", claim)):  # fmt: skip
            spent = [seconds(lambda block=block: exec(block, space)) for _ in range(2)]
            row(words, block, "-", f"{spent[0]:.1f} s, again {spent[1]:.1f} s")
    for line in (("step", "lines", "trainings", "CPU"), ("---",) * 4, *rows):
        print(ROWS.format(*line))
    print(f"\nStep 1 compiles once: {first:.1f} s, not counted in its row.")


if __name__ == "__main__":
    main()
