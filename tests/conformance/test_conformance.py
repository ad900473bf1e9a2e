"""One battery for every registered data model, net, rule and probe.

Pure, jit-able, vmap-able, seed-stable, storable, finite, documented, validated, of one precision
throughout, safe to copy and pickle; all of it with `jax_numpy_rank_promotion="raise"` (conftest).
"""

import copy
import dataclasses
import hashlib
import pickle
import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Frame, Problem
from learnscope.lab import coordinates
from learnscope.nets import AbstractInnerProductNet
from learnscope.part import AbstractPart, kinds
from tests.conformance.examples import EXAMPLES, HOLD_CODE, experiment_with

SLOTS = {slot: ls.Experiment.slots[slot] for slot in EXAMPLES}
CASES = [
    pytest.param(slot, part, id=f"{name}-{position}" if position else name)
    for slot, table in EXAMPLES.items()
    for name, parts in table.items()
    for position, part in enumerate(parts)
]
KINDS = [
    pytest.param(slot, kind, id=name)
    for slot, base in SLOTS.items()
    for name, kind in kinds(base).items()
    if kind.__module__.split(".")[0] == "learnscope"
]


def of(*slots: str) -> list:
    return [case for case in CASES if case.values[0] in slots]


def same(one: Any, other: Any) -> None:
    """Equal in structure, dtype and every bit (NaN equals NaN)."""
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert jnp.result_type(a) == jnp.result_type(b)
        np.testing.assert_array_equal(a, b)


def close(one: Any, other: Any) -> None:
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def copied(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: np.array(leaf) if eqx.is_array(leaf) else leaf, tree)


def finite(tree: Any) -> None:
    for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array)):
        assert np.isfinite(leaf).all()


def frame_of(experiment: ls.Experiment, compressed: bool) -> Frame | None:
    rank = coordinates.rank(experiment) if compressed else 0
    return Frame(jnp.asarray(float(experiment.data.dim)), rank) if compressed else None


def compressible(experiment: ls.Experiment) -> bool:
    return (
        experiment.data.compression == "gaussian_rows"
        and coordinates.obstacle(experiment, [float(experiment.data.dim)]) is None
    )


def story(experiment: ls.Experiment, compressed: bool = False) -> Any:
    """A function of a key that draws, takes a step and reads the probes."""
    frame = frame_of(experiment, compressed)

    def tell(key):
        keys = jax.random.split(key, 3)
        problem = experiment.data.sample(keys[0], frame)
        state = experiment.rule.init(experiment.net, problem, keys[1])
        after = experiment.rule.step(state, problem, keys[2])
        read = [probe(after, problem) for probe in experiment.probes]
        fresh = experiment.data.example(keys[2], problem)
        return problem, state.params, after.params, after.memory, read, fresh

    return tell


# ---------------------------------------------------------------- registered, documented, validated


@pytest.mark.parametrize(("slot", "kind"), KINDS)
def test_every_kind_has_an_example(slot: str, kind: type):
    parts = EXAMPLES[slot].get(kind.__name__)
    assert parts, (
        f"{kind.__module__}.{kind.__name__} has no example: add one to EXAMPLES[{slot!r}] in "
        "tests/conformance/examples.py, and the whole battery will run on it."
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
        assert key in ls.papers.PAPERS


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
            with pytest.raises(ls.BadInput, match=rf"^{type(part).__name__}\.{field.name} = "):
                part.replace(field.name, value)


# --------------------------------------------------------------------- stored, copied, hashed, shown


@pytest.mark.parametrize(("slot", "part"), CASES)
def test_storable(slot: str, part: AbstractPart):
    experiment = experiment_with(slot, part)
    if type(part).__name__ in HOLD_CODE:
        with pytest.raises(ls.BadInput, match=rf"{type(part).__name__}\..* cannot be stored"):
            experiment.to_toml()
        return
    assert ls.Experiment.from_toml(experiment.to_toml()) == experiment
    assert ls.Experiment.from_json(experiment.to_json()) == experiment
    assert repr(ls.Experiment.from_toml(experiment.to_toml())) == repr(experiment)


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
            value = getattr(part, field.name)
            assert (id(value) in leaves) == (allowed.kind == "number"), field.name


# ------------------------------------------------------------------------------------- as functions


@pytest.mark.parametrize("compressed", [False, True], ids=["ambient", "compressed"])
@pytest.mark.parametrize(("slot", "part"), of("data", "net", "rule"))
def test_pure_jitable_vmapable_finite(slot: str, part: AbstractPart, compressed: bool):
    experiment = experiment_with(slot, part)
    if compressed and not compressible(experiment):
        pytest.skip("cannot be compressed")
    before = copied(experiment)
    tell, keys = jax.jit(story(experiment, compressed)), jax.random.split(jax.random.key(0), 2)
    once = tell(keys[0])
    finite(once)
    same(once, tell(keys[0]))
    together = jax.jit(jax.vmap(story(experiment, compressed)))(keys)
    for position in range(2):
        close(jax.tree.map(lambda leaf: leaf[position], together), tell(keys[position]))  # noqa: B023
    same(before, copied(experiment))
    drawn, other = (jax.tree.leaves(tell(key)[1]) for key in keys)
    assert any((a != b).any() for a, b in zip(drawn, other, strict=True)), "two keys, one draw"


@pytest.mark.parametrize(("slot", "part"), of("data"))
def test_a_data_model_says_what_it_draws(slot: str, part: Any):
    experiment = experiment_with(slot, part)
    for compressed in {False, compressible(experiment)}:
        frame = frame_of(experiment, compressed)
        problem, fresh = jax.eval_shape(
            lambda key, frame=frame: (
                problem := part.sample(key, frame),
                part.example(key, problem),
            ),
            jax.random.key(0),
        )
        check_problem(problem, part.span, compressed)
        kept = jax.tree.map(lambda leaf: leaf.ndim, (fresh.x, fresh.y))
        whole = jax.tree.map(lambda leaf: leaf.ndim - 1, (problem.test.x, problem.test.y))
        assert kept == whole, "`example` must have no leading axis"


def check_problem(problem: Problem, span: int, compressed: bool) -> None:
    rank = problem.frame.rank
    assert problem.frame.ambient != compressed
    for samples in (problem.train, problem.test, problem.validation):
        if samples is None:
            continue
        for leaf in jax.tree.leaves(samples):
            assert leaf.shape[0] == samples.size
        assert samples.size % samples.groups == 0
        widths = [leaf.shape[-1] for leaf in jax.tree.leaves(samples.x)]
        assert max(widths) <= rank if compressed else set(widths) == {rank}
        assert all(leaf.shape[-1] == rank for leaf in samples.vectors.values())
    assert all(leaf.shape[-1] == rank for leaf in problem.directions.values())
    if compressed:
        assert problem.frame.used == span, "`span` is what directions and training vectors take up"
        trained = [problem.train] + [problem.validation] * (problem.validation is not None)
        assert all(leaf.shape[-1] <= span for s in trained for leaf in jax.tree.leaves(s.x))


@pytest.mark.parametrize(("slot", "part"), of("net"))
def test_a_net_says_what_it_needs(slot: str, part: Any):
    experiment = experiment_with(slot, part)
    problem = jax.eval_shape(experiment.data.sample, jax.random.key(0))
    params = jax.eval_shape(part.init, jax.random.key(0), problem)
    outputs = jax.eval_shape(part, params, problem.train.x)
    assert outputs.shape[0] == problem.train.size
    assert all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(params))
    if isinstance(part, AbstractInnerProductNet):
        assert params["filters"].shape[-1] == problem.frame.rank
        assert part.rows <= params["filters"].shape[0]


@pytest.mark.parametrize(("slot", "part"), of("rule"))
def test_a_rule_counts_steps_and_keeps_its_state_alike(slot: str, part: Any):
    """The structure, shapes and dtypes of a state must not change: a run is a loop over it."""
    experiment = experiment_with(slot, part)
    problem = jax.eval_shape(experiment.data.sample, jax.random.key(0))
    state = jax.eval_shape(lambda p, k: part.init(experiment.net, p, k), problem, jax.random.key(1))
    after = jax.eval_shape(part.step, state, problem, jax.random.key(2))
    assert jax.tree.structure(state) == jax.tree.structure(after)
    for one, other in zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
    begun = jax.jit(lambda k: part.init(experiment.net, experiment.data.sample(k), k))
    state = begun(jax.random.key(0))
    assert state.step == 0
    same(state.params, state.start)
    moved = jax.jit(lambda k: part.step(begun(k), experiment.data.sample(k), jax.random.key(1)))(
        jax.random.key(0)
    )
    assert moved.step == 1
    same(moved.start, state.start)


@pytest.mark.parametrize(("slot", "part"), of("rule"))
def test_every_rule_trains_every_net(slot: str, part: Any):
    for nets in EXAMPLES["net"].values():
        experiment = experiment_with(slot, part, net=nets[0])
        finite(jax.jit(story(experiment))(jax.random.key(0)))


def test_probes_give_what_they_announce():
    parts = [part for table in EXAMPLES["probes"].values() for part in table]
    experiment = experiment_with("data", experiment_with("probes", parts[0]).data, probes=parts)
    for compressed in (False, True):
        tell = jax.jit(story(experiment, compressed))
        read = tell(jax.random.key(0))[4]
        finite(read)
        same(read, tell(jax.random.key(0))[4])
        for probe, value in zip(parts, read, strict=True):
            values = value if isinstance(value, dict) else dict.fromkeys(probe.outputs, value)
            assert set(values) == set(probe.outputs), type(probe).__name__
            for name, array in values.items():
                assert array.ndim == len(probe.outputs[name].dims), name
                assert probe.outputs[name].long_name and probe.outputs[name].unit, name


# ---------------------------------------------------------------------------------------- as a run


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(("slot", "part"), of("data", "net", "rule", "probes"))
def test_one_precision_throughout(slot: str, part: AbstractPart, precision: str):
    """Every real number of a run is of the precision asked for: nothing is promoted or cut."""
    experiment = experiment_with(slot, part)
    for compressed in {False, compressible(experiment)}:
        with jax.enable_x64(precision == "float64"):
            number = lambda leaf: (  # noqa: E731
                jnp.asarray(leaf, precision) if isinstance(leaf, float) else leaf
            )
            traced = jax.tree.map(number, experiment)
            found = jax.eval_shape(story(traced, compressed), jax.random.key(0))
            for path, leaf in jax.tree.leaves_with_path(found):
                if jnp.issubdtype(leaf.dtype, jnp.inexact):
                    assert leaf.dtype == precision, jax.tree_util.keystr(path)
                    assert not leaf.weak_type, jax.tree_util.keystr(path)


RUNS = [case for case in of("data", "net", "rule")]


def digest(experiment: ls.Experiment) -> tuple[str, Any]:
    """What a run gives, and its fingerprint to the last bit."""
    result = ls.run(experiment, seeds=[3, 1], progress=False)
    text = hashlib.sha256()
    for name in sorted(result.data_vars):
        text.update(name.encode() + np.ascontiguousarray(result[name].values).tobytes())
    return text.hexdigest(), result


def all_digests() -> dict[str, str]:
    return {case.id: digest(experiment_with(*case.values))[0] for case in RUNS}


def test_runs_are_finite_and_the_same_in_any_process():
    found = {}
    for case in RUNS:
        found[case.id], result = digest(experiment_with(*case.values))
        assert np.isfinite(result.loss).all(), case.id
        assert np.isnan(result.diverged_at).all(), case.id
        allowed = compressible(experiment_with(*case.values))
        assert result.attrs["coordinates"] == ("compressed" if allowed else "ambient"), case.id
    code = (
        "import json, jax; jax.config.update('jax_numpy_rank_promotion', 'raise');"
        "from tests.conformance.test_conformance import all_digests;"
        "print(json.dumps(all_digests()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    import json

    assert json.loads(done.stdout) == found
