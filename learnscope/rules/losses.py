"""Losses by name: one number per example, from outputs and labels."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.errors import BadInput

Outputs = Float[Array, "n ..."]
Each = Float[Array, " n"]


def logistic(outputs: Outputs, labels: Array) -> Each:
    """log(1 + exp(-y f)) for one output per example, cross-entropy for one per class."""
    if outputs.ndim == labels.ndim:
        return _of_margin(labels * outputs)
    _need_classes(labels)
    chosen = jnp.take_along_axis(outputs, labels[..., None].astype(int), axis=-1)[..., 0]
    return jax.nn.logsumexp(outputs, axis=-1) - chosen


@jax.custom_jvp
def _of_margin(margin: Each) -> Each:
    """log(1 + exp(-m))."""
    return jnp.logaddexp(0.0, -margin)


@_of_margin.defjvp
def _of_margin_jvp(margins: tuple[Each], changes: tuple[Each]) -> tuple[Each, Each]:
    # JAX's own derivative computes two exponentials more: a whole step took 1.3 times as long.
    return _of_margin(*margins), -jax.nn.sigmoid(-margins[0]) * changes[0]


def hinge(outputs: Outputs, labels: Array) -> Each:
    """max(0, 1 - y f)."""
    _need_one_output(outputs, labels)
    return jnp.maximum(0.0, 1 - labels * outputs)


def squared(outputs: Outputs, labels: Array) -> Each:
    """(f - y)^2 / 2."""
    _need_one_output(outputs, labels)
    return (outputs - labels) ** 2 / 2


def correlation(outputs: Outputs, labels: Array) -> Each:
    """-y f: on a sphere of weights its mean has the gradient of the squared loss's mean, and less
    noise (Damian et al. 2023)."""
    _need_one_output(outputs, labels)
    return -labels * outputs


def balanced(outputs: Outputs, labels: Array) -> Each:
    """Cross-entropy with the same total weight for each class: an example has weight n / (K n_y),
    where n_y of the n examples have its label y, and K classes occur."""
    frequencies = _frequencies(outputs, labels)
    present = jnp.sum(frequencies > 0)
    return logistic(outputs, labels) / (present * frequencies[labels.astype(int)])


def adjusted(outputs: Outputs, labels: Array) -> Each:
    """Cross-entropy of the outputs plus log(n_k / n) (logit adjustment, Menon et al. 2021), so that
    the net learns as if all classes were equally frequent."""
    frequencies = _frequencies(outputs, labels)
    return logistic(outputs + jnp.log(jnp.maximum(frequencies, 1e-30))[None], labels)


def _frequencies(outputs: Outputs, labels: Array) -> Float[Array, " class"]:
    """The frequency n_k / n of every class among the examples."""
    if outputs.ndim == labels.ndim:
        raise BadInput("the losses balanced and adjusted need a net with one output per class.")
    _need_classes(labels)
    return jax.nn.one_hot(labels, outputs.shape[-1], dtype=outputs.dtype).mean(0)


def _need_classes(labels: Array) -> None:
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        raise BadInput(
            "labels +1 and -1 need a net with one output (classes=2), not one per class."
        )


def _need_one_output(outputs: Outputs, labels: Array) -> None:
    if outputs.ndim != labels.ndim:
        names = "correlation, hinge and squared"
        raise BadInput(f"the losses {names} need a net with one output per example.")


LOSSES: dict[str, Callable[[Outputs, Array], Each]] = {
    function.__name__: function for function in (logistic, hinge, squared, correlation)
}
# Losses that depend on the whole batch; a test loss therefore uses the test batch.
BATCH_LOSSES: dict[str, Callable[[Outputs, Array], Each]] = {
    function.__name__: function for function in (balanced, adjusted)
}


MARGINS = ("logistic", "hinge")  # of one output, these need the labels +1 and -1


def loss_of(name: str, outputs: Outputs, labels: Array) -> Each:
    """The loss of every example, by the loss's name."""
    if name == "pairs":
        raise BadInput(
            "a self-supervised rule has no loss of single examples with labels; use the probe "
            "PairLoss instead of Loss, TestLoss and other probes of labels."
        )
    return (LOSSES | BATCH_LOSSES)[name](outputs, labels)


def correct(outputs: Outputs, labels: Array) -> Each:
    """1 if the prediction is right, 0 if it is wrong. With one output, 0 counts as half right; with
    several, a tie of k classes that include the label counts as 1/k."""
    if outputs.ndim == labels.ndim:
        margin = labels * outputs  # `where` is faster than a sign; NaN stays NaN
        return jnp.where(margin > 0, 1.0, jnp.where(margin < 0, 0.0, margin + 0.5))
    _need_classes(labels)
    # XLA may recompute the outputs with other rounding, so that none equals the maximum: the
    # argument of the maximum always counts as best.
    first = jax.nn.one_hot(jnp.argmax(outputs, -1), outputs.shape[-1], dtype=bool)
    best = (outputs == outputs.max(-1, keepdims=True)) | first
    hit = jnp.take_along_axis(best, labels[..., None].astype(int), axis=-1)[..., 0]
    return jnp.where(jnp.isnan(outputs).any(-1), jnp.nan, hit / best.sum(-1))
