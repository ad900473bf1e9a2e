"""How much faster is Figure 3 of Xu and Chen (2025) than the same loop in PyTorch, at d = 1000 and
10^5?

K = 5 classes of 100 examples, 100 neurons per class, 20 full-batch steps, 1000 test points, a grid
of 20 x 20 cells and 3 seeds: 1200 trainings. Some trainings of each are run in turns, and their CPU
time is EXTRAPOLATED to all 1200; compilation counts once. Both have one core, as a worker of
`learnscope run --workers` has (XLA's and PyTorch's threads would spin while they wait). PyTorch
(torch_benign.py) at d = 10^5 is extrapolated from a few steps as well. Then the share of the
machine's peak: matrix products of a training, over what the same core reaches in a product of 2000
x 2000 matrices.

    python benchmarks/benign_figure.py [--trainings 48] [--parts 3] [--full]
"""

import argparse
import os
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["LEARNSCOPE_CACHE"] = "off"  # compiling is part of the time

import numpy as np
import torch
import torch_benign as theirs

from learnscope.lab import report_of, run
from learnscope.papers.benign.experiments import experiment, sweeps

ALL, DIMS, RATE, STEPS = 1200, (1000, 100_000), 5.0, 20


def ours(dim: int, trainings: int, part: int) -> tuple[float, float]:
    """CPU seconds of so many trainings, and of compiling."""
    chosen = np.random.default_rng(part)
    over = {"data.signal": np.sort(chosen.uniform(0.001, 3.8, 4)),
            "data.correlation": np.sort(chosen.uniform(1, 1400, trainings // 4))}  # fmt: skip
    before = time.process_time()
    report = report_of(run(experiment(dim=dim), over, [part], progress=False))
    return time.process_time() - before, report.compile_seconds


def torch_1000(signal: float, ratio: float, seed: int) -> float:
    """CPU seconds of a training; its matrices serve the three seeds of a cell."""
    before = time.process_time()
    frame = theirs.frame_of(1000, torch.Generator().manual_seed(seed))
    dense = theirs.matrices(ratio, 1000, frame)
    shared = time.process_time() - before
    before = time.process_time()
    theirs.run(signal, ratio, 1000, seed, STEPS, RATE, dense, frame)
    return time.process_time() - before + shared / 3


def torch_large(signal: float, ratio: float, seed: int) -> float:
    """CPU seconds of a training at d = 10^5, from one of 1 and one of 3 steps."""
    spent = []
    for steps in (1, 3):
        before = time.process_time()
        theirs.run(signal, ratio, DIMS[1], seed, steps, RATE)
        spent.append(time.process_time() - before)
    a_step = (spent[1] - spent[0]) / 2
    return spent[0] + (STEPS - 1) * a_step


def peak() -> float:
    """Floating-point operations a second of one core in a large product."""
    torch.set_num_threads(1)
    a, best = torch.randn(2000, 2000), np.inf
    for _ in range(5):
        before = time.process_time()
        a @ a
        best = min(best, time.process_time() - before)
    return 2 * 2000**3 / best


def products() -> float:
    """Operations in the matrix products of one training, as `InSpan` and the probes do them."""
    filters, n, span = 500, 500, 510
    rank = span + filters
    gram, begin_and_end, steps = n * n * span, 2 * n * span * filters, STEPS * n * n * filters
    test = 1000 * rank * filters
    train = n * span * filters
    return 2.0 * (gram + begin_and_end + steps + test + train)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--trainings", type=int, default=48, help="of learnscope, a part and d")
    parser.add_argument("--parts", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="also time figure3a, all of it")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before XLA counts cores
    spent, compiling = dict.fromkeys(DIMS, 0.0), dict.fromkeys(DIMS, 0.0)
    small, large, speeds = [], [], []
    for part in range(arguments.parts):
        for dim in DIMS:
            cpu, compiled = ours(dim, arguments.trainings, part)
            spent[dim] += cpu - compiled
            compiling[dim] += compiled
        for seed in range(2):
            small.append(torch_1000(1.0, 100.0, 10 * part + seed))
        if part == 0:
            large.append(torch_large(1.0, 100.0, part))
        speeds.append(peak())
    count = arguments.trainings // 4 * 4 * arguments.parts
    each = {dim: spent[dim] / count for dim in DIMS}
    compile_once = max(compiling.values())
    total = {dim: ALL * each[dim] + compile_once for dim in DIMS}
    for dim, theirs_each, wanted in ((DIMS[0], np.mean(small), 6), (DIMS[1], np.mean(large), 100)):
        print(f"d = {dim}: learnscope {total[dim]:.0f} CPU s, PyTorch {ALL * theirs_each:.0f} CPU "
              f"s (extrapolated to {ALL} trainings)")  # fmt: skip
        print(f"  ratio, PyTorch / learnscope: {ALL * theirs_each / total[dim]:.1f} "
              f"(at least {wanted} wanted)")  # fmt: skip
    print(f"ratio, d = 10^5 / d = 1000: {total[DIMS[1]] / total[DIMS[0]]:.2f} (at most 1.3 wanted)")
    reached = products() / each[DIMS[0]]
    share = 100 * reached / max(speeds)
    print(f"matrix products: {products() / 1e9:.1f} Gflop a training, {reached / 1e9:.0f} Gflop a "
          f"CPU second, {share:.0f} % of this core's peak {max(speeds) / 1e9:.0f}")  # fmt: skip
    if arguments.full:
        started = time.perf_counter()
        arm = sweeps("laptop")["figure3a"].arms[1]
        report = report_of(run(arm.experiment, arm.axes, 3, cluster=2, progress=False))
        print(f"figure 3a, {report.computed} trainings on 2 workers: "
              f"{time.perf_counter() - started:.0f} s (under 180 wanted)")  # fmt: skip
    same_answer()


def same_answer(seeds: int = 10) -> None:
    """Both programs' mean test accuracy in one cell."""
    signal, ratio = 0.3, 20.0
    setting = experiment(signal=signal, correlation=ratio)
    data = run(setting, seeds=seeds, progress=False)
    frame = theirs.frame_of(1000, torch.Generator().manual_seed(0))
    dense = theirs.matrices(ratio, 1000, frame)
    found = [theirs.run(signal, ratio, 1000, s, STEPS, RATE, dense, frame) for s in range(seeds)]
    for name, values in (("learnscope", data.test_accuracy.values.ravel()),
                         ("PyTorch", np.array(found))):  # fmt: skip
        spread = values.std(ddof=1) / np.sqrt(seeds)
        print(f"test accuracy at |u| = 0.3, Gamma = 20, {seeds} seeds, {name}: "
              f"{values.mean():.4f} ± {spread:.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
