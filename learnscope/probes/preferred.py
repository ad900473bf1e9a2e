"""Activation maximisation: images that excite a neuron most."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem
from learnscope.images import square_images
from learnscope.nets import Projection
from learnscope.part import Number, choice, count, number
from learnscope.probes.patterns import pair_mean
from learnscope.probes.probe import AbstractProbe, Output, refuse
from learnscope.rules import AbstractState
from learnscope.space import random

_KEY = 0  # of the starting noise, which is the same for every neuron


class PreferredImages(AbstractProbe):
    """Images that excite each of the first `neurons` outputs (or features) most, as in Allen-Zhu
    and Li (2020) and Wen and Li (2022), Figure 5.

    All start from the same noise and take `steps` steps along the normalised gradient of the
    neuron's value, of size `rate` times the spread of the test pixels. After each step the image is
    smoothed: a share `smooth` of each pixel goes to its neighbours. Outputs have no sign, so each
    image is moved up and down, and the direction that gains more is taken. Batch normalisations use
    the statistics of test images.

    `preferred_alike` is the mean |cosine| of two of the (centred) images: 1 if all neurons prefer
    the same image."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "preferred": Output("preferred image", dims=("preferring", "pixel")),
        "preferred_alike": Output("mean |cosine| of two preferred images", low=0, high=1),
    }

    neurons: int = count(16, low=2)
    of: str = choice("outputs", "features", default="outputs")
    steps: int = count(40)
    rate: Number = number(0.1, above=0)
    smooth: Number = number(0.1, low=0, high=1)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        net, known = state.net, problem.test.x[:200]
        if not isinstance(net, Projection):
            refuse(self, f"the net Projection, not {type(net).__name__}")
        params = net.calibrated(state.params, known)
        read = net if self.of == "outputs" else net.features
        values = read(params, known)
        neurons = min(self.neurons, values.shape[1])
        centre, spread = values.mean(0)[:neurons], values.std(0)[:neurons]
        sign = jnp.repeat(jnp.asarray([1.0, -1.0], values.dtype), neurons)
        which = jnp.tile(jnp.arange(neurons), 2)

        def excitement(x: Float[Array, "m pixel"]) -> Float[Array, " m"]:
            own = jnp.take_along_axis(read(params, x), which[:, None], axis=1)[:, 0]
            return sign * (own - jnp.tile(centre, 2))

        size = known.std()
        noise = 0.1 * size * random.inverse_normal(jax.random.key(_KEY), known.shape[1:])
        start = jnp.tile((known.mean(0) + noise)[None], (2 * neurons, 1))

        def step(_, x):
            slope = jax.grad(lambda x: excitement(x).sum())(x)
            norm = jnp.sqrt((slope**2).mean(1, keepdims=True))
            x = x + self.rate * size * slope / jnp.where(norm > 0, norm, 1.0)
            return smoothed(x, self.smooth)

        moved = jax.lax.fori_loop(0, self.steps, step, start)
        scale = jnp.tile(jnp.where(spread > 0, spread, 1.0), 2)
        up, down = (excitement(moved) / scale).reshape(2, -1)
        images = jnp.where((down > up)[:, None], moved[neurons:], moved[:neurons])
        kept = jax.lax.reduce_precision(images, exponent_bits=8, mantissa_bits=8)
        change = images - start[:1]
        change = change / jnp.maximum(jnp.linalg.norm(change, axis=1, keepdims=True), 1e-12)
        alike = pair_mean(jnp.abs(change @ change.T))
        return {"preferred": kept, "preferred_alike": jnp.clip(alike, 0.0, 1.0)}


def smoothed(x: Float[Array, "m pixel"], share: Number) -> Float[Array, "m pixel"]:
    """The images with a share of every pixel spread over its four neighbours; beyond the edge, the
    pixel itself stands for a neighbour."""
    images = square_images(x)
    padded = jnp.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    around = padded[:, :-2, 1:-1] + padded[:, 2:, 1:-1] + padded[:, 1:-1, :-2] + padded[:, 1:-1, 2:]
    return ((1 - share) * images + share / 4 * around).reshape(x.shape)
