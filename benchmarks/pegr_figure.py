"""How much faster are figures 1-4 of the PEGR paper than as a PyTorch script?

The whole of them: 3 rules x 4 noise levels x 10 seeds x 1500 steps, with loss, signal, noise and
test accuracy (1000 test points) every 10 steps. learnscope runs all of it; PyTorch runs one
training of each rule and is extrapolated to 40 (its cost does not depend on noise or seed). Both
use one thread, are timed in CPU seconds, interleaved, best of `--repeats`.

Two PyTorch scripts are the yardstick. *Straightforward*: the per-example penalty as a loop over
examples.
*Fastest*: the fastest of the three ways in torch_pegr.py at that dimension (the loop itself at
10^4).

    python benchmarks/pegr_figure.py [--dims 400 10000] [--repeats 3]
"""

import argparse
import os
import time

if hasattr(os, "sched_setaffinity"):  # one core for both, and so one thread
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["LEARNSCOPE_CACHE"] = "off"  # the first call is to compile

import torch_pegr

import learnscope as ls
from learnscope.engine.program import compilations

NOISES, SCALES, SEEDS = [0.1, 0.5, 1.0, 1.5], [0.01, 0.01, 0.01, 0.001], 10
CELLS = len(NOISES) * SEEDS


def experiment(dim: int) -> ls.Experiment:
    return ls.Experiment(
        data=ls.data.SignalNoise(dim=dim, train=20, test=1000, signal=1.0, noise=0.5),
        net=ls.nets.PatchCNN(width=10, activation="relu2", scale=0.01),
        rule=ls.rules.GradientDescent(rate=0.02),
        steps=1500,
        probes=[
            ls.probes.Loss(),
            ls.probes.SignalLearning(),
            ls.probes.NoiseMemorisation(),
            ls.probes.TestAccuracy(),
        ],
        record=ls.Record(every=10),
    )


def learnscope_seconds(dim: int) -> tuple[float, int]:
    """CPU seconds for the whole of the figures, and how many programs were compiled in them."""
    rules = [
        ls.rules.GradientDescent(rate=0.02),
        ls.rules.PerExamplePenalty(rate=0.02, weight=0.01, until=800),
        ls.rules.FullPenalty(rate=0.02, weight=0.01, until=800),
    ]
    over = {"rule": rules, "noise": ls.zipped({"data.noise": NOISES, "net.scale": SCALES})}
    start, before = time.process_time(), len(compilations())
    ls.run(experiment(dim), over, seeds=SEEDS, progress=False)
    return time.process_time() - start, len(compilations()) - before


def torch_seconds(dim: int, way: str | None) -> dict[str, float]:
    """CPU seconds of one training of each rule."""
    return {
        rule: torch_pegr.run_cell(rule, 0.5, seed=0, dim=dim, way=way)["seconds"]
        for rule in torch_pegr.RULES
    }


def best(old: dict[str, float], new: dict[str, float]) -> dict[str, float]:
    return {key: min(value, old.get(key, value)) for key, value in new.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dims", type=int, nargs="+", default=[400, 10_000])
    arguments = parser.parse_args()

    cold, programs = learnscope_seconds(arguments.dims[0])
    print(f"first call, d = {arguments.dims[0]}: {cold:.1f} CPU s with {programs} compilations")
    warm: dict[int, float] = {}
    for dim in arguments.dims:
        loop: dict[str, float] = {}
        fast: dict[str, float] = {}
        for _ in range(arguments.repeats):
            for each in (dim, 10**6):
                seconds, compiled = learnscope_seconds(each)
                assert compiled == 0, "the dimension is traced: nothing should compile again"
                warm[each] = min(seconds, warm.get(each, seconds))
            loop = best(loop, torch_seconds(dim, "loop"))
            fast = best(fast, loop)
            if dim < torch_pegr.CROSSOVER:
                fast = best(fast, torch_seconds(dim, None))
        for name, cells in (("straightforward", loop), ("fastest", fast)):
            total = CELLS * sum(cells.values())
            each = ", ".join(f"{rule} {value:.2f}" for rule, value in cells.items())
            print(
                f"d = {dim}: PyTorch {name} {total:.0f} CPU s (extrapolated from one training a "
                f"rule: {each}), learnscope {warm[dim]:.2f} CPU s: ratio "
                f"{total / warm[dim]:.0f}x without compilation, "
                f"{total / (warm[dim] + cold - warm[arguments.dims[0]]):.0f}x with it"
            )
    print(
        f"learnscope at d = 10^6 over d = {arguments.dims[0]}: "
        f"{warm[10**6] / warm[arguments.dims[0]]:.2f}x the CPU time"
    )


if __name__ == "__main__":
    main()
