"""What does a step cost in the span of the training vectors?

The setting of the PEGR paper's figures (d = 400, n = 20, 20 filters), probes read at the end only,
all in CPU time per run and step, one thread, interleaved, best of `--repeats`:

- PEGR, gradient descent and SAM in learnscope;
- the same descent and penalty as a user would write them: plain JAX, weights in R^d, vmapped over
  the same number of runs, and (one run) NumPy.

    python benchmarks/stepping.py [--repeats 5] [--steps 2000] [--runs 40]
"""

import argparse
import os
import time
from collections.abc import Callable

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

import learnscope as ls

RATE, WEIGHT, WIDTH = 0.02, 0.01, 10
RULES = {
    "descent": ls.rules.GradientDescent(rate=RATE),
    "PEGR": ls.rules.PerExamplePenalty(rate=RATE, weight=WEIGHT),
    "SAM": ls.rules.SharpnessAware(rate=RATE, radius=0.05),
}
SIGNS = np.repeat([1.0, -1.0], WIDTH).astype(np.float32)


def experiment(rule: ls.rules.AbstractRule, steps: int) -> ls.Experiment:
    data = ls.data.SignalNoise(dim=400, train=20, test=10, signal=1.0, noise=0.5)
    net = ls.nets.PatchCNN(width=WIDTH, activation="relu2", scale=0.01)
    record = ls.Record(every=steps)
    return ls.Experiment(data, net, rule, steps, (ls.probes.Loss(),), record=record)


def in_jax(name: str, steps: int, runs: int) -> Callable[[], object]:
    """The penalty by `vmap(grad)` and a Hessian-vector product per example."""
    drawn = [ls.draw(experiment(RULES[name], steps), seed) for seed in range(runs)]
    x, y, start = (
        jnp.stack([get(p, s) for p, s in drawn])
        for get in (lambda p, s: p.train.x, lambda p, s: p.train.y, lambda p, s: s.params.filters)
    )

    def loss(w, x, y):
        out = SIGNS @ jnp.sum(jnp.maximum(x @ w.T, 0) ** 2, axis=0) / WIDTH
        return jnp.logaddexp(0.0, -y * out)

    def bent(w, x, y):
        slope = lambda w: jax.grad(loss)(w, x, y)  # noqa: E731
        one = slope(w)
        return one + WEIGHT * jax.jvp(slope, (w,), (one,))[1]

    each = jax.grad(loss) if name == "descent" else bent
    step = jax.vmap(lambda w, x, y: w - RATE * jax.vmap(each, (None, 0, 0))(w, x, y).mean(0))
    trained = jax.jit(lambda w: jax.lax.fori_loop(0, steps, lambda _, w: step(w, x, y), w))
    return lambda: jax.block_until_ready(trained(start))


def in_numpy(name: str, steps: int) -> Callable[[], object]:
    """One run, the slopes written out by hand."""
    problem, state = ls.draw(experiment(RULES[name], steps), 0)
    x, y = np.moveaxis(problem.train.x, 1, 0), problem.train.y
    squares = np.sum(x**2, axis=2)[:, None]

    def trained() -> np.ndarray:
        w = state.params.filters.copy()
        for _ in range(steps):
            z = np.maximum(w @ np.swapaxes(x, 1, 2), 0)  # patch, filter, example
            share = 1 / (1 + np.exp(y * (SIGNS @ (z**2).sum(0)) / WIDTH))
            slope = -y * share
            if name == "PEGR":
                own = WEIGHT * 4 / WIDTH**2 * squares * z
                h = own * slope**2
                slope = slope + share * (1 - share) * slope * (own * z).sum((0, 1))
            else:
                h = 0
            h = h + 2 / WIDTH * SIGNS[:, None] * slope * z
            w -= RATE * (h @ x).sum(0) / len(y)
        return w

    return trained


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, default in (("repeats", 5), ("steps", 2000), ("runs", 40)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    steps, runs = given.steps, given.runs

    def in_learnscope(name: str) -> Callable[[], object]:
        return lambda: ls.run(experiment(RULES[name], steps), seeds=runs, progress=False)

    ways = {(name, "learnscope"): (in_learnscope(name), runs) for name in RULES}
    for name in ("descent", "PEGR"):
        ways[name, "plain JAX"] = in_jax(name, steps, runs), runs
        ways[name, "NumPy"] = in_numpy(name, steps), 1
    best: dict[tuple[str, str], float] = {}
    for number in range(given.repeats + 1):  # the first call compiles
        for key, (run, count) in ways.items():
            start = time.process_time()
            run()
            cost = (time.process_time() - start) / steps / count * 1e6
            best[key] = cost if number < 2 else min(cost, best[key])
    for (name, way), cost in best.items():
        ratio = cost / best[name, "learnscope"]
        print(f"{name:8} {way:11} {cost:8.2f} microseconds a run and step, ratio {ratio:6.1f}")
    sam = best["SAM", "learnscope"] / best["descent", "learnscope"]
    print(f"SAM / descent: {sam:.2f} (at most 2.5 is asked)")


if __name__ == "__main__":
    main()
