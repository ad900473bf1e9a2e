"""What does a step of FOMAML on Conv4 cost, over a plain PyTorch loop; and tasks one by one or
together?

5 ways, 1 shot and 5 validation images per class, 4 tasks, 5 inner steps, Adam outside; images of
28 x 28 and Conv4 of width 32, and of 14 x 14 and 16. Ours is the `Fomaml` that trains two-layer
networks, in a loop of steps as `lab/train.py` runs it. One thread each, interleaved in one process,
best of `--repeats`. PyTorch (`pip install torch==2.13.0`) is needed.

    python benchmarks/meta_conv.py
"""

import argparse
import os
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import equinox as eqx
import jax
import torch
from torch import nn

import learnscope as ls

STEPS, TASKS, WAYS, SHOTS, HELD = 3, 4, 5, 1, 5
RATE, INNER_RATE, INNER_STEPS = 0.001, 0.01, 5
CASES = ((28, 32), (14, 16))  # side and width


class Together(ls.nets.AbstractNet):
    """A deep net of which the tasks are vmapped."""

    net: ls.nets.AbstractNet

    def init(self, key, problem):
        return self.net.init(key, problem)

    def __call__(self, params, x):
        return self.net(params, x)


def ours(side: int, net: ls.nets.AbstractNet):
    """Some steps, on fixed tasks."""
    keys = jax.random.split(jax.random.key(0), 3)
    labels = jax.numpy.tile(jax.numpy.arange(WAYS), (TASKS, 1))

    def tasks(key, each):
        x = jax.random.normal(key, (TASKS, WAYS * each, side * side))
        return x, jax.numpy.repeat(labels, each, axis=1)

    sets = [tasks(key, each) for key, each in zip(keys, (SHOTS, HELD, 1), strict=True)]
    problem = ls.data.task_problem(*sets)
    rule = ls.rules.Fomaml(
        rate=RATE, inner_rate=INNER_RATE, inner_steps=INNER_STEPS, optimiser="adam"
    )
    state = rule.init(net, problem, jax.random.key(1))

    @eqx.filter_jit
    def steps(state):
        return jax.lax.fori_loop(
            0, STEPS, lambda t, s: rule.step(s, problem, jax.random.key(2)), state
        )

    return lambda: jax.block_until_ready(steps(state).params)


def conv4(side: int, width: int) -> nn.Module:
    """Four blocks for grey images; pooling as long as there are 2 places."""
    layers, inputs = [], 1
    for _ in range(4):
        layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        if side > 1:
            layers.append(nn.MaxPool2d(2))
            side //= 2
        inputs = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * side * side, WAYS))


def torchs(side: int, width: int):
    """The same in PyTorch, as one would write it."""
    torch.set_num_threads(1)
    model = conv4(side, width)
    names = [name for name, _ in model.named_parameters()]
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)

    def part(each):
        x = torch.randn(TASKS, WAYS * each, 1, side, side)
        return list(zip(x, torch.arange(WAYS).repeat_interleave(each).expand(TASKS, -1)))  # noqa: B905

    inner, outer = part(SHOTS), part(HELD)

    def gradient(weights, x, y):
        found = torch.func.functional_call(model, dict(zip(names, weights, strict=True)), (x,))
        return torch.autograd.grad(nn.functional.cross_entropy(found, y), weights)

    def steps():
        for _ in range(STEPS):
            total = [torch.zeros_like(p) for p in model.parameters()]
            for task in range(TASKS):
                fast = [p.detach().clone().requires_grad_() for p in model.parameters()]
                for _ in range(INNER_STEPS):
                    slopes = gradient(fast, *inner[task])
                    fast = [(p - INNER_RATE * g).detach().requires_grad_()
                            for p, g in zip(fast, slopes, strict=True)]  # fmt: skip
                slopes = gradient(fast, *outer[task])
                total = [a + g / TASKS for a, g in zip(total, slopes, strict=True)]
            for p, g in zip(model.parameters(), total, strict=True):
                p.grad = g
            optimiser.step()

    return steps


def interleaved(functions: dict, repeats: int) -> dict[str, float]:
    """Processor seconds a step, the best of some repeats of each in turn."""
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
    asked = parser.parse_args()
    for side, width in CASES:
        net = ls.nets.Conv4(classes=WAYS, width=width)
        found = interleaved(
            {"ours": ours(side, net), "vmapped": ours(side, Together(net)),
             "torch": torchs(side, width)}, asked.repeats,
        )  # fmt: skip
        print(
            f"{side} x {side}, width {width}: {1e3 * found['ours']:.1f} ms a step, tasks vmapped "
            f"{1e3 * found['vmapped']:.1f}, PyTorch {1e3 * found['torch']:.1f}: ratio "
            f"{found['ours'] / found['torch']:.2f} (at most 1 wanted), of vmapped "
            f"{found['ours'] / found['vmapped']:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
