"""One battery for every registered data model, net, rule and probe.

Pure, jit-able, vmap-able, seed-stable, storable, finite, documented, validated, of one precision
throughout, safe to copy and pickle; all of it with `jax_numpy_rank_promotion="raise"` (conftest).
"""

import copy
import dataclasses
import functools
import hashlib
import itertools
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Frame, Problem
from learnscope.lab import coordinates
from learnscope.nets import AbstractInnerProductNet, Params
from learnscope.papers import PAPERS
from learnscope.part import AbstractPart, kinds
from tests.conformance.examples import (
    COMPANIONS,
    EXAMPLES_WITH,
    HOLD_CODE,
    LISTS_OF_ANY_LENGTH,
    companions,
    examples_of,
    experiment_with,
)

SLOTS = {slot: ls.Experiment.slots[slot] for slot in ("data", "net", "rule", "probes")}
CASES = [
    pytest.param(slot, part, id=f"{name}-{company}-{position}")
    for slot in SLOTS
    for position, (company, name, part) in enumerate(examples_of(slot))
]
KINDS = [
    pytest.param(slot, kind, id=name)
    for slot, base in SLOTS.items()
    for name, kind in kinds(base).items()
    if kind.__module__.split(".")[0] == "learnscope"
]
KEY = jax.random.key(0)
# Nearly all that is compiled here draws random numbers and runs once: compiling it quickly (to half
# a second instead of five) matters, running it quickly does not.
QUICK: Any = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


def of(*slots: str) -> list:
    return [case for case in CASES if case.values[0] in slots]


def some(cases: list) -> list:
    """The same, those of the later papers on request: compiling each takes seconds."""
    later = (
        "-pairs-", "-views-", "-tasks-", "-image_tasks-", "-centroids-", "-images-", "-taught-",
    )  # fmt: skip
    return [
        pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
        if any(name in str(case.id) for name in later)
        else case
        for case in cases
    ]


def shallow(cases: list) -> list:
    """The same, deep networks on request."""
    deep = ("LeNet5", "Conv4", "Conv6", "ResNet", "Projection")
    return [
        pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
        if str(case.id).startswith(deep)
        else case
        for case in cases
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
    if coordinates.obstacle(experiment, [float(experiment.data.dim)]) is not None:
        return "ambient"
    return "compressed" if coordinates.in_law(experiment) else "rotate"


def ways(experiment: ls.Experiment) -> list[bool]:
    """Whether to compress: never, or without and with."""
    return [False, True] if chosen(experiment) == "compressed" else [False]


def frame_of(experiment: ls.Experiment, compressed: bool) -> Frame | None:
    if not compressed:
        return None
    room = coordinates.room(experiment)
    return Frame(jnp.asarray(float(experiment.data.dim)), room.rank, seen=room.seen, room=room.span)


def setting(slot: str, part: AbstractPart, compressed: bool) -> tuple[Problem, Params]:
    """The usual problem and initial parameters, for what needs them as inputs."""
    usual = companions(slot, part)
    return drawn(next(name for name, parts in COMPANIONS.items() if parts is usual), compressed)


@functools.cache
def drawn(company: str, compressed: bool) -> tuple[Problem, Params]:
    data, net = (COMPANIONS[company][slot] for slot in ("data", "net"))
    usual = experiment_with("data", data)

    def draw(key):
        problem = data.sample(key, frame_of(usual, compressed))
        return problem, net.init(key, problem)

    return jax.jit(draw, compiler_options=QUICK)(KEY)


def battery(function: Callable, *inputs: Any) -> Any:
    """The value of a function of a key and inputs, once it has passed.

    It is jitted and vmapped over three keys of which two are the same: these two must give the same
    value, the third another one unless the function draws nothing, and the inputs must not change.
    """
    before = copied(inputs)
    keys = jnp.stack([KEY, jax.random.key(1), KEY])
    mapped = eqx.filter_jit(jax.vmap(lambda key: function(key, *inputs)), compiler_options=QUICK)
    together = at_hand(mapped(keys))
    finite(together)
    same(together, at_hand(mapped(keys)))
    one, other, again = (jax.tree.map(lambda leaf: leaf[i], together) for i in range(3))  # noqa: B023
    same(one, again)
    same(before, copied(inputs))
    return one, other


# ---------------------------------------------------------------- registered, documented, validated


@pytest.mark.parametrize(("slot", "kind"), KINDS)
def test_every_kind_has_an_example(slot: str, kind: type):
    parts = [part for _, name, part in examples_of(slot) if name == kind.__name__]
    assert parts, (
        f"{kind.__module__}.{kind.__name__} has no example: add one to EXAMPLES_WITH (under what "
        f"it goes with, {slot!r}) in tests/conformance/examples.py, and the whole battery will run "
        "on it."
    )
    assert all(type(part) is kind for part in parts), f"another kind stands under {kind.__name__}"


@pytest.mark.parametrize(("slot", "kind"), KINDS)
def test_documented(slot: str, kind: type):
    text = kind.__doc__ or ""
    # Without a docstring a dataclass makes one from its signature.
    assert text and not text.startswith(f"{kind.__name__}("), f"{kind.__name__} has no docstring"
    if slot != "probes":
        told = ">>>" in text or "| symbol | argument |" in text
        assert told, f"the docstring of {kind.__name__} has neither an example nor a symbol table"
    for key in kind.papers:
        assert key in PAPERS


@pytest.mark.parametrize(("slot", "kind"), KINDS)
def test_exported(slot: str, kind: type):
    folder = {"data": ls.data, "net": ls.nets, "rule": ls.rules, "probes": ls.probes}[slot]
    assert getattr(folder, kind.__name__) is kind
    assert kind.__name__ in folder.__all__


@pytest.mark.parametrize(("slot", "part"), CASES)
def test_validated(slot: str, part: AbstractPart):
    wrong = {
        "number": (float("nan"), -float("inf"), "three", None, [1.0], True, 1j),
        "count": (float("nan"), float("inf"), "three", 2.5, -1, [1], True),
        "choice": ("no such name", 3, None),
        "flag": ("yes", 1, None),
    }
    for field in dataclasses.fields(part):
        allowed = field.metadata.get("allowed")
        for value in () if allowed is None else wrong[allowed.kind]:
            if value is None and allowed.optional:
                continue
            listed = allowed.each and isinstance(value, list)
            if listed and (type(part).__name__, field.name) in LISTS_OF_ANY_LENGTH:
                continue
            # A list of one number is one of the wrong length, where one a class is allowed.
            said = "has 1 values" if listed else "="
            place = rf"^{type(part).__name__}\.{field.name} {said}"
            with pytest.raises(ls.BadInput, match=place):
                part.replace(field.name, value)


# ----------------------------------------------------------------------- stored, copied, and hashed


@pytest.mark.parametrize(("slot", "part"), CASES)
def test_storable(slot: str, part: AbstractPart):
    experiment = experiment_with(slot, part)
    if type(part).__name__ in HOLD_CODE:
        with pytest.raises(ls.BadInput, match=rf"{type(part).__name__}\..* cannot be stored"):
            experiment.to_toml()
        return
    assert ls.Experiment.from_toml(experiment.to_toml()) == experiment
    assert ls.Experiment.from_json(experiment.to_json()) == experiment


@pytest.mark.parametrize(("slot", "part"), CASES)
def test_safe_to_copy_and_pickle(slot: str, part: AbstractPart):
    for other in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert type(other) is type(part)
        assert other == part
        assert jax.tree.structure(other) == jax.tree.structure(part)


@pytest.mark.parametrize(("slot", "part"), CASES)
def test_static_part_is_hashable(slot: str, part: AbstractPart):
    """What jit keys its cache by: equal parts must find the same program."""
    twin = pickle.loads(pickle.dumps(part))
    assert hash(jax.tree.structure(part)) == hash(jax.tree.structure(twin))


@pytest.mark.parametrize(("slot", "part"), CASES)
def test_numbers_are_leaves_and_the_rest_is_static(slot: str, part: AbstractPart):
    leaves = [id(leaf) for leaf in jax.tree.leaves(part)]
    for field in dataclasses.fields(part):
        allowed = field.metadata.get("allowed")
        if allowed is not None:
            values = jax.tree.leaves(getattr(part, field.name))  # none, one, or one a class
            found = [id(value) in leaves for value in values]
            assert all(there == (allowed.kind == "number") for there in found), field.name


# ------------------------------------------------------------------------------------- as functions


def differ(one: Any, other: Any) -> bool:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return any(np.any(np.asarray(a) != np.asarray(b)) for a, b in pairs)


@pytest.mark.parametrize(("slot", "part"), of("data"))
def test_a_data_model(slot: str, part: Any):
    experiment = experiment_with(slot, part)
    for compressed in ways(experiment):
        frame = frame_of(experiment, compressed)

        def draw(key, frame=frame):
            problem = part.sample(key, frame)
            return problem, part.example(key, problem), problem.batch(key)

        one, other = battery(draw)
        assert differ(one, other), "two keys, one draw"
        problem, fresh, _ = one
        check_problem(problem, part, compressed)
        axes = jax.tree.map(lambda leaf: leaf.ndim, (fresh.x, fresh.y))
        whole = jax.tree.map(lambda leaf: leaf.ndim - 1, (problem.test.x, problem.test.y))
        assert axes == whole, "`example` must have no leading axis"


def check_problem(problem: Problem, part: Any, compressed: bool) -> None:
    rank, span = problem.frame.rank, part.span
    assert problem.frame.ambient != compressed
    assert all(leaf.shape[-1] == rank for leaf in problem.directions.values())
    for samples in (problem.train, problem.test, problem.validation):
        if samples is None:
            continue
        assert all(leaf.shape[0] == samples.size for leaf in jax.tree.leaves(samples))
        assert all(leaf.shape[-1] == rank for leaf in samples.vectors.values())
        assert samples.size % samples.groups == 0
        widths = {leaf.shape[-1] for leaf in jax.tree.leaves(samples.x)}
        # Where every step draws fresh examples, none of the problem's own are trained on.
        room = rank if samples is problem.test or part.sets > 1 else span
        assert max(widths) <= room if compressed else widths == {rank}
    if compressed:
        assert problem.frame.used == span, "`span` is what directions and training vectors take up"


@pytest.mark.parametrize(("slot", "part"), shallow(of("net")))
def test_a_net(slot: str, part: Any):
    for compressed in ways(experiment_with(slot, part)):
        problem, _ = setting(slot, part, compressed)

        def draw(key, problem=problem):
            params = part.init(key, problem)
            return params, part(params, problem.train.x)

        one, other = battery(draw)
        assert differ(one, other), "two keys, one draw"
        params, outputs = one
        assert outputs.shape[0] == problem.train.size
        assert all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(params))
        # A diverged run must not pass for one that outputs something.
        lost = jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), params)
        output = eqx.filter_jit(part, compiler_options=QUICK)
        assert np.isnan(output(lost, problem.train.x)).all()
        if isinstance(part, AbstractInnerProductNet):
            assert params["filters"].shape[-1] == problem.frame.rank
            assert part.rows <= params["filters"].shape[0]


@pytest.mark.parametrize(("slot", "part"), of("rule"))
def test_a_rule(slot: str, part: Any):
    for compressed in ways(experiment_with(slot, part)):
        problem, params = setting(slot, part, compressed)
        net = companions(slot, part)["net"]

        def train(key, problem=problem, params=params, net=net):
            state = part.init(net, problem, key, params)
            return state, part.step(state, problem, key)

        (state, after), _ = battery(train)
        assert (state.step, after.step) == (0, 1)
        same(state.params, state.start)
        same(after.start, state.start)
        assert differ(after.params, state.params)
        # A run is a loop over the state: its structure, shapes and dtypes must not change.
        assert jax.tree.structure(state) == jax.tree.structure(after)
        for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True):
            assert (jnp.shape(a), jnp.result_type(a)) == (jnp.shape(b), jnp.result_type(b))


@pytest.mark.parametrize("name", sorted({name for _, name, _ in examples_of("net")}))
@pytest.mark.parametrize(("slot", "part"), some(of("rule")))
def test_every_rule_trains_every_net(slot: str, part: Any, name: str):
    problem, _ = setting(slot, part, False)
    usual = companions(slot, part)
    nets = [
        net
        for _, kind, net in examples_of("net")
        if kind == name and companions("net", net) is usual
    ]
    if not nets:
        pytest.skip(f"no {name} goes with this rule's companions")
    net = nets[0]
    params = eqx.filter_jit(net.init, compiler_options=QUICK)(KEY, problem)

    def train():
        state = part.init(net, problem, KEY, params)
        return part.step(state, problem, KEY).params

    after = eqx.filter_jit(train, compiler_options=QUICK)()
    finite(after)
    assert differ(after, params)


@pytest.mark.parametrize("compressed", [False, True], ids=["ambient", "compressed"])
@pytest.mark.parametrize("company", COMPANIONS)
def test_probes(company: str, compressed: bool):
    """All in one program; and a probe never changes a run, so that their order does not matter."""
    probes = [part for other, _, part in examples_of("probes") if other == company]
    usual = experiment_with("data", COMPANIONS[company]["data"])
    if compressed and chosen(usual) != "compressed":
        pytest.skip("these parts are not drawn compressed")
    problem, params = drawn(company, compressed)
    net, rule = (COMPANIONS[company][slot] for slot in ("net", "rule"))

    def read(key):
        state = rule.step(rule.init(net, problem, key, params), problem, key)
        return [probe(state, problem) for probe in probes]

    for probe, value in zip(probes, battery(read)[0], strict=True):
        values = value if isinstance(value, dict) else dict.fromkeys(probe.outputs, value)
        assert set(values) == set(probe.outputs), type(probe).__name__
        for name, array in values.items():
            assert array.ndim == len(probe.outputs[name].dims), name
            assert probe.outputs[name].long_name, name
            assert probe.outputs[name].unit, name


# ---------------------------------------------------------------------------------------- as a run


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(("slot", "part"), some(CASES))
def test_one_precision_throughout(slot: str, part: AbstractPart, precision: str):
    """Every real number of a run is of the precision asked for: nothing is promoted or cut."""
    experiment = experiment_with(slot, part)
    with jax.enable_x64(precision == "float64"):
        number = lambda leaf: jnp.asarray(leaf, precision) if isinstance(leaf, float) else leaf  # noqa: E731
        data, net, rule, probes = (
            jax.tree.map(number, getattr(experiment, name)) for name in SLOTS
        )

        def story(key, frame):
            problem = data.sample(key, frame)
            state = rule.step(rule.init(net, problem, key), problem, key)
            learnt = {"params": state.params, "memory": state.memory}
            fresh = data.example(key, problem)
            return problem, learnt, fresh, [probe(state, problem) for probe in probes]

        for compressed in ways(experiment):
            found = jax.eval_shape(lambda k, c=compressed: story(k, frame_of(experiment, c)), KEY)
            for path, leaf in jax.tree.leaves_with_path(found):
                if jnp.issubdtype(leaf.dtype, jnp.inexact):
                    assert leaf.dtype == precision, jax.tree_util.keystr(path)


def first_examples() -> dict[str, ls.Experiment]:
    """One experiment for every kind; the same is not listed again for each of its own parts."""
    found: dict[str, ls.Experiment] = {}
    for company, slot in itertools.product(EXAMPLES_WITH, ("data", "net", "rule")):
        if slot == "net" and company in ("images", "views", "taught", "image_tasks"):
            continue  # deep networks compile for long, and tests/data runs one in any company
        for name, parts in EXAMPLES_WITH[company].get(slot, {}).items():
            experiment = experiment_with(slot, parts[0])
            if not any(experiment == other for other in found.values()):
                found[f"{company} {name}"] = experiment
    return found


def digests() -> dict[str, str]:
    """A fingerprint, to the last bit, of one run for every kind."""
    found = {}
    for name, experiment in first_examples().items():
        result = ls.run(experiment, seeds=[3, 1], progress=False)
        numbers = [values for values in result.data_vars.values() if "step" in values.dims]
        assert numbers, name
        assert all(np.isfinite(values).all() for values in numbers), name
        assert np.isnan(result.diverged_at).all(), name
        assert result.attrs["coordinates_used"] == chosen(experiment), name
        bits = b"".join(values.values.tobytes() for values in numbers)
        found[name] = hashlib.sha256(bits).hexdigest()
    return found


def test_runs_are_finite_and_the_same_in_any_process():
    code = (
        "import json, jax; jax.config.update('jax_numpy_rank_promotion', 'raise'); "
        "from tests.conformance.test_conformance import digests; print(json.dumps(digests()))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == digests()
