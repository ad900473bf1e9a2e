"""What users write: a helper module, parts of their own, a study, as text for files and cells."""

import hashlib

import xarray as xr

HELPER = '''
"""Beside the parts, in a file of its own."""

import jax
import jax.numpy as jnp


def norm(tree):
    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)) + 1e-30)
'''

IMPORTS = """
import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import helper
import learnscope as ls
from learnscope.data import AbstractData, Frame, Problem, Samples
from learnscope.part import Number, choice, count, number
from learnscope.rules import LOSSES, AbstractGradientRule
from learnscope.rules import optimiser as opt
from learnscope.space import Space
"""

SAM = '''
class Sam(AbstractGradientRule):
    """The gradient where the loss is largest, `radius` away along the gradient."""

    rate: Number = number(0.1, above=0)
    radius: Number = number(0.05, low=0)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def gradient(self, state, problem, key):
        batch = problem.batch(key)
        slope = state.gradient(batch)
        far = self.radius / helper.norm(slope)
        there = jax.tree.map(lambda w, g: w + far * g, state.params, slope)
        return dataclasses.replace(state, params=there).gradient(batch)
'''

XOR = '''
def labels(key, size):
    """Coordinates +-1 along two directions; the label is their product."""
    signs = jnp.where(jax.random.bernoulli(key, shape=(size, 2)), 1.0, -1.0)
    return signs, signs[:, 0] * signs[:, 1]


class XorClusters(AbstractData):
    """Patches +-(u + v) for one label and +-(u - v) for the other, and a patch of noise."""

    dim: Number = number(1000, low=2, high=1e12, whole=True, shape=True)
    train: int = count(8)
    test: int = count(20)
    signal: Number = number(2.0, low=0)
    noise: Number = number(0.1, low=0)

    @property
    def space(self):
        return Space(2 + self.train, "gaussian_rows")

    def sample(self, key, frame=None):
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        train_key, test_key, y_key, test_y_key = jax.random.split(key, 4)
        both, frame = frame.axes(2)
        noise, frame = frame.gaussian_rows(train_key, self.train)
        train = self.samples(y_key, both, noise)
        test = self.samples(test_y_key, both, frame.gaussian_points(test_key, self.test))
        return Problem(train, test, {"u": both[0], "v": both[1]}, frame)

    def example(self, key, problem):
        y_key, noise_key = jax.random.split(key)
        both = jnp.stack([problem.directions["u"], problem.directions["v"]])
        noise = problem.frame.gaussian_points(noise_key, 1)
        return self.samples(y_key, both, noise).take(jnp.asarray(0))

    def samples(self, key, both, noise):
        signs, y = labels(key, noise.shape[0])
        x = jnp.stack([self.signal * signs @ both, self.noise * noise], axis=1)
        return Samples(x, y, {"noise": noise})
'''

ATTENTION = '''
class Attention(eqx.Module):
    """One layer of attention over the rows of an input, and a sum."""

    layer: eqx.nn.MultiheadAttention
    last: eqx.nn.Linear

    def __call__(self, x):
        return self.last(self.layer(x, x, x).mean(0))


def attention(key, heads):
    first, last = jax.random.split(key)
    layer = eqx.nn.MultiheadAttention(heads, 4, key=first)
    return Attention(layer, eqx.nn.Linear(4, "scalar", key=last))
'''

PARTS = IMPORTS + SAM + XOR + ATTENTION

STUDY = '''
def sharp(**where):
    """A rule and a data model of one's own, compressed, in a million dimensions."""
    experiment = ls.Experiment(
        XorClusters(dim=10**6, noise=1e-3), ls.nets.PatchCNN(width=3, scale=0.1), Sam(), steps=6,
        record=ls.Record(every=3),
    )
    return ls.run(experiment, {"rule.radius": [0.0, 0.5]}, seeds=2, progress=False, **where)


def heads(**where):
    """A model and arrays of one's own."""
    experiment = ls.Experiment(
        ls.data.Arrays("x.npy", "y.npy", batch=4, epochs=True),
        ls.nets.Model(partial(attention, heads=1)), Sam(), steps=6,
    )
    nets = {f"{n} heads": ls.nets.Model(partial(attention, heads=n)) for n in (1, 2)}
    return ls.run(experiment, {"net": nets}, seeds=2, progress=False, **where)
'''

USES = """
import functools
from typing import ClassVar

import equinox as eqx
import jax
import numpy as np
from jax.nn import relu

import learnscope as ls
from learnscope.part import Number as Any_number
from learnscope.part import number
from learnscope.probes import AbstractProbe, Output

FACTOR = 3.0
TABLE = np.arange(4.0)


def square(w):
    return (w**2).sum()


slope = jax.grad(square)
same = square
part = functools.partial(square)


@jax.jit
def jitted(w):
    return relu(w).sum() * FACTOR


@eqx.filter_jit
def filtered(w):
    return w.sum() + TABLE.sum()


class Times(eqx.Module):
    times: float = 2.0


LISTED, HELD = [square], Times()


class Watched(AbstractProbe):
    outputs: ClassVar = {"watched": Output("a sum of all")}
    share: Any_number = number(0.5, low=0)

    def __call__(self, state, problem):
        w = state.params.filters
        values = [slope(w).sum(), same(w), part(w), jitted(w), filtered(w), LISTED[0](w)]
        return self.share * sum(values) * HELD.times


def watched(**where):
    data = ls.data.SignalNoise(dim=50, train=4, test=9, signal=1.0, noise=0.5)
    rule = ls.rules.GradientDescent(rate=0.1)
    experiment = ls.Experiment(data, ls.nets.PatchCNN(width=2), rule, 3, [Watched()])
    return ls.run(experiment, seeds=2, coordinates="ambient", progress=False, **where)
"""

# What a file of parts has beside them, to be swept from the command line.
TOML = """
steps = 6
seeds = 2
record = {every = 3}
data = {kind = "XorClusters", dim = 1000000, noise = 1e-3}
net = {kind = "PatchCNN", width = 3, scale = 0.1}
rule = {kind = "Sam"}
over = {"rule.radius" = [0.0, 0.5]}
"""

ARRAYS = """
steps = 6
seeds = 2
data = {kind = "Arrays", x = "x.npy", y = "y.npy", batch = 4, epochs = true}
net = {kind = "PatchCNN", width = 3, scale = 0.1}
rule = {kind = "Sam"}
"""


def digest(result: xr.Dataset) -> str:
    """Of all values, bit for bit."""
    values = [result[name].values for name in sorted(map(str, result.data_vars))]
    return hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest()[:16]
