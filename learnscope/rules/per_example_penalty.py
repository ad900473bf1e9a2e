"""Per-example gradient regularisation (PEGR): a penalty on every example's own gradient."""

from functools import singledispatch
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Samples
from learnscope.nets import AbstractInnerProductNet, AbstractNet, Params
from learnscope.nets.net import filters_of, inner, replaced
from learnscope.part import Number, choice, flag, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.rule import AbstractPenalty, State

_GRADIENT_BYTES = 2**27  # most memory for per-example gradients


class PerExamplePenalty(AbstractPenalty):
    r"""Gradient descent on $L + \frac{\lambda}{2n} \sum_i \|\nabla \ell_i\|^2$ in the first steps.

    Meng, Cao, Zou (2023), section 2. The penalty acts in steps $t = 0, 1, \dots$ below `until`.
    With `half=False` it is $\lambda$ instead of $\lambda/2$ times the mean squared norm. Its
    gradient is a Hessian-vector product: $\nabla \frac12 \|g_i\|^2 = H_i g_i$.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\lambda$ | `weight` |
    | $T_1$ | `until` |

    >>> PerExamplePenalty(rate=0.02, weight=0.01, until=800).half
    True
    """

    papers: ClassVar = ("smith2021origin", "meng2023pegr")

    rate: Number = number(above=0)
    weight: Number = number(low=0)
    until: Number = number(float("inf"), low=0, infinite=True)
    half: bool = flag(True)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def penalised(self, state: State, batch: Samples, weight: Number) -> Params:
        return penalised_gradient(state.net, state.params, batch, state.loss, weight)


@singledispatch
def penalised_gradient(
    net: AbstractNet, params: Params, batch: Samples, loss: str, weight: Number
) -> Params:
    r"""$\frac1n \sum_i (g_i + \lambda H_i g_i)$ for any net, in chunks of examples whose gradients
    take at most `_GRADIENT_BYTES`.

    $\sum_i H_i g_i$ is the gradient of $\sum_i \langle \nabla \ell_i, v_i \rangle$ at $v_i = g_i$,
    a sum of forward derivatives over the batch, so that only $g_i$ itself is formed per example.
    (Reverse over reverse is many times slower.)
    """

    def example_loss(p, x, y):
        return LOSSES[loss](net(p, jax.tree.map(lambda leaf: leaf[None], x)), y[None])[0]

    def total(some):
        x, y = some
        own = jax.vmap(jax.grad(example_loss), (None, 0, 0))(params, x, y)

        def slopes(p):
            """The sum of every example's slope along its own gradient, which is held fixed."""
            along = lambda x, y, g: jax.jvp(lambda q: example_loss(q, x, y), (p,), (g,))[1]  # noqa: E731
            return jax.vmap(along)(x, y, own).sum()

        bend = jax.grad(slopes)(params)
        return jax.tree.map(lambda g, h: g.sum(0) + weight * h, own, bend)

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


@penalised_gradient.register
def _(
    net: AbstractInnerProductNet, params: Params, batch: Samples, loss: str, weight: Number
) -> Params:
    r"""The same for inner-product nets, through the pre-activations $z_i = X_i W^T$ of example i.

    With $\delta_i = \partial \ell_i / \partial z_i$ and the Gram matrix $K_i = X_i X_i^T$ of the
    example's own patches, $g_i = \delta_i^T X_i$, a step along $g_i$ moves $z_i$ by $K_i
    \delta_i$, and $H_i g_i$ is the derivative of $\delta_i$ in that direction, pulled back. No
    per-example gradient by the filters is ever formed.
    """
    others = replaced(params, filters=None)
    seen, pull = jax.vjp(lambda filters: inner(filters, batch.x), filters_of(params))
    slopes, rest = penalised_slopes(net, others, seen, batch, loss, weight)
    (filters,) = pull(slopes)
    return replaced(rest, filters=filters)


def penalised_slopes(
    net: AbstractInnerProductNet, others: Params, seen: Any, batch: Samples, loss: str,
    weight: Number,
) -> tuple[Any, Params]:  # fmt: skip
    r"""The penalised gradient by the pre-activations, $\frac1n (\delta_i + \lambda\, D\delta_i [K_i
    \delta_i])$, and by the parameters other than the filters."""

    def example_loss(z, rest, y):
        outputs = net.read(rest, jax.tree.map(lambda leaf: leaf[:, None], z))
        return LOSSES[loss](outputs, y[None])[0]

    def own(z, rest, y):
        return jax.grad(example_loss, argnums=(0, 1))(z, rest, y)

    def along(z, y, dz, drest):
        return jax.jvp(lambda a, b: own(a, b, y), (z, others), (dz, drest))[1]

    slope, rest_slope = jax.vmap(own, in_axes=(1, None, 0), out_axes=(1, 0))(seen, others, batch.y)
    moved = _gram_product(batch.x, slope)
    bend, rest_bend = jax.vmap(along, in_axes=(1, 0, 1, 0), out_axes=(1, 0))(
        seen, batch.y, moved, rest_slope
    )
    slopes = jax.tree.map(lambda g, h: (g + weight * h) / batch.size, slope, bend)
    rest = jax.tree.map(lambda g, h: (g + weight * h).mean(0), rest_slope, rest_bend)
    return slopes, rest


def _gram_product(
    x: Any, slope: tuple[Float[Array, "filter n *patch"], ...]
) -> tuple[Float[Array, "filter n *patch"], ...]:
    """K_i delta_i for every example; arrays of patches may be cut after their last coordinate."""
    patches = [leaf.reshape(leaf.shape[0], -1, leaf.shape[-1]) for leaf in jax.tree.leaves(x)]
    slopes = [leaf.reshape(*leaf.shape[:2], -1) for leaf in slope]

    def product(left):
        total = jnp.zeros(())
        for right, delta in zip(patches, slopes, strict=True):
            width = min(left.shape[-1], right.shape[-1])
            gram = jnp.einsum("npd,nqd->npq", left[..., :width], right[..., :width])
            # There are few patches: a sum of products is faster than many tiny matrix products.
            total = total + (gram[None] * delta[:, :, None, :]).sum(-1)
        return total

    return tuple(
        product(array).reshape(leaf.shape) for array, leaf in zip(patches, slope, strict=True)
    )
