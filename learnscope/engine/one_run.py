"""One run: its draw, its steps, its trained state. `run` is for everything else."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from learnscope.data import Problem, Samples
from learnscope.engine import train
from learnscope.engine.draw import Varying, draw_one, key_of, placed, source_of, traced
from learnscope.engine.experiment import Experiment, room
from learnscope.engine.program import Program
from learnscope.engine.size import check_precision, run_size
from learnscope.engine.trial import choose
from learnscope.errors import BadInput, refuse_value
from learnscope.nets import Params
from learnscope.rules import AbstractState
from learnscope.space import Columns, one_array

_draw = eqx.filter_jit(draw_one)
_start = eqx.filter_jit(train.start_one)
_advance = eqx.filter_jit(train.advance)


class OneRun(eqx.Module):
    """A run after some steps: its problem, its state, and its next steps."""

    experiment: Experiment
    seed: Any
    problem: Problem
    carry: train.Carry
    steps: Any

    @property
    def state(self) -> AbstractState:
        return train.state_of(self.experiment, self.carry, self.problem, self.steps)

    def after(self, steps: Any) -> "OneRun":
        """The run after `steps` more steps, taken as in a sweep."""
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
    chosen, _ = choose(coordinates, [Program(experiment)])
    return _held(experiment, seed, chosen, precision, varying)


def _held(
    experiment: Experiment, seed: Any, chosen: str, precision: str, varying: Varying | None = None
) -> OneRun:
    fixed = placed(traced(experiment, precision, chosen), varying or {})
    seed = np.uint32(seed) if isinstance(seed, int) else seed
    problem, params = _draw(source_of(fixed), seed, chosen, room(experiment, chosen))
    carry = _start(fixed, seed, problem, params)
    return OneRun(fixed, seed, problem, carry, jnp.zeros((), int))


def draw(
    experiment: Experiment, seed: int = 0, coordinates: str = "ambient", precision: str = "float32"
) -> tuple[Problem, AbstractState]:
    """The data of a run and its state before the first step, as NumPy arrays by name.

    `problem.train.x` is one array (example, patch, coordinate) in any coordinates.

    >>> import learnscope as ls
    >>> data = ls.data.SignalNoise(dim=50, train=4, test=9, signal=1.0, noise=0.5)
    >>> rule = ls.rules.GradientDescent(rate=0.1)
    >>> experiment = ls.Experiment(data, ls.nets.PatchCNN(width=2), rule, steps=9)
    >>> problem, state = ls.draw(experiment, seed=3)
    >>> problem.train.x.shape, problem.train.y.shape, state.params.filters.shape
    ((4, 2, 50), (4,), (4, 50))
    """
    check_precision(precision)
    with jax.enable_x64(precision == "float64"):
        run = _drawn(experiment, seed, coordinates, precision)
        return _plain(run.problem), jax.device_get(run.state)


def train_one(
    experiment: Experiment,
    seed: int = 0,
    coordinates: str = "ambient",
    precision: str = "float32",
    start: AbstractState | Params | xr.Dataset | None = None,
) -> AbstractState:
    """The state of a run after its last step, as NumPy arrays by name; the state is a function of
    inputs. `run` gives the same result up to rounding, since it computes several runs together.

    With `start`, a run continues from a state (with the rule's memory), from parameters, or from
    one selected run of a result of `run` with `Record(final=True)`. Coordinates, precision and seed
    must be those of the start.

    >>> import learnscope as ls
    >>> data = ls.data.SignalNoise(dim=50, train=4, test=9, signal=1.0, noise=0.5)
    >>> rule = ls.rules.GradientDescent(rate=0.1)
    >>> experiment = ls.Experiment(data, ls.nets.PatchCNN(width=2), rule, steps=9)
    >>> state = ls.train(experiment, seed=3)
    >>> state(ls.draw(experiment, seed=3)[0].test.x).shape
    (9,)
    >>> int(ls.train(experiment, seed=3, start=state).step)
    18
    """
    check_precision(precision)
    if isinstance(start, xr.Dataset):
        _check_start(start, experiment, seed, coordinates, precision)
    with jax.enable_x64(precision == "float64"):
        run = _drawn(experiment, seed, coordinates, precision)
        if start is not None:
            run = _from(run, start)
        return jax.device_get(run.after(experiment.steps).state)


def _drawn(experiment: Experiment, seed: int, coordinates: str, precision: str) -> OneRun:
    if not isinstance(seed, int) or not 0 <= seed < 2**31:
        refuse_value("seed", seed, "it must be a whole number from 0 to 2^31 - 1")
    chosen, _ = choose(coordinates, [Program(experiment)])
    run_size(experiment, chosen, precision)  # says what does not fit
    return eqx.filter_jit(_held)(experiment, seed, chosen, precision)


def _from(run: OneRun, start: Any) -> OneRun:
    """A run that continues from a state, parameters or a recorded end. What parameters alone know
    is continued in weights."""
    before, experiment = run.state, run.experiment
    if not isinstance(start, AbstractState):
        key = key_of(run.seed, "memory")
        weights = experiment.rule.init(experiment.net, run.problem, key, before.start)
        params, step = start, weights.step
        if isinstance(start, xr.Dataset):
            leaves = [jnp.asarray(start[name].values) for name in train.named(weights.params)]
            params = jax.tree.unflatten(jax.tree.structure(weights.params), leaves)
            step = jnp.asarray(start["step"].values.max(), step.dtype)
        start = dataclasses.replace(weights, params=params, step=step)
    shapes = [jax.tree.map(jnp.shape, state.params) for state in (start, before)]
    if shapes[0] != shapes[1]:
        raise BadInput(f"start has parameters {shapes[0]}: they must be {shapes[1]}.")
    start = jax.tree.map(jnp.asarray, start)
    carry = train.Carry(start.bare, run.carry.diverged_at)
    return dataclasses.replace(run, carry=carry, steps=start.step)


def _check_start(
    start: xr.Dataset, experiment: Experiment, seed: int, coordinates: str, precision: str
) -> None:
    """Refuse a result that is not one run with final parameters, of these coordinates."""
    finals = [name for name in start.data_vars if str(name).startswith("final_")]
    if not finals:
        raise BadInput("start has no final parameters: run it with record = Record(final=True).")
    left = [dim for dim in start.dims if dim != "step" and not str(dim).startswith("final_")]
    if "diverged_at" in start and start["diverged_at"].dims:
        raise BadInput(f"start must be one run: select one of {', '.join(map(str, left))}.")
    used = (int(start["seed"]), start.attrs["coordinates_used"], start.attrs["precision"])
    if used != (seed, coordinates, precision):
        raise BadInput(
            f"start was run with seed {used[0]}, coordinates {used[1]!r} and {used[2]}: "
            f"these must be the same."
        )


def _plain(problem: Problem) -> Problem:
    """The problem with inputs as one array each, whatever form they are stored in."""

    def one(stored: Samples | None) -> Any:
        if stored is None:
            return None
        samples: Samples = Columns.undone(stored)
        if not isinstance(samples.x, tuple):
            return samples
        return dataclasses.replace(samples, x=one_array(samples.x, problem.frame.rank))

    sets = {name: one(getattr(problem, name)) for name in ("train", "test", "validation")}
    return jax.device_get(dataclasses.replace(problem, **sets))
