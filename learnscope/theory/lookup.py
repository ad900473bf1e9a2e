"""Conditions and predictions for an experiment, from whichever paper is about it."""

import contextlib
from importlib import import_module
from typing import Any

from learnscope.errors import BadInput, refusing
from learnscope.theory.condition import Conditions
from learnscope.theory.prediction import Prediction


def _theories() -> list[Any]:
    """The theories of all papers; papers stand above this module and are looked up by name."""
    return list(import_module("learnscope.papers").modules("theory"))


def conditions(experiment: Any, **constants: float) -> Conditions:
    """Every inequality of the theorem's condition, with left side, right side and margin.

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.SignalNoise(dim=400, train=20, test=10, signal=1.0, noise=1.0),
    ...     net=ls.nets.PatchCNN(width=10),
    ...     rule=ls.rules.PerExamplePenalty(rate=0.02, weight=0.01),
    ...     steps=10,
    ... )
    >>> ls.theory.conditions(experiment).holds
    False
    """
    with _computable("conditions"):
        return _theory(experiment).conditions(experiment, **constants)


def predict(experiment: Any, **choices: float) -> Prediction:
    """What the theorem predicts: times, rates, the side of the boundary."""
    with _computable("predictions"):
        return _theory(experiment).predict(experiment, **choices)


def boundary(experiment: Any, field: str) -> float | None:
    """The value of a field at the theory's phase boundary, with the rest of the experiment
    unchanged; None if no theory gives one.

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.SignalNoise(dim=320, train=20, test=10, signal=1.0, noise=1.0),
    ...     net=ls.nets.PatchCNN(width=10, activation="relu"),
    ...     rule=ls.rules.GradientDescent(rate=0.1),
    ...     steps=10,
    ... )
    >>> ls.theory.boundary(experiment, "data.signal")
    2.0
    """
    for theory in _theories():
        if theory.applies(experiment):
            with _computable("boundary"):
                return theory.boundary(experiment, field)
    return None


def _computable(what: str) -> contextlib.AbstractContextManager[None]:
    """Turn overflows of extreme numbers into one sentence."""
    said = f"the {what} cannot be computed, as numbers of the experiment are too large or too small"
    return refusing(said, kinds=(ArithmeticError, FloatingPointError, ValueError))


def _theory(experiment: Any) -> Any:
    for theory in _theories():
        if theory.applies(experiment):
            return theory
    scopes = "; ".join(theory.SCOPE for theory in _theories())
    kinds = [type(part).__name__ for part in (experiment.data, experiment.net, experiment.rule)]
    raise BadInput(f"no theory here is about {' x '.join(kinds)}; there is one for {scopes}.")
