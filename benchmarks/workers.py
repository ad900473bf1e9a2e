"""How much faster are two workers than one, and do they change a digit?

A compute-bound sweep (3,000 trainings of 2,000 steps) on one and on two local Dask workers, each on
one core, in turns; the clock starts when the workers have been started and have computed once.

    python benchmarks/workers.py [--repeats 2]
"""

import argparse
import os
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
import xarray as xr

from learnscope.lab import run
from learnscope.lab.cluster import local
from learnscope.papers.kou.experiments import experiment


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--trainings", type=int, default=3000)
    arguments = parser.parse_args()
    setting = experiment(steps=2000)
    over = {"data.signal": np.linspace(1, 10, arguments.trainings // 10)}
    best: dict[int, float] = {}
    results = []
    for _ in range(arguments.repeats):
        for count in (1, 2):
            with local(count) as client:
                run(setting, over, range(90, 100), cluster=client, progress=False)
                started = time.perf_counter()
                data = run(setting, over, 10, cluster=client, progress=False)
                seconds = time.perf_counter() - started
            best[count] = min(seconds, best.get(count, seconds))
            results.append(data)
    for data in results[1:]:
        xr.testing.assert_identical(results[0], data)
    runs = 10 * (arguments.trainings // 10)
    print(f"{runs} trainings: 1 worker {best[1]:.1f} s, 2 workers {best[2]:.1f} s; same datasets")
    print(f"ratio, 1 worker / 2 workers: {best[1] / best[2]:.2f} (at least 1.6 wanted)")


if __name__ == "__main__":
    main()
