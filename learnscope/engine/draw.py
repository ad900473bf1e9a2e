"""Drawing runs: the data and the initial parameters of each, in the coordinates of the program.

A seed fixes the data, the initial weights and the rule's own randomness, each by its role, in both
precisions; nothing else about a sweep changes them.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array

from learnscope.data import AbstractData, Problem
from learnscope.engine.experiment import Experiment, Room
from learnscope.nets import AbstractInnerProductNet, Params
from learnscope.part import value_at
from learnscope.space import Columns, Frame, turn

_ROLES = {"data": 0, "init": 1, "training": 2, "memory": 3}
Source = dict[str, Any]  # the data model and the net: what a draw depends on
Varying = Mapping[str, Array | np.ndarray]
_LEVEL: Any = {"compiler_options": {"xla_backend_optimization_level": 1}}


def key_of(seed: Any, role: str) -> Array:
    """The random key of a run for one of its roles."""
    return jax.random.fold_in(jax.random.key(seed), _ROLES[role])


def traced(experiment: Experiment, precision: str, coordinates: str) -> Experiment:
    """The experiment with its numbers as arrays; ambient dimensions stay Python's, for shapes."""
    dtype = np.dtype(precision)

    def convert(leaf):
        if isinstance(leaf, bool) or not isinstance(leaf, int | float):
            return leaf
        static = isinstance(leaf, int) and coordinates != "compressed"
        return leaf if static else np.asarray(leaf, dtype)

    data = experiment.data.in_memory()
    return jax.tree.map(convert, dataclasses.replace(experiment, data=data))


def source_of(experiment: Experiment) -> Source:
    return {"data": experiment.data, "net": experiment.net}


def placed(tree: Any, values: Varying) -> Any:
    """An experiment (or its source) with traced numbers put in their places."""
    if not values:
        return tree
    return eqx.tree_at(
        lambda inner: [value_at(inner, path) for path in values], tree, list(values.values())
    )


def frame_of(data: AbstractData, room: Room | None) -> Frame | None:
    """The frame that data is drawn in; None is the ambient one."""
    if room is None:
        return None
    return Frame(data.dim, room.rank, seen=room.seen, room=room.span)


def draw_one(
    source: Source, seed: Any, coordinates: str, room: Room | None
) -> tuple[Problem, Params]:
    """The problem and the initial parameters of one run."""
    data, net = source["data"], source["net"]
    problem = data.sample(key_of(seed, "data"), frame_of(data, room))
    params = net.init(key_of(seed, "init"), problem)
    if coordinates == "rotate":
        assert isinstance(net, AbstractInnerProductNet)
        directions, rest = problem.span()
        onto = turn(directions, [*rest, net.vectors(params)])
        problem, params = problem.project(onto), net.project(params, onto)
    if isinstance(problem.test.x, tuple) and not problem.frame.ambient:
        # No rule learns from compressed test patches: they are stored as probes read them fastest.
        columns = tuple(Columns.of(patches) for patches in problem.test.x)
        problem = eqx.tree_at(lambda p: p.test.x, problem, columns)
    # Sets know their roles, however the data model made them.
    return dataclasses.replace(problem), params


class Batches(eqx.Module):
    """The runs of a block as a compiled function takes them: what they have in common, the numbers
    that vary, and their seeds. They are vmapped a batch at a time."""

    fixed: Any
    varying: Varying
    seeds: Array | np.ndarray
    batch: int = eqx.field(static=True)

    def map(self, one: Callable[..., Any], *more: Any) -> Any:
        """Apply a function of one run's experiment (or source) and seed, and of more, to all."""

        def placed_one(run):
            values, seed, *rest = run
            return one(placed(self.fixed, values), seed, *rest)

        batch = None if self.batch == 1 else self.batch
        return jax.lax.map(placed_one, (self.varying, self.seeds, *more), batch_size=batch)


# Drawing is nearly all random bits, which XLA takes long to optimise for little: at level 1 it
# compiles three times faster. It depends on data and net only, so that all rules share it.
@eqx.filter_jit(**_LEVEL)
def draw(runs: Batches, coordinates: str, room: Room | None) -> tuple[Problem, Params]:
    return runs.map(lambda source, seed: draw_one(source, seed, coordinates, room))
