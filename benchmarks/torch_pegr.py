"""The yardstick: figures 1-4 of the PEGR paper as a PyTorch loop, the way a researcher writes it.

One call of `run_cell` is one curve of the figures: one rule, one noise level, one seed, in the
paper's own coordinates (inputs are tensors of shape ``(n, 2, d)``), float32, one thread.

Plain training and full-gradient regularisation write themselves. The per-example penalty can be
written in several natural ways; three are here (see `WAYS`), and which is fastest depends on the
dimension. `run_cell` takes the fastest for its dimension, so that the yardstick is as long as an
honest one can be. CPU milliseconds per step, range over repeats on one noisy machine:

=======  ========================================================================  =======  =====
way      how the n gradients are had                                               d = 400  10^4
=======  ========================================================================  =======  =====
loop     ``for`` over examples, ``autograd.grad(loss_i, W, create_graph=True)``    10       17-22
vmap     ``torch.func.vmap(torch.func.grad_and_value(loss))``                      1.6-1.9  31-54
copies   weights expanded to a copy an example, a single ``autograd.grad``         1.3-1.6  22-62
=======  ========================================================================  =======  =====

(At d = 10^4 the batched ways hold n gradients at once, and most of their time goes into the
allocator giving 16 MB tensors back to the system at every step. Tried, and never the fastest:
``is_grads_batched=True``, ``vmap`` in chunks, one loop over a shared forward pass.)

Needs the ``benchmark`` extra. ``python benchmarks/torch_pegr.py`` prints microseconds a step.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

Rule = Literal["gd", "per_example", "full"]
RULES: tuple[Rule, ...] = ("gd", "per_example", "full")


def sample(count: int, mean: Tensor, noise: float, generator: torch.Generator):
    """Definition 2.1: labels, inputs ``[y * mean, noise vector]``, noise orthogonal to the mean."""
    labels = torch.randint(2, (count,), generator=generator).float() * 2 - 1
    noises = noise * torch.randn(count, len(mean), generator=generator)
    noises -= torch.outer(noises @ mean, mean) / mean.dot(mean)
    return labels, torch.stack([torch.outer(labels, mean), noises], dim=1)


def output(weights: Tensor, inputs: Tensor, second_layer: Tensor) -> Tensor:
    """The two-layer CNN of section 2 with ReLU^2, filters shared by both patches."""
    return torch.relu(inputs @ weights.mT).square().sum(dim=-2) @ second_layer


def penalised_by_loop(loss_of: Callable, weights: Tensor, inputs: Tensor, labels: Tensor):
    """Mean loss and mean squared norm of the per-example gradients, one example at a time."""
    losses, norms = [], []
    for example, label in zip(inputs, labels, strict=True):
        loss = loss_of(weights, example, label)
        (gradient,) = torch.autograd.grad(loss, weights, create_graph=True)
        losses.append(loss)
        norms.append(gradient.square().sum())
    return torch.stack(losses).mean(), torch.stack(norms).mean()


def penalised_by_vmap(loss_of: Callable, weights: Tensor, inputs: Tensor, labels: Tensor):
    """The same with `torch.func`."""
    per_example = torch.func.vmap(torch.func.grad_and_value(loss_of), in_dims=(None, 0, 0))
    gradients, losses = per_example(weights, inputs, labels)
    return losses.mean(), gradients.square().sum() / len(labels)


def penalised_by_copies(loss_of: Callable, weights: Tensor, inputs: Tensor, labels: Tensor):
    """The same with one copy of the weights an example, so that the sum's gradient splits."""
    copies = weights.expand(len(labels), -1, -1)
    losses = loss_of(copies, inputs, labels)
    (gradients,) = torch.autograd.grad(losses.sum(), copies, create_graph=True)
    return losses.mean(), gradients.square().sum() / len(labels)


# Below this dimension the copies fit into cache and are fastest; above it the loop is (measured).
CROSSOVER = 5000
WAYS = {"loop": penalised_by_loop, "vmap": penalised_by_vmap, "copies": penalised_by_copies}


def run_cell(
    rule: Rule,
    noise: float,
    seed: int,
    dim: int = 400,
    steps: int = 1500,
    *,
    train: int = 20,
    test: int = 1000,
    width: int = 10,
    rate: float = 0.02,
    weight: float = 0.01,
    until: int = 800,
    half: bool = True,
    scale: float = 0.01,
    second_layer: Literal["mean", "sum"] = "mean",
    record_every: int = 10,
    way: str | None = None,
) -> dict[str, Any]:
    """Train one network and return its recorded curves and the CPU seconds that it took.

    ``until`` is the step at which the penalty is closed; ``half`` is lambda/2 against lambda;
    ``scale`` is the standard deviation of the initial weights; ``second_layer`` is 1/m or 1;
    ``way`` is how the per-example penalty is computed (default: the fastest at ``dim``).

    Curves (``loss``, ``signal_learning``, ``noise_memorisation``, ``test_accuracy``) are taken
    before step 0, every ``record_every`` steps and at the end; ``step`` says when. ``seconds`` is
    the whole call, of which ``setup_seconds`` passed before step 0 and ``record_seconds`` in
    taking the curves.
    """
    torch.set_num_threads(1)
    start = time.process_time()
    generator = torch.Generator().manual_seed(seed)

    mean = torch.zeros(dim)
    mean[0] = 1.0
    labels, inputs = sample(train, mean, noise, generator)
    test_labels, test_inputs = sample(test, mean, noise, generator)
    weights = (scale * torch.randn(2 * width, dim, generator=generator)).requires_grad_()
    unit = 1 / width if second_layer == "mean" else 1.0
    head = unit * torch.cat([torch.ones(width), -torch.ones(width)])
    optimiser = torch.optim.SGD([weights], lr=rate)
    strength = weight / 2 if half else weight

    def loss_of(weights: Tensor, inputs: Tensor, labels: Tensor) -> Tensor:
        return F.softplus(-labels * output(weights, inputs, head))

    penalised = WAYS[way or ("copies" if dim < CROSSOVER else "loop")]

    def objective(step: int) -> Tensor:
        if rule == "gd" or step >= until:
            return loss_of(weights, inputs, labels).mean()
        if rule == "full":
            loss = loss_of(weights, inputs, labels).mean()
            (gradient,) = torch.autograd.grad(loss, weights, create_graph=True)
            return loss + strength * gradient.square().sum()
        loss, penalty = penalised(loss_of, weights, inputs, labels)
        return loss + strength * penalty

    curves: dict[str, list[float]] = {
        name: []
        for name in ("step", "loss", "signal_learning", "noise_memorisation", "test_accuracy")
    }

    @torch.no_grad()
    def record(step: int) -> None:
        curves["step"].append(step)
        curves["loss"].append(loss_of(weights, inputs, labels).mean().item())
        curves["signal_learning"].append((weights @ mean).abs().max().item())
        curves["noise_memorisation"].append((inputs[:, 1] @ weights.T).max().item())
        right = test_labels * output(weights, test_inputs, head) > 0
        curves["test_accuracy"].append(right.float().mean().item())

    ready = time.process_time()
    recording = 0.0
    for step in range(steps + 1):
        if step % record_every == 0 or step == steps:
            before = time.process_time()
            record(step)
            recording += time.process_time() - before
        if step < steps:
            optimiser.zero_grad()
            objective(step).backward()
            optimiser.step()
    end = time.process_time()

    return {
        **{name: np.asarray(values) for name, values in curves.items()},
        "seconds": end - start,
        "setup_seconds": ready - start,
        "record_seconds": recording,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="PyTorch microseconds a step, rule by rule")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dims", type=int, nargs="+", default=[400, 10_000])
    arguments = parser.parse_args()
    print(f"CPU microseconds, one thread, best of {arguments.repeats}; penalty never closed")
    print(f"{'rule':12} {'way':7} {'dim':>6} {'a step':>8} {'a record':>9} {'set-up':>9}")
    for dim in arguments.dims:
        steps = max(50, 200_000 // dim)
        best: dict[tuple[str, str], np.ndarray] = {}
        # Interleaved, so that a busy moment of the machine does not fall on one rule alone.
        for seed in range(arguments.repeats):
            for rule, way in [("gd", ""), ("full", ""), *(("per_example", way) for way in WAYS)]:
                run = run_cell(rule, 0.5, seed, dim, steps, until=steps, way=way or None)
                setup, record = run["setup_seconds"], run["record_seconds"]
                step = (run["seconds"] - setup - record) / steps
                times = 1e6 * np.array([step, record / len(run["step"]), setup])
                best[rule, way] = np.minimum(best.get((rule, way), np.inf), times)
        for (rule, way), times in best.items():
            print(f"{rule:12} {way:7} {dim:6} {times[0]:8.0f} {times[1]:9.0f} {times[2]:9.0f}")


if __name__ == "__main__":
    main()
