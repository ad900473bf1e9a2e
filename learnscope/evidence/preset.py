"""Presets: starting points of the explorer."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from learnscope.lab import Experiment
from learnscope.probes import (
    AbstractProbe,
    FilterCosines,
    FilterMap,
    Loss,
    TestAccuracy,
    TrainAccuracy,
)
from learnscope.rules import AbstractRule

PLAIN = (Loss(), TrainAccuracy(), TestAccuracy())
MAPS = (FilterMap(), FilterCosines())


@dataclasses.dataclass(frozen=True)
class Preset:
    """An experiment of about one second's work, and the rest of a live page.

    `rules` are other rules to compare, with suitable numbers. The page watches those of `probes`
    that fit the current parts, and draws the first of `pictures` that fits: a probe that records a
    square matrix, and if need be cosines to landmarks on its map. `panels` names variables that
    share a panel, by title; `sizes` are variables whose signs depend on the draw alone, which are
    drawn without them.

    `about` introduces it in two sentences. `sketch` draws what an example is made of: the name of
    each piece, and its kind, one of `SKETCHES` in the explorer's `live_controls.js` ("direction",
    "noise", "clusters", "tasks", ...). Its first and last pieces stand for the preset.
    `outcome` says in a few words what came out, from the experiment and the last values of every
    variable (medians over seeds, with the variable's own dims); `expected` what should, in the same
    words (none: theory leaves it open), and why, from the experiment and its prediction; and who
    says so, unless it is "theory says". Either may raise `KeyError` where it does not apply.

    `scaling` gives, by path, the power of the dimension with which a number changes if the problem
    is to stay alike: noise of standard deviation d^-0.5 keeps its norm, and then the rate fits.
    Pages offer dimensions up to 10^9 where there is such a rule for the data, else a few decades.

    `tour` breaks it and mends it again: at each stop a sentence, and the part of an address that
    differs from the preset (such as "data.signal=4&steps=50").
    """

    name: str
    title: str
    experiment: Experiment
    rules: tuple[AbstractRule, ...]
    probes: tuple[AbstractProbe, ...] = PLAIN
    pictures: tuple[AbstractProbe, ...] = MAPS
    panels: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    sizes: tuple[str, ...] = ()
    about: str = ""
    sketch: tuple[tuple[str, str], ...] = ()
    outcome: Callable[[Any, Mapping[str, Any]], str] | None = None
    expected: Callable[[Any, Mapping[str, Any]], tuple[str, ...]] | None = None
    scaling: Mapping[str, float] = dataclasses.field(default_factory=dict)
    tour: tuple[tuple[str, str], ...] = ()


def overfitting(experiment: Any, last: Mapping[str, Any]) -> str:
    """An outcome: overfitting is benign if the test error is hardly above the flipped labels."""
    benign = 1 - last["test_accuracy"] < float(experiment.data.flip) + 0.1
    return f"overfitting is {'benign' if benign else 'harmful'}"
