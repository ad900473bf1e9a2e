"""Presets: starting points of the explorer."""

import dataclasses
from collections.abc import Mapping

from learnscope.lab import Experiment
from learnscope.probes import AbstractProbe, FilterCosines, Loss, TestAccuracy, TrainAccuracy
from learnscope.rules import AbstractRule

PLAIN = (Loss(), TrainAccuracy(), TestAccuracy())


@dataclasses.dataclass(frozen=True)
class Preset:
    """An experiment of about one second's work, and the rest of a live page.

    `rules` are other rules to compare, with suitable numbers. The page watches those of `probes`
    that fit the current parts, and draws the first of `pictures` that fits: a probe that records a
    square matrix. `panels` names variables that share a panel, by title.
    """

    name: str
    title: str
    experiment: Experiment
    rules: tuple[AbstractRule, ...]
    probes: tuple[AbstractProbe, ...] = PLAIN
    pictures: tuple[AbstractProbe, ...] = (FilterCosines(),)
    panels: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
