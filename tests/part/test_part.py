"""Parts: what fields accept, what they say when they do not, and how parts are changed."""

import dataclasses
import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import AbstractData
from learnscope.errors import unknown
from learnscope.part import AbstractPart, Number, choice, count, example_of, flag, kinds, number
from learnscope.rules import AbstractRule
from tests import small
from tests.small import refused


class Sample(AbstractPart):
    """One field of every sort."""

    real: Number = number(0.5)
    positive: Number = number(1.0, above=0)
    share: Number = number(0.0, low=0, below=1)
    size: Number = number(4, low=2, high=100, whole=True, shape=True)
    until: Number = number(math.inf, low=0, infinite=True)
    width: int = count(3)
    batch: int | None = count(None, optional=True)
    name: str = choice("one", "two", default="one")
    on: bool = flag(True)


@pytest.mark.parametrize(
    "value", [2, np.float32(2), np.int64(2), np.array(2.0), jnp.array(2.0), jnp.array(2)]
)
def test_numbers_become_floats_whatever_they_came_as(value):
    stored = Sample(real=value).real
    assert stored == 2.0
    assert type(stored) is float


@pytest.mark.parametrize("value", [4, 4.0, np.int32(4), np.float64(4), jnp.array(4)])
def test_whole_numbers_and_counts_become_ints(value):
    part = Sample(size=value, width=value)
    assert (part.size, part.width) == (4, 4)
    assert type(part.size) is type(part.width) is int


def test_limits_are_kept_exactly_and_infinity_where_it_has_a_meaning():
    assert (Sample(share=0).share, Sample(size=2).size, Sample(size=100).size) == (0, 2, 100)
    for given in ({"share": 1.0}, {"positive": 0.0}, {"size": 101}, {"size": 1}):
        refused(lambda given=given: Sample(**given), match=rf"Sample\.{next(iter(given))} = ")
    assert Sample(until="inf").until == Sample(until=math.inf).until == math.inf
    words = r"Sample\.real = inf is not allowed: .* finite number"
    refused(lambda: Sample(real="inf"), match=words)


def test_numbers_are_leaves_in_order_and_may_be_traced():
    assert jax.tree.leaves(Sample()) == [0.5, 1.0, 0.0, 4, math.inf]
    assert jax.tree.structure(Sample()) == jax.tree.structure(Sample(real=7.0))
    assert jax.tree.structure(Sample()) != jax.tree.structure(Sample(width=4))
    # Inside jit a part may be built around a tracer, whose value nobody knows yet.
    assert jax.jit(lambda value: Sample(positive=value).positive * 2)(3.0) == 6.0


WRONG = {
    "real": ("a finite number", [math.nan, "three", None, True, 1j, np.ones(2)]),
    "positive": ("a finite number above 0", [-1.0]),
    "share": ("a finite number at least 0 and below 1", [2.0]),
    "size": ("a whole number at least 2 and at most 100", [4.5]),
    "until": ("a number (or inf) at least 0", [-1.0, math.nan]),
    "width": ("a whole number at least 1 and at most 10,000,000", [-1, 0, 2**31, 2.5, True, None]),
    "batch": ("a whole number at least 1 and at most 10,000,000 or none", [0]),
    "name": ("one of one, two", ["three", None, ["one"]]),
    "on": ("true or false", [1, "yes"]),
}


@pytest.mark.parametrize("field", WRONG)
def test_the_message_names_field_value_and_what_is_allowed(field):
    words, values = WRONG[field]
    for value in values:
        expected = f"Sample.{field} = {value!r} is not allowed: it must be {words}."
        assert refused(lambda v=value: Sample(**{field: v})) == expected
        assert refused(lambda v=value: Sample().replace(field, v)) == expected


@pytest.mark.parametrize("field", ["train", "batch"])
@pytest.mark.parametrize("value", ["three", math.nan, 2.5])
def test_limits_between_fields_wait_for_the_fields(field, value):
    """A part's own checks must not stumble over a field that is wrong by itself."""
    given = {"batch": 2} | {field: value}
    refused(lambda: small.signals(**given), match=rf"SignalNoise\.{field} = ")


def test_a_batch_is_no_larger_than_the_training_set():
    refused(lambda: small.signals(batch=9), match=r"SignalNoise\.batch = 9 .* at most 6")


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("optimiser", ["sdg", "_private", "", 3, None, "apply_updates", "global_norm", "__name__"]),
        ("options", [{"momentim": 0.9}, {"momentum": math.nan}, 3, "momentum", None]),
    ],
)
def test_an_optimiser_is_one_of_optax_or_a_function_and_options_are_its_own(field, values):
    for value in values:
        make = lambda v=value: ls.rules.GradientDescent(rate=0.1, **{field: v})  # noqa: E731
        refused(make, f"GradientDescent.{field}")


def test_a_model_is_built_by_a_function():
    for build in (3, None, "MLP"):
        refused(lambda build=build: ls.nets.Model(build), match=r"Model\.build = ")


def experiment():
    rule = ls.rules.GradientDescent(rate=0.1, options={"momentum": 0.9})
    return small.experiment(rule, 5, data={"noise": 0.5}, probes=[ls.probes.Loss()])


def test_replace_changes_one_field_or_a_whole_part_of_a_copy():
    before = experiment()
    after = before.replace("data.noise", 2)
    assert (before.data.noise, after.data.noise) == (0.5, 2.0)
    assert after.net is before.net
    assert after.replace("data.noise", 0.5) == before
    assert before.replace("steps", 7.0).steps == 7
    assert before.replace("rule.options.momentum", 0.5).rule.options == {"momentum": 0.5}
    assert before.rule.options == {"momentum": 0.9}
    rule = ls.rules.FullPenalty(rate=0.1, weight=0.2)
    assert experiment().replace("rule", rule).rule == rule
    assert experiment().replace("rule", rule).replace("rule.weight", 0.3).rule.weight == 0.3


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("dta", "unknown field of Experiment 'dta'; did you mean 'data'?"),
        ("data.niose", "unknown field of SignalNoise 'niose'; did you mean 'noise'?"),
        ("rule.wieght", "unknown field of GradientDescent 'wieght'. Allowed: loss, "),
        ("rule.options.momentim", "unknown entry of GradientDescent.options 'momentim'; did you"),
        ("data.noise.x", "SignalNoise.noise has no field 'x': it is 0.5."),
        ("probes.0", "Experiment.probes = 1 is not allowed: it must be of the kind Abs"),
        ("probes.9", "unknown entry of Experiment.probes '9'"),
        ("", "unknown field of Experiment ''"),
    ],
)
def test_replace_says_what_does_not_exist(path, message):
    assert refused(lambda: experiment().replace(path, 1)).startswith(message)


def test_parts_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sample().real = 3.0


def test_what_a_field_is():
    kind = ls.part.allowed_kind
    found = {field.name: kind(Sample(), field.name) for field in dataclasses.fields(Sample)}
    numbers = dict.fromkeys(("real", "positive", "share", "until"), "number") | {"size": "shape"}
    counts = {"width": "count", "batch": "count"}
    assert found == numbers | counts | {"name": "choice", "on": "flag"}
    assert kind(experiment(), "data") == "other"
    refused(lambda: ls.part.require_field(Sample(), "widht"), "did you mean 'width'")


def test_kinds_are_final_classes_below_a_base():
    found = kinds(AbstractRule)
    assert found["PerExamplePenalty"] is ls.rules.PerExamplePenalty
    assert not any(name.startswith(("Abstract", "_")) for name in found)


def test_a_class_defined_anew_replaces_the_older_one():
    class Base(AbstractPart):
        """Below no slot of experiments, so that no other test meets its kinds."""

    def define() -> type:
        class Notebook(Base):
            """A user's own."""

        return Notebook

    older, newer = define(), define()
    assert older is not newer
    assert kinds(Base)["Notebook"] is newer


def test_an_unfinished_class_is_no_kind():
    class Unfinished(AbstractData):
        """Without its methods."""

    assert Unfinished not in kinds(AbstractData).values()


def test_an_example_of_any_kind():
    """Given values where a field allows them, then typical ones, defaults, and within limits."""

    class _Shaken(AbstractPart):
        typical: ClassVar = {"matrix": (1.0,), "rate": 0.2}

        rate: float = number(above=0)
        depth: int = count(low=7)
        angle: float = number(low=2, high=3)
        how: str = choice("up", "down")
        matrix: tuple = eqx.field(static=True)
        width: int = count(5)

    values = dataclasses.asdict(example_of(_Shaken, {"how": "left", "angle": 2.5, "other": 1}))
    assert values == {"rate": 0.2, "depth": 7, "angle": 2.5, "how": "up", "matrix": (1.0,),
                      "width": 5}  # fmt: skip
    assert example_of(_Shaken, {"rate": 0.3}).rate == 0.3
    words = "Model has no example: .* typical = {'build': ...}"
    refused(lambda: example_of(ls.nets.Model), match=words)


def test_the_nearest_name_is_suggested_only_if_near():
    assert "did you mean 'noise'?" in str(unknown("field", "niose", ["noise", "dim"]))
    assert str(unknown("field", "zzz", ["noise"])) == "unknown field 'zzz'. Allowed: noise"
    assert str(unknown("field", "zzz", [])) == "unknown field 'zzz'. Allowed: none"
