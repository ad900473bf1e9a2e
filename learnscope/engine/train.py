"""Training runs: steps of the rule, scanned in segments, with the probes read on the way."""

import dataclasses
import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from learnscope.data import Problem
from learnscope.engine.draw import Batches, key_of
from learnscope.engine.experiment import Experiment
from learnscope.nets import Params
from learnscope.rules import AbstractRule, AbstractState, WeightState
from learnscope.rules.span import spanned
from learnscope.space import random


class Carry(eqx.Module):
    """A run between segments: its state, without what the problem holds already."""

    bare: AbstractState
    diverged_at: Int[Array, ""]


def start_one(
    experiment: Experiment, seed: Any, problem: Problem, params: Params, span: bool = True
) -> Carry:
    """One run before its first step: in the `span` of the training vectors, if it stays there."""
    rule, key = experiment.rule, key_of(seed, "memory")
    state = rule.init(experiment.net, problem, key, params)
    state = (in_span(rule, state, problem, key) if span else None) or state
    return Carry(state.bare, jnp.full((), -1, state.step.dtype))


def in_span(
    rule: AbstractRule, state: WeightState, problem: Problem, key: Any
) -> AbstractState | None:
    """The first state in the span of the training vectors, if shapes speak for it and the rule's
    steps stay in it. This is tried, not declared: a rule that needs weights raises an error."""

    def steps() -> AbstractState:
        examples = eqx.filter_eval_shape(problem.batch, key).size
        spanning = spanned(state, problem, examples)
        assert spanning is not None
        memory = rule.prepare(spanning, problem, key)
        return dataclasses.replace(spanning, memory=memory)

    def both() -> tuple[AbstractState, AbstractState]:
        first = steps()
        return first, rule.step(first, problem, key)

    try:
        one, other = eqx.filter_eval_shape(both)
    except Exception:
        return None
    return steps() if jax.tree.structure(one) == jax.tree.structure(other) else None


def state_of(
    experiment: Experiment, carry: Carry, problem: Problem, step: Any,
    whole: AbstractState | None = None,
) -> AbstractState:  # fmt: skip
    """The state of a run after so many steps, for probes to read. `whole` is any state of the run,
    from which what the problem holds is taken; otherwise it is computed."""
    state = carry.bare.within(problem) if whole is None else whole.holding(carry.bare)
    return dataclasses.replace(state, step=jnp.asarray(step).astype(state.step.dtype))


@eqx.filter_jit
def start(runs: Batches, problem: Problem, params: Params) -> Carry:
    """All runs before their first steps."""
    return runs.map(start_one, problem, params)


def measure(experiment: Experiment, state: AbstractState, problem: Problem) -> dict[str, Array]:
    """What the probes read, by the names of their outputs."""
    state = experiment.rule.evaluated(state)
    values: dict[str, Array] = {}
    for probe in experiment.probes:
        value = probe(state, problem)
        values |= value if isinstance(value, dict) else dict.fromkeys(probe.outputs, value)
    return {name: jnp.asarray(value) for name, value in values.items()}


def advance(
    experiment: Experiment, seed: Any, problem: Problem, carry: Carry, first: Any, last: Any,
    whole: AbstractState | None = None,
) -> Carry:  # fmt: skip
    """One run after the steps first, ..., last - 1."""
    rule, key, batches = experiment.rule, key_of(seed, "training"), problem.batches
    held = carry.bare.within(problem) if whole is None else whole

    def step(t, carry):
        now = problem
        if batches.at(t, key) is not batches:
            now = dataclasses.replace(problem, batches=batches.at(t, key))
        # The loop's own counter, which all runs share: a rule's `lax.cond` on it stays one.
        state = state_of(experiment, carry, problem, t, held)
        state = rule.step(state, now, random.fold_in(key, t))
        if batches.fresh:
            state = rule.refreshed(state, now)
        # 0 times a number is 0 if it is finite; a sum along one axis is faster than `isfinite`.
        leaves = [jnp.atleast_1d(leaf) for leaf in jax.tree.leaves(state.point)]
        finite = jnp.stack([((0 * leaf).sum(0) == 0).all() for leaf in leaves]).all()
        lost = ~finite & (carry.diverged_at < 0)
        diverged_at = jnp.where(lost, t + 1, carry.diverged_at)
        return Carry(state.bare, diverged_at.astype(carry.diverged_at.dtype))

    return jax.lax.fori_loop(first, last, step, carry)


@eqx.filter_jit
def segment(
    runs: Batches, problem: Problem, carry: Carry, bounds: Int[Array, "interval 3"] | np.ndarray
) -> tuple[Carry, dict[str, Array]]:
    """All runs after the steps of every interval [from, to), with what the probes read after those
    that end at a recorded step."""

    def one(experiment, seed, problem, carry):
        state = eqx.filter_eval_shape(state_of, experiment, carry, problem, 0)
        shapes = eqx.filter_eval_shape(measure, experiment, state, problem)
        unread = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        whole = carry.bare.within(problem)

        def interval(carry, bound):
            carry = advance(experiment, seed, problem, carry, bound[0], bound[1], whole)

            def read():
                state = state_of(experiment, carry, problem, bound[1], whole)
                return measure(experiment, state, problem)

            return carry, jax.lax.cond(bound[2], read, lambda: unread)

        return jax.lax.scan(interval, carry, bounds)

    return runs.map(one, problem, carry)


def named(params: Params) -> dict[str, Array]:
    """Parameters by name: `final_filters`, or by the path to each of a model's arrays."""
    leaves = jax.tree_util.tree_leaves_with_path(params)
    key = functools.partial(jax.tree_util.keystr, simple=True, separator="_")
    return {f"final_{key(path) or 'params'}": leaf for path, leaf in leaves}


def final(experiment: Experiment, seed: Any, problem: Problem, carry: Carry) -> dict[str, Array]:
    """The parameters of one run after the last step, if they are recorded."""
    if not experiment.record.final:
        return {}
    return named(state_of(experiment, carry, problem, experiment.steps).params)


@eqx.filter_jit
def finals(runs: Batches, problem: Problem, carry: Carry) -> dict[str, Array]:
    """The final parameters of all runs."""
    return runs.map(final, problem, carry)


def recorded_steps(experiment: Experiment) -> np.ndarray:
    """0 (if it is recorded), every, 2 every, ..., and the last step."""
    steps = np.arange(0, experiment.steps + 1, experiment.record.every)
    steps = steps if steps[-1] == experiment.steps else np.append(steps, experiment.steps)
    return steps if experiment.record.start else steps[1:]


def cut_segments(experiment: Experiment, wanted: int) -> list[np.ndarray]:
    """Cut the steps into segments of equally many intervals (from, to, whether `to` is
    recorded)."""
    steps = recorded_steps(experiment)
    parts = -(-wanted // max(1, len(steps) - 1))
    intervals = []
    for a, b in zip([0, *steps[:-1]], steps, strict=True):
        cuts = np.linspace(a, b, (parts if b > a else 1) + 1).astype(np.int32)
        intervals += zip(cuts[:-1], cuts[1:], [0] * (len(cuts) - 2) + [1], strict=True)
    length = -(-len(intervals) // wanted)
    intervals += [(steps[-1], steps[-1], 0)] * (-len(intervals) % length)
    return list(np.array(intervals, np.int32).reshape(-1, length, 3))
