"""One small example, or a few, of every kind of part that the package registers.

A new data model, net, rule or probe adds its examples here; `test_conformance.py` does the rest. An
example should be small (it is compiled several times) and together they should reach every branch.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Key

import learnscope as ls
from learnscope.part import AbstractPart


def flat_mlp(key: Key[Array, ""]) -> eqx.Module:
    """A user's own model. A function of a module, not a lambda, so that it can be pickled."""
    mlp = eqx.nn.MLP(in_size=60, out_size="scalar", width_size=4, depth=1, key=key)
    return eqx.nn.Sequential([eqx.nn.Lambda(jnp.ravel), mlp])


# What the other slots of an experiment hold while one kind is looked at.
DATA = ls.data.SignalNoise(dim=30, train=4, test=3, signal=1.0, noise=0.5)
NET = ls.nets.PatchCNN(width=2, scale=0.1)
RULE = ls.rules.GradientDescent(rate=0.1)

EXAMPLES: dict[str, dict[str, list[AbstractPart]]] = {
    "data": {
        "SignalNoise": [
            DATA,
            ls.data.SignalNoise(
                dim=30, train=4, test=3, signal=2, noise=0.1, flip=0.2, orthogonal=False, batch=2
            ),
        ],
    },
    "net": {
        "PatchCNN": [
            NET,
            ls.nets.PatchCNN(width=2, activation="relu", scale=0.1, second_layer="sum"),
            ls.nets.PatchCNN(width=2, activation="relu_power", scale=0.1, power=3),
            ls.nets.PatchCNN(width=2, activation="huberised", scale=0.1, threshold=0.2),
            ls.nets.PatchCNN(width=2, activation="truncated", scale=0.1),
            ls.nets.PatchCNN(width=2, activation="cubic", scale=0.1),
        ],
        "Model": [ls.nets.Model(flat_mlp)],
    },
    "rule": {
        "GradientDescent": [
            RULE,
            ls.rules.GradientDescent(rate=0.1, loss="hinge", options={"momentum": 0.9}),
            ls.rules.GradientDescent(rate=0.1, loss="squared", optimiser="adam"),
        ],
        "PerExamplePenalty": [
            ls.rules.PerExamplePenalty(rate=0.1, weight=0.1, until=2, half=False)
        ],
        "FullPenalty": [ls.rules.FullPenalty(rate=0.1, weight=0.1)],
    },
    "probes": {
        "Loss": [ls.probes.Loss()],
        "TestLoss": [ls.probes.TestLoss()],
        "TrainAccuracy": [ls.probes.TrainAccuracy()],
        "TestAccuracy": [ls.probes.TestAccuracy()],
        "GradientNorm": [ls.probes.GradientNorm()],
        "SignalLearning": [ls.probes.SignalLearning()],
        "NoiseMemorisation": [ls.probes.NoiseMemorisation()],
        "Decomposition": [ls.probes.Decomposition()],
    },
}

# Parts that hold code: they can be run and pickled, but no TOML or JSON can say what they are.
HOLD_CODE = {"Model"}


def experiment_with(slot: str, part: AbstractPart, **others) -> ls.Experiment:
    """A tiny experiment around one part."""
    value = (part,) if slot == "probes" else part
    parts = {"data": DATA, "net": NET, "rule": RULE, slot: value} | others
    return ls.Experiment(**parts, steps=3)
