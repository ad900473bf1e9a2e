"""Programs: what is compiled once."""

import dataclasses

import numpy as np

from learnscope.engine.experiment import Experiment


@dataclasses.dataclass(frozen=True)
class Program:
    """The runs of one compilation: an experiment, and the numbers that vary within it.

    `place` is the position on every structural axis; `varying` maps a field to the numeric axis it
    lies on and to its values there.
    """

    experiment: Experiment
    place: dict[str, int] = dataclasses.field(default_factory=dict)
    varying: dict[str, tuple[str, np.ndarray]] = dataclasses.field(default_factory=dict)
