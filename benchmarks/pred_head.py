"""How much faster is Algorithm 1 of Wen and Li than as a PyTorch script, and what does d cost?

Steps on fresh batches of 1024 examples of 16 patches, two neurons with a prediction head: ours ten
trainings at a time, theirs one by one; CPU seconds per step of a training, in turns on one core,
the best of `--repeats`. Then d = 10^6 against d = 100, for training on batches and for the
population flow. `--diagram` times the study's phase diagram instead (20 x 20 x 50 flows, two
workers, an empty compilation cache).

    python benchmarks/pred_head.py [--repeats 3] [--diagram]
"""

import argparse
import os
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["LEARNSCOPE_CACHE"] = "off"  # compiling is reported separately

import torch_pred_head as theirs

from learnscope.data import StrongWeak
from learnscope.lab import Experiment, Record, report_of, run
from learnscope.lab.processes import LocalProcesses
from learnscope.nets import PatchEncoder
from learnscope.papers.pred_head.experiments import flow, horizon, sweeps
from learnscope.papers.pred_head.parts.strong_weak import FeatureStrengths
from learnscope.rules import NonContrastive

STEPS, RUNS = 200, 10


def trained(dim: int, seed: int) -> tuple[float, float]:
    """CPU seconds of a training's step, and of compiling."""
    data = StrongWeak(dim, 16, 4, (3.0, 2.0), noise=1.0, batch=1024, test=10)
    rule = NonContrastive(rate=0.05, head_rate=0.05)
    probes = (FeatureStrengths(),)
    experiment = Experiment(data, PatchEncoder(width=2), rule, STEPS, probes, Record(every=STEPS))
    seeds = range(RUNS * seed, RUNS * (seed + 1))
    before = time.process_time()
    # As a sweep over d, so that every dimension is the same program.
    report = report_of(run(experiment, {"data.dim": [dim]}, seeds, progress=False))
    spent = time.process_time() - before - report.compile_seconds
    return spent / (STEPS * RUNS), report.compile_seconds


def flowed(dim: float, seed: int) -> float:
    """CPU seconds of a flow from a random start."""
    seeds = range(100 * seed, 100 * (seed + 1))
    over = {"data.dim": [dim], "rule.horizon": [horizon(dim) / 1e3]}
    before = time.process_time()
    report = report_of(run(flow(), over, seeds, precision="float64", progress=False))
    return (time.process_time() - before - report.compile_seconds) / len(seeds)


def diagram() -> None:
    """Wall time of the phase diagram."""
    with tempfile.TemporaryDirectory() as empty:
        os.environ["LEARNSCOPE_CACHE"] = empty  # workers take it over
        with LocalProcesses(2) as pool:
            before = time.perf_counter()
            report = report_of(sweeps("laptop")["diagram"].run(cluster=pool, progress=False))
            spent = time.perf_counter() - before
    print(f"20 x 20 x 50 flows: {report}; {spent:.0f} s on two workers (at most 180 wanted)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--diagram", action="store_true", help="time the phase diagram instead")
    arguments = parser.parse_args()
    if arguments.diagram:
        diagram()
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before XLA counts cores
    _, compiling = trained(100, 0)
    flowed(100, 0)
    best: dict[tuple[str, float], float] = {}

    def keep(name: str, dim: float, spent: float) -> None:
        best[name, dim] = min(spent, best.get((name, dim), spent))

    for seed in range(1, 1 + arguments.repeats):
        for dim in (20, 100, 1000, 1_000_000):
            keep("ours", dim, trained(dim, seed)[0])
            if dim <= 1000:
                keep("theirs", dim, theirs.run(dim, seed, 20)["seconds"])
        for dim in (100.0, 1e6):
            keep("flow", dim, flowed(dim, seed))
    for dim in (20, 1000):
        ours, other = best["ours", dim], best["theirs", dim]
        print(f"d = {dim}: learnscope {1e3 * ours:.2f} CPU ms a step, PyTorch {1e3 * other:.2f}")
        print(f"  ratio, PyTorch / learnscope: {other / ours:.1f}")
    for name in ("ours", "flow"):
        ratio = best[name, 1_000_000] / best[name, 100]
        what = "training on batches" if name == "ours" else "population flow"
        print(f"ratio, d = 10^6 / d = 100, {what}: {ratio:.2f}")
    print(
        f"flow, d = 100: {1e3 * best['flow', 100]:.1f} CPU ms; compiling, once: {compiling:.1f} s"
    )


if __name__ == "__main__":
    main()
