"""What the live page offers is found and tried, not listed: a user's parts need no other edit."""

import dataclasses
import importlib.util
import re
from pathlib import Path

import pytest

import learnscope
from learnscope.lab import Experiment
from learnscope.part import kinds
from learnscope.views.explorer.live import catalogue
from learnscope.views.explorer.live.catalogue import SLOTS, choices, misfit, offered, presets
from learnscope.views.explorer.live.controls import controls
from learnscope.views.explorer.live.state import State, nearest
from learnscope.views.explorer.live.training import Trainer
from tests.small import refused

MINE = """
from typing import Any, ClassVar
import jax, jax.numpy as jnp
from learnscope.data import AbstractData, Frame, Problem, Samples
from learnscope.nets import AbstractNet
from learnscope.part import Number, choice, count, number
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import AbstractRule
from learnscope.space import Space

class MyClouds(AbstractData):
    dim: Number = number(low=1, whole=True, shape=True)
    train: int = count()
    apart: Number = number(low=0)
    space: ClassVar = Space(span=1, compression="none")
    def sample(self, key, frame=None):
        y = jnp.where(jnp.arange(self.train) % 2, 1.0, -1.0)
        x = jax.random.normal(key, (self.train, int(self.dim))) + self.apart * y[:, None]
        return Problem(Samples(x, y), Samples(x, y), {}, Frame.of_dimension(int(self.dim)))
    def example(self, key, problem):
        return problem.train.take(0)

class MyNet(AbstractNet):
    scale: Number = number(low=0)
    extra: int = count(0, low=0)
    def init(self, key, problem):
        return {"w": self.scale * jax.random.normal(key, (problem.train.x.shape[-1] + self.extra,))}
    def __call__(self, params, x):
        return x @ params["w"]

class MyDescent(AbstractRule):
    rate: Number = number(above=0)
    slower: Number = number(above=0, high=1)
    loss: str = choice("logistic", default="logistic")
    basis_dependence: ClassVar = None
    def prepare(self, state, problem, key):
        return None
    def step(self, state, problem, key):
        move = lambda w, g: w - self.rate * self.slower * g
        gradient = state.gradient(problem.batch(key))
        return state.advance(jax.tree.map(move, state.params, gradient), None)

class MySize(AbstractProbe):
    outputs: ClassVar = {"my_size": Output("size of the weights")}
    def __call__(self, state, problem):
        return sum(jnp.abs(leaf).sum() for leaf in jax.tree.leaves(state.params))
"""
MY = "preset=kou&data=MyClouds&net=MyNet&rule=MyDescent"


@pytest.fixture(scope="module", autouse=True)
def mine(tmp_path_factory):
    """A user's file with one part of each kind, imported."""
    file = tmp_path_factory.mktemp("parts") / "my_parts.py"
    file.write_text(MINE)
    spec = importlib.util.spec_from_file_location("my_parts", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_parts_of_a_user_are_among_the_choices_and_run(monkeypatch):
    first = State.parse("preset=kou")
    with monkeypatch.context() as patch:  # they are offered untried, and nothing else matters here
        patch.setattr(catalogue, "_fit", lambda *given, **chosen: False)
        offers = {slot: choices("kou", slot, first.experiment) for slot in SLOTS}
    assert "MyClouds" in offers["data"] and "MyNet" in offers["net"]
    assert "MyDescent" in offers["rule"] and "MySize" in controls(first)["probes"]
    state = State.parse(f"{MY}&data.dim=30&probes=MySize,Loss")
    assert state.experiment.data.train == presets()["kou"].experiment.data.train  # by its name
    fields = {f["path"]: f for group in controls(state)["groups"] for f in group["fields"]}
    assert fields["data.apart"]["range"] and not fields["rule.slower"]["rare"]
    data = Trainer().run(state.watched, 2)
    assert {"my_size", "loss"} <= set(data) and data.loss.notnull().all()
    assert State.parse(state.query()) == state and nearest(state.experiment) is not None
    # Without a choice, the presets' probes are tried.
    tried = {type(probe).__name__ for probe in State.parse(MY).watched.probes}
    assert {"Loss", "TestAccuracy"} <= tried and not tried & {"Decomposition", "PairLoss"}


@pytest.mark.parametrize(
    ("query", "words"),
    [("preset=kou&rule=Fomaml", "tasks"), ("preset=kou&rule=NonContrastive", "several outputs"),
     (f"{MY}&net.extra=1", "in MyNet.__call__: `return x @ params[\"w\"]`: TypeError: dot_general"),
     ("preset=kou&probes=PairLoss", "no positive pairs"),
     ("preset=kou&probes=Lots", "unknown probes")],
)  # fmt: skip
def test_parts_that_do_not_fit_say_why(query, words):
    state = State.parse(query + "&steps=2&seeds=1")
    refused(lambda: Trainer().run(state.watched, 1), words)


def test_every_kind_on_offer_can_be_made_and_what_is_watched_follows_the_rule():
    for slot in ("data", "net", "rule", "probes"):
        for kind, part in offered("pegr", slot).items():
            assert type(part).__name__ == kind and isinstance(part, Experiment.slots[slot])
    (adapted,) = (probe for probe in State.parse("preset=meta_split&rule.inner_rate=0.5")
                  .watched.probes if "adapted_test_loss" in probe.outputs)  # fmt: skip
    assert adapted.inner_rate == 0.5


@pytest.mark.parametrize("room", ["engine", "lab", "views/explorer"])
def test_no_concrete_part_is_named(room):
    folder = Path(learnscope.__file__).parent / room
    named = {kind for base in Experiment.slots.values() for kind, found in kinds(base).items()
             if found.__module__.startswith("learnscope.")} - {"Linear", "Record"}  # fmt: skip
    outputs = {name for probe in kinds(Experiment.slots["probes"]).values()
               if probe.__module__.startswith("learnscope.") for name in probe.outputs}  # fmt: skip
    for file in [*folder.rglob("*.py"), *folder.rglob("*.js")]:
        text = re.sub(r'""".*?"""|//.*', "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not set(re.findall(r"\b[A-Z]\w+\b", text)) & named, file
        variables = set(re.findall(r'"(\w+_\w+)"', text)) & outputs
        assert not variables - {"test_accuracy", "test_loss"}, file


def test_what_a_preset_refuses_is_not_offered():
    """Shipped kinds that are offered can be run; StrongWeak is offered where it fits."""
    offers = {}
    for start in ("input_structure", "pegr", "pred_head"):
        state = State.parse(f"preset={start}")
        offers[start] = choices(start, "data", state.experiment)
        assert type(state.experiment.data).__name__ in offers[start]
        known = offered(start, "data")
        for kind in offers[start]:
            changes = {"data": known[kind], "steps": 1, "probes": ()}
            experiment = dataclasses.replace(state.experiment, **changes)
            if type(known[kind]).__module__.startswith("learnscope."):
                assert misfit(experiment) is None, (start, kind)
    assert "StrongWeak" in offers["pred_head"] and "StrongWeak" not in offers["input_structure"]
    assert "SignalNoise" in offers["pegr"] and "ClassNoise" not in offers["pegr"]
