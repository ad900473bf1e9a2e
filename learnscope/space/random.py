"""All random variables of learnscope: a key is the same draw in single and double precision.

Numbers are drawn in single precision (integers in 32 bits) and cast: double precision then computes
the same run with less rounding. A comparison with a number that is itself rounded, such as a
probability, may come out differently once in a million draws. `jax.random` draws other bits in
other precisions, and is used here alone; outside, it makes keys.

Normal variables come at a third of the cost of `jax.random.normal`, which is half of a short run.
`jax.random.normal` hashes a whole Threefry block for every number and inverts the error function.
Here both words of a block are used, as the radius and the angle of Box and Muller (1958):
sqrt(-2 log u) (cos 2 pi v, sin 2 pi v) are two independent normals. The hash is the same
Threefry-2x32 with 20 rounds (Salmon et al. 2011): streams are as independent as those of JAX.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, UInt32

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def normal(key: Key[Array, ""], shape: tuple[int, ...]) -> Float[Array, "*shape"]:
    """Standard normal variables.

    >>> import jax
    >>> draws = normal(jax.random.key(0), (300, 101))
    >>> draws.shape, bool(abs(draws.mean()) < 0.02), bool(abs(draws.std() - 1) < 0.02)
    ((300, 101), True, True)
    """
    size = math.prod(shape)
    return _normals(key, -(-size // 2))[:size].reshape(shape).astype(float)


# Traced once for each count: a draw is traced several times before it is first computed.
@functools.partial(jax.jit, static_argnums=1)
def _normals(key: Key[Array, ""], count: int) -> Float[Array, " two_n"]:
    return _normal(*_uniform(key, count))


def normal_and_uniform(
    key: Key[Array, ""], normals: int, uniforms: int
) -> tuple[Float[Array, " n"], Float[Array, " k"]]:
    """Standard normal variables, and uniform ones in (0, 1], from one hash: for short steps."""
    cut, rest = -(-normals // 2), -(-uniforms // 2)
    first, second = _uniform(key, cut + rest)
    normal = _normal(first[:cut], second[:cut])[:normals]
    uniform = jnp.concatenate([first[cut:], second[cut:]])[:uniforms]
    return normal.astype(float), uniform.astype(float)


def _normal(first: Float[Array, " n"], second: Float[Array, " n"]) -> Float[Array, " two_n"]:
    radius = jnp.sqrt(-2 * jnp.log(first))
    cosine, sine = _turn(second)
    return jnp.concatenate([radius * cosine, radius * sine])


def inverse_normal(key: Key[Array, ""], shape: tuple[int, ...]) -> Float[Array, "*shape"]:
    """Standard normal variables as `jax.random.normal` draws them, for weights of deep networks."""
    return jax.random.normal(key, shape, np.float32).astype(float)


def uniform(
    key: Key[Array, ""], shape: tuple[int, ...] = (), low: float = 0.0, high: float = 1.0
) -> Float[Array, "*shape"]:
    """Uniform variables in [low, high), of 23 bits.

    >>> import jax
    >>> 2 <= float(uniform(jax.random.key(0), low=2, high=3)) < 3
    True
    """
    unit = jax.random.uniform(key, shape, np.float32).astype(float)
    return unit if (low, high) == (0, 1) else unit * (high - low) + low


def signs(key: Key[Array, ""], shape: tuple[int, ...] = ()) -> Float[Array, "*shape"]:
    """+1 and -1 with equal probabilities."""
    return jnp.where(uniform(key, shape) < 0.5, 1.0, -1.0)


def integers(key: Key[Array, ""], shape: tuple[int, ...], below: int) -> Int[Array, "*shape"]:
    """Uniform integers of 0, ..., below - 1."""
    return jax.random.randint(key, shape, 0, below, np.int32)


def permutation(key: Key[Array, ""], count: int) -> Int[Array, " count"]:
    """A uniformly random order of 0, ..., count - 1."""
    return jax.random.permutation(key, count)


def _uniform(key: Key[Array, ""], count: int) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Two uniform variables in (0, 1] per block, of 32 bits, so that normals reach 6.7 standard
    deviations. They are never 0."""
    pair = [(word.astype(jnp.float32) + 0.5) * 2.0**-32 for word in threefry(key, count)]
    # XLA would hash again for each of three uses, since integer operations count as cheap. A
    # division of complex numbers counts as expensive: its result is stored. This one divides by 1.
    one = jax.random.key_data(key)[0].astype(jnp.float32) * 0.0 + 1.0
    stored = jax.lax.complex(*pair) / jax.lax.complex(one, 0.0 * one)
    return stored.real, stored.imag


def threefry(key: Key[Array, ""], count: int) -> tuple[UInt32[Array, " n"], UInt32[Array, " n"]]:
    """The two words of Threefry-2x32 at counters 0, 1, ..., as one expression without loops."""
    return _hashed(key, jnp.arange(count, dtype=jnp.uint32))


def fold_in(key: Key[Array, ""], number: Int[Array, ""]) -> Key[Array, ""]:
    """`jax.random.fold_in` of a number from 0 on, bit for bit, without its loop: that took a third
    of a short step."""
    words = _hashed(key, jnp.asarray(number).astype(jnp.uint32))
    return jax.random.wrap_key_data(jnp.stack(words))


def _hashed(key: Key[Array, ""], counters: UInt32[Array, "*n"]) -> tuple[Array, Array]:
    left, right = jax.random.key_data(key)
    keys = (left, right, left ^ right ^ _PARITY)
    a = jnp.broadcast_to(left, counters.shape)
    b = counters + right
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            a = a + b
            b = a ^ ((b << np.uint32(rotation)) | (b >> np.uint32(32 - rotation)))
        a = a + keys[(group + 1) % 3]
        b = b + keys[(group + 2) % 3] + np.uint32(group + 1)
    return a, b


def _turn(turns: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Cosine and sine of an angle in full turns: quarter turns by signs, the rest by Taylor's
    polynomials on [-pi/4, pi/4], exact to float32."""
    quarters = 4 * turns
    quarter = jnp.floor(quarters)
    x = (quarters - quarter - 0.5) * np.float32(np.pi / 2)
    s = x * x
    sine = x * (1 + s * (-1 / 6 + s * (1 / 120 + s * (-1 / 5040 + s / 362880))))
    cosine = 1 + s * (-1 / 2 + s * (1 / 24 + s * (-1 / 720 + s / 40320)))
    odd, later = (quarter == 1) | (quarter == 3), (quarter == 2) | (quarter == 3)
    across, up = jnp.where(odd, -sine, cosine), jnp.where(odd, cosine, sine)
    return jnp.where(later, -across, across), jnp.where(later, -up, up)


def distinct(key: Key[Array, ""], size: int, count: int) -> Int[Array, " count"]:
    """`count` different numbers of 0, ..., size - 1, all choices equally likely.

    `jax.random.choice` sorts all `size` numbers. Here a few more than `count` numbers are drawn
    with repetition, and the first `count` different ones are the result. There are too few of them
    less than once in 10^12 draws; a number then occurs twice.

    >>> import jax
    >>> sorted(distinct(jax.random.key(0), 5, 5).tolist())
    [0, 1, 2, 3, 4]
    """
    # `mean` draws with repetition have `count` different numbers in expectation.
    mean = -size * math.log1p(-min(count / size, 0.5))
    drawn = int(mean + 8 * math.sqrt(mean - count) + 8) if count <= size / 8 else size
    if drawn > size / 4:
        return permutation(key, size)[:count]
    values = integers(key, (drawn,), size)
    order = jnp.argsort(values, stable=True)
    ordered = values[order]
    again = jnp.concatenate([jnp.zeros(1, bool), ordered[1:] == ordered[:-1]])
    is_again = jnp.zeros(drawn, bool).at[order].set(again)
    return values[jnp.argsort(is_again, stable=True)[:count]]
