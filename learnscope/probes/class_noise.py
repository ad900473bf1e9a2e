"""What a net learns of each class's own noise: Lemmas 3 to 7 of Xu and Chen (2025).

The filters of class k are rows k m to (k + 1) m - 1 of `params.filters`, as in `PatchCNN`.
"""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope import nets
from learnscope.data import AbstractFactors, Problem, Samples
from learnscope.nets import AbstractInnerProductNet, Params, inner
from learnscope.probes.probe import AbstractProbe, Output, filters_of, refuse
from learnscope.rules import AbstractState
from learnscope.rules.gram import by_patch


def outputs_of(
    probe: AbstractProbe, state: AbstractState, params: Params, samples: Samples
) -> Array:
    """The outputs of a net that has one per class."""
    outputs = state.net(params, samples.x)
    if outputs.ndim != 2:
        refuse(probe, "a net with one output per class")
    return outputs


def factors_of(probe: AbstractProbe, problem: Problem) -> tuple[AbstractFactors, int]:
    """The matrices A_k of the classes' noise, and the number of classes."""
    if problem.factors is None:
        refuse(probe, "a data model with noise of each class's own (ClassNoise, MatrixNoise)")
    return problem.factors, problem.directions["features"].shape[0]


def noise_seen(params: Params, samples: Samples) -> Float[Array, "filter n"]:
    """<w, xi> of every filter and example: the noise is the last patch."""
    return by_patch(inner(nets.filters_of(params), samples.x))[-1]


def own(seen: Float[Array, "filter n"], samples: Samples, classes: int) -> Float[Array, "n m"]:
    """The pre-activations of each example's own class: those of the neurons of its label."""
    by_class = seen.reshape(classes, -1, samples.size)
    return jnp.take_along_axis(by_class, samples.y[None, None, :], axis=0)[0].T


def mean_by_class(values: Float[Array, " n"], labels: Array, classes: int) -> Array:
    """The mean over each class; labels outside 0, ..., classes - 1 belong to no class."""
    mine = jax.nn.one_hot(labels, classes, dtype=values.dtype)
    return jnp.where(mine > 0, values[:, None], 0).sum(0) / mine.sum(0)


class ActiveNeurons(AbstractProbe):
    """The share of its own class's neurons that a test example's noise activates (Lemma 4): the
    mean over each class, and the smallest of all examples."""

    outputs: ClassVar = {
        "active_share": Output("neurons of its class active", dims=("class",), low=0, high=1),
        "active_share_least": Output("the least of any test example", low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        classes = factors_of(self, problem)[1]
        seen = own(noise_seen(state.params, problem.test), problem.test, classes)
        share = jnp.where(jnp.isnan(seen), jnp.nan, seen > 0).mean(1)
        by_class = mean_by_class(share, problem.test.y, classes)
        return {"active_share": by_class, "active_share_least": share.min()}


class NoiseSpectrum(AbstractProbe):
    """The singular values of W_k A_k for every class k, largest first (Lemma 3)."""

    outputs: ClassVar = {
        "noise_spectrum": Output("singular value of W_k A_k", dims=("class", "rank"), low=0)
    }

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        factors, classes = factors_of(self, problem)
        filters = filters_of(self, state)
        seen = factors.seen(filters.reshape(classes, -1, filters.shape[1]))
        return jnp.linalg.svd(seen, compute_uv=False)


class Residual(AbstractProbe):
    """1 - logit_y of every training example: its weight in the gradient (Lemmas 6, 7). With two
    classes and one output, it is minus the derivative of the logistic loss.

    Recorded after every step, it gives b(S) of eq. (8); see `residual_sums`.
    """

    outputs: ClassVar = {
        "residual": Output("1 - probability of the label", dims=("sample",), low=0, high=1)
    }

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return jnp.exp(_log_residual(state, problem))


class GradientBalance(AbstractProbe):
    """kappa of Lemma 7: the largest ratio of two training examples' 1 - logit_y."""

    outputs: ClassVar = {"gradient_balance": Output("largest ratio of residuals", low=1)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        log = _log_residual(state, problem)
        return jnp.exp(log.max() - log.min())


class Contributions(AbstractProbe):
    """The contribution of the feature patch (explicit) and of the noise patch (implicit) to a test
    example's own logit and to its largest other logit: means over the examples of each class."""

    outputs: ClassVar = {
        f"{kind}_{whose}": Output(f"{words} {to}", dims=("class",))
        for kind, words in (("explicit", "feature patch to"), ("implicit", "noise patch to"))
        for whose, to in (("own", "its own logit"), ("other", "the largest other logit"))
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        classes, test = factors_of(self, problem)[1], problem.test
        if not isinstance(state.net, AbstractInnerProductNet):
            net = type(state.net).__name__
            refuse(self, f"a net of inner products, such as PatchCNN, trained as it is, not {net}")
        seen = by_patch(inner(filters_of(self, state), test.x))
        if len(seen) != 2:
            refuse(self, "examples of a feature and a noise patch")
        mine = jax.nn.one_hot(test.y, classes, dtype=bool)
        means = {}
        for kind, patch in zip(("explicit", "implicit"), seen, strict=True):
            outputs = state.net.read(state.params, (patch,))
            to_own = jnp.sum(jnp.where(mine, outputs, 0), axis=1)
            to_other = jnp.max(jnp.where(mine, -jnp.inf, outputs), axis=1)
            means[f"{kind}_own"] = mean_by_class(to_own, test.y, classes)
            means[f"{kind}_other"] = mean_by_class(to_other, test.y, classes)
        return means


class Activations(AbstractProbe):
    r"""How strongly the noise of training and test examples activates a class's neurons.

    `activation[j, l]` is the mean over class l's training examples of
    $\frac1m \sum_r \sigma(\langle w_{j,r}, \xi \rangle)$, `activation_least` and `activation_most`
    are the extremes (Lemma 5 compares $l = j$ with the others); `test_activation[j, l]` is the mean
    over test examples (Lemma 6).
    """

    outputs: ClassVar = {
        name: Output(f"{words} noise", dims=("neurons_of", "noise_of"), low=0)
        for name, words in (
            ("activation", "activation by training"),
            ("activation_least", "least activation by training"),
            ("activation_most", "largest activation by training"),
            ("test_activation", "activation by test"),
        )
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        classes = factors_of(self, problem)[1]

        def active(samples: Samples) -> tuple[Array, Array]:
            seen = noise_seen(state.params, samples).reshape(classes, -1, samples.size)
            return jnp.maximum(seen, 0).mean(1), jax.nn.one_hot(samples.y, classes)

        def means(values: Array, mine: Array) -> Array:
            return values @ mine.astype(values.dtype) / mine.sum(0)[None]

        train, mine = active(problem.train)
        each = jnp.where(mine[None] > 0, train[:, :, None], jnp.nan)
        return {
            "activation": means(train, mine),
            "activation_least": jnp.nanmin(each, axis=1),
            "activation_most": jnp.nanmax(each, axis=1),
            "test_activation": means(*active(problem.test)),
        }


def _log_residual(state: AbstractState, problem: Problem) -> Float[Array, " n"]:
    """log(1 - logit_y) without cancellation, as the probability of all other classes."""
    outputs = state.outputs(problem.train)
    if outputs.ndim == 1:
        return -jax.nn.softplus(problem.train.y * outputs)
    mine = jax.nn.one_hot(problem.train.y, outputs.shape[1], dtype=bool)
    others = jax.nn.logsumexp(jnp.where(mine, -jnp.inf, outputs), axis=1)
    return others - jax.nn.logsumexp(outputs, axis=1)
