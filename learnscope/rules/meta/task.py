r"""One task as adaptation sees it: in the network's weights, or in what its patches see of them.

Adapting an inner-product net to a task with patches $P$ (rows) moves filters within their span,
$W = W_0 + A P$, so that the task sees $Z = W P^T = Z_0 + A G$ with its Gram matrix $G = P P^T$.
Whatever a rule does with a task (descend, differentiate the result, solve a linear system) it does
to $Z_0$ and $A$, in n x n numbers; the outer gradient $H P$ needs $P$ once, for all tasks together.
For other nets the same words are about the weights themselves, with $G = I$.
"""

import dataclasses
from abc import abstractmethod
from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from learnscope.nets import AbstractInnerProductNet, AbstractNet
from learnscope.rules.losses import loss_of

# Where a network is, as the task sees it; a change of weights (a move) has the same structure.
Point = PyTree[Float[Array, "..."]]
_UNROLLED = 5  # steps: short loops cost more in bookkeeping than in arithmetic
_LOOPED = 1  # of deep networks: theirs are all arithmetic, and compile in two thirds of the time


class AbstractTask(eqx.Module):
    """A *point* is where the network is, a *move* a change of its weights, and `shift` says what a
    move does to the point. Gradients by the point are moves."""

    start: eqx.AbstractVar[Point]
    net: eqx.AbstractVar[AbstractNet]

    @abstractmethod
    def inner_loss(self, point: Point) -> Float[Array, ""]:
        """Mean loss of the examples that are adapted to."""

    @abstractmethod
    def outer_losses(self, point: Point) -> Float[Array, " n"]:
        """The loss of each of those that the adapted network is judged by."""

    def outer_loss(self, point: Point) -> Float[Array, ""]:
        """Their mean."""
        return self.outer_losses(point).mean()

    @abstractmethod
    def outer_outputs(self, point: Point) -> tuple[Array, Array]:
        """The network's outputs on the latter, and their labels."""

    @abstractmethod
    def shift(self, move: Point) -> Point:
        """What a move does to the point."""

    def dot(self, one: Point, other: Point) -> Float[Array, ""]:
        """The inner product of two moves, as changes of weights."""
        each = jax.tree.map(lambda a, b: jnp.sum(a * b), one, self.shift(other))
        return jnp.sum(jnp.stack(jax.tree.leaves(each)))

    def still(self) -> Point:
        """No move."""
        return jax.tree.map(jnp.zeros_like, self.start)

    def begun_at(self, start: Point) -> Self:
        """The same task, begun from another point."""
        return dataclasses.replace(self, start=start)


class InWeights(AbstractTask):
    """Any net: points are parameters."""

    net: AbstractNet
    start: Point
    inner: tuple[PyTree, Array]
    outer: tuple[PyTree, Array]
    loss: str = eqx.field(static=True)

    def inner_loss(self, point: Point) -> Float[Array, ""]:
        return loss_of(self.loss, self.net(point, self.inner[0]), self.inner[1]).mean()

    def outer_losses(self, point: Point) -> Float[Array, " n"]:
        return loss_of(self.loss, *self.outer_outputs(point))

    def outer_outputs(self, point: Point) -> tuple[Array, Array]:
        return self.net(point, self.outer[0]), self.outer[1]

    def shift(self, move: Point) -> Point:
        return move


class InSight(AbstractTask):
    """Nets that see inner products: points are what the task's patches see of the filters (and
    other parameters as they are), moves of filters are coefficients of the patches."""

    net: AbstractInnerProductNet
    start: Point
    labels: Array
    gram: Float[Array, "patch sample other_patch other"]
    inner: tuple[int, int] = eqx.field(static=True)
    outer: tuple[int, int] = eqx.field(static=True)
    loss: str = eqx.field(static=True)

    def inner_loss(self, point: Point) -> Float[Array, ""]:
        return loss_of(self.loss, *self._outputs(point, self.inner)).mean()

    def outer_losses(self, point: Point) -> Float[Array, " n"]:
        return loss_of(self.loss, *self._outputs(point, self.outer))

    def outer_outputs(self, point: Point) -> tuple[Array, Array]:
        return self._outputs(point, self.outer)

    def _outputs(self, point: Point, part: tuple[int, int]) -> tuple[Array, Array]:
        seen: Float[Array, "patch filter sample"] = point["filters"][..., slice(*part)]
        return self.net.read(point, tuple(seen)), self.labels[slice(*part)]

    def shift(self, move: Point) -> Point:
        # Patches first: activations are then read along examples, three times faster than along
        # the few patches of one; the product alone wants filters first.
        along: Float[Array, "filter patch sample"] = move["filters"].transpose(1, 0, 2)
        square = self.gram.reshape(along[0].size, along[0].size)
        seen = (along.reshape(along.shape[0], -1) @ square).reshape(along.shape)
        return {**move, "filters": seen.transpose(1, 0, 2)}


class Descent(eqx.Module):
    """How far it went, and where it came to."""

    move: Point
    point: Point


def descend(
    task: AbstractTask, rate: Array | float, steps: int, pull: Array | float | None = None
) -> Descent:
    r"""`steps` of gradient descent on the inner loss, plus $\frac{\lambda}{2}\|W - W_0\|^2$ if it
    is pulled back with weight $\lambda$."""

    def step(at: Descent, _: None = None) -> tuple[Descent, None]:
        along = jax.grad(task.inner_loss)(at.point)
        if pull is not None:
            along = jax.tree.map(lambda g, m: g + pull * m, along, at.move)
        minus = lambda a, b: a - rate * b  # noqa: E731
        shifted = jax.tree.map(minus, at.point, task.shift(along))
        return Descent(jax.tree.map(minus, at.move, along), shifted), None

    walk = Descent(task.still(), task.start)
    if steps > (_UNROLLED if task.net.vmapped else _LOOPED):
        return jax.lax.scan(step, walk, None, length=steps)[0]
    for _ in range(steps):
        walk, _ = step(walk)
    return walk


def penalised(task: AbstractTask, point: Point, weight: Array | float) -> Point:
    r"""The gradient of $\frac1n \sum_i (\ell_i + \frac{\lambda}{2} \|\nabla \ell_i\|^2)$ over the
    outer examples, as a move: the mean of $g_i + \lambda H_i g_i$, where $g_i$ is each one's own
    gradient (`PerExamplePenalty`, as a task sees it)."""
    count = jax.eval_shape(task.outer_losses, point).shape[0]

    def own(chosen: Float[Array, " n"]) -> Point:
        slope = jax.grad(lambda at: task.outer_losses(at) @ chosen)
        along = slope(point)
        _, bend = jax.jvp(slope, (point,), (task.shift(along),))
        return jax.tree.map(lambda g, h: g + weight * h, along, bend)

    dtype = jax.tree.leaves(point)[0].dtype
    each = jax.vmap(own)(jnp.eye(count, dtype=dtype))
    return jax.tree.map(lambda leaf: leaf.mean(0), each)
