"""Batches of many images, made ready on a thread of their own while the last one is used."""

import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from learnscope.errors import BadInput

Views = Callable[[Key[Array, ""], Array], Any]
_WAIT = 0.1  # seconds between two looks at whether the reader has stopped


class Stream(Iterator[tuple[Any, Array]]):
    """An iterator over batches (x, y), as `stream` makes it; `close` ends it early."""

    def __init__(self, batches: Callable[[], Iterator[Any]], ahead: int):
        self._stop = threading.Event()
        self._done = False
        if ahead == 0:
            self._made = batches()
            return
        self._made = None
        self._ready: queue.Queue = queue.Queue(ahead)
        # The thread knows the queue but not this object, so that one that is dropped is closed.
        arguments = (batches, self._ready, self._stop)
        self._thread = threading.Thread(target=_fill, args=arguments, daemon=True)
        self._end = weakref.finalize(self, self._stop.set)
        self._thread.start()

    def __next__(self) -> tuple[Any, Array]:
        if self._done:
            raise StopIteration
        if self._made is not None:
            return next(self._made)
        kind, value = self._ready.get()
        if kind == "batch":
            return value
        self.close()
        if kind == "error":
            raise value
        raise StopIteration

    def close(self) -> None:
        """No more batches; the thread ends."""
        self._done = True
        self._stop.set()
        if self._made is None and self._thread is not threading.current_thread():
            self._thread.join()

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
    """Batches (x, y) of images in a random order, `ahead` of them on the device before they are
    asked for (0: made when they are asked for, without a thread).

    Every image is in one batch of a pass, but for those left over after the last full one; `passes`
    none goes on without end. `images` may be memory-mapped: only a batch of it is read at a time.
    Bytes are scaled to [0, 1] on the device; other numbers stay as they are. `augment` is a function
    of a key and of a batch that is computed there too: `Augment()` makes two views, x = (one,
    other), and `Augment().each` one. The same key gives the same batches whatever `ahead` is. An
    error on the thread is raised by the iterator.

    >>> import jax, learnscope as ls
    >>> images, labels, *_ = ls.data.load_images("digits")
    >>> with ls.data.stream(images, labels, batch=500, key=jax.random.key(0)) as batches:
    ...     print([x.shape for x, y in batches])
    [(500, 8, 8), (500, 8, 8), (500, 8, 8)]
    """  # noqa: E501
    if len(images) != len(labels):
        raise BadInput(f"there are {len(images)} images and {len(labels)} labels.")
    if not 1 <= batch <= len(images):
        raise BadInput(
            f"batch = {batch} is not allowed: it must be from 1 to {len(images)}, the images."
        )
    if ahead < 0 or (passes is not None and passes < 1):
        raise BadInput(f"ahead = {ahead} must be at least 0, and passes = {passes} at least 1.")
    return Stream(partial(_batches, images, labels, batch, key, augment, passes), ahead)


def _batches(
    images: np.ndarray,
    labels: np.ndarray,
    batch: int,
    key: Key[Array, ""],
    augment: Views | None,
    passes: int | None,
) -> Iterator[tuple[Any, Array]]:
    seeds = np.asarray(jax.random.key_data(key)).ravel().tolist()
    number = 0
    while passes is None or number < passes:
        order = np.random.default_rng([*seeds, number]).permutation(len(images))
        pass_key = jax.random.fold_in(key, number)
        for count, start in enumerate(range(0, len(order) - batch + 1, batch)):
            at = order[start : start + batch]
            x, y = jax.device_put((_gathered(images, at), np.asarray(labels[at])))
            yield _made_ready(augment, jax.random.fold_in(pass_key, count), x), y
        number += 1


def _gathered(images: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Some of the images; those of a memory map in the order of the file, from front to back."""
    if not isinstance(images, np.memmap):
        return images[at]
    places = np.argsort(at)
    rows = np.empty((len(at), *images.shape[1:]), images.dtype)
    rows[places] = images[at[places]]
    return rows


@eqx.filter_jit  # once for all streams: what is compiled for one serves the next
def _made_ready(augment: Views | None, key: Key[Array, ""], x: Array) -> Any:
    if x.dtype == np.uint8:
        x = x.astype(jnp.result_type(float)) / 255
    if augment is None:
        return x
    return augment(key, x if x.ndim == 4 else x[..., None])


def _fill(batches: Callable[[], Iterator[Any]], ready: queue.Queue, stop: threading.Event) -> None:
    """What the thread does: make batches until there are no more, or nobody wants them."""

    def handed_over(item: tuple[str, Any]) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=_WAIT)
            except queue.Full:
                continue
            return True
        return False

    try:
        for made in batches():
            if not handed_over(("batch", made)):
                return
        handed_over(("end", None))
    except BaseException as error:  # the caller is to see whatever happened
        handed_over(("error", error))
