"""How much faster is the field's standard phase diagram than the same loop in PyTorch?

100,000 trainings of a two-layer ReLU CNN (Kou et al. 2023): signal 1 to 10 and dimension 100 to
1090 in 100 values each, 10 seeds, n = 20, 10 filters per sign, 10 % flipped labels, 1000 test
points, 100 full-batch steps. All of them are run with learnscope, in one process, into a store; of
PyTorch's cells (torch_phase.py) a few are run between the parts of the sweep, and their time is
EXTRAPOLATED to all 10,000 cells. CPU seconds of both; compilation counts.

    python benchmarks/phase_diagram.py [--cells 24] [--parts 4]
"""

import argparse
import os
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["LEARNSCOPE_CACHE"] = "off"  # compiling is part of the time

import numpy as np
import torch_phase

from learnscope.lab import report_of, run
from learnscope.papers.kou.experiments import experiment

SIGNALS, DIMS, SEEDS = np.linspace(1, 10, 100), np.linspace(100, 1090, 100).round(), 10


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cells", type=int, default=24, help="PyTorch cells that are run")
    parser.add_argument("--parts", type=int, default=4, help="parts of the sweep between them")
    arguments = parser.parse_args()
    setting = experiment()
    numbers = (setting.steps, float(setting.rule.rate), float(setting.net.scale))
    chosen = np.random.default_rng(0)
    wall = cpu = torch_cpu = 0.0
    found = cells = 0
    with tempfile.TemporaryDirectory() as folder:
        for signals in np.array_split(SIGNALS, arguments.parts):
            started, before = time.perf_counter(), time.process_time()
            over = {"data.signal": signals, "data.dim": DIMS}
            data = run(setting, over, SEEDS, store=folder)
            report = report_of(data)
            data.test_accuracy.isel(step=-1).mean("seed").load()
            wall += time.perf_counter() - started
            cpu += time.process_time() - before
            found += report.computed
            for _ in range(max(1, arguments.cells // arguments.parts)):
                signal, dim = float(chosen.choice(signals)), int(chosen.choice(DIMS))
                before = time.process_time()
                torch_phase.run_cell(signal, dim, SEEDS, *numbers, start_at=cells)
                torch_cpu += time.process_time() - before
                cells += 1
    total = torch_cpu / cells * len(SIGNALS) * len(DIMS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"learnscope: {found} trainings in {wall:.0f} s on {cores} cores, {cpu:.0f} CPU s")
    print(f"PyTorch: {total:.0f} CPU s, extrapolated from {cells} cells of {SEEDS} trainings")
    print(f"ratio of CPU time, PyTorch / learnscope: {total / cpu:.0f} (at least 50 wanted)")
    print(f"wall time: {wall / 60:.1f} min (under 5 wanted)")
    same_answer(setting.replace("data.signal", 2.0).replace("data.dim", 600), numbers)


def same_answer(setting, numbers, count: int = 200) -> None:
    """Both programs' mean test error in one cell."""
    data = run(setting, seeds=count, progress=False)
    dim = int(setting.data.dim)
    theirs = torch_phase.run_cell(float(setting.data.signal), dim, count, *numbers)
    for name, values in (
        ("learnscope", 1 - data.test_accuracy.isel(step=-1).values),
        ("PyTorch", np.array(theirs)),
    ):
        spread = values.std(ddof=1) / np.sqrt(count)
        print(f"test error at signal 2, dim 600, {count} seeds, {name}: "
              f"{values.mean():.4f} ± {spread:.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
