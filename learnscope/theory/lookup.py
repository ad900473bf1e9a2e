"""Conditions and predictions for an experiment, from whichever paper is about it."""

import contextlib
from importlib import import_module
from typing import Any

import xarray as xr

from learnscope.errors import BadInput, refusing
from learnscope.theory.condition import Conditions
from learnscope.theory.prediction import Prediction


def is_a(part: Any, kind: Any, **values: Any) -> bool:
    """Whether a part is of a kind (or of one of several) and has these values of its fields: what a
    theory's `applies` asks.

    >>> import learnscope as ls
    >>> is_a(ls.nets.PatchCNN(width=3), ls.nets.PatchCNN, classes=2, bias=True)
    False
    """
    return isinstance(part, kind) and all(getattr(part, n) == v for n, v in values.items())


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


def limit(experiment: Any, start: xr.Dataset | None = None) -> xr.Dataset:
    """The deterministic limit of a run in high dimensions, with the variables of its probes at the
    recorded steps: differential equations of the overlaps, for online learning.

    It starts where a run did (`start`, a result of `run` with the probe `Overlaps`), or from the
    law of the initial weights.

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.MultiIndex(dim=10**6, directions=1, link="erf"),
    ...     net=ls.nets.TwoLayer(1, "erf", scale=1e-3, bias=False, symmetric=False,
    ...                          second_layer="sum"),
    ...     rule=ls.rules.GradientDescent(rate=1e-6, loss="squared"),
    ...     steps=10**7, record=ls.Record(every=10**6),
    ... )
    >>> float(ls.theory.limit(experiment).generalisation_error[-1]) < 0.01
    True
    """
    return _having("limit", experiment).limit(experiment, start)


def exit_time(experiment: Any, level: float, start: xr.Dataset | None = None) -> xr.DataArray:
    """The step at which the limit leaves mediocrity: a filter's cosine with a direction is `level`.
    It is found by root finding, and NaN if the experiment is too short. `start` is that of `limit`.

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.MultiIndex(dim=10**6, directions=1, link="erf"),
    ...     net=ls.nets.TwoLayer(1, "erf", scale=1e-3, bias=False, symmetric=False,
    ...                          second_layer="sum"),
    ...     rule=ls.rules.SphericalDescent(rate=1e-6, loss="correlation"),
    ...     steps=10**7,
    ... )
    >>> bool(exit_time(experiment, 0.5) < exit_time(experiment, 0.9) < 10**7)
    True
    """
    return _having("exit_time", experiment).exit_time(experiment, level, start)


def _having(name: str, experiment: Any) -> Any:
    """The theory of such an experiment, of those that have a function."""
    known = [theory for theory in _theories() if name in vars(theory)]
    for theory in known:
        if theory.applies(experiment):
            return theory
    why = [theory.obstacle(experiment) for theory in known if "obstacle" in vars(theory)]
    scopes = "; ".join(theory.SCOPE for theory in known)
    said = f" ({why[0]})" if len(known) == 1 and why else ""
    raise BadInput(f"no theory here has the limit of such a run{said}; there is one for {scopes}.")


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
