"""One battery for every registered data model, net, rule and probe.

Pure, jit-able, vmap-able, seed-stable, storable, finite, documented, validated, of one precision
throughout, safe to copy and pickle; all of it with `jax_numpy_rank_promotion="raise"` (conftest).
"""

import contextlib
import copy
import dataclasses
import functools
import hashlib
import inspect
import json
import pickle
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Problem
from learnscope.nets import AbstractInnerProductNet
from learnscope.part import PAPERS, AbstractPart
from tests.conformance import battery, examples
from tests.small import quick, refused


@pytest.mark.parametrize(("slot", "kind"), battery.KINDS)
def test_every_kind_has_an_example(slot: str, kind: type):
    parts = [part for _, name, part in examples.examples_of(slot) if name == kind.__name__]
    parts = parts or [examples.found(slot, kind)[2]]  # which says why there is none
    assert all(type(part) is kind for part in parts), f"another kind stands under {kind.__name__}"


@pytest.mark.parametrize(("slot", "kind"), battery.KINDS)
def test_documented(slot: str, kind: type):
    text = kind.__doc__ or ""
    # Without a docstring a dataclass makes one from its signature.
    assert text and not text.startswith(f"{kind.__name__}("), f"{kind.__name__} has no docstring"
    if slot != "probes":
        told = ">>>" in text or "| symbol | argument |" in text
        assert told, f"the docstring of {kind.__name__} has neither an example nor a symbol table"
    for key in kind.papers:  # type: ignore[attr-defined]
        assert key in PAPERS


@pytest.mark.parametrize(("slot", "kind"), battery.KINDS)
def test_exported(slot: str, kind: type):
    if kind.__module__.split(".")[0] != "learnscope":
        return  # a user's own
    folder = {"data": ls.data, "net": ls.nets, "rule": ls.rules, "probes": ls.probes}[slot]
    own = kind if kind.__module__.startswith("learnscope.papers.") else None  # a paper's
    assert getattr(folder, kind.__name__, own) is kind


@pytest.mark.parametrize(("slot", "part"), battery.CASES)
def test_validated(slot: str, part: AbstractPart):
    kind = type(part).__name__
    for field in dataclasses.fields(part):
        allowed = field.metadata.get("allowed")
        for value in [] if allowed is None else battery.wrong_values(allowed):
            make = functools.partial(part.replace, field.name, value)
            place = rf"{kind}\.{field.name} ="
            if allowed.each and isinstance(value, list):  # right, or of the wrong length
                with contextlib.suppress(ls.BadInput):
                    make()
                    continue
                place = rf"{kind}\."
            refused(make, match=place)


@pytest.mark.parametrize(("slot", "part"), battery.CASES)
def test_storable(slot: str, part: AbstractPart):
    experiment = examples.experiment_with(slot, part)
    values = [getattr(part, field.name) for field in dataclasses.fields(part)]
    if any(inspect.isfunction(value) for value in values):  # code, which no text can hold
        with pytest.raises(ls.BadInput, match=rf"{type(part).__name__}\..* cannot be stored"):
            experiment.to_toml()
        return
    assert ls.Experiment.from_toml(experiment.to_toml()) == experiment
    assert ls.Experiment.from_json(experiment.to_json()) == experiment


@pytest.mark.parametrize(("slot", "part"), battery.CASES)
def test_safe_to_copy_and_pickle(slot: str, part: AbstractPart):
    for other in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert type(other) is type(part)
        assert other == part
        # What jit keys its cache by: equal parts must find the same program.
        assert jax.tree.structure(other) == jax.tree.structure(part)
        assert hash(jax.tree.structure(part)) == hash(jax.tree.structure(other))


@pytest.mark.parametrize(("slot", "part"), battery.CASES)
def test_numbers_are_leaves_and_the_rest_is_static(slot: str, part: AbstractPart):
    leaves = [id(leaf) for leaf in jax.tree.leaves(part)]
    for field in dataclasses.fields(part):
        allowed = field.metadata.get("allowed")
        if allowed is not None:
            values = jax.tree.leaves(getattr(part, field.name))  # none, one, or one a class
            found = [id(value) in leaves for value in values]
            assert all(there == (allowed.kind == "number") for there in found), field.name


@pytest.mark.parametrize(("slot", "part"), battery.of("data"))
def test_a_data_model(slot: str, part: Any):
    experiment = examples.experiment_with(slot, part)
    for compressed in battery.ways(experiment):

        def draw(key, compressed=compressed):
            problem = part.sample(key, battery.frame_of(experiment, compressed))
            return problem, part.example(key, problem), problem.batch(key)

        one, other = battery.passed(draw)
        assert battery.differ(one, other), "two keys, one draw"
        problem, fresh, _ = one
        check_problem(problem, part, compressed)
        axes = jax.tree.map(lambda leaf: leaf.ndim, (fresh.x, fresh.y))
        whole = jax.tree.map(lambda leaf: leaf.ndim - 1, (problem.test.x, problem.test.y))
        assert axes == whole, "`example` must have no leading axis"
    battery.close(one, battery.in_double(draw))  # as runs draw


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
        for name, number in samples.aliases:
            patch = samples.x[number] if compressed else samples.x[:, number]
            whole = np.pad(patch, ((0, 0), (0, rank - patch.shape[1])))
            np.testing.assert_array_equal(samples.vectors[name], whole)
    if isinstance(part, ls.data.AbstractPatches | ls.data.TaskFamily):
        assert {name for name, _ in problem.train.aliases} == set(problem.train.vectors)
    if compressed:
        assert problem.frame.used == span, "`span` is what directions and training vectors take up"


@pytest.mark.parametrize(("slot", "part"), battery.of("net", deep=True))
def test_a_net(slot: str, part: Any):
    for compressed in battery.ways(examples.experiment_with(slot, part)):
        problem, _ = battery.setting(slot, part, compressed)

        def draw(key, problem=problem):
            params = part.init(key, problem)
            return params, part(params, problem.train.x)

        one, other = battery.passed(draw)
        assert battery.differ(one, other), "two keys, one draw"
        params, outputs = one
        assert outputs.shape[0] == problem.train.size
        assert all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(params))
        # A diverged run must not pass for one that outputs something.
        lost = jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), params)
        assert np.isnan(quick(part)(lost, problem.train.x)).all()
        if isinstance(part, AbstractInnerProductNet):
            assert params["filters"].shape[-1] == problem.frame.rank
            assert part.rows <= params["filters"].shape[0]


@pytest.mark.parametrize(("slot", "part"), battery.of("rule"))
def test_a_rule(slot: str, part: Any):
    """Compressed if it can be: `tests/engine/test_trial.py` compares with all coordinates."""
    *_, compressed = battery.ways(examples.experiment_with(slot, part))
    problem, params = battery.setting(slot, part, compressed)
    net = examples.companions(slot, part)["net"]

    def train(key):
        state = part.init(net, problem, key, params)
        return state, part.step(state, problem, key)

    (state, after), _ = battery.passed(train)
    assert (state.step, after.step) == (0, 1)
    battery.same(state.params, state.start)
    battery.same(after.start, state.start)
    assert battery.differ(after.params, state.params)
    # A run is a loop over the state: its structure, shapes and dtypes must not change.
    assert jax.tree.structure(state) == jax.tree.structure(after)
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True):
        assert (jnp.shape(a), jnp.result_type(a)) == (jnp.shape(b), jnp.result_type(b))


@pytest.mark.parametrize(("slot", "part", "net"), battery.PAIRS)
def test_every_rule_trains_every_net(slot: str, part: Any, net: Any):
    problem, _ = battery.setting(slot, part, False)
    params = quick(net.init)(battery.KEY, problem)

    def train():
        return part.step(part.init(net, problem, battery.KEY, params), problem, battery.KEY).params

    after = quick(train)()
    battery.finite(after)
    assert battery.differ(after, params)


@pytest.mark.parametrize("company", examples.COMPANIONS)
def test_probes(company: str):
    """All in one program, compressed if it can be; and a probe never changes a run, so that their
    order does not matter."""
    probes = [part for other, _, part in examples.examples_of("probes") if other == company]
    data, net, rule = (examples.COMPANIONS[company][slot] for slot in ("data", "net", "rule"))
    *_, compressed = battery.ways(examples.experiment_with("data", data))
    problem, params = battery.drawn(company, compressed)

    def read(key):
        state = rule.step(rule.init(net, problem, key, params), problem, key)
        return [probe(state, problem) for probe in probes]

    for probe, value in zip(probes, battery.passed(read)[0], strict=True):
        values = value if isinstance(value, dict) else dict.fromkeys(probe.outputs, value)
        assert set(values) == set(probe.outputs), type(probe).__name__
        for name, array in values.items():
            assert array.ndim == len(probe.outputs[name].dims), name
            assert probe.outputs[name].long_name, name
            assert probe.outputs[name].unit, name


@pytest.mark.parametrize(
    ("slot", "part"), battery.of("data", "net", "rule", later=True) + battery.PROBED
)
def test_one_precision_throughout(slot: str, part: Any):
    """Every real number of a run in double precision is of it: nothing is cut. (Without it there
    is nothing wider to promote to.)"""
    probes = None
    if slot == "probes":
        probes = [probe for company, _, probe in examples.examples_of(slot) if company == part]
        slot, part = "data", examples.COMPANIONS[part]["data"]
    experiment = examples.experiment_with(slot, part)
    with jax.enable_x64(True):
        number = lambda leaf: jnp.asarray(leaf, float) if isinstance(leaf, float) else leaf  # noqa: E731
        parts = experiment.data, experiment.net, experiment.rule, probes or experiment.probes
        data, net, rule, probes = jax.tree.map(number, parts)

        def story(key, frame):
            problem = data.sample(key, frame)
            state = rule.step(rule.init(net, problem, key), problem, key)
            learnt = {"params": state.params, "memory": state.memory}
            fresh = data.example(key, problem)
            return problem, learnt, fresh, [probe(state, problem) for probe in probes]

        for compressed in battery.ways(experiment):
            found = jax.eval_shape(
                lambda k, c=compressed: story(k, battery.frame_of(experiment, c)), battery.KEY
            )
            for path, leaf in jax.tree.leaves_with_path(found):
                if jnp.issubdtype(leaf.dtype, jnp.inexact):
                    assert leaf.dtype == "float64", jax.tree_util.keystr(path)


@pytest.mark.parametrize(("slot", "part"), battery.of("net", later=True, deep=True, once=True))
def test_a_seed_is_one_draw_in_both_precisions(slot: str, part: AbstractPart):
    """As runs draw data and initial weights."""
    experiment = examples.experiment_with(slot, part)
    battery.close(*(battery.run_drawn(experiment, f"float{n}") for n in (32, 64)))


def some_experiments(kinds: bool) -> dict[str, ls.Experiment]:
    """One of every company, or of every kind of data and rule in it."""
    first: dict[str, ls.Experiment] = {}
    for slot in ("data", "rule") if kinds else ("data",):
        for company, name, part in examples.examples_of(slot):
            name = f"{company} {name}" if kinds else company
            first.setdefault(name, examples.experiment_with(slot, part))
    return first


def digests(kinds: bool, every: int = 1) -> dict[str, str]:
    """A fingerprint, to the last bit, of a run of each experiment (or of some of them)."""
    found = {}
    for name, experiment in list(some_experiments(kinds).items())[::every]:
        result = ls.run(experiment, seeds=[3, 1], progress=False)
        numbers = [values for values in result.data_vars.values() if "step" in values.dims]
        assert numbers, name
        assert all(np.isfinite(values).all() for values in numbers), name
        assert np.isnan(result.diverged_at).all(), name
        assert result.attrs["coordinates_used"] == battery.chosen(experiment), name
        bits = b"".join(values.values.tobytes() for values in numbers)
        found[name] = hashlib.sha256(bits).hexdigest()
    return found


@pytest.mark.parametrize("kinds", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_runs_are_finite_and_the_same_in_any_process(kinds: bool):
    code = (
        "import json, jax; jax.config.update('jax_numpy_rank_promotion', 'raise'); "
        "from tests.conformance.test_conformance import digests; from tests.small import trusted; "
        f"trusted(); print(json.dumps(digests({kinds}, 6)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    here, there = digests(kinds), json.loads(done.stdout)
    assert there == {name: here[name] for name in there} and len(there) > len(here) / 7
