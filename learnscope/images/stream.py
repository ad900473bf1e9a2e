"""Batches of images, prepared in a background thread."""

import itertools
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

from learnscope.errors import BadInput, refuse_value

Views = Callable[[Key[Array, ""], Array], Any]
_WAIT = 0.1  # seconds between two checks whether the stream was closed


class Stream(Iterator[tuple[Any, Array]]):
    """An iterator over batches (x, y), made by `stream`; `close` ends it early."""

    def __init__(self, batches: Callable[[], Iterator[Any]], ahead: int):
        self._stop = threading.Event()
        self._done = False
        if ahead == 0:
            self._made = batches()
            return
        self._made = None
        self._ready: queue.Queue = queue.Queue(ahead)
        # The thread does not refer to this object: a stream that goes out of use is closed.
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
        """End the stream and its thread."""
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
    return Stream(partial(_batches, images, labels, batch, key, augment, passes), ahead)


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


def _fill(batches: Callable[[], Iterator[Any]], ready: queue.Queue, stop: threading.Event) -> None:
    """The thread: make batches until there are no more, or the stream is closed."""

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
    except BaseException as error:  # raised again by the iterator
        handed_over(("error", error))
