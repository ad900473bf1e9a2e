"""What does an outer step of FOMAML cost, over vmapped autodiff on ambient patches; and does it
depend on the dimension?

K = 343 tasks of n = 10 examples, m = 18 filters per sign, J = 5 inner steps, d = 1000 (Zuo et al.
2023, section 5.1). The yardstick adapts a copy of all weights to every task, on patches in R^d,
with `jax.vmap` and `jax.grad`; it is compiled too. Then the same rule in compressed coordinates at
d = 10^4 and 10^5 with K n = 400 < d. CPU time, one core, interleaved, best of `--repeats`.
`--separation` times the study's table instead: 10 seeds, 5 numbers of tasks, 3 rules, 2000 steps,
on two workers with an empty compilation cache.

    python benchmarks/meta_step.py [--separation]
"""

import argparse
import os
import tempfile
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp

import learnscope as ls
from learnscope.lab import report_of
from learnscope.lab.processes import LocalProcesses
from learnscope.papers.meta_split.experiments import sweeps
from learnscope.space import Frame

RATE, GAMMA, J, WIDTH = 1e-4, 1e-3, 5, 18
NET = ls.nets.PatchCNN(width=WIDTH, activation="huberised", scale=0.032, second_layer="sum")


def family(dim: int, tasks: int, dictionary: int) -> ls.data.TaskFamily:
    return ls.data.TaskFamily(
        dim=dim, dictionary=dictionary, tasks=tasks, samples=10, validation=5, signal=1.0,
        task_signal=0.021, noise=10.42, test_tasks=1,
    )  # fmt: skip


def plain_step(net, split: str):
    """The definition, as one would write it: every task has its own copy of the weights."""

    def loss(params, x, y):
        return jnp.logaddexp(0.0, -y * net(params, x)).mean()

    def one(params, inner, outer):
        adapted = params
        for _ in range(J):
            slope = jax.grad(loss)(adapted, *inner)
            adapted = jax.tree.map(lambda w, g: w - GAMMA * g, adapted, slope)
        return jax.grad(loss)(adapted, *outer)

    def step(params, first, second):
        if split == "train-train":
            both = jax.tree.map(lambda a, b: jnp.concatenate([a, b], 1), first, second)
            first = second = both
        each = jax.vmap(one, in_axes=(None, 0, 0))(params, first, second)
        return jax.tree.map(lambda w, g: w - RATE * g.mean(0), params, each)

    return step


def seconds(step, state, steps: int) -> float:
    begun = time.process_time()
    for _ in range(steps):
        state = step(state)
    jax.block_until_ready(state)
    return (time.process_time() - begun) / steps


def separation() -> None:
    """Wall time of the separation table."""
    with tempfile.TemporaryDirectory() as empty:
        os.environ["LEARNSCOPE_CACHE"] = empty  # workers take it over
        with LocalProcesses(2) as pool:
            before = time.perf_counter()
            data = sweeps("laptop")["separation"].run(cluster=pool, progress=False)
            spent = time.perf_counter() - before
    print(f"separation: {report_of(data)}; {spent:.0f} s on two workers (at most 240 wanted)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--separation", action="store_true", help="time the table instead")
    arguments = parser.parse_args()
    if arguments.separation:
        separation()
        return
    key = jax.random.key(0)
    data = family(1000, 343, 500)
    quickly = {"xla_backend_optimization_level": 1}  # as the laboratory draws
    problem = jax.jit(data.sample, compiler_options=quickly)(key)
    frame = Frame(jnp.asarray(1000.0), data.span + NET.rows, room=data.span)
    compressed = jax.jit(lambda k: data.sample(k, frame), compiler_options=quickly)(key)
    pairs = [(p.by_group().x, p.by_group().y) for p in (problem.train, problem.validation)]
    for split in ("train-train", "train-validation"):
        rule = ls.rules.Fomaml(rate=RATE, inner_rate=GAMMA, inner_steps=J, split=split)
        plain = jax.jit(plain_step(NET, split))
        theirs = lambda params, plain=plain: plain(params, *pairs)  # noqa: E731
        step = jax.jit(lambda s, p, rule=rule: rule.step(s, p, key))
        init = jax.jit(lambda p, rule=rule: rule.init(NET, p, key))
        ambient, state = init(problem), init(compressed)
        ours = lambda s, step=step: step(s, compressed)  # noqa: E731
        same = step(ambient, problem).params["filters"] - theirs(ambient.params)["filters"]
        jax.block_until_ready(ours(state))
        best = {"ours": 9e9, "plain": 9e9}
        for _ in range(arguments.repeats):
            best["ours"] = min(best["ours"], seconds(ours, state, 20))
            best["plain"] = min(best["plain"], seconds(theirs, ambient.params, 2))
        print(f"{split}, K = 343, d = 1000: {1e3 * best['ours']:.1f} ms a step, vmapped autodiff "
              f"{1e3 * best['plain']:.0f} ms (on the same ambient data, weights differ by at most "
              f"{jnp.abs(same).max():.0e})")  # fmt: skip
        print(f"  ratio, vmapped autodiff / learnscope: {best['plain'] / best['ours']:.1f} "
              "(at least 15 wanted)")  # fmt: skip
    steps = {}
    for dim in (10_000, 100_000):
        data = family(dim, 40, 500)
        frame = Frame(jnp.asarray(float(dim)), data.span + NET.rows)
        draw = lambda k, data=data, frame=frame: data.sample(k, frame)  # noqa: E731
        small = jax.jit(draw, compiler_options=quickly)(key)
        rule = ls.rules.Fomaml(rate=RATE, inner_rate=GAMMA, inner_steps=J)
        state = jax.jit(lambda p, rule=rule: rule.init(NET, p, key))(small)
        step = jax.jit(lambda s, p, rule=rule: rule.step(s, p, key))
        steps[dim] = (lambda s, step=step, small=small: step(s, small), state)
        jax.block_until_ready(steps[dim][0](state))
    best = dict.fromkeys(steps, 9e9)
    for _ in range(4 * arguments.repeats):
        for dim, (step, state) in steps.items():
            best[dim] = min(best[dim], seconds(step, state, 50))
    low, high = best[10_000], best[100_000]
    print(f"K = 40, compressed: {1e3 * low:.2f} ms a step at d = 10^4, {1e3 * high:.2f} at 10^5")
    print(f"ratio, d = 10^5 / d = 10^4: {high / low:.2f} (at most 1.2 wanted)")


if __name__ == "__main__":
    main()
