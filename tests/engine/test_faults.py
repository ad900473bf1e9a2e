"""Mistakes in users' parts are caught from shapes, in one sentence that names the line."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import pytest

import learnscope as ls
from learnscope.probes import AbstractProbe, Output
from tests.small import experiment


class Branching(ls.data.SignalNoise):
    def sample(self, key, frame=None):
        if self.flip > 0:
            key = jax.random.fold_in(key, 1)
        return super().sample(key, frame)


class WrongTree(ls.rules.GradientDescent):
    def gradient(self, state, problem, key):
        return {"filters": state.gradient(problem.batch(key)).filters}


class Narrow(ls.rules.GradientDescent):
    def step(self, state, problem, key):
        after = super().step(state, problem, key)
        return after.advance(after.params.replace(filters=after.params.filters[:, :-1]), None)


class Crash(ls.rules.GradientDescent):
    def gradient(self, state, problem, key):
        return state.no_such_thing


class _Probe(AbstractProbe):
    def __call__(self, state, problem):
        return jnp.zeros((2, 3))


class TooFewDims(_Probe):
    outputs: ClassVar = {"mine": Output("mine", dims=("a",))}


class Undeclared(_Probe):
    outputs: ClassVar = {"mine": Output("mine", dims=("a", "b"))}

    def __call__(self, state, problem):
        return {"mine": jnp.zeros((2, 3)), "more": jnp.zeros(2)}


class Two(_Probe):
    outputs: ClassVar = {"mine": Output("mine"), "yours": Output("yours")}


class Clash(_Probe):
    outputs: ClassVar = {"mine": Output("mine", dims=("a", "b"))}


class Other(_Probe):
    outputs: ClassVar = {"other": Output("other", dims=("b", "a"))}


class Text(_Probe):
    outputs: ClassVar = {"mine": Output("mine")}

    def __call__(self, state, problem):
        return {"mine": "text"}


def with_data(kind) -> ls.Experiment:
    usual = experiment()
    fields = ("dim", "train", "test", "signal", "noise")
    data = kind(**{name: getattr(usual.data, name) for name in fields})
    return usual.replace("data", data)


FAULTS = {
    "branch": (with_data(Branching), r"test_faults.py, line \d+, in Branching.sample: `if self.flip"
               r" > 0:`: a number that can be swept has no value yet"),
    "tree": (experiment().replace("rule", WrongTree(rate=0.1)),
             "WrongTree.gradient must return a tree like the parameters"),
    "shape": (experiment().replace("rule", Narrow(rate=0.1)),
              "Narrow.step returns parameters of shape"),
    "crash": (experiment().replace("rule", Crash(rate=0.1)),
              r"line \d+, in Crash.gradient: `return state.no_such_thing`: AttributeError"),
    "dims": (experiment().replace("probes", (TooFewDims(),)),
             r"TooFewDims does not fit: its 'mine' has shape \(2, 3\), and its dims are \('a',\)"),
    "undeclared": (experiment().replace("probes", (Undeclared(),)),
                   "Undeclared does not fit: it returns mine, more, and its outputs are mine"),
    "one of two": (experiment().replace("probes", (Two(),)), "it must be a dict of mine, yours"),
    "sizes": (experiment().replace("probes", (Clash(), Other())),
              "the dim 'b' of 'other' has 2 entries, and 3 in 'mine'"),
    "text": (experiment().replace("probes", (Text(),)), "its 'mine' must be an array, not str"),
}  # fmt: skip


class Number(_Probe):
    outputs: ClassVar = {"mine": Output("mine")}

    def __call__(self, state, problem):
        return 1.0


def test_a_value_may_be_a_number():
    """Python's own numbers ended in an AttributeError."""
    result = ls.run(experiment(steps=2).replace("probes", (Number(),)), seeds=2)
    assert (result.mine == 1.0).all()


@pytest.mark.parametrize("coordinates", ["auto", "ambient"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_a_sentence(name: str, coordinates: str):
    mistaken, sentence = FAULTS[name]
    with pytest.raises(ls.BadInput, match=sentence) as said:
        ls.run(mistaken, coordinates=coordinates)
    assert "\n" not in str(said.value)


def test_an_unknown_keyword_has_the_nearest_name():
    with pytest.raises(ls.BadInput, match="did you mean 'rate'"):
        ls.rules.GradientDescent(rat=0.1)
