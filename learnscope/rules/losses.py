"""Losses by name: one number an example, from outputs and labels."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.errors import BadInput

Outputs = Float[Array, "n ..."]
Each = Float[Array, " n"]


def logistic(outputs: Outputs, labels: Array) -> Each:
    """log(1 + exp(-y f)) for one output an example, cross-entropy for one a class."""
    if outputs.ndim == labels.ndim:
        return jnp.logaddexp(0.0, -labels * outputs)
    _need_classes(labels)
    chosen = jnp.take_along_axis(outputs, labels[..., None].astype(int), axis=-1)[..., 0]
    return jax.nn.logsumexp(outputs, axis=-1) - chosen


def hinge(outputs: Outputs, labels: Array) -> Each:
    """max(0, 1 - y f)."""
    _need_one_output(outputs, labels)
    return jnp.maximum(0.0, 1 - labels * outputs)


def squared(outputs: Outputs, labels: Array) -> Each:
    """(f - y)^2 / 2."""
    _need_one_output(outputs, labels)
    return (outputs - labels) ** 2 / 2


def balanced(outputs: Outputs, labels: Array) -> Each:
    """Cross-entropy weighted so that every class among the examples counts the same: n / (K n_y)
    each, where n_y of the n examples share its label."""
    shares = _shares(outputs, labels)
    present = jnp.sum(shares > 0)
    return logistic(outputs, labels) / (present * shares[labels.astype(int)])


def adjusted(outputs: Outputs, labels: Array) -> Each:
    """Cross-entropy of outputs plus log(n_k / n) (logit adjustment, Menon et al. 2021): what is
    learnt is then as if all classes were equally likely."""
    shares = _shares(outputs, labels)
    return logistic(outputs + jnp.log(jnp.maximum(shares, 1e-30))[None], labels)


def _shares(outputs: Outputs, labels: Array) -> Float[Array, " class"]:
    """The share n_k / n of every class among the examples."""
    if outputs.ndim == labels.ndim:
        raise BadInput("the losses balanced and adjusted need a net with one output a class.")
    _need_classes(labels)
    return jax.nn.one_hot(labels, outputs.shape[-1], dtype=outputs.dtype).mean(0)


def _need_classes(labels: Array) -> None:
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        raise BadInput("labels +1 and -1 need a net with one output (classes=2), not one a class.")


def _need_one_output(outputs: Outputs, labels: Array) -> None:
    if outputs.ndim != labels.ndim:
        raise BadInput("the losses hinge and squared need a net with one output an example.")


LOSSES: dict[str, Callable[[Outputs, Array], Each]] = {
    function.__name__: function for function in (logistic, hinge, squared)
}
# Those of an example that depend on the others it stands among: test losses, on test examples.
BATCH_LOSSES: dict[str, Callable[[Outputs, Array], Each]] = {
    function.__name__: function for function in (balanced, adjusted)
}


def loss_of(name: str, outputs: Outputs, labels: Array) -> Each:
    """The loss of that name of every example."""
    if name == "pairs":
        raise BadInput(
            "a self-supervised rule has no loss of single examples with labels; use the probe "
            "PairLoss instead of Loss, TestLoss and others of labels."
        )
    return (LOSSES | BATCH_LOSSES)[name](outputs, labels)


def correct(outputs: Outputs, labels: Array) -> Each:
    """1 where the prediction is right, 0 where it is wrong, 1/2 where the one output is exactly 0.
    Where several classes tie, one over their number if the label is among them."""
    if outputs.ndim == labels.ndim:
        return (1 + jnp.sign(labels * outputs)) / 2
    _need_classes(labels)
    # XLA may compute outputs once for the maximum and again, rounded otherwise, for the comparison,
    # which then finds none: the argument of the maximum is always among the best.
    first = jax.nn.one_hot(jnp.argmax(outputs, -1), outputs.shape[-1], dtype=bool)
    best = (outputs == outputs.max(-1, keepdims=True)) | first
    hit = jnp.take_along_axis(best, labels[..., None].astype(int), axis=-1)[..., 0]
    return jnp.where(jnp.isnan(outputs).any(-1), jnp.nan, hit / best.sum(-1))
