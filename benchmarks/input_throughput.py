"""How fast do images come in, over a plain NumPy loop? And does a thread hide it behind the work?

Batches of `--batch` from `--images` random images of 32 x 32 x 3 bytes, in random order, scaled to
[0, 1]; plain, and augmented (crop, flip, jitter, grey, blur: one view). NumPy's augmentation is the
loop over images that one would write: a crop by bilinear weights, a mirror, colours, a blur. Each
batch is then used by a step of plain gradient descent on LeNet5 (`--work 0`: by nothing but a sum).
Prints images per second and ratios; one thread for computing, interleaved, best of `--repeats`.
With PyTorch (`pip install torch==2.13.0`), its DataLoader (no workers, no augmentation) too.

    python benchmarks/input_throughput.py
"""

import argparse
import os
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import jax.numpy as jnp
import numpy as np

import learnscope as ls
from learnscope.rules.losses import loss_of

AUGMENT = ls.data.Augment(blur=1.0)
NET = ls.nets.LeNet5()


def numpy_batches(images, labels, batch, augmented):
    """What one would otherwise write."""
    draw = np.random.default_rng(0)
    order = draw.permutation(len(images))
    for start in range(0, len(order) - batch + 1, batch):
        at = order[start : start + batch]
        x = images[at].astype(np.float32) / 255
        if augmented:
            x = np.stack([numpy_view(draw, image) for image in x])
        yield jnp.asarray(x), jnp.asarray(labels[at])


def numpy_view(draw, image):
    """The same view as `Augment`'s, image by image."""
    size = image.shape[0]
    area = draw.uniform(0.2, 1)
    widest = -np.log(max(area, 0.75))
    ratio = np.exp(draw.uniform(-widest, widest))
    high, wide = np.sqrt(area * ratio), np.sqrt(area / ratio)
    for axis, share in ((0, high), (1, wide)):
        at = size * (draw.uniform() * (1 - share) + share * (np.arange(size) + 0.5) / size) - 0.5
        at = np.clip(at, 0, size - 1)
        below = np.minimum(at.astype(int), size - 2)
        part = (at - below).astype(np.float32).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        one, other = (np.take(image, below + k, axis) for k in (0, 1))
        image = one * (1 - part) + other * part
    image = image[:, ::-1] if draw.uniform() < 0.5 else image
    luma = np.array([0.299, 0.587, 0.114], np.float32)
    bright, contrast, saturation = draw.uniform(0.6, 1.4, 3).astype(np.float32)
    grey = (image @ luma)[..., None]
    image = grey + (0 if draw.uniform() < 0.1 else saturation) * (image - grey)
    mean = (image.mean((0, 1)) * luma).sum()
    image = bright * (mean + contrast * (image - mean))
    width = max(draw.uniform(), 1e-3)
    reach = np.arange(-3, 4)
    kernel = np.exp(-(reach**2) / (2 * width**2)).astype(np.float32)
    kernel /= kernel.sum()
    for axis in (0, 1):
        padded = np.pad(image, [(3, 3) if a == axis else (0, 0) for a in range(3)], mode="edge")
        image = sum(w * np.take(padded, np.arange(size) + k, axis) for k, w in enumerate(kernel))
    return image


def torch_batches(images, labels, batch):
    import torch

    torch.set_num_threads(1)
    data = torch.utils.data.TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
    for x, y in torch.utils.data.DataLoader(data, batch, shuffle=True, drop_last=True):
        yield jnp.asarray((x.float() / 255).numpy()), jnp.asarray(y.numpy())


def worker(work: int):
    """What is done with a batch."""
    params = NET.layers(jax.random.key(0), (32, 32, 3))

    @jax.jit
    def step(params, x, y):
        slope = jax.grad(lambda p: loss_of("logistic", NET(p, x), y).mean())(params)
        return jax.tree.map(lambda p, s: p - 0.01 * s, params, slope)

    def use(batches):
        now, total = params, 0.0
        for x, y in batches:
            if work:
                now = jax.block_until_ready(step(now, x, y))
            else:
                total += float(x.sum())

    return use


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--work", type=int, default=1)
    asked = parser.parse_args()
    draw = np.random.default_rng(1)
    images = draw.integers(0, 256, (asked.images, 32, 32, 3), np.uint8)
    labels = draw.integers(0, 10, asked.images)
    key = jax.random.key(0)

    def ours(ahead, augment):
        return lambda: ls.data.stream(images, labels, asked.batch, key, ahead, augment)

    kinds = {"plain": (False, None), "augmented": (True, AUGMENT.each)}
    ways = {
        kind: {
            "NumPy": lambda a=augmented: numpy_batches(images, labels, asked.batch, a),
            "without prefetch": ours(0, augment),
            "with prefetch": ours(2, augment),
        }
        for kind, (augmented, augment) in kinds.items()
    }
    try:
        import torch  # noqa: F401

        ways["plain"]["PyTorch"] = lambda: torch_batches(images, labels, asked.batch)
    except ImportError:
        print("PyTorch is not installed: without it.")
    use = worker(asked.work)
    seen = asked.images // asked.batch * asked.batch
    for kind, loaders in ways.items():
        for batches in loaders.values():
            use(batches())  # compiled once, before anything is timed
        best = dict.fromkeys(loaders, np.inf)
        for _ in range(asked.repeats):
            for name, batches in loaders.items():
                start = time.perf_counter()
                use(batches())
                best[name] = min(best[name], time.perf_counter() - start)
        for name, seconds in best.items():
            print(
                f"{kind}, {name}: {seen / seconds:,.0f} images/s, {best['NumPy'] / seconds:.2f} x "
                "NumPy"
            )


if __name__ == "__main__":
    main()
