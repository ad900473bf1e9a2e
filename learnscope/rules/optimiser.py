"""Optax optimisers by name, with numbers that can be swept."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import optax

from learnscope.errors import BadInput
from learnscope.part import Number

Factory = Callable[..., optax.GradientTransformation]

# Updates that turn with the coordinates: rotating the gradient rotates the step.
ROTATION_EQUIVARIANT = ("sgd", "polyak_sgd", "normalized_sgd")


def optimiser_field() -> Any:
    """A name in optax, or a function of the rate that returns a gradient transformation."""
    return eqx.field(static=True, default="sgd")


def options_field() -> Any:
    """Further arguments of the optimiser, e.g. `{"momentum": 0.9}`; numbers can be swept."""
    return eqx.field(default_factory=dict, converter=dict)


def check_optimiser(owner: str, optimiser: str | Factory) -> None:
    """Say so if optax has no such optimiser."""
    if isinstance(optimiser, str):
        candidate = getattr(optax, optimiser, None)
        if not callable(candidate) or optimiser.startswith("_"):
            raise BadInput(
                f"{owner}.optimiser = {optimiser!r} is not allowed: it must be the name of an "
                "optimiser in optax (such as sgd, adam, adamw) or a function of the rate."
            )
    elif not callable(optimiser):
        raise BadInput(
            f"{owner}.optimiser = {optimiser!r} is not allowed: it must be the name of an "
            "optimiser in optax or a function of the rate."
        )


def build(
    optimiser: str | Factory, rate: Number, options: Mapping[str, Any]
) -> optax.GradientTransformation:
    """The gradient transformation for a rate."""
    factory = getattr(optax, optimiser) if isinstance(optimiser, str) else optimiser
    return factory(rate, **options)


def basis_dependence(optimiser: str | Factory) -> str | None:
    """Why compressed coordinates would change the run, or None if they would not."""
    if isinstance(optimiser, str) and optimiser in ROTATION_EQUIVARIANT:
        return None
    name = optimiser if isinstance(optimiser, str) else getattr(optimiser, "__name__", "custom")
    return f"the optimiser {name} treats coordinates one by one, so its steps depend on the basis"
