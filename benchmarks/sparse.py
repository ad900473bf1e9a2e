"""Does it pay to keep sparse noise patches sparse?

Adam on the data of Zou et al. (2021) (`papers/adam`: 20 examples, 32 non-zero coordinates, 32
filters), with patches by their non-zero coordinates and with all coordinates. CPU time per step,
draws included, one thread, interleaved in one process, best of `--repeats`.

    python benchmarks/sparse.py [--repeats 3] [--steps 200]
"""

import argparse
import math
import os
import time
from typing import ClassVar

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import learnscope as ls
from learnscope.papers.adam.experiments import RULES, experiment
from learnscope.papers.adam.parts import SparseNoise


class Dense(SparseNoise):
    """The same draws, with all their coordinates."""

    sparse_from: ClassVar[float] = math.inf


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, default in (("repeats", 3), ("steps", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    for dim in (1_500, 15_000, 100_000):
        sparse = experiment(given.steps, dim).replace("rule", RULES["Adam"])
        sparse = sparse.replace("record.every", given.steps)
        ways = {"sparse": sparse, "dense": sparse.replace("data", Dense(**vars(sparse.data)))}
        best = dict.fromkeys(ways, math.inf)
        for number in range(given.repeats + 1):  # the first call compiles
            for name, setting in ways.items():
                start = time.process_time()
                ls.run(setting, seeds=[number], progress=False)
                cost = (time.process_time() - start) / given.steps * 1e6
                best[name] = min(best[name], cost) if number else math.inf
        ratio = best["dense"] / best["sparse"]
        print(f"d = {dim:7,}: sparse {best['sparse']:7.0f}, dense {best['dense']:7.0f} "
              f"microseconds a step, ratio {ratio:.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
