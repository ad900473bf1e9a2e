"""What tests share: small experiments, runs without a progress bar, refusals, child processes."""

import os
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import pytest

import learnscope as ls
from learnscope.engine import trial
from learnscope.engine.program import quickly
from learnscope.lab.run import report_of
from learnscope.part import choice, number
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import optimiser as opt
from learnscope.rules.rule import AbstractGradientRule

HERE = Path(__file__).parents[1]  # for processes of their own, which import this too
DESCENT = ls.rules.GradientDescent(rate=0.3)
PENALTY = ls.rules.PerExamplePenalty(rate=0.3, weight=0.05)
NOISE = {"data.noise": [0.1, 0.2, 0.4]}


class AbstractOwnRule(AbstractGradientRule):
    """A user's own rule, but for its gradient."""

    rate: float = number(above=0)
    loss: str = choice("logistic", default="logistic")
    optimiser: str = opt.optimiser_field()
    options: dict = opt.options_field()


class Watched(AbstractProbe):
    """The filters, and the data that they are trained on."""

    outputs = {  # noqa: RUF012
        "filters": Output("filters", dims=("filter", "coordinate")),
        "noise": Output("training noise", dims=("sample", "coordinate")),
        "signal": Output("signal", dims=("coordinate",)),
        "labels": Output("training labels", dims=("sample",)),
    }

    def __call__(self, state, problem):
        filters, noise = state.params["filters"], problem.train.vectors["noise"]
        found = (filters, noise, problem.directions["signal"], problem.train.y)
        return dict(zip(self.outputs, found, strict=True))


def signals(**changes):
    setting = {"dim": 100, "train": 6, "test": 10, "signal": 1.0, "noise": 0.3}
    return ls.data.SignalNoise(**setting | changes)


def strong_weak(dim, **changes):
    setting = {"patches": 16, "feature_patches": 4, "strengths": (3, 2), "noise": 1, "batch": 2}
    return ls.data.StrongWeak(dim, **setting | {"test": 2} | changes)


def tasks(**changes):
    setting = {"dim": 30, "dictionary": 6, "tasks": 3, "samples": 5, "validation": 2}
    setting |= {"signal": 1.0, "task_signal": 0.5, "noise": 0.3, "test_tasks": 2}
    return ls.data.TaskFamily(**setting | changes)


def experiment(rule=DESCENT, steps=10, every=5, probes=None, data=None, net=None):
    """Of given parts; or, of data and net, with fields changed."""
    if data is None or isinstance(data, dict):
        data = signals(**data or {})
    if net is None or isinstance(net, dict):
        net = ls.nets.PatchCNN(**{"width": 3, "scale": 0.05} | (net or {}))
    probes = [ls.probes.Loss(), ls.probes.SignalLearning()] if probes is None else probes
    return ls.Experiment(data, net, rule, steps, probes, ls.Record(every=every))


def probes(names):
    return [getattr(ls.probes, name)() for name in names.split()]


def quick(function, level=0):
    """Compiled without optimisation, in half a second instead of five: what runs once or twice, and
    random bits above all."""
    return eqx.filter_jit(
        function, compiler_options=quickly() | {"xla_backend_optimization_level": level}
    )


@quick
def drawn(model, seed=0, frame=None):
    """A problem of a data model."""
    return model.sample(jax.random.key(seed), frame)


def run(*given, **more):
    return ls.run(*given, progress=False, **more)


def reported(*given, **more):
    """A run, and the report of what it computed and reused."""
    data = ls.run(*given, progress=False, **more)
    return data, report_of(data)


def refused(make, *words, match="", kind=ls.BadInput):
    """The one sentence that a call gets: with these words in it, beginning as `match` says."""
    with pytest.raises(kind, match=f"^{match}") as caught:
        make()
    text = str(caught.value)
    assert "\n" not in text and (text.endswith((".", "?")) or "Allowed: " in text), text
    for word in words:
        assert word in text, text
    return text


def refuses(make, table, match=""):
    """Fields by what is said of them: each is refused in such a sentence."""
    for words, given in table.items():
        refused(lambda given=given: make(**given), match=match + words)


def trusted():
    """Compression is not tried, as in tests (conftest.py): for child processes."""
    trial.objection = lambda experiment, coordinates: None


def said_by(file, *words):
    """The lines that a test file prints when it is run in a process of its own, see its end."""
    done = subprocess.run(
        [sys.executable, file, *map(str, words)],
        env=os.environ | {"PYTHONPATH": str(HERE), "PYTHONHASHSEED": "17"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()
