"""Signal and noise: one patch is the label times a signal, the other is noise."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data.problem import AbstractData, Problem, Samples, check_batch, mini_batches
from learnscope.part import Number, count, flag, number
from learnscope.space import random
from learnscope.space.frame import Frame


class SignalNoise(AbstractData):
    r"""Two patches: $y\mu$ and $\xi$ (Meng, Cao, Zou 2023, Definition 2.1; Cao et al. 2022).

    The label $y$ is $\pm 1$ with equal probabilities, $\xi \sim N(0, \sigma_p^2 (I -
    \mu\mu^T/\|\mu\|^2))$. The signal is the first patch; a network that treats patches alike sees
    no order. With probability `flip`, the label of an example is $-y$ while its patch stays $y\mu$
    (Kou et al. 2023), in training and in testing: the test error is at least `flip`.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $n$ | `train` |
    | $\|\mu\|$ | `signal` |
    | $\sigma_p$ | `noise` |
    | $p$ | `flip` |

    `orthogonal=False` lets the noise have a component along $\mu$. `batch` is the mini-batch size
    (none: the full batch).

    >>> import jax
    >>> model = SignalNoise(dim=50, train=4, test=3, signal=2.0, noise=0.1)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.x.shape, problem.test.y.shape
    ((4, 2, 50), (3,))
    """

    papers: ClassVar = ("cao2022benign", "kou2023benign", "meng2023pegr")

    dim: Number = number(low=2, high=1e12, whole=True, shape=True)
    train: int = count()
    test: int = count()
    signal: Number = number(low=0)
    noise: Number = number(low=0)
    flip: Number = number(0.0, low=0, high=1)
    orthogonal: bool = flag(True)
    batch: int | None = count(None, optional=True)

    def __check_init__(self):
        super().__check_init__()  # each field first, then limits between them
        check_batch(self, self.train)

    @property
    def compression(self) -> str:
        return "gaussian_rows"

    @property
    def span(self) -> int:
        return 1 + self.train

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        train_key, test_key, label_key, test_label_key = jax.random.split(key, 4)
        axis, frame = frame.axes(1)
        train_noise, frame = frame.gaussian_rows(train_key, self.train)
        test_noise = frame.gaussian_points(test_key, self.test)
        directions = {"signal": self.signal * axis[0]}
        train = self._samples(label_key, train_noise, frame, self.span, hidden=True)
        test = self._samples(test_label_key, test_noise, frame, frame.rank)
        batches = mini_batches(self.batch)
        return Problem(train, test, directions, frame, batches, widths=(1, None))

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        noise_key, label_key = jax.random.split(key)
        noise = problem.frame.gaussian_points(noise_key, 1)
        samples = self._samples(label_key, noise, problem.frame, problem.frame.rank)
        return samples.take(jnp.asarray(0))

    def _samples(
        self, key: Key[Array, ""], normal: Array, frame: Frame, width: int, hidden: bool = False
    ) -> Samples:
        """Examples with given unit noise; compressed patches are cut to `width`. Only training
        examples have their noise as a `hidden` vector; a test example's is its patch."""
        coin, chance = random.uniform(key, (2, normal.shape[0]))
        sign = jnp.where(coin < 0.5, 1.0, -1.0)
        noise = self.noise * (normal.at[:, 0].set(0.0) if self.orthogonal else normal)
        carried = self.signal * sign[:, None]
        if frame.ambient:
            signal_patch = jnp.zeros_like(noise).at[:, :1].set(carried)
            x = jnp.stack([signal_patch, noise], axis=1)
        else:
            x = (carried, noise[:, :width])
        y = jnp.where(chance < self.flip, -sign, sign)
        vectors = {"noise": noise} if hidden else {}
        return Samples(x, y, vectors, {"sign": sign}, aliases=(("noise", 1),) if hidden else ())
