"""Random views of images: crop, flip, colour, blur."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data.square import square_images
from learnscope.data.views import AbstractViews, Pair
from learnscope.part import AbstractPart, Number, number

Image = Float[Array, "height width channel"]
_NARROWEST = 3 / 4  # height over width of a crop, or its inverse
_HUE = 1 / 4  # of the jitter, as a share of a full turn
_LUMA = (0.299, 0.587, 0.114)  # how bright red, green and blue are (ITU-R BT.601)
# Two axes of colour at right angles to grey, which a turn of the hue mixes.
_FIRST = (2 / 6**0.5, -1 / 6**0.5, -1 / 6**0.5)
_SECOND = (0.0, 1 / 2**0.5, -1 / 2**0.5)


class AbstractAugment(AbstractViews, AbstractPart):
    """Random views of images: one of one image is written, the library does the rest."""

    @abstractmethod
    def view(self, key: Key[Array, ""], image: Image) -> Image:
        """A random view of one image, of its shape."""

    def each(self, key: Key[Array, ""], x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        """A view of every image, in the shape that they came in (rows of pixels or images)."""
        images = square_images(x)
        keys = jax.random.split(key, images.shape[0])
        return jax.vmap(self.view)(keys, images).reshape(x.shape)

    def __call__(self, key: Key[Array, ""], x: Float[Array, "n ..."]) -> Pair:
        one, other = jax.random.split(key)
        return self.each(one, x), self.each(other, x)


class Augment(AbstractAugment):
    r"""Views as in SimCLR (Chen et al. 2020), with the settings that Ermolov et al. (2021) and Wen
    and Li (2022) use on CIFAR; blur is theirs on larger images.

    | what is random | argument |
    |---|---|
    | a part of the image, of an area from `crop` to 1, as large as the image again | `crop` (1: whole) |
    | mirrored, with this probability | `flip` |
    | brightness, contrast, saturation by factors within 1 ± this; hue turned by up to a quarter of it | `jitter` |
    | grey, with this probability | `grey` |
    | blurred by a Gaussian of up to so many pixels | `blur` |

    Crop, flip and blur are linear and separable, and so are colours: a view of the image $X$ is
    $R X C^T M$ with a matrix for rows, one for columns and one for colours, which are small products
    instead of gathers. Pixels may be scaled in any way; they are not cut off at a largest value.

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
        draws = jax.random.uniform(key, (11,))
        high, wide = self._part(draws[0], draws[1])
        blur = self.blur * draws[2]
        mirrored = draws[3] < self.flip
        rows = resampling(height, high, draws[4], jnp.asarray(False), blur)
        columns = resampling(width, wide, draws[5], mirrored, blur)
        across = rows @ image.reshape(height, -1)
        seen = jnp.einsum("vw,hwc->hvc", columns, across.reshape(height, width, channels))
        factors = 1 + self.jitter * (2 * draws[6:9] - 1)
        if channels == 3:
            seen = seen @ self._colours(factors[0], draws[9], draws[10] < self.grey)
        # Contrast is about the image's mean brightness; brightness about 0.
        luma = jnp.asarray(_LUMA if channels == 3 else (1.0,), seen.dtype)
        mean = (seen.mean((0, 1)) * luma).sum()
        return factors[1] * (mean + factors[2] * (seen - mean))

    def _part(self, area: Array, ratio: Array) -> tuple[Array, Array]:
        """Height and width of a crop, as shares: of a random area, as narrow as fits."""
        area = self.crop + (1 - self.crop) * area
        widest = -jnp.log(jnp.maximum(area, _NARROWEST))
        ratio = jnp.exp(widest * (2 * ratio - 1))
        return jnp.sqrt(area * ratio), jnp.sqrt(area / ratio)

    def _colours(self, saturation: Array, hue: Array, is_grey: Array) -> Float[Array, "3 3"]:
        """Colours of a pixel (a row) times this: hue turned, saturation changed, or grey."""
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
    size: int, share: Array, place: Array, mirrored: Array, blur: Array
) -> Float[Array, "size size"]:
    """The matrix that takes a row of pixels to a part of it, as long as the whole: linear between
    pixels, mirrored or not, blurred by a Gaussian of a standard deviation in pixels (0: not)."""
    at = (jnp.arange(size) + 0.5) / size
    at = jnp.where(mirrored, 1 - at, at)
    at = size * (place * (1 - share) + share * at) - 0.5
    at = jnp.clip(at, 0, size - 1)
    pixels = jnp.arange(size).astype(at.dtype)
    linear = jnp.maximum(1 - jnp.abs(at[:, None] - pixels[None]), 0.0)
    apart = (pixels[:, None] - pixels[None]) ** 2
    width = jnp.maximum(blur, 1e-3)  # so narrow that it is the identity, without dividing by 0
    weights = jnp.exp(-apart / (2 * width**2))
    return (weights / weights.sum(1, keepdims=True)) @ linear
