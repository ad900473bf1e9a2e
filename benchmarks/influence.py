"""How long do the influence scores of 60,000 images take, and how much memory?

All scores of eq. (10) for 60,000 images of 28 x 28 in ten classes: MNIST if the environment
variable LEARNSCOPE_DATA names a folder with `mnist/train-images-idx3-ubyte.gz` and its labels,
otherwise synthetic images with its shape, type and share of ink. The yardstick is the definition:
the covariance of the class without the image, computed anew for every image with NumPy. A few
images are measured and extrapolated to all. Both use the same threads; wall-clock seconds, best of
`--repeats`, interleaved.

    python benchmarks/influence.py [--repeats 3] [--sampled 8]
"""

import argparse
import gzip
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

from learnscope.images import influence_scores

COUNT, SIDE, CLASSES = 60_000, 28, 10


def peak() -> float:
    """Peak resident memory of this process in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def mnist(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, SIDE, SIDE)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        return images, np.frombuffer(file.read(), np.uint8, offset=8)


def synthetic() -> tuple[np.ndarray, np.ndarray]:
    """A smooth blob a class, bent along its own 20 directions: a fifth of the pixels is ink."""
    source = np.random.default_rng(0)
    labels = source.integers(0, CLASSES, COUNT).astype(np.uint8)
    images = np.empty((COUNT, SIDE * SIDE), np.uint8)
    for k in range(CLASSES):
        which = np.flatnonzero(labels == k)
        mean, ways = source.normal(size=SIDE * SIDE), source.normal(size=(20, SIDE * SIDE))
        drawn = mean + 0.3 * source.normal(size=(len(which), 20)) @ ways
        images[which] = np.clip(150 * (drawn - 0.8), 0, 255)
    return images.reshape(COUNT, SIDE, SIDE), labels


def by_definition(images: np.ndarray, labels: np.ndarray, i: int) -> float:
    """Eq. (10) for one image, as it is written."""
    rows = images[labels == labels[i]].reshape(-1, SIDE * SIDE).astype(np.float64)
    others = images[(labels == labels[i]) & (np.arange(len(labels)) != i)]
    others = others.reshape(-1, SIDE * SIDE).astype(np.float64)
    norms = [np.linalg.norm(np.cov(some, rowvar=False)) ** 2 for some in (rows, others)]
    return float(norms[0] - norms[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sampled", type=int, default=8)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("LEARNSCOPE_DATA", ".")) / "mnist"
    real = (folder / "train-images-idx3-ubyte.gz").exists()
    images, labels = mnist(folder) if real else synthetic()
    print(f"{'MNIST' if real else 'synthetic'}: {len(images)} images of {SIDE} x {SIDE}, uint8")

    chosen = np.linspace(0, len(images) - 1, arguments.sampled).astype(int)
    before = peak()
    ours = each = np.inf
    scores, expected = np.empty(0), np.empty(0)
    ours_peak = 0.0
    for repeat in range(arguments.repeats):
        start = time.perf_counter()
        scores = influence_scores(images, labels)
        ours = min(ours, time.perf_counter() - start)
        if not repeat:
            ours_peak = peak()
        start = time.perf_counter()
        expected = np.array([by_definition(images, labels, i) for i in chosen])
        # The norm of the whole class is needed once a class only: half of what was measured.
        each = min(each, (time.perf_counter() - start) / len(chosen) / 2)
    error = np.abs(scores[chosen] / expected - 1).max()
    print(f"all scores: {ours:.1f} s (under 20 wanted)")
    print(f"peak memory: {ours_peak:.0f} MB (under 2000 wanted), {before:.0f} MB before")
    total = each * len(images)
    print(
        f"the definition: {each:.3f} s an image ({len(chosen)} measured), {total / 3600:.1f} h for "
        f"all (extrapolated); largest relative difference {error:.0e}, which is rounding in the "
        "definition: it subtracts nearly equal numbers"
    )
    print(f"ratio, the definition (extrapolated) / learnscope: {total / ours:.0f}x")


if __name__ == "__main__":
    main()
