"""Call a Python function from a compiled program, without losing digits."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array


def called(function: Callable[..., np.ndarray], result: jax.ShapeDtypeStruct, *given: Any) -> Array:
    """The result of a function that is called when the program runs.

    XLA calls it in a thread of its own, where JAX may cut numbers of 64 bits to 32, whatever the
    precision of the program. Such numbers therefore pass as pairs of 32-bit words.
    """
    given = tuple(map(jnp.asarray, given))
    result = jax.ShapeDtypeStruct(result.shape, jax.dtypes.canonicalize_dtype(result.dtype))
    wide = [np.dtype(array.dtype).itemsize == 8 for array in given]
    kinds = [np.dtype(array.dtype) for array in given]

    def in_words(*arrived: Any) -> np.ndarray:
        arrays = [
            np.ascontiguousarray(array).view(kind)[..., 0] if cut else np.asarray(array)
            for array, kind, cut in zip(arrived, kinds, wide, strict=True)
        ]
        value = np.ascontiguousarray(function(*arrays), result.dtype)
        return value[..., None].view(np.uint32) if value.itemsize == 8 else value

    passed = [
        jax.lax.bitcast_convert_type(array, jnp.uint32) if cut else array
        for array, cut in zip(given, wide, strict=True)
    ]
    if np.dtype(result.dtype).itemsize != 8:
        return jax.pure_callback(in_words, result, *passed, vmap_method="sequential")
    words = jax.ShapeDtypeStruct((*result.shape, 2), np.uint32)
    value = jax.pure_callback(in_words, words, *passed, vmap_method="sequential")
    return jax.lax.bitcast_convert_type(value, result.dtype)
