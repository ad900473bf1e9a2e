"""One run, step by step: for tests and notebooks. `run` is for everything else."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from learnscope.data import Problem
from learnscope.lab import train
from learnscope.lab.coordinates import choose, room
from learnscope.lab.draw import Varying, draw_one, placed, source_of, traced
from learnscope.lab.experiment import Experiment
from learnscope.lab.sweep import programs
from learnscope.rules import State

_advance = eqx.filter_jit(train.advance)


class OneRun(eqx.Module):
    """A run after some steps: its problem, its state, and its next steps."""

    experiment: Experiment
    seed: Any
    problem: Problem
    carry: train.Carry
    steps: Any

    @property
    def state(self) -> State:
        return train.state_of(self.experiment, self.carry, self.problem, self.steps)

    def after(self, steps: Any) -> "OneRun":
        """The run so many steps later, as the laboratory takes them."""
        last = self.steps + steps
        run = (self.experiment, self.seed, self.problem, self.carry, self.steps)
        return dataclasses.replace(self, carry=_advance(*run, last), steps=last)

    def measure(self) -> dict[str, jax.Array]:
        """What the experiment's probes read."""
        return train.measure(self.experiment, self.state, self.problem)


def one_run(
    experiment: Experiment,
    seed: Any = 0,
    coordinates: str = "auto",
    precision: str = "float32",
    varying: Varying | None = None,
) -> OneRun:
    """Draw a run, and hold it before its first step.

    It can be traced: `seed` and the numbers of `varying` (fields and their values) may be batched.
    In double precision call it, and what follows, under `jax.enable_x64(True)`.

    >>> import learnscope as ls
    >>> data = ls.data.SignalNoise(dim=50, train=4, test=9, signal=1.0, noise=0.5)
    >>> rule = ls.rules.GradientDescent(rate=0.1)
    >>> run = ls.lab.one_run(ls.Experiment(data, ls.nets.PatchCNN(width=2), rule, steps=9), seed=3)
    >>> int(run.after(5).state.step)
    5
    """
    chosen = choose(coordinates, programs(experiment, []))
    fixed = placed(traced(experiment, precision, chosen), varying or {})
    seed = np.uint32(seed) if isinstance(seed, int) else seed
    problem, params = draw_one(source_of(fixed), seed, chosen, room(experiment, chosen))
    carry = train.start_one(fixed, seed, problem, params)
    return OneRun(fixed, seed, problem, carry, jnp.zeros((), int))
