"""Optax optimisers by name, with numbers that can be swept."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from learnscope.errors import BadInput
from learnscope.part import Number

Factory = Callable[..., optax.GradientTransformation]

# Updates that turn with the coordinates: rotating the gradient rotates the step.
ROTATION_EQUIVARIANT = ("sgd",)


def optimiser_field() -> Any:
    """A name in optax, or a function of the rate that returns a gradient transformation."""
    return eqx.field(static=True, default="sgd")


def options_field() -> Any:
    """Further arguments of the optimiser, e.g. `{"momentum": 0.9}`; numbers can be swept.

    With any optimiser, `cosine_steps` lets the rate fall to 0 within so many steps, along a cosine
    (Loshchilov and Hutter 2017).
    """
    return eqx.field(
        default_factory=dict, converter=lambda given: dict(given) if _is_table(given) else given
    )


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping)


def check_optimiser(owner: str, optimiser: Any, options: Any) -> None:
    """Say so if optax has no such optimiser, or it takes no such options."""
    named = isinstance(optimiser, str) and optimiser.isidentifier() and optimiser[0] != "_"
    if not (named and hasattr(optax, optimiser)) and not callable(optimiser):
        raise _no_optimiser(owner, optimiser)
    if not _is_table(options) or any(value != value for value in options.values()):
        raise BadInput(
            f"{owner}.options = {options!r} is not allowed: it must be a table of numbers."
        )
    if not _makes_transform(optimiser, options):
        if not _makes_transform(optimiser, {}):
            raise _no_optimiser(owner, optimiser)
        raise BadInput(
            f"{owner}.options = {options!r} is not allowed: "
            f"the optimiser {optimiser} does not take them."
        )


def _makes_transform(optimiser: Any, options: Mapping[str, Any]) -> bool:
    """Whether it builds, and updates from a gradient alone (lbfgs and others need the loss too)."""
    try:
        transform = build(optimiser, 0.1, options)
        weights = jax.ShapeDtypeStruct((1,), np.float32)
        jax.eval_shape(lambda x: transform.update(x, transform.init(x), x), weights)
    except Exception:
        return False
    return isinstance(transform, optax.GradientTransformation)


def _no_optimiser(owner: str, optimiser: Any) -> BadInput:
    return BadInput(
        f"{owner}.optimiser = {optimiser!r} is not allowed: it must be the name of an optimiser in "
        "optax (such as sgd, adam, adamw) or a function of the rate."
    )


def build(
    optimiser: str | Factory, rate: Number, options: Mapping[str, Any]
) -> optax.GradientTransformation:
    """The gradient transformation for a rate."""
    factory = getattr(optax, optimiser) if isinstance(optimiser, str) else optimiser
    options = dict(options)
    over = options.pop("cosine_steps", None)
    # optax's own schedule wants a Python number of steps, and this one may be traced.
    return factory(rate if over is None else partial(_falling, rate, over), **options)


def _falling(rate: Number, over: Number, step: Array) -> Array:
    """Half a period of a cosine: the rate at step 0, nothing from `over` on."""
    return rate * (1 + jnp.cos(jnp.pi * jnp.minimum(step / over, 1.0))) / 2


def basis_dependence(optimiser: str | Factory) -> str | None:
    """Why compressed coordinates would change the run, or None if they would not."""
    if isinstance(optimiser, str) and optimiser in ROTATION_EQUIVARIANT:
        return None
    name = optimiser if isinstance(optimiser, str) else getattr(optimiser, "__name__", "custom")
    return f"the optimiser {name} treats coordinates one by one, so its steps depend on the basis"


def memory_obstacle(optimiser: str | Factory, options: Mapping[str, Any]) -> str | None:
    """Why fresh examples cannot be compressed, or None if they can: steps must remember nothing."""
    if (optimiser, dict(options)) == ("sgd", {}):
        return None
    name = optimiser if isinstance(optimiser, str) else getattr(optimiser, "__name__", "custom")
    return f"the optimiser {name} with options {dict(options)} remembers vectors of earlier steps"
