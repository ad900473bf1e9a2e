"""Square images from rows of pixels."""

import math

from jaxtyping import Array, Float

from learnscope.errors import BadInput

Square = Float[Array, "n height width channel"]


def square_images(x: Float[Array, "n ..."]) -> Square:
    """Images (height, width, channel) from rows of pixels; images are returned unchanged. A square
    number of pixels is a grey image, three times a square a colour image.

    >>> import jax.numpy as jnp
    >>> square_images(jnp.ones((2, 784))).shape, square_images(jnp.ones((2, 3072))).shape
    ((2, 28, 28, 1), (2, 32, 32, 3))
    """
    if x.ndim == 4:
        return x
    pixels = x.shape[-1]
    for channels in (1, 3):
        side = math.isqrt(pixels // channels)
        if x.ndim == 2 and channels * side * side == pixels:
            return x.reshape(-1, side, side, channels)
    must = "square, grey or of three colours, as rows of pixels or (height, width, channel)"
    raise BadInput(f"inputs of shape {tuple(x.shape[1:])} are not images: they must be {must}.")
