"""A mixture of images and other inputs, all labelled by a teacher: a net that learnt the images."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from learnscope.data.problem import AbstractStoredData, Problem, Samples
from learnscope.images.images import Images
from learnscope.nets import AbstractNet
from learnscope.part import Number, count, number, slot
from learnscope.space import Space, random
from learnscope.space.frame import Frame


class TeacherMixture(AbstractStoredData):
    r"""A mixture of images and other inputs (Shi, Wei and Liang 2022, section E.5). A teacher
    learns the images' labels, then labels all inputs, images included.

    A fraction `share` of the `images.train` training inputs is replaced by `other` inputs: images
    of another set, cropped and coloured to the same shape, or (none) normal numbers with the mean
    and variance of the images' pixels. The test examples are all test images and as many other
    inputs. The teacher learns by Adam from all training images, with the regulariser R on all other
    inputs. The mark `other` of an example says whether it is another input; `truth` is the image's
    own label (another input has -1 among classes, 0 among signs).

    | symbol | argument |
    |---|---|
    | $\mathcal{L}$, $\mathcal{U}$ | `images`, `other` |
    | $\alpha$ | `share` |
    | $f$ | `teacher`, with `teacher_rate` and `teacher_steps` |
    | weight of $R$, and $\lambda$ in it (eq. 291) | `weight`, `sharpness` |

    >>> import jax, learnscope as ls
    >>> images = ls.data.Images("digits", train=40, test=10)
    >>> model = TeacherMixture(images, ls.nets.FullyConnected(width=2), teacher_steps=5)
    >>> problem = jax.jit(model.sample)(jax.random.key(0))
    >>> problem.train.x.shape, int(problem.train.marks["other"].sum()), problem.test.size
    ((40, 64), 20, 20)
    """

    papers: ClassVar = ("shi2022theoretical",)

    images: Images = slot(Images)
    teacher: AbstractNet = slot(AbstractNet)
    other: Images | None = slot(Images, None)
    share: Number = number(0.5, low=0, high=1)
    teacher_rate: Number = number(0.001, above=0)
    teacher_steps: int = count(1000)
    teacher_batch: int = count(100)
    weight: Number = number(0.5, low=0)
    sharpness: Number = number(0.5, low=0)

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.images.dim

    @property
    def labels(self) -> int | None:
        return self.images.labels

    @property
    def space(self) -> Space:
        return Space(self.images.space.span, "rotate")

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        image_key, other_key, teacher_key = jax.random.split(key, 3)
        drawn = self.images.sample(image_key)
        train, test = self._others(other_key, drawn)
        signs = self.labels is None
        indices = (drawn.train.y > 0).astype(int) if signs else drawn.train.y
        params = taught(
            self.teacher, drawn, indices, train, teacher_key, steps=self.teacher_steps,
            batch=self.teacher_batch, rate=self.teacher_rate, weight=self.weight,
            sharpness=self.sharpness,
        )  # fmt: skip

        def labelled(x: Array, truth: Array, is_other: Array) -> Samples:
            best = jnp.argmax(class_scores(self.teacher.evaluate(params, x)), axis=1)
            y = (2.0 * best - 1).astype(x.dtype) if signs else best.astype(truth.dtype)
            unknown = jnp.zeros((), truth.dtype) if signs else -jnp.ones((), truth.dtype)
            marks = {"other": is_other, "truth": jnp.where(is_other, unknown, truth)}
            return Samples(x, y, marks=marks)

        size = drawn.train.size
        replaced = jnp.arange(size) < jnp.round(self.share * size)
        mixed = jnp.where(replaced[:, None], train, drawn.train.x)
        learnt = labelled(mixed, drawn.train.y, replaced)
        is_other = jnp.arange(2 * drawn.test.size) >= drawn.test.size
        tests = jnp.concatenate([drawn.test.x, test])
        held = labelled(tests, jnp.tile(drawn.test.y, 2), is_other)
        return Problem(learnt, held, {}, drawn.frame, drawn.batches)

    def _others(self, key: Key[Array, ""], drawn: Problem) -> tuple[Array, Array]:
        """Other inputs: as many as training images, and as many as test images."""
        sizes = drawn.train.size, drawn.test.size
        if self.other is None:
            x = drawn.train.x
            normal = random.normal(key, (sum(sizes), x.shape[1]))
            rows = x.mean() + x.std() * normal
            return rows[: sizes[0]], rows[sizes[0] :]
        other = self.other.replace("train", sizes[0]).replace("test", sizes[1])
        drawn = other.sample(key)
        shapes = (part.source.train[0].shape[1:] for part in (other, self.images))
        old, new = (shape if len(shape) == 3 else (*shape, 1) for shape in shapes)
        return fitted(drawn.train.x, old, new), fitted(drawn.test.x, old, new)


def fitted(
    rows: Float[Array, "n pixels"], old: tuple[int, ...], new: tuple[int, ...]
) -> Float[Array, "n others"]:
    """Images (rows of pixels) of the shape `old` fitted to `new` (height, width, colours): larger
    ones are cropped to the middle, smaller ones padded with their edge; grey is the mean of
    the colours.

    >>> import jax.numpy as jnp
    >>> fitted(jnp.arange(27.0).reshape(1, 27), (3, 3, 3), (1, 1, 1)).tolist()
    [[13.0]]
    """
    images = rows.reshape(-1, *old)
    for axis in (1, 2):
        size, wanted = images.shape[axis], new[axis - 1]
        places = jnp.clip(jnp.arange(wanted) + (size - wanted) // 2, 0, size - 1)
        images = jnp.take(images, places, axis=axis)
    if old[2] != new[2]:
        images = jnp.broadcast_to(images.mean(3, keepdims=True), (*images.shape[:3], new[2]))
    return images.reshape(images.shape[0], -1)


def class_scores(outputs: Float[Array, "n ..."]) -> Float[Array, "n class"]:
    """One score per class. The single output f of a net for two classes (labels -1 and +1) becomes
    (-f/2, f/2), whose softmax is the logistic function."""
    return outputs if outputs.ndim == 2 else jnp.stack([-outputs / 2, outputs / 2], axis=1)


def balance(scores: Float[Array, "m class"], sharpness: Number) -> Float[Array, ""]:
    r"""The regulariser $R = R_1 + \lambda R_2$ (Shi, Wei and Liang 2022, eqs. 291 to 293), with the
    probabilities $f(x_i)_j$ that the teacher gives:
    $R_1 = \sum_j \bar f_j \ln \bar f_j$, $\bar f = \frac1m \sum_i f(x_i)$, is least when all labels
    are equally likely over the inputs, $R_2 = -\frac1m \sum_i \sum_j f(x_i)_j \ln f(x_i)_j$ when
    each input has one likely label.

    >>> import jax.numpy as jnp
    >>> one_label, clear_and_even = jnp.array([[9.0, 0], [9, 0]]), jnp.array([[9.0, 0], [0, 9]])
    >>> bool(balance(clear_and_even, 0.5) < balance(one_label, 0.5))
    True
    """
    each = jax.nn.softmax(scores)
    mean = each.mean(0)
    evenness = jnp.sum(mean * jnp.log(jnp.maximum(mean, 1e-30)))
    uncertainty = -jnp.sum(each * jax.nn.log_softmax(scores), axis=1).mean()
    return evenness + sharpness * uncertainty


def taught(
    net: Any, problem: Problem, indices: Int[Array, " n"], other: Float[Array, "m dim"],
    key: Key[Array, ""], *, steps: int, batch: int, rate: Number, weight: Number, sharpness: Number,
) -> PyTree:  # fmt: skip
    """The parameters of `net` after `steps` steps of Adam. The loss is the cross-entropy on batches
    of the training examples (with the classes `indices`) plus `weight` times the `balance` on
    batches of `other` inputs."""
    init_key, key = jax.random.split(key)
    train = problem.train
    params = net.init(init_key, problem)
    transform = optax.adam(rate)

    def loss(params: PyTree, real: Array, others: Array) -> Array:
        scores = class_scores(net(params, train.x[real]))
        fit = optax.softmax_cross_entropy_with_integer_labels(scores, indices[real]).mean()
        return fit + weight * balance(class_scores(net(params, other[others])), sharpness)

    def step(carry: PyTree, key: Key[Array, ""]) -> tuple[PyTree, None]:
        params, memory = carry
        one, two = jax.random.split(key)
        real = random.distinct(one, train.size, min(batch, train.size))
        others = random.distinct(two, other.shape[0], min(batch, other.shape[0]))
        updates, memory = transform.update(jax.grad(loss)(params, real, others), memory, params)
        return (optax.apply_updates(params, updates), memory), None

    start = (params, transform.init(params))
    (params, _), _ = jax.lax.scan(step, start, jax.random.split(key, steps))
    return params
