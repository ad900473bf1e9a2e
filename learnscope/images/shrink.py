"""Images with fewer pixels."""

import numpy as np

from learnscope.errors import refuse_value


def shrunk(images: np.ndarray, by: int, at: int, owner: str) -> np.ndarray:
    """Average `by` x `by` pixels to one; the axes `at` and `at + 1` are height and width.

    >>> shrunk(np.arange(16, dtype=np.uint8).reshape(1, 4, 4), 2, 1, "Images").tolist()
    [[[2, 4], [10, 12]]]
    """
    if by == 1:
        return images
    high, wide = images.shape[at] // by, images.shape[at + 1] // by
    if min(high, wide) < 1:
        refuse_value(f"{owner}.shrink", by, "no pixel of the images would be left")
    before, after = images.shape[:at], images.shape[at + 2 :]
    even = images[(slice(None),) * at + (slice(high * by), slice(wide * by))]
    blocks = even.reshape(*before, high, by, wide, by, *after)
    return np.rint(blocks.mean((at + 1, at + 3), dtype=np.float32)).astype(np.uint8)
