"""How much faster are two workers than one process, and do they change a digit?

Four calls with `cluster=2` and without, in turns; starting the workers is part of what is timed. A
compute-bound sweep and a compute-bound boundary (a minute each in one process) must be at least 1.7
times as fast; 2,400 small trainings and a small boundary at most 1.1 times slower. Programs are
compiled before, by a call with fewer runs in the same blocks.

    python benchmarks/workers.py [--repeats 1] [--scale 1.0] [--only WORDS]

Takes about six minutes on two cores.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
import xarray as xr

from learnscope.lab import boundary, report_of, run, zipped
from learnscope.papers.kou.experiments import experiment

_FASTER, _SLOWER = 1.7, 1.1
DIMS = [500, 1000, 2000, 4000]
Call = Callable[[int | None], xr.Dataset]


def calls(scale: float) -> dict[str, tuple[Call, Call, float]]:
    """By name: the call that compiles, the one that is timed, and the least ratio, one process /
    two workers."""

    def sweep(steps: int, values: int) -> Call:
        over = {"data.signal": np.linspace(1, 10, values)}
        return lambda cluster: run(experiment(steps=steps), over, 10, cluster=cluster)

    def bounded(steps: int, seeds: int) -> Call:
        setting, x = experiment(steps=steps), {"data.signal": (0.1, 100.0)}
        y, of = {"data.dim": DIMS}, "test_accuracy"
        return lambda cluster: boundary(setting, x, y, 0.75, of, seeds, cluster=cluster)

    def one_round(steps: int, seeds: int) -> Call:
        points = zipped({"data.dim": DIMS, "data.signal": [1.0, 2.0, 3.0, 4.0]})
        return lambda cluster: run(experiment(steps=steps), points, seeds, cluster=cluster)

    large, seeds = round(1600 * scale), round(160 * scale)
    return {
        "compute-bound sweep": (sweep(2000, large // 5), sweep(2000, large), _FASTER),
        "2400 small trainings": (sweep(20, 240), sweep(20, 240), 1 / _SLOWER),
        "compute-bound boundary": (one_round(2000, seeds), bounded(2000, seeds), _FASTER),
        "small boundary": (bounded(20, 10), bounded(20, 10), 1 / _SLOWER),
    }


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # workers are ended, too
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="of the compute-bound calls")
    parser.add_argument("--only", default="", help="the calls with these words in their names")
    arguments = parser.parse_args()
    for name, (first, call, least) in calls(arguments.scale).items():
        if arguments.only not in name:
            continue
        best, results, compiled = dict[int | None, float](), [], 0
        first(None)
        few = arguments.repeats if least > 1 else 3 * arguments.repeats  # short ones are noisy
        for _ in range(few):
            for cluster in (None, 2):
                started = time.perf_counter()
                results.append(call(cluster))
                seconds = time.perf_counter() - started
                best[cluster] = min(seconds, best.get(cluster, seconds))
                if cluster is None:
                    compiled += report_of(results[-1]).compilations
        for data in results[1:]:
            xr.testing.assert_identical(results[0], data)
        print(f"{name}: 1 process {best[None]:.1f} s, 2 workers {best[2]:.1f} s; same datasets")
        print(f"  ratio, 1 process / 2 workers: {best[None] / best[2]:.2f} (at least {least:.2f})")
        if compiled:
            print(f"  {compiled} programs were compiled while one process was timed: not a ratio")


if __name__ == "__main__":
    main()
