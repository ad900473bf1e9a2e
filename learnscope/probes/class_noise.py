"""Probes for classes with noise of their own (Xu and Chen 2025): who is classified, and by what.

Filters of class k are rows k m to (k + 1) m - 1 of `params["filters"]`, as `PatchCNN` has them.
"""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from learnscope.data import AbstractFactors, Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import AbstractInnerProductNet, Params, inner
from learnscope.part import Number, number
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import State, correct


class ClassAccuracy(AbstractProbe):
    """Test accuracy of every class (NaN for one that has no test example)."""

    outputs: ClassVar = {
        "class_accuracy": Output("test accuracy of a class", dims=("class",), low=0, high=1)
    }

    def __call__(self, state: State, problem: Problem) -> Array:
        outputs = _outputs(self, state, state.params, problem.test)
        right = correct(outputs, problem.test.y)
        return _mean_by_class(right, problem.test.y, outputs.shape[1])


class LongTailAccuracy(AbstractProbe):
    r"""Test accuracy of every class on its long-tailed examples (Definition 1).

    An example's noise is worth $\zeta' = \langle \sum_{r \in R} w_{y,r}, \xi \rangle /
    \|A_y^T \sum_{r \in R} w_{y,r}\|$, where $R$ are the neurons of its own class that it activates.
    The paper asks for $\zeta' \ge L$ with a constant that it leaves open, and whose scale varies
    from setting to setting: here the `share` of a class's test examples with the largest $\zeta'$
    are its long tail. An example that activates no neuron of its class has no $\zeta'$ and is not
    among them.

    Asking for active neurons of the right class favours right answers by itself: the same number
    for the untrained network and *its* long tail, `long_tail_untrained`, shows how much.
    """

    outputs: ClassVar = {
        "long_tail_accuracy": Output(
            "test accuracy of a class on its long tail", dims=("class",), low=0, high=1
        ),
        "long_tail_untrained": Output(
            "the same of the untrained network", dims=("class",), low=0, high=1
        ),
    }

    share: Number = number(0.2, above=0, high=1)

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        return {
            "long_tail_accuracy": self._accuracy(state, state.params, problem),
            "long_tail_untrained": self._accuracy(state, state.start, problem),
        }

    def _accuracy(self, state: State, params: Params, problem: Problem) -> Array:
        outputs = _outputs(self, state, params, problem.test)
        right, labels = correct(outputs, problem.test.y), problem.test.y
        tail = _in_tail(
            _equivalent_noise(self, params, problem), labels, outputs.shape[1], self.share
        )
        return _mean_by_class(right, jnp.where(tail, labels, -1), outputs.shape[1])


class ActiveNeurons(AbstractProbe):
    """Share of its own class's neurons that a test example's noise activates (Lemma 4): the mean
    over a class, and the least of any example."""

    outputs: ClassVar = {
        "active_share": Output("neurons of its class active", dims=("class",), low=0, high=1),
        "active_share_least": Output("the least of any test example", low=0, high=1),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        classes = _factors(self, problem)[1]
        share = (_own(_noise_seen(state.params, problem.test), problem.test, classes) > 0).mean(1)
        by_class = _mean_by_class(share, problem.test.y, classes)
        return {"active_share": by_class, "active_share_least": share.min()}


class NoiseSpectrum(AbstractProbe):
    """Singular values of W_k A_k for every class, largest first (Lemma 3)."""

    outputs: ClassVar = {
        "noise_spectrum": Output("singular value of W_k A_k", dims=("class", "rank"), low=0)
    }

    def __call__(self, state: State, problem: Problem) -> Array:
        factors, classes = _factors(self, problem)
        filters = state.params["filters"]
        seen = factors.seen(filters.reshape(classes, -1, filters.shape[1]))
        return jnp.linalg.svd(seen, compute_uv=False)


class Residual(AbstractProbe):
    """1 - logit_y of every training example: what the loss pulls it with (Lemmas 6, 7).

    Recorded after every step, it gives b(S) of eq. (8), see `residual_sums`.
    """

    outputs: ClassVar = {
        "residual": Output("1 - probability of the label", dims=("sample",), low=0, high=1)
    }

    def __call__(self, state: State, problem: Problem) -> Array:
        return jnp.exp(_log_residual(_outputs(self, state, state.params, problem.train), problem))


class GradientBalance(AbstractProbe):
    """kappa of Lemma 7: the largest ratio of two training examples' 1 - logit_y."""

    outputs: ClassVar = {"gradient_balance": Output("largest ratio of residuals", low=1)}

    def __call__(self, state: State, problem: Problem) -> Array:
        log = _log_residual(_outputs(self, state, state.params, problem.train), problem)
        return jnp.exp(log.max() - log.min())


class Contributions(AbstractProbe):
    """What the feature patch (explicit) and the noise patch (implicit) add to a test example's own
    logit and to the largest of the others: means over the examples of every class."""

    outputs: ClassVar = {
        f"{kind}_{whose}": Output(f"{words} {to}", dims=("class",))
        for kind, words in (("explicit", "feature patch to"), ("implicit", "noise patch to"))
        for whose, to in (("own", "its own logit"), ("other", "the largest other logit"))
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        classes, test = _factors(self, problem)[1], problem.test
        assert isinstance(state.net, AbstractInnerProductNet)
        seen = _by_patch(inner(state.params["filters"], test.x))
        if len(seen) != 2:
            raise BadInput("the probe Contributions needs examples of a feature and a noise patch.")
        mine = jax.nn.one_hot(test.y, classes, dtype=bool)
        found = {}
        for kind, patch in zip(("explicit", "implicit"), seen, strict=True):
            outputs = state.net.read(state.params, (patch,))
            own = jnp.sum(jnp.where(mine, outputs, 0), axis=1)
            other = jnp.max(jnp.where(mine, -jnp.inf, outputs), axis=1)
            found[f"{kind}_own"] = _mean_by_class(own, test.y, classes)
            found[f"{kind}_other"] = _mean_by_class(other, test.y, classes)
        return found


class Activations(AbstractProbe):
    r"""How strongly the noise of training and test examples activates a class's neurons.

    `activation[j, l]` is the mean over class l's training examples of
    $\frac1m \sum_r \sigma(\langle w_{j,r}, \xi \rangle)$ (Lemma 5 compares $l = j$ with the
    others); `test_activation[j, l]` the same over test examples (Lemma 6).
    """

    outputs: ClassVar = {
        "activation": Output(
            "activation by training noise", dims=("neurons_of", "noise_of"), low=0
        ),
        "test_activation": Output(
            "activation by test noise", dims=("neurons_of", "noise_of"), low=0
        ),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        classes = _factors(self, problem)[1]

        def means(samples: Samples) -> Array:
            seen = _noise_seen(state.params, samples).reshape(classes, -1, samples.size)
            active = jnp.maximum(seen, 0).mean(1)
            mine = jax.nn.one_hot(samples.y, classes, dtype=active.dtype)
            return active @ mine / jnp.maximum(mine.sum(0), 1)

        return {"activation": means(problem.train), "test_activation": means(problem.test)}


def _outputs(probe: AbstractProbe, state: State, params: Params, samples: Samples) -> Array:
    outputs = state.net(params, samples.x)
    if outputs.ndim != 2:
        raise BadInput(f"the probe {type(probe).__name__} needs a net with one output a class.")
    return outputs


def _factors(probe: AbstractProbe, problem: Problem) -> tuple[AbstractFactors, int]:
    """The matrices behind the noise, and how many classes there are."""
    if problem.factors is None:
        raise BadInput(
            f"the probe {type(probe).__name__} needs a data model with noise of each class's own "
            "(ClassNoise, MatrixNoise)."
        )
    return problem.factors, problem.directions["features"].shape[0]


def _by_patch(seen: tuple[Array, ...]) -> list[Float[Array, "filter n"]]:
    """Pre-activations a patch, whether patches are groups of their own or an axis of one."""
    return [
        part
        for group in seen
        for part in (
            [group] if group.ndim == 2 else [group[:, :, i] for i in range(group.shape[2])]
        )
    ]


def _noise_seen(params: Params, samples: Samples) -> Float[Array, "filter n"]:
    """<w, xi>: the noise stands in the last patch."""
    return _by_patch(inner(params["filters"], samples.x))[-1]


def _own(seen: Float[Array, "filter n"], samples: Samples, classes: int) -> Float[Array, "n m"]:
    """Of every example, what the neurons of its own class see."""
    by_class = seen.reshape(classes, -1, samples.size)
    return jnp.take_along_axis(by_class, samples.y[None, None, :], axis=0)[0].T


def _equivalent_noise(probe: AbstractProbe, params: Params, problem: Problem) -> Float[Array, " n"]:
    """zeta' of every test example; minus infinity where no neuron of its class is active."""
    factors, classes = _factors(probe, problem)
    test, filters = problem.test, params["filters"]
    own = _own(_noise_seen(params, test), test, classes)
    active = own > 0
    # The sum of active filters of its class, for every example: a product with a mask.
    place = jax.nn.one_hot(test.y, classes, dtype=filters.dtype)
    mask = jnp.einsum("nk,nm->nkm", place, active.astype(filters.dtype)).reshape(test.size, -1)
    strength = factors.strength(mask @ filters, test.y)
    value = jnp.where(active, own, 0).sum(1) / jnp.where(strength > 0, strength, 1)
    return jnp.where(active.any(1) & (strength > 0), value, -jnp.inf)


def _in_tail(
    values: Float[Array, " n"], labels: Array, classes: int, share: Number
) -> Bool[Array, " n"]:
    """Whether each is among the `share` of its class with the largest values (at least one is)."""
    order = jnp.argsort(-values)
    mine = jax.nn.one_hot(labels[order], classes)
    rank = jnp.sum(jnp.cumsum(mine, axis=0) * mine, axis=1)  # 1 is the largest of its class
    sizes = mine.sum(0)[labels[order]]
    inside = (rank <= jnp.maximum(1, jnp.round(share * sizes))) & jnp.isfinite(values[order])
    return jnp.zeros(labels.shape, bool).at[order].set(inside)


def _mean_by_class(values: Float[Array, " n"], labels: Array, classes: int) -> Array:
    """Mean of every class; labels outside of 0, ..., classes - 1 belong to none."""
    mine = jax.nn.one_hot(labels, classes, dtype=values.dtype)
    return jnp.where(mine > 0, values[:, None], 0).sum(0) / mine.sum(0)


def _log_residual(outputs: Float[Array, "n class"], problem: Problem) -> Float[Array, " n"]:
    """log(1 - logit_y) without cancellation: the others' share of the total."""
    mine = jax.nn.one_hot(problem.train.y, outputs.shape[1], dtype=bool)
    others = jax.nn.logsumexp(jnp.where(mine, -jnp.inf, outputs), axis=1)
    return others - jax.nn.logsumexp(outputs, axis=1)
