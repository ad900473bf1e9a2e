"""Batches of images, prepared in a background thread."""

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from learnscope.errors import BadInput, refuse_value

Views = Callable[[Key[Array, ""], Array], Any]


class Stream(Iterator[tuple[Any, Array]]):
    """An iterator over batches (x, y), made by `stream`; `close` ends it early. A stream that goes
    out of use ends its thread, too."""

    def __init__(self, batches: Iterator[tuple[Any, Array]], ahead: int):
        self._batches, self._ready = batches, deque[Future[Any]]()
        self._thread = ThreadPoolExecutor(1) if ahead else None
        for _ in range(ahead):
            self._ask()

    def _ask(self) -> None:
        assert self._thread is not None
        self._ready.append(self._thread.submit(next, self._batches, None))

    def __next__(self) -> tuple[Any, Array]:
        if self._thread is None:
            return next(self._batches)
        try:
            batch = self._ready.popleft().result() if self._ready else None
        except BaseException:
            self.close()
            raise
        if batch is None:
            self.close()
            raise StopIteration
        self._ask()
        return batch

    def close(self) -> None:
        """End the stream and its thread."""
        self._ready.clear()
        if self._thread is None:
            self._batches = iter(())
        else:
            self._thread.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def stream(
    images: np.ndarray,
    labels: np.ndarray,
    batch: int,
    key: Key[Array, ""],
    ahead: int = 2,
    augment: Views | None = None,
    passes: int | None = 1,
) -> Stream:
    """Batches (x, y) of images in a random order. A thread puts `ahead` batches on the device in
    advance (0: no thread).

    Every image is in one batch per pass, except those left over after the last full batch. `passes`
    is the number of passes (none: without end). `images` may be memory-mapped: only one batch is
    read at a time. Bytes are scaled to [0, 1] on the device; other numbers are unchanged. `augment`
    is a function of a key and a batch that runs on the device too: `Augment()` makes two views, x =
    (one, other), and `Augment().each` one. The batches depend on the key, not on `ahead`. The
    iterator raises errors of the thread.

    >>> import jax, learnscope as ls
    >>> images, labels, *_ = ls.data.load_images("digits")
    >>> with ls.data.stream(images, labels, batch=500, key=jax.random.key(0)) as batches:
    ...     print([x.shape for x, y in batches])
    [(500, 8, 8), (500, 8, 8), (500, 8, 8)]
    """
    if len(images) != len(labels):
        raise BadInput(f"there are {len(images)} images and {len(labels)} labels.")
    if not 1 <= batch <= len(images):
        refuse_value("batch", batch, f"it must be from 1 to {len(images)}, the number of images")
    if ahead < 0 or (passes is not None and passes < 1):
        raise BadInput(f"ahead = {ahead} must be at least 0, and passes = {passes} at least 1.")
    return Stream(_batches(images, labels, batch, key, augment, passes), ahead)


def _batches(
    images: np.ndarray, labels: np.ndarray, batch: int, key: Key[Array, ""],
    augment: Views | None, passes: int | None,
) -> Iterator[tuple[Any, Array]]:  # fmt: skip
    seeds = np.asarray(jax.random.key_data(key)).ravel().tolist()
    for number in itertools.count() if passes is None else range(passes):
        order = np.random.default_rng([*seeds, number]).permutation(len(images))
        pass_key = jax.random.fold_in(key, number)
        for count, start in enumerate(range(0, len(order) - batch + 1, batch)):
            at = order[start : start + batch]
            x, y = jax.device_put((_at(images, at), np.asarray(labels[at])))
            yield _prepared(augment, jax.random.fold_in(pass_key, count), x), y


def _at(images: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The images at `at`; a memory map is read in the order of the file."""
    if not isinstance(images, np.memmap):
        return images[at]
    places = np.argsort(at)
    rows = np.empty((len(at), *images.shape[1:]), images.dtype)
    rows[places] = images[at[places]]
    return rows


@eqx.filter_jit  # at module level: all streams share the compiled program
def _prepared(augment: Views | None, key: Key[Array, ""], x: Array) -> Any:
    if x.dtype == np.uint8:
        x = x.astype(jnp.result_type(float)) / 255
    if augment is None:
        return x
    return augment(key, x if x.ndim == 4 else x[..., None])
