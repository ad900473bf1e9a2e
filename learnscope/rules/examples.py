"""Penalties on the gradient of every example alone, in weights and in the span."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Samples
from learnscope.nets import AbstractInnerProductNet, Params, filters_of, replaced
from learnscope.rules.gram import Seen, by_patch, from_patches
from learnscope.rules.losses import LOSSES
from learnscope.rules.state import AbstractState, Move, WeightState, plus

_GRADIENT_BYTES = 2**27  # most memory for per-example gradients


def penalised(state: AbstractState, batch: Samples, weight: Any) -> Move:
    r"""$\frac1n \sum_i (g_i + \lambda H_i g_i)$, with the gradient $g_i$ and the Hessian $H_i$ of
    example i alone: the gradient of $L + \frac{\lambda}{2n} \sum_i \|g_i\|^2$."""
    if not isinstance(state.net, AbstractInnerProductNet):
        assert isinstance(state, WeightState)
        return _in_chunks(state, batch, weight)
    see = lambda filters: state.preactivations(filters, batch)  # noqa: E731
    seen, pull = jax.vjp(see, filters_of(state.point))
    rest, own = replaced(state.point, filters=None), state.own_gram(batch)
    slopes, rest = _slopes(state.net, rest, seen, own, batch, state.loss, weight)
    return replaced(rest, filters=pull(slopes)[0])


def _slopes(
    net: AbstractInnerProductNet, rest: Params, seen: Seen, own: Float[Array, "patch patch n"],
    batch: Samples, loss: str, weight: Any,
) -> tuple[Seen, Params]:  # fmt: skip
    r"""The penalised gradient by the pre-activations and by the other parameters.

    With $\delta_i = \partial \ell_i / \partial z_i$ and the Gram matrix $K_i$ of the example's own
    patches, a step along $g_i$ moves $z_i$ by $K_i \delta_i$, and $H_i g_i$ is the derivative of
    $\delta_i$ in that direction. No per-example gradient by the filters is ever formed.
    """

    def total(z, rest, y):
        return LOSSES[loss](net.read(rest, z), y).sum()

    def mean(slopes, bends):
        return jax.tree.map(lambda leaf: leaf / batch.size, plus(slopes, weight, bends))

    if not jax.tree.leaves(rest):  # an example's loss depends on its own pre-activations alone
        each, bend = jax.linearize(jax.grad(lambda z: total(z, rest, batch.y)), seen)
        return mean(each, bend(_moved_by(own, each))), rest

    def one(z, y):
        return jax.tree.map(lambda leaf: leaf[:, None], z), y[None]

    def slopes(z, rest, y):
        z, y = one(z, y)
        of_z, of_rest = jax.grad(total, argnums=(0, 1))(z, rest, y)
        return jax.tree.map(lambda leaf: leaf[:, 0], of_z), of_rest

    def bends(z, y, dz, drest):
        return jax.jvp(lambda a, b: slopes(a, b, y), (z, rest), (dz, drest))[1]

    each, of_rest = jax.vmap(slopes, in_axes=(1, None, 0), out_axes=(1, 0))(seen, rest, batch.y)
    bend, bend_of_rest = jax.vmap(bends, in_axes=(1, 0, 1, 0), out_axes=(1, 0))(
        seen, batch.y, _moved_by(own, each), of_rest
    )
    summed = jax.tree.map(lambda leaf: leaf.sum(0), (of_rest, bend_of_rest))
    return mean(each, bend), mean(*summed)


def _moved_by(own: Float[Array, "patch patch n"], slopes: Seen) -> Seen:
    """K_i delta_i for every example. There are few patches: a sum of products is faster than many
    tiny matrix products."""
    patches = by_patch(slopes)
    moved = [
        sum((own[p, q][None] * patches[q] for q in range(len(patches))), jnp.zeros(()))
        for p in range(len(patches))
    ]
    return from_patches(moved, slopes)


def _in_chunks(state: WeightState, batch: Samples, weight: Any) -> Params:
    r"""The same for any net, in chunks of examples whose gradients take at most `_GRADIENT_BYTES`.

    $\sum_i H_i g_i$ is the gradient of $\sum_i \langle \nabla \ell_i, v_i \rangle$ at $v_i = g_i$,
    a sum of forward derivatives over the batch, so that only $g_i$ itself is formed per example.
    (Reverse over reverse is many times slower.)
    """
    net, params = state.net, state.params

    def example_loss(p, x, y):
        return LOSSES[state.loss](net(p, jax.tree.map(lambda leaf: leaf[None], x)), y[None])[0]

    def total(some):
        x, y = some
        own = jax.vmap(jax.grad(example_loss), (None, 0, 0))(params, x, y)

        def penalised(p):
            """The sum of losses and of slopes along every example's gradient, which is fixed."""
            along = lambda x, y, g: jax.jvp(lambda q: example_loss(q, x, y), (p,), (g,))  # noqa: E731
            losses, slopes = jax.vmap(along)(x, y, own)
            return losses.sum() + weight * slopes.sum()

        return jax.grad(penalised)(params)

    def add(so_far, some):
        return jax.tree.map(jnp.add, so_far, total(some)), None

    size = chunk_size(batch.size, sum(leaf.nbytes for leaf in jax.tree.leaves(params)))
    examples = batch.x, batch.y
    if size == batch.size:
        gradient = total(examples)
    else:
        chunks = jax.tree.map(lambda leaf: leaf.reshape(-1, size, *leaf.shape[1:]), examples)
        gradient = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, params), chunks)[0]
    return jax.tree.map(lambda leaf: leaf / batch.size, gradient)


def chunk_size(examples: int, parameter_bytes: int) -> int:
    """The number of examples per chunk: the largest divisor whose gradients fit into memory.

    >>> chunk_size(64, 250_000), chunk_size(64, 45_000_000), chunk_size(7, 10**12)
    (64, 2, 1)
    """
    fitting = max(1, _GRADIENT_BYTES // max(1, parameter_bytes))
    return max(size for size in range(1, examples + 1) if examples % size == 0 and size <= fitting)
