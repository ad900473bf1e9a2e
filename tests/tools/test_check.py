"""`ls.check`: the battery for a user's own part."""

import random
from typing import ClassVar

import jax
import jax.numpy as jnp
import pytest

import learnscope as ls
from learnscope.probes import AbstractProbe, Output
from tests.engine.test_trial import WRONG, setting
from tests.small import refused

pytestmark = pytest.mark.usefixtures("tried")


class Impure(ls.rules.GradientDescent):
    """Draws from Python's own generator."""

    def gradient(self, state, problem, key):
        factor = random.random()
        return jax.tree.map(lambda g: factor * g, super().gradient(state, problem, key))


class HalfProbe(AbstractProbe):
    """A probe of half precision."""

    outputs: ClassVar = {"half": Output("half")}

    def __call__(self, state, problem):
        return jnp.zeros((), jnp.float16)


def failing(part) -> dict[str, str]:
    return {check.name: check.why for check in ls.check(part) if check.held is False}


@pytest.mark.parametrize(
    "part",
    [ls.rules.GradientDescent(0.1), *(pytest.param(part, marks=pytest.mark.slow)
                                      for part in (ls.nets.PatchCNN, ls.probes.Loss()))],
)  # fmt: skip
def test_shipped_parts_pass(part):
    checks = ls.check(part)
    assert checks.ok, repr(checks)
    assert "✓ fits" in repr(checks) and "<table>" in checks._repr_html_()


@pytest.mark.parametrize("name", ["a late change", "fresh examples"])
def test_it_finds_what_compression_would_change(name: str):
    changes, _ = WRONG[name]
    assert "compression" in failing(setting(**changes))


def test_it_finds_what_is_impure_or_of_another_precision():
    assert "is computed again" in failing(Impure(rate=0.1))["pure"]
    assert "float16" in failing(HalfProbe())["precision"]


def test_what_cannot_be_checked():
    refused(lambda: ls.check(3), "it must be an experiment, a data model")
