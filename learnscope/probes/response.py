"""Signal learnt and noise memorised, measured alike for all data models and rules."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from learnscope import nets
from learnscope.data import Problem
from learnscope.data.redrawn import row_space
from learnscope.probes.probe import AbstractProbe, Output, filters_of, hidden
from learnscope.rules import AbstractState
from learnscope.space import Columns

_LEAST = 100  # relative movement of the filters that counts, in rounding errors


class LearntResponse(AbstractProbe):
    r"""The response of the filters' learnt part to signal and to noise, as shares.

    A patch is $x = s + \xi$, where $s$ is its projection onto the span of the data model's
    directions named `truth`. The learnt part $v_j$ of filter $j$ is the filter minus its projection
    onto its start. $R_s$ and $R_\xi$ are the means of $\sum_{j,p} \langle v_j, s_p \rangle^2$ and
    $\sum_{j,p} \langle v_j, \xi_p \rangle^2$ over training examples (with tasks, over the half with
    the larger $R_\xi$, since a rule may learn from either); $R_{fresh}$ is $R_\xi$ over test
    examples.

    - Signal learnt is $R_s / (R_s + R_\xi)$.
    - Noise memorised is $\max(R_\xi - R_{fresh}, 0) / (R_s + R_\xi)$: the response to the training
      noise beyond that to fresh noise.

    Both are 0 if nothing was learnt. `untrained_signal` and `untrained_noise` are the same for the
    initial filters, as a control with the same seed: the former is the signal's share of the
    inputs, the latter 0 up to chance."""

    outputs: ClassVar = {
        "signal_learnt": Output("signal learnt, share of response", low=0, high=1),
        "noise_memorised": Output("noise memorised, share of response", low=0, high=1),
        "untrained_signal": Output("signal's share of untrained response", low=0, high=1),
        "untrained_noise": Output("training noise's share of untrained response", low=0, high=1),
    }

    truth: str = eqx.field(static=True)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        truth = hidden(self, problem.directions, self.truth)
        now, start = filters_of(self, state), nets.filters_of(state.start)
        along, size = (now * start).sum(1), (start**2).sum(1)
        learnt = now - (along / jnp.where(size > 0, size, 1.0))[:, None] * start
        least = (_LEAST * jnp.finfo(now.dtype).eps) ** 2 * (now**2).sum()
        moved = ~((learnt**2).sum() <= least)  # true of a diverged run
        after = [jnp.where(moved, share, 0.0) for share in _shares(learnt, truth, problem)]
        before = _shares(start, truth, problem)
        return dict(zip(self.outputs, (*after, *before), strict=True))


def _shares(filters: Array, truth: Array, problem: Problem) -> tuple[Array, Array]:
    """The shares of signal and of memorised noise in the filters' response."""
    more = [] if problem.validation is None else [problem.validation]
    basis = row_space(truth)
    each = [_responses(filters, basis, samples) for samples in (problem.train, *more)]
    signals, noises = (jnp.stack(values) for values in zip(*each, strict=True))
    at = jnp.argmax(noises)
    signal, noise = signals[at], noises[at]
    fresh = _responses(filters, basis, problem.test)[1]
    total = signal + noise
    scale = jnp.where(total > 0, total, 1.0)
    return signal / scale, jnp.maximum(noise - fresh, 0.0) / scale


def _responses(filters: Array, basis: Array, samples: Any) -> tuple[Array, Array]:
    """The squared inner products with s and with xi, summed over patches and filters, averaged over
    examples."""
    signal, noise = jnp.zeros((), filters.dtype), jnp.zeros((), filters.dtype)
    for leaf in jax.tree.leaves(Columns.undone(samples.x)):
        rows = leaf.reshape(-1, leaf.shape[-1])
        width = rows.shape[1]
        inside = (filters @ basis.T) @ (basis[:, :width] @ rows.T)
        whole = filters[:, :width] @ rows.T
        signal, noise = signal + (inside**2).sum(), noise + ((whole - inside) ** 2).sum()
    return signal / samples.size, noise / samples.size
