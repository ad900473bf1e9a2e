"""What does a per-example penalty step cost on a convolutional net, over a plain gradient step?

A small convolutional net (two 5x5 convolutions, two linear layers) on 32 images of 28 x 28,
through the same `PerExamplePenalty` and `GradientDescent` that train two-layer networks.
Interleaved, best of `--repeats`.

    python benchmarks/penalty_step.py
"""

import argparse
import os
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import equinox as eqx
import jax
import jax.numpy as jnp

import learnscope as ls
from learnscope.data import Frame, Problem, Samples


class SmallConv(eqx.Module):
    """LeNet-like: conv 6, pool, conv 16, pool, linear 64, linear 10."""

    first: eqx.nn.Conv2d
    second: eqx.nn.Conv2d
    hidden: eqx.nn.Linear
    out: eqx.nn.Linear

    def __init__(self, key):
        a, b, c, d = jax.random.split(key, 4)
        self.first = eqx.nn.Conv2d(1, 6, 5, key=a)
        self.second = eqx.nn.Conv2d(6, 16, 5, key=b)
        self.hidden = eqx.nn.Linear(256, 64, key=c)
        self.out = eqx.nn.Linear(64, 10, key=d)

    def __call__(self, image):
        pool = eqx.nn.AvgPool2d(2, 2)
        x = pool(jax.nn.relu(self.first(image)))
        x = pool(jax.nn.relu(self.second(x)))
        return self.out(jax.nn.relu(self.hidden(x.ravel())))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    arguments = parser.parse_args()
    keys = jax.random.split(jax.random.key(0), 3)
    images = jax.random.normal(keys[0], (arguments.batch, 1, 28, 28))
    samples = Samples(images, jax.random.randint(keys[1], (arguments.batch,), 0, 10))
    problem = Problem(samples, samples, {}, Frame(jnp.asarray(784.0), 784, ambient=True))
    net = ls.nets.Model(SmallConv)
    rules = {
        "plain": ls.rules.GradientDescent(rate=0.01),
        "per-example penalty": ls.rules.PerExamplePenalty(rate=0.01, weight=0.1),
        "full penalty": ls.rules.FullPenalty(rate=0.01, weight=0.1),
    }
    compiled = {}
    for name, rule in rules.items():
        state = rule.init(net, problem, keys[2])
        step = jax.jit(lambda state, rule=rule: rule.step(state, problem, keys[2]))
        jax.block_until_ready(step(state))
        compiled[name] = (step, state)
    best = dict.fromkeys(rules, float("inf"))
    for _ in range(arguments.repeats):
        for name, (step, state) in compiled.items():
            start = time.process_time()
            for _ in range(20):
                state = step(state)
            jax.block_until_ready(state)
            best[name] = min(best[name], (time.process_time() - start) / 20)
    for name, seconds in best.items():
        print(f"{name}: {1e3 * seconds:.2f} ms a step, {seconds / best['plain']:.1f}x a plain step")


if __name__ == "__main__":
    main()
