"""Random views of images: crop, flip, colour, blur."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data.views import AbstractViews, Pair
from learnscope.part import AbstractPart, Number, number
from learnscope.space import random
from learnscope.space.image_shape import square_images

Image = Float[Array, "height width channel"]
_NARROWEST = 3 / 4  # height over width of a crop, or its inverse
_HUE = 1 / 4  # largest change of hue, in full turns, per unit of jitter
_LUMA = (0.299, 0.587, 0.114)  # brightness of red, green and blue (ITU-R BT.601)
# Two axes of colour orthogonal to grey: a change of hue rotates them.
_FIRST = (2 / 6**0.5, -1 / 6**0.5, -1 / 6**0.5)
_SECOND = (0.0, 1 / 2**0.5, -1 / 2**0.5)


class AbstractAugment(AbstractViews, AbstractPart):
    """Random views of images. A subclass writes `view`, for one image; the library maps it."""

    @abstractmethod
    def view(self, key: Key[Array, ""], image: Image) -> Image:
        """A random view of one image, of its shape."""

    def each(self, key: Key[Array, ""], x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        """A view of every image, in the shape of `x` (rows of pixels or images)."""
        images = square_images(x)
        keys = jax.random.split(key, images.shape[0])
        return jax.vmap(self.view)(keys, images).reshape(x.shape)

    def __call__(self, key: Key[Array, ""], x: Float[Array, "n ..."]) -> Pair:
        one, other = jax.random.split(key)
        return self.each(one, x), self.each(other, x)


class Augment(AbstractAugment):
    r"""Views as in SimCLR (Chen et al. 2020), with the settings of Ermolov et al. (2021) and Wen
    and Li (2022) for CIFAR. They blur larger images only.

    | random change | argument |
    |---|---|
    | crop to a fraction of the area, from `crop` to 1, then resize | `crop` (1: no crop) |
    | probability of a mirror image | `flip` |
    | brightness, contrast, saturation: factors within 1 ± `jitter`; hue: up to `jitter` / 4 turns | `jitter` |
    | probability of grey | `grey` |
    | largest standard deviation of a Gaussian blur, in pixels | `blur` |

    All changes of place are linear and separable, and so are changes of colour: a view of the image
    $X$ is $R X C^T M$ with a matrix for rows, one for columns and one for colours. These are small
    products instead of gathers. Pixels may have any scale; they are not clipped.

    >>> import jax, jax.numpy as jnp
    >>> one, other = Augment()(jax.random.key(0), jnp.ones((5, 3072)))
    >>> one.shape, bool((one != other).any())
    ((5, 3072), True)
    """  # noqa: E501

    crop: Number = number(0.2, above=0, high=1)
    flip: Number = number(0.5, low=0, high=1)
    jitter: Number = number(0.4, low=0, high=1)
    grey: Number = number(0.1, low=0, high=1)
    blur: Number = number(0.0, low=0)

    def view(self, key: Key[Array, ""], image: Image) -> Image:
        height, width, channels = image.shape
        draws = random.uniform(key, (11,))
        high, wide = self._crop_size(draws[0], draws[1])
        blur = self.blur * draws[2]
        mirrored = draws[3] < self.flip
        rows = resampling(height, high, draws[4], jnp.asarray(False), blur)
        columns = resampling(width, wide, draws[5], mirrored, blur)
        across = rows @ image.reshape(height, -1)
        seen = jnp.einsum("vw,hwc->hvc", columns, across.reshape(height, width, channels))
        factors = 1 + self.jitter * (2 * draws[6:9] - 1)
        if channels == 3:
            seen = seen @ self._colours(factors[0], draws[9], draws[10] < self.grey)
        # Contrast scales deviations from the mean brightness; brightness scales everything.
        luma = jnp.asarray(_LUMA if channels == 3 else (1.0,), seen.dtype)
        mean = (seen.mean((0, 1)) * luma).sum()
        return factors[1] * (mean + factors[2] * (seen - mean))

    def _crop_size(self, area: Array, ratio: Array) -> tuple[Array, Array]:
        """Height and width of a random crop, as fractions of the image's."""
        area = self.crop + (1 - self.crop) * area
        widest = -jnp.log(jnp.maximum(area, _NARROWEST))
        ratio = jnp.exp(widest * (2 * ratio - 1))
        return jnp.sqrt(area * ratio), jnp.sqrt(area / ratio)

    def _colours(self, saturation: Array, hue: Array, is_grey: Array) -> Float[Array, "3 3"]:
        """The matrix that multiplies a pixel's colours (a row): hue and saturation, or grey."""
        angle = 2 * jnp.pi * _HUE * self.jitter * (2 * hue - 1)
        first, second, luma = (jnp.asarray(v, angle.dtype) for v in (_FIRST, _SECOND, _LUMA))
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        turn = jnp.full((3, 3), 1 / 3, angle.dtype)
        turn = turn + jnp.outer(first, cos * first + sin * second)
        turn = turn + jnp.outer(second, cos * second - sin * first)
        to_grey = jnp.outer(luma, jnp.ones(3, angle.dtype))
        less = saturation * jnp.eye(3, dtype=angle.dtype) + (1 - saturation) * to_grey
        return jnp.where(is_grey, to_grey, turn @ less)


def resampling(
    size: int, fraction: Array, place: Array, mirrored: Array, blur: Array
) -> Float[Array, "size size"]:
    """The matrix that crops a row of pixels to a fraction and resizes it to the full length by
    linear interpolation; mirrored or not, with a Gaussian `blur` (in pixels; 0: none)."""
    at = (jnp.arange(size) + 0.5) / size
    at = jnp.where(mirrored, 1 - at, at)
    at = size * (place * (1 - fraction) + fraction * at) - 0.5
    at = jnp.clip(at, 0, size - 1)
    pixels = jnp.arange(size).astype(at.dtype)
    linear = jnp.maximum(1 - jnp.abs(at[:, None] - pixels[None]), 0.0)
    apart = (pixels[:, None] - pixels[None]) ** 2
    width = jnp.maximum(blur, 1e-3)  # at 1e-3 it is the identity, without a division by 0
    weights = jnp.exp(-apart / (2 * width**2))
    return (weights / weights.sum(1, keepdims=True)) @ linear
