"""How long does each sweep of each paper take on one core? Writes learnscope/papers/minutes.json,
which `learnscope list` reads. Sweeps of image data sets that are not here keep their old number.

    python .ci/minutes.py [STUDY ...]

A sweep is not run: the estimate is the one that `learnscope run` announces, from a few steps of its
longest program, here in processor time of one thread. Computations that train nothing are left out.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("NPROC", "1")

from learnscope.cli import cost
from learnscope.errors import MissingData
from learnscope.lab.blocks import nominal
from learnscope.papers import STUDIES

cost.time.perf_counter = time.process_time  # what else runs here must not count
FILE = Path(__file__).parents[1] / "learnscope" / "papers" / "minutes.json"


def minutes(sweep) -> float | None:
    """Minutes of one core, to two digits; none if nothing is trained or data are missing."""
    try:
        plans = sweep.plans(None)
    except MissingData:
        return None
    if not plans:
        return None
    longest = max(plans, key=lambda each: nominal([each]))
    return float(f"{nominal(plans) * cost._slower(longest[0]) / 60:.2g}")


def main() -> None:
    held = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in sys.argv[1:] or STUDIES:
        sweeps, before = STUDIES[name].sweeps("laptop"), held.get(name, {})
        found = {key: minutes(sweep) for key, sweep in sweeps.items()}
        found = {key: before.get(key) if value is None else value for key, value in found.items()}
        held[name] = {key: value for key, value in found.items() if value is not None}
        print(name, held[name], flush=True)
        FILE.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
