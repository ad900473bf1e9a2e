"""How much memory does a sweep of a million trainings take, and what does opening it read?

1,000 x 1,000 settings of a small experiment go into a store, block by block. Peak resident memory
of the process is printed beside that of the same process after a sweep of 10,000, and the bytes
that are read to open the result and to take one cell from it.

    python benchmarks/million.py [--side 1000]
"""

import argparse
import os
import resource
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import learnscope as ls
from learnscope.lab import report_of, run

BUDGET = 1e9


def peak() -> float:
    """Peak resident memory of this process in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def read_so_far() -> float:
    """MB that this process has read from files."""
    try:
        with open("/proc/self/io", encoding="ascii") as lines:
            return int(next(line for line in lines if line.startswith("rchar")).split()[1]) / 1e6
    except OSError:
        return float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--side", type=int, default=1000, help="values on each of two axes")
    arguments = parser.parse_args()
    setting = ls.Experiment(
        data=ls.data.SignalNoise(dim=1000, train=4, test=20, signal=1.0, noise=1.0),
        net=ls.nets.PatchCNN(width=2),
        rule=ls.rules.GradientDescent(rate=0.1),
        steps=20,
        probes=[ls.probes.Loss(), ls.probes.TestAccuracy()],
        record=ls.Record(every=5),
    )
    with tempfile.TemporaryDirectory() as folder:
        for side in (100, arguments.side):
            over = {
                "data.signal": np.linspace(0.1, 3, side),
                "data.noise": np.linspace(0.1, 3, side),
            }
            started = time.perf_counter()
            report = report_of(run(setting, over, store=folder))
            seconds = time.perf_counter() - started
            print(f"{report.computed} trainings in {seconds:.0f} s, peak memory {peak():.0f} MB")
        assert report.store is not None
        size = sum(
            os.path.getsize(os.path.join(path, name))
            for path, _, names in os.walk(os.path.join(folder, report.store))
            for name in names
        )
        before, started = read_so_far(), time.perf_counter()
        data = ls.load(report.store, folder)
        opened = read_so_far() - before
        value = float(data.loss.isel(signal=7, noise=9, step=-1).squeeze())
        cell = read_so_far() - before - opened
        print(
            f"stored {size / 1e6:.0f} MB; opening it read {opened:.2f} MB, one cell {cell:.3f} MB "
            f"more, in {time.perf_counter() - started:.1f} s (loss {value:.3f})"
        )
        print(f"peak memory / stated budget: {peak() / (BUDGET / 1e6):.2f} (at most 1 wanted)")


if __name__ == "__main__":
    main()
