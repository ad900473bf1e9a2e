"""Mistakes in users' parts: a sentence that names the line, before anything is computed."""

import contextlib
import linecache
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.engine.experiment import Experiment
from learnscope.errors import BadInput
from learnscope.probes import AbstractProbe
from learnscope.rules import AbstractState

_OWN = str(Path(__file__).resolve().parents[1])
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
_TRACED = (
    jax.errors.ConcretizationTypeError,  # `if self.flip > 0`, int(self.rate), ...
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)
_NO_VALUE = (
    "a number that can be swept has no value yet when a run is compiled: use jnp.where or "
    "jax.lax.cond, or make the field a count, choice or flag"
)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Say what went wrong in code that is neither learnscope's nor installed, and in which line."""
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        line = _user_line(error)
        if line is None:
            raise
        if isinstance(error, _TRACED):
            why = _NO_VALUE
        else:
            why = f"{type(error).__name__}: {_first(error)}"
        raise BadInput(f"{line}: {why}.") from error


def _user_line(error: Exception) -> str | None:
    """The innermost line of a user's own code that learnscope has called."""
    place, inside, trace = None, False, error.__traceback__
    while trace is not None:
        file, number = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if file.startswith(_OWN):
            inside = True
        elif inside and not file.startswith((*_INSTALLED, "<frozen")):
            text = linecache.getline(file, number).strip()
            name = trace.tb_frame.f_code.co_qualname
            place = f"{Path(file).name}, line {number}, in {name}" + (f": `{text}`" if text else "")
        trace = trace.tb_next
    return place


def _first(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else "no message"


def outputs(experiment: Experiment, problem: Problem, state: AbstractState) -> dict[str, Any]:
    """The shapes of what the probes read, by name. Refuses probes that cannot be read here, whose
    values are not what their `outputs` declare, and dims of two sizes."""
    found, sizes = dict[str, Any](), dict[str, tuple[int, str]]()
    state = eqx.filter_eval_shape(experiment.rule.evaluated, state)
    for probe in experiment.probes:
        try:
            value = eqx.filter_eval_shape(lambda s, p, probe=probe: probe(s, p), state, problem)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, BadInput) or _user_line(error) is not None:
                raise
            _refuse(probe, f"with this net and data it fails ({_first(error)})")
        found |= (values := _by_name(probe, value))
        for name, each in values.items():
            shape, dims = tuple(each.shape), probe.outputs[name].dims
            if len(shape) != len(dims):
                _refuse(probe, f"its '{name}' has shape {shape}, and its dims are {dims or 'none'}")
            for dim, size in zip(dims, shape, strict=True):
                known, where = sizes.setdefault(dim, (size, name))
                if known != size:
                    _refuse(probe, f"the dim '{dim}' of '{name}' has {size} entries, and {known} "
                                   f"in '{where}'; name one of them otherwise")  # fmt: skip
    return found


def _by_name(probe: AbstractProbe, value: Any) -> dict[str, Any]:
    declared = ", ".join(probe.outputs)
    if isinstance(value, dict):
        if set(value) != set(probe.outputs):
            _refuse(
                probe, f"it returns {', '.join(value) or 'nothing'}, and its outputs are {declared}"
            )
        values = value
    elif len(probe.outputs) != 1:
        _refuse(probe, f"it returns one value: it must be a dict of {declared}")
    else:
        values = {next(iter(probe.outputs)): value}
    for name, each in values.items():
        if not hasattr(each, "shape") and not isinstance(each, int | float):
            _refuse(probe, f"its '{name}' must be an array, not {type(each).__name__}")
    return {n: each if hasattr(each, "shape") else jnp.asarray(each) for n, each in values.items()}


def _refuse(probe: AbstractProbe, why: str) -> None:
    raise BadInput(f"the probe {type(probe).__name__} does not fit: {why}.")


def check_step(experiment: Experiment, problem: Problem, state: AbstractState, key: Array) -> None:
    """Refuse a rule whose step changes the tree, shapes or precision of parameters or memory.

    Shipped rules are tested for it; tracing a step takes as long as a short run."""
    rule = experiment.rule
    if type(rule).__module__.startswith("learnscope."):
        return
    after = eqx.filter_eval_shape(lambda s, p, k: rule.step(s, p, k), state, problem, key)
    if not isinstance(after, AbstractState):
        raise BadInput(
            f"{type(rule).__name__}.step must return a state, not {type(after).__name__}."
        )
    for name, part in {"parameters": "point", "memory": "memory"}.items():
        one, other = (jax.tree.structure(getattr(s, part)) for s in (state, after))
        if one != other:
            raise BadInput(
                f"{type(rule).__name__}.step returns other {name}: {other} where they were {one}."
            )
        leaves = zip(*(jax.tree.leaves(getattr(s, part)) for s in (state, after)), strict=True)
        for old, new in leaves:
            if (old.shape, old.dtype) != (new.shape, new.dtype):
                raise BadInput(
                    f"{type(rule).__name__}.step returns {name} of shape {new.shape} and "
                    f"{new.dtype}, which were {old.shape} and {old.dtype}."
                )
