"""What a neuron likes best: images that are made to excite it."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem, square_images
from learnscope.errors import BadInput
from learnscope.nets import Projection
from learnscope.part import Number, choice, count, number
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import State

_KEY = 0  # of the starting noise, the same for every neuron: only neurons make a difference


class PreferredImages(AbstractProbe):
    r"""Activation maximisation: for each of the first `neurons` outputs (or features), an image
    that is moved from the same noise for `steps` steps of size `rate` times the spread of the test
    pixels along the normalised gradient of the neuron's value, `smooth`ed every time (a share of
    each pixel goes to its neighbours), as in Allen-Zhu and Li (2020) and Wen and Li (2022),
    Figure 5. Each is moved up and down, and the better direction taken relative to the neuron's
    spread on the test images, since outputs have no sign. Batch normalisations use the statistics of
    test images.

    `preferred_alike` is the mean |cosine| of two of the (centred) images: 1 if all neurons like the
    same."""  # noqa: E501

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

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        net, known = state.net, problem.test.x[:200]
        if not isinstance(net, Projection):
            raise BadInput(
                f"the probe {type(self).__name__} needs the net Projection, not "
                f"{type(net).__name__}."
            )
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
        noise = 0.1 * size * jax.random.normal(jax.random.key(_KEY), known.shape[1:], known.dtype)
        start = jnp.tile((known.mean(0) + noise)[None], (2 * neurons, 1))

        def step(_, x):
            slope = jax.grad(lambda x: excitement(x).sum())(x)
            norm = jnp.sqrt((slope**2).mean(1, keepdims=True))
            x = x + self.rate * size * slope / jnp.where(norm > 0, norm, 1.0)
            return smoothed(x, self.smooth)

        found = jax.lax.fori_loop(0, self.steps, step, start)
        reached = (excitement(found) / jnp.tile(jnp.where(spread > 0, spread, 1.0), 2)).reshape(
            2, -1
        )
        better = (reached[1] > reached[0])[:, None]
        images = jnp.where(better, found[neurons:], found[:neurons])
        change = images - start[:1]
        change = change / jnp.maximum(jnp.linalg.norm(change, axis=1, keepdims=True), 1e-12)
        cosines = jnp.abs(change @ change.T)
        alike = (cosines.sum() - jnp.trace(cosines)) / (neurons * (neurons - 1))
        return {"preferred": images, "preferred_alike": jnp.clip(alike, 0.0, 1.0)}


def smoothed(x: Float[Array, "m pixel"], share: Number) -> Float[Array, "m pixel"]:
    """A share of every pixel spread over its four neighbours (those over the edge: itself)."""
    images = square_images(x)
    padded = jnp.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    around = padded[:, :-2, 1:-1] + padded[:, 2:, 1:-1] + padded[:, 1:-1, :-2] + padded[:, 1:-1, 2:]
    return ((1 - share) * images + share / 4 * around).reshape(x.shape)
