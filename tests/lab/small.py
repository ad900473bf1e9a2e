"""A small experiment, what tests sweep and run it with, and runs without a progress bar."""

import os
import subprocess
import sys
from pathlib import Path

import learnscope as ls
from learnscope.lab.run import run_and_report
from learnscope.part import choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.rule import AbstractGradientRule

HERE = Path(__file__).parents[2]  # for processes of their own, which import this too
DESCENT = ls.rules.GradientDescent(rate=0.3)
PENALTY = ls.rules.PerExamplePenalty(rate=0.3, weight=0.05)
NOISE = {"data.noise": [0.1, 0.2, 0.4]}


class AbstractOwnRule(AbstractGradientRule):
    """A user's own rule, but for its gradient."""

    rate: float = number(above=0)
    loss: str = choice("logistic", default="logistic")
    optimiser: str = opt.optimiser_field()
    options: dict = opt.options_field()


def experiment(rule=DESCENT, steps=10, every=5, probes=None, data=None, net=None):
    setting = {"dim": 100, "train": 6, "test": 10, "signal": 1.0, "noise": 0.3}
    return ls.Experiment(
        data=ls.data.SignalNoise(**setting | (data or {})),
        net=ls.nets.PatchCNN(**{"width": 3, "scale": 0.05} | (net or {})),
        rule=rule,
        steps=steps,
        probes=[ls.probes.Loss(), ls.probes.SignalLearning()] if probes is None else probes,
        record=ls.Record(every=every),
    )


def run(*given, **more):
    return ls.run(*given, progress=False, **more)


def reported(*given, **more):
    """A run, and the report of what it computed and reused."""
    return run_and_report(*given, progress=False, **more)


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
