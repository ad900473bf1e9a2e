"""Signal learnt and noise memorised, by measures that compare across data models and rules."""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Columns, Problem
from learnscope.probes.probe import AbstractProbe, Output, filters_of, hidden
from learnscope.rules import State

_MOVED = 100  # rounding errors: what a filter must have moved by to count


class Shares(NamedTuple):
    """Of a training example's effect on filters."""

    signal: Float[Array, ""]
    noise: Float[Array, ""]


class LearntResponse(AbstractProbe):
    r"""What the learnt part of the filters responds to on training examples, as shares.

    The truth is the span of the data model's directions named `truth`; a patch is $x = s + \xi$
    with $s$ its projection onto it. The learnt part $v_j$ of filter $j$ is what is left of it when
    the best multiple of its start is taken off. With $R_s$, $R_\xi$ the means of
    $\sum_{j,p} \langle v_j, s_p \rangle^2$ and $\sum_{j,p} \langle v_j, \xi_p \rangle^2$ over
    training examples (of tasks: over the half whose noise has the larger response, since a rule may
    learn from either) and $R_{fresh}$ the latter's over test examples,

    - signal learnt is $R_s / (R_s + R_\xi)$,
    - noise memorised is $\max(R_\xi - R_{fresh}, 0) / (R_s + R_\xi)$: the response to the noise of
      these very examples, beyond that to noise of the same kind.

    Both are 0 where no filter was learnt. `untrained_...` are the same of the initial filters: the
    control of the same seed, where the first is the signal's share of the inputs and the second 0
    but for chance."""

    outputs: ClassVar = {
        "signal_learnt": Output("signal learnt, share of response", low=0, high=1),
        "noise_memorised": Output("noise memorised, share of response", low=0, high=1),
        "untrained_signal": Output("signal's share of untrained response", low=0, high=1),
        "untrained_noise": Output("training noise's share of untrained response", low=0, high=1),
    }

    truth: str = eqx.field(static=True)

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        truth = jnp.atleast_2d(hidden(self, problem.directions, self.truth))
        now, start = filters_of(self, state), state.start["filters"]
        along, size = (now * start).sum(1), (start**2).sum(1)
        learnt = now - (along / jnp.where(size > 0, size, 1.0))[:, None] * start
        least = (_MOVED * jnp.finfo(now.dtype).eps) ** 2 * (now**2).sum()
        moved = ~((learnt**2).sum() <= least)  # a diverged run did
        after = _shares(learnt, truth, problem)
        before = _shares(start, truth, problem)
        return {
            "signal_learnt": jnp.where(moved, after.signal, 0.0),
            "noise_memorised": jnp.where(moved, after.noise, 0.0),
            "untrained_signal": before.signal,
            "untrained_noise": before.noise,
        }


def _shares(filters: Array, truth: Float[Array, "direction rank"], problem: Problem) -> Shares:
    """What training examples make filters respond to: truth, and noise beyond fresh noise."""
    held = [] if problem.validation is None else [problem.validation]
    # Directions may be dependent: an orthonormal basis by singular vectors, without the null ones.
    _, sizes, rows = jnp.linalg.svd(truth, full_matrices=False)
    basis = jnp.where((sizes > 1e-5 * sizes.max())[:, None], rows, 0.0)
    each = [_responses(filters, basis, samples) for samples in (problem.train, *held)]
    signals, noises = (jnp.stack(values) for values in zip(*each, strict=True))
    at = jnp.argmax(noises)
    signal, noise = signals[at], noises[at]
    fresh = _responses(filters, basis, problem.test)[1]
    total = signal + noise
    scale = jnp.where(total > 0, total, 1.0)
    return Shares(signal / scale, jnp.maximum(noise - fresh, 0.0) / scale)


def _responses(filters: Array, basis: Array, samples: Any) -> tuple[Array, Array]:
    """Squared inner products with s and with xi, summed over patches and filters; the means."""
    signal, noise = jnp.zeros((), filters.dtype), jnp.zeros((), filters.dtype)
    for leaf in jax.tree.leaves(Columns.undone(samples.x)):
        rows = leaf.reshape(-1, leaf.shape[-1])
        width = rows.shape[1]
        inside = (filters @ basis.T) @ (basis[:, :width] @ rows.T)
        whole = filters[:, :width] @ rows.T
        signal, noise = signal + (inside**2).sum(), noise + ((whole - inside) ** 2).sum()
    return signal / samples.size, noise / samples.size
