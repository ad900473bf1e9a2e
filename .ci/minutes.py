"""How long does each sweep of each paper take on one core? Writes learnscope/papers/minutes.json,
which `learnscope list` reads. Sweeps of image data sets that are not here keep their old number;
those in docs/bundles have the wall time that is noted there.

    python .ci/minutes.py [--missing] [STUDY ...]    # --missing: sweeps without a number only

A sweep is not run: the estimate is the one that `learnscope run` announces, from a few steps of its
longest program, here in processor time of one thread. Computations that train nothing are run.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

os.environ.setdefault("NPROC", "1")

from learnscope.cli import cost
from learnscope.errors import MissingData
from learnscope.evidence import FunctionSweep
from learnscope.evidence.bundled import read_bundles, taken
from learnscope.lab.blocks import nominal
from learnscope.papers import STUDIES

cost.time.perf_counter = time.process_time  # what else runs here must not count
ROOT = Path(__file__).parents[1]
FILE = ROOT / "learnscope" / "papers" / "minutes.json"
_UNITS = {"d": 1440.0, "h": 60.0, "min": 1.0, "s": 1 / 60}


def minutes(sweep) -> float | None:
    """Minutes of one core, to two digits; none if nothing is trained or data are missing."""
    try:
        if isinstance(sweep, FunctionSweep):
            start = time.process_time()
            sweep.run()
            return rounded((time.process_time() - start) / 60)
        plans = sweep.plans(None)
    except MissingData:
        return None
    if not plans:
        return None
    longest = max(plans, key=lambda each: nominal([each]))
    return rounded(nominal(plans) * cost._slower(longest[0]) / 60)


def rounded(value: float) -> float:
    return float(f"{value:.2g}")


def bundled(name: str, sweeps) -> dict[str, float]:
    """The minutes that a study's sweeps in docs/bundles took."""
    files = [str(file) for file in (ROOT / "docs" / "bundles").glob(f"{name}-*.zip")]
    asked = {(name, key): sweep for key, sweep in sweeps.items()}
    found = {}
    for (_, key), data in taken(read_bundles(files), asked, "laptop").items():
        parts = re.findall(r"([\d.]+) (d|h|min|s)\b", data.encoding["made"]["took"])
        found[key] = rounded(sum(float(number) * _UNITS[unit] for number, unit in parts))
    return found


def main() -> None:
    held = json.loads(FILE.read_text()) if FILE.exists() else {}
    only_missing = "--missing" in sys.argv
    for name in [word for word in sys.argv[1:] if word != "--missing"] or STUDIES:
        sweeps, before = STUDIES[name].sweeps("laptop"), held.get(name, {})
        known = bundled(name, sweeps) | (before if only_missing else {})
        found = {key: known[key] if key in known else minutes(sweep)
                 for key, sweep in sweeps.items()}  # fmt: skip
        found = {key: before.get(key) if value is None else value for key, value in found.items()}
        held[name] = {key: value for key, value in found.items() if value is not None}
        print(name, held[name], flush=True)
        FILE.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
