"""How much faster is the network of Shi, Wei and Liang's Table 1 than as a PyTorch script?

One method (the network), parity, 50000 examples, 600 neurons, 600 steps, accuracies on 5000
examples every 30 steps; d = 500 and 2000. Both on one core, in CPU seconds, in turns, the best of
`--repeats`; compiling is reported separately. Then d = 2000 against d = 100, which is the same
program. `--table` times Table 1 instead: six methods, 5 seeds, two workers, an empty compilation
cache.

    python benchmarks/input_structure.py [--repeats 2] [--table]
"""

import argparse
import os
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["LEARNSCOPE_CACHE"] = "off"  # compiling is reported separately

import torch_input_structure as theirs

from learnscope.lab import report_of, run
from learnscope.lab.processes import LocalProcesses
from learnscope.papers.input_structure.experiments import (
    FREE,
    METHODS,
    NETWORK,
    RESCALED,
    TEST,
    parity,
    table,
)
from learnscope.probes import TestAccuracy, TrainAccuracy

WANTED = {500: 4, 2000: 12}


def ours(dim: int, seed: int) -> tuple[float, float, float]:
    """CPU seconds of a training, of compiling, and the test accuracy."""
    setting = parity(dim=dim)
    probes = (TrainAccuracy(examples=TEST), TestAccuracy())
    experiment = setting.experiment(setting.rules()[NETWORK], probes, 30)
    before = time.process_time()
    # As a sweep over d, so that every dimension is the same program.
    data = run(experiment, {"data.dim": [dim]}, [seed], progress=False)
    report = report_of(data)
    spent = time.process_time() - before - report.compile_seconds
    return spent, report.compile_seconds, float(data.test_accuracy[..., -1].mean())


def table_1() -> None:
    """Wall time of Table 1's six columns."""
    with tempfile.TemporaryDirectory() as empty:
        os.environ["LEARNSCOPE_CACHE"] = empty  # workers take it over
        methods = tuple(method for method in METHODS if method != RESCALED)
        sweep = table({"parity": parity()}, 5, (NETWORK,), methods)
        with LocalProcesses(2) as pool:
            before = time.perf_counter()
            data = sweep.run(cluster=pool, progress=False)
            report = report_of(data)
            spent = time.perf_counter() - before
    assert data.learner.size == 6 and NETWORK + FREE in data.learner
    print(f"Table 1: {report}; {spent:.0f} s on two workers (at most 90 wanted)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="time Table 1 instead")
    arguments = parser.parse_args()
    if arguments.table:
        table_1()
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before XLA counts cores
    _, compiling, _ = ours(100, 0)
    fast: dict[int, float] = {}
    slow: dict[int, float] = {}
    for seed in range(arguments.repeats):
        for dim in (100, 500, 2000):
            spent, _, right = ours(dim, seed)
            fast[dim] = min(spent, fast.get(dim, spent))
            if dim in WANTED:
                other = theirs.run(dim, seed)
                slow[dim] = min(other["seconds"], slow.get(dim, other["seconds"]))
                print(f"d = {dim}, seed {seed}: accuracy {right:.4f} and {other['accuracy']:.4f}")
    for dim, wanted in WANTED.items():
        ratio = slow[dim] / fast[dim]
        print(f"d = {dim}: learnscope {fast[dim]:.2f} CPU s, PyTorch {slow[dim]:.2f} CPU s")
        print(f"  ratio, PyTorch / learnscope: {ratio:.1f} (at least {wanted} wanted)")
    print(f"ratio, d = 2000 / d = 100: {fast[2000] / fast[100]:.2f} (at most 1.1 wanted)")
    print(f"compiling, once: {compiling:.1f} s")


if __name__ == "__main__":
    main()
