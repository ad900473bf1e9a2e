"""A teacher: a net that is trained on images, then labels other inputs."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from learnscope.data.problem import Problem
from learnscope.part import Number
from learnscope.space import random


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
