"""What does a training step of a deep network cost, over plain PyTorch on the same net and batch?

LeNet5 on 28 x 28, Conv4 and ResNet(8) on 32 x 32 x 3, batches of 64, gradient descent through the
same `GradientDescent` that trains two-layer networks, in a loop of steps as `lab/train.py` runs it;
and a step of `PerExamplePenalty` on LeNet5 over a plain one. One thread each, interleaved in one
process, CPU time, best of `--repeats`. PyTorch (`pip install torch==2.13.0`) is needed for the
first part.

    python benchmarks/deep_step.py
"""

import argparse
import os
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import equinox as eqx
import jax
import jax.numpy as jnp

import learnscope as ls
from learnscope.data import Problem, Samples
from learnscope.space import Frame

STEPS = 5  # of one timed loop
SHAPES = {"LeNet5": (28, 28, 1), "Conv4": (32, 32, 3), "ResNet(8)": (32, 32, 3)}
NETS = {
    "LeNet5": ls.nets.LeNet5(),
    "Conv4": ls.nets.Conv4(),
    "ResNet(8)": ls.nets.ResNet(filters=8),
}


def problem_of(shape: tuple[int, ...], batch: int) -> Problem:
    keys = jax.random.split(jax.random.key(0), 2)
    dim = shape[0] * shape[1] * shape[2]
    x = jax.random.normal(keys[0], (batch, dim))
    samples = Samples(x, jax.random.randint(keys[1], (batch,), 0, 10))
    return Problem(samples, samples, {}, Frame(jnp.asarray(float(dim)), dim, ambient=True))


def ours(net, rule, problem):
    state = rule.init(net, problem, jax.random.key(1))

    @eqx.filter_jit
    def steps(state):
        return jax.lax.fori_loop(
            0, STEPS, lambda t, s: rule.step(s, problem, jax.random.key(2)), state
        )

    return lambda: jax.block_until_ready(steps(state).params)


def torchs(build, shape, batch):
    import torch

    torch.set_num_threads(1)
    model = build()
    x = torch.randn(batch, shape[2], *shape[:2])
    y = torch.randint(0, 10, (batch,))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)

    def steps():
        for _ in range(STEPS):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimiser.step()

    return steps


def interleaved(functions: dict, repeats: int) -> dict[str, float]:
    """Seconds of CPU time a step, the best of some repeats of each in turn."""
    best = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        function()
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], (time.process_time() - start) / STEPS)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--batch", type=int, default=64)
    asked = parser.parse_args()
    plain = ls.rules.GradientDescent(rate=0.01)
    penalty = ls.rules.PerExamplePenalty(rate=0.01, weight=0.1)
    try:
        import torch_deep
    except ImportError:
        print("PyTorch is not installed: only the penalty step is timed.")
        torch_deep = None
    if torch_deep is not None:
        builds = {
            "LeNet5": torch_deep.lenet5,
            "Conv4": torch_deep.conv4,
            "ResNet(8)": lambda: torch_deep.resnet(8),
        }
        for name, net in NETS.items():
            pair = {
                "ours": ours(net, plain, problem_of(SHAPES[name], asked.batch)),
                "torch": torchs(builds[name], SHAPES[name], asked.batch),
            }
            found = interleaved(pair, asked.repeats)
            print(
                f"{name}: {1e3 * found['ours']:.2f} ms a step, PyTorch {1e3 * found['torch']:.2f}: "
                f"ratio {found['ours'] / found['torch']:.2f} (at most 1.1 wanted)"
            )
    problem = problem_of(SHAPES["LeNet5"], asked.batch)
    pair = {
        "plain": ours(NETS["LeNet5"], plain, problem),
        "penalty": ours(NETS["LeNet5"], penalty, problem),
    }
    found = interleaved(pair, asked.repeats)
    print(
        f"LeNet5, PerExamplePenalty: {1e3 * found['penalty']:.2f} ms a step, plain "
        f"{1e3 * found['plain']:.2f}: ratio {found['penalty'] / found['plain']:.2f} "
        "(at most 4 wanted)"
    )


if __name__ == "__main__":
    main()
