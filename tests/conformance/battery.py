"""What every check of the battery uses: cases, draws, and comparisons to the last bit."""

import functools
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Problem
from learnscope.engine.draw import draw_one, source_of, traced
from learnscope.engine.experiment import in_law, obstacle, room
from learnscope.nets import Params
from learnscope.part import AbstractPart, Allowed
from learnscope.space import Frame
from tests.conformance.examples import (
    COMPANIONS,
    EXAMPLES_WITH,
    companions,
    examples_of,
    experiment_with,
    kinds_of,
)
from tests.small import quick

SLOTS = {slot: ls.Experiment.slots[slot] for slot in ("data", "net", "rule", "probes")}
CASES = [
    pytest.param(slot, part, id=f"{name}-{company}-{position}")
    for slot in SLOTS
    for position, (company, name, part) in enumerate(examples_of(slot))
]
KINDS = [pytest.param(s, kind, id=name) for s in SLOTS for name, kind in kinds_of(s).items()]
# Compiling these takes seconds: on request.
LATER = ("pairs", "views", "tasks", "image_tasks", "centroids", "images", "taught")
DEEP = ("LeNet5", "Conv4", "Conv6", "ResNet", "Projection")
KEY = jax.random.key(0)


def of(*slots: str, later: bool = False, deep: bool = False, once: bool = False) -> list:
    """Cases of some slots, those of the later papers or deep networks on request; so are further
    examples of a kind."""
    found, seen = [], set()
    for case in CASES:
        name, company, _ = str(case.id).split("-")
        slow = (later and company in LATER) or (deep and name in DEEP) or (once and name in seen)
        marks = pytest.mark.slow if slow else ()
        if case.values[0] in slots:
            found.append(pytest.param(*case.values, id=case.id, marks=marks))
            seen |= set() if slow else {name}
    return found


def _pairs() -> list:
    """Rules with the other kinds of nets of their company: `test_a_rule` trains its own."""
    found = []
    for rule in of("rule", later=True):
        first, *others = EXAMPLES_WITH[str(rule.id).split("-")[1]]["net"]
        for net in {type(n): n for n in others if type(n) is not type(first)}.values():
            name = f"{rule.id}-{type(net).__name__}"
            found.append(pytest.param(*rule.values, net, id=name, marks=rule.marks))
    return found


PAIRS = _pairs()
# All probes of a company share a program.
PROBED = [
    pytest.param("probes", name, id=name, marks=pytest.mark.slow if name in LATER else ())
    for name in COMPANIONS
]


def same(one: Any, other: Any) -> None:
    """Equal in structure, dtype and every bit."""
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert jnp.result_type(a) == jnp.result_type(b)
        np.testing.assert_array_equal(a, b)


def copied(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: np.array(leaf) if eqx.is_array(leaf) else leaf, tree)


def at_hand(tree: Any) -> Any:
    """The same in NumPy, where taking a part of an array compiles nothing; keys stay keys."""
    is_key = lambda leaf: jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)  # noqa: E731
    return jax.tree.map(lambda leaf: leaf if is_key(leaf) else np.asarray(leaf), tree)


def finite(tree: Any) -> None:
    for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array)):
        assert np.isfinite(leaf).all()


def chosen(experiment: ls.Experiment) -> str:
    """The coordinates that it runs in by itself."""
    if obstacle(experiment, [float(experiment.data.dim)]) is not None:
        return "ambient"
    return "compressed" if in_law(experiment) else "rotate"


def ways(experiment: ls.Experiment) -> list[bool]:
    """Whether to compress: never, or without and with."""
    return [False, True] if chosen(experiment) == "compressed" else [False]


def frame_of(experiment: ls.Experiment, compressed: bool) -> Frame | None:
    if not compressed:
        return None
    held, dim = room(experiment, "compressed"), jnp.asarray(float(experiment.data.dim))
    return Frame(dim, held.rank, seen=held.seen, room=held.span)


def setting(slot: str, part: AbstractPart, compressed: bool) -> tuple[Problem, Params]:
    """The usual problem and initial parameters, for what needs them as inputs."""
    usual = companions(slot, part)
    company = next(name for name, parts in COMPANIONS.items() if parts is usual)
    wider = slot == "net" and getattr(part, "rows", 0) > getattr(usual["net"], "rows", 0)
    return drawn(company, compressed, part if wider else None)


@functools.cache
def drawn(company: str, compressed: bool, wider: Any = None) -> tuple[Problem, Params]:
    """By the companions' own net, or a wider one, for which a frame must have room."""
    data, net = COMPANIONS[company]["data"], wider or COMPANIONS[company]["net"]
    usual = experiment_with("data", data, net=net)

    def draw(key):
        problem = data.sample(key, frame_of(usual, compressed))
        return problem, net.init(key, problem)

    return quick(draw)(KEY)


def run_drawn(experiment: ls.Experiment, precision: str) -> Any:
    """The data and initial weights of a run of the experiment."""
    coordinates = chosen(experiment)
    with jax.enable_x64(precision == "float64"):
        fixed = traced(experiment, precision, coordinates)
        held = room(fixed, coordinates)
        draw = quick(lambda seed: draw_one(source_of(fixed), seed, coordinates, held))
        return at_hand(draw(np.uint32(3)))


def in_double(function: Callable) -> Any:
    """The value of a function of a key, in double precision."""
    with jax.enable_x64(True):
        found = at_hand(quick(jax.vmap(function))(jnp.stack([KEY])))
    return jax.tree.map(lambda leaf: leaf[0], found)


def close(one: Any, two: Any) -> None:
    """The same draw in single and double precision: to 1e-5 of the largest number of an array."""
    assert jax.tree.structure(one) == jax.tree.structure(two)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
        if not isinstance(b, jax.Array):  # a key
            allowed = 1e-5 * np.abs(b).max(initial=0)
            np.testing.assert_allclose(a, b, rtol=0, atol=allowed)


def passed(function: Callable, *inputs: Any) -> Any:
    """The value of a function of a key and inputs, once it has passed.

    It is jitted and vmapped over three keys of which two are the same: these two must give the same
    value, the third another one unless the function draws nothing, and the inputs must not change.
    """
    before = copied(inputs)
    keys = jnp.stack([KEY, jax.random.key(1), KEY])
    mapped = quick(jax.vmap(lambda key: function(key, *inputs)))
    together = at_hand(mapped(keys))
    finite(together)
    same(together, at_hand(mapped(keys)))
    one, other, again = (jax.tree.map(lambda leaf: leaf[i], together) for i in range(3))  # noqa: B023
    same(one, again)
    same(before, copied(inputs))
    return one, other


WRONG = {
    "number": (float("nan"), -float("inf"), "three", None, [1.0], True, 1j),
    "count": (float("nan"), float("inf"), "three", 2.5, -1, [1], True),
    "choice": ("no such name", 3, None),
    "flag": ("yes", 1, None),
}


def wrong_values(allowed: Allowed) -> list:
    """What a field must refuse: other types, and what lies just beyond its limits."""
    values = [v for v in WRONG[allowed.kind] if not (v is None and allowed.optional)]
    for limit, strict, beyond in (
        (allowed.low, allowed.open_low, -1), (allowed.high, allowed.open_high, 1)
    ):  # fmt: skip
        if math.isfinite(limit):
            values.append(limit if strict else limit + beyond)
    return values + [(), ("a", "b")] * allowed.each


def differ(one: Any, other: Any) -> bool:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return any(np.any(np.asarray(a) != np.asarray(b)) for a, b in pairs)
