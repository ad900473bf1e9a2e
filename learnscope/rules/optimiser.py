"""Optax optimisers by name, with numbers that can be swept."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NoReturn

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from learnscope.errors import refuse_value
from learnscope.part import Number

Factory = Callable[..., optax.GradientTransformation]

# Optimisers whose update rotates with the gradient.
ROTATION_EQUIVARIANT = ("sgd",)


def optimiser_field() -> Any:
    """A name in optax, or a function of the rate that returns a gradient transformation."""
    return eqx.field(static=True, default="sgd")


def options_field() -> Any:
    """Further arguments of the optimiser, e.g. `{"momentum": 0.9}`; numbers can be swept.

    With any optimiser, `cosine_steps` is the number of steps in which the rate falls to 0 along a
    cosine (Loshchilov and Hutter 2017).
    """
    copied = lambda given: dict(given) if isinstance(given, Mapping) else given  # noqa: E731
    return eqx.field(default_factory=dict, converter=copied)


def check_optimiser(owner: str, optimiser: Any, options: Any) -> None:
    """Refuse an optimiser that optax does not have, and options that it does not take."""
    named = isinstance(optimiser, str) and optimiser.isidentifier() and optimiser[0] != "_"
    if not (named and hasattr(optax, optimiser)) and not callable(optimiser):
        _no_optimiser(owner, optimiser)
    if not isinstance(options, Mapping) or any(value != value for value in options.values()):
        refuse_value(f"{owner}.options", options, "it must be a table of numbers")
    if not _makes_transform(optimiser, options):
        if not _makes_transform(optimiser, {}):
            _no_optimiser(owner, optimiser)
        refuse_value(f"{owner}.options", options, f"the optimiser {optimiser} does not take them")


def _makes_transform(optimiser: Any, options: Mapping[str, Any]) -> bool:
    """Whether the optimiser can be built, and needs only a gradient (lbfgs also needs the loss)."""
    try:
        return _traces(optimiser, tuple(sorted(options.items())))
    except TypeError:  # arrays and tracers cannot be looked up
        return _traces.__wrapped__(optimiser, tuple(options.items()))


@lru_cache(maxsize=256)
def _traces(optimiser: Any, options: tuple[tuple[str, Any], ...]) -> bool:
    try:
        transform = build(optimiser, 0.1, dict(options))
        weights = jax.ShapeDtypeStruct((1,), np.float32)
        jax.eval_shape(lambda x: transform.update(x, transform.init(x), x), weights)
    except Exception:
        return False
    return isinstance(transform, optax.GradientTransformation)


def _no_optimiser(owner: str, optimiser: Any) -> NoReturn:
    must = "it must be an optimiser of optax (such as sgd, adam, adamw) or a function of the rate"
    refuse_value(f"{owner}.optimiser", optimiser, must)


def build(
    optimiser: str | Factory, rate: Number, options: Mapping[str, Any]
) -> optax.GradientTransformation:
    """The gradient transformation for a rate."""
    factory = getattr(optax, optimiser) if isinstance(optimiser, str) else optimiser
    options = dict(options)
    over = options.pop("cosine_steps", None)
    # optax's own schedule needs the number of steps in Python; here it may be traced.
    return factory(rate if over is None else partial(_falling, rate, over), **options)


def _falling(rate: Number, over: Number, step: Array) -> Array:
    """Half a period of a cosine: the full rate at step 0, and 0 from step `over` on."""
    return rate * (1 + jnp.cos(jnp.pi * jnp.minimum(step / over, 1.0))) / 2


def basis_dependence(optimiser: str | Factory) -> str | None:
    """Why compressed coordinates would change the run, or None if they would not."""
    if isinstance(optimiser, str) and optimiser in ROTATION_EQUIVARIANT:
        return None
    name = _name(optimiser)
    return f"the optimiser {name} treats coordinates one by one, so its steps depend on the basis"


@property
def fresh_obstacle(rule: Any) -> str | None:
    """Why a rule that meets each fresh example once cannot be compressed, or None: no step may use
    earlier examples."""
    if (rule.optimiser, dict(rule.options)) == ("sgd", {}):
        return None
    name, options = _name(rule.optimiser), dict(rule.options)
    return f"the optimiser {name} with options {options} remembers vectors of earlier steps"


def _name(optimiser: str | Factory) -> str:
    return optimiser if isinstance(optimiser, str) else getattr(optimiser, "__name__", "custom")
