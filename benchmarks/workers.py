"""How much faster are two workers than one process, and do they change a digit?

Four calls with `cluster=2` and without, in turns, best of some repeats; starting the workers is
part of what is timed. A compute-bound sweep and a compute-bound boundary must be at least 1.7 times
as fast; 2,400 small trainings and a small boundary at most 1.1 times slower.

    python benchmarks/workers.py [--repeats 2] [--scale 1.0]
"""

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
import xarray as xr

from learnscope.lab import boundary, run
from learnscope.papers.kou.experiments import experiment

_FASTER, _SLOWER = 1.7, 1.1
Call = Callable[[int | None], xr.Dataset]


def calls(scale: float) -> dict[str, tuple[Call, float]]:
    """What is called, by name, and the least ratio, one process / two workers."""

    def sweep(steps: int, trainings: int) -> Call:
        over = {"data.signal": np.linspace(1, 10, trainings // 10)}
        return lambda cluster: run(experiment(steps=steps), over, 10, cluster=cluster)

    def bounded(steps: int, seeds: int) -> Call:
        setting, x = experiment(steps=steps), {"data.signal": (0.1, 100.0)}
        y, of = {"data.dim": [500, 1000, 2000, 4000]}, "test_accuracy"
        return lambda cluster: boundary(setting, x, y, 0.75, of, seeds, cluster=cluster)

    return {
        "compute-bound sweep": (sweep(2000, 10 * round(1200 * scale)), _FASTER),
        "2400 small trainings": (sweep(20, 2400), 1 / _SLOWER),
        "compute-bound boundary": (bounded(2000, round(120 * scale)), _FASTER),
        "small boundary": (bounded(20, 10), 1 / _SLOWER),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0, help="of the compute-bound calls")
    arguments = parser.parse_args()
    for name, (call, least) in calls(arguments.scale).items():
        best, results = dict[int | None, float](), []
        call(None)  # compiles
        few = arguments.repeats if least > 1 else 3 * arguments.repeats  # short ones are noisy
        for _ in range(few):
            for cluster in (None, 2):
                started = time.perf_counter()
                results.append(call(cluster))
                seconds = time.perf_counter() - started
                best[cluster] = min(seconds, best.get(cluster, seconds))
        for data in results[1:]:
            xr.testing.assert_identical(results[0], data)
        print(f"{name}: 1 process {best[None]:.1f} s, 2 workers {best[2]:.1f} s; same datasets")
        print(f"  ratio, 1 process / 2 workers: {best[None] / best[2]:.2f} (at least {least:.2f})")


if __name__ == "__main__":
    main()
