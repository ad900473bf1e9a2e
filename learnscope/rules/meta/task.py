r"""One task, in terms of the network's weights or of the inner products of filters and patches.

Adapting an inner-product net to a task with patches $P$ (rows) moves filters within their span,
$W = W_0 + A P$, so that the task sees $Z = W P^T = Z_0 + A G$ with its Gram matrix $G = P P^T$.
A rule needs only $Z_0$, $A$ and $G$ to descend, to differentiate the result or to solve a linear
system; the outer gradient $H P$ uses $P$ once, for all tasks together. For other nets, points and
moves are weights, with $G = I$.
"""

import dataclasses
from abc import abstractmethod
from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from learnscope.nets import AbstractInnerProductNet, AbstractNet, filters_of, replaced
from learnscope.rules.losses import loss_of

# The state of the network for one task; a change of weights (a move) has the same structure.
Point = PyTree[Float[Array, "..."]]
_UNROLLED = 5  # steps: shorter loops cost more in bookkeeping than in arithmetic
_LOOPED = 1  # the same for deep networks, where a loop compiles in two thirds of the time


class AbstractTask(eqx.Module):
    """A task. A *point* is a state of the network and a *move* a change of its weights; `shift` is
    the change of the point by a move. Gradients by the point are moves."""

    start: eqx.AbstractVar[Point]
    net: eqx.AbstractVar[AbstractNet]

    @abstractmethod
    def inner_loss(self, point: Point) -> Float[Array, ""]:
        """The mean loss of the inner examples, which are adapted to."""

    @abstractmethod
    def outer_losses(self, point: Point) -> Float[Array, " n"]:
        """The loss of each outer example, at the adapted network."""

    def outer_loss(self, point: Point) -> Float[Array, ""]:
        """The mean loss of the outer examples."""
        return self.outer_losses(point).mean()

    @abstractmethod
    def outer_outputs(self, point: Point) -> tuple[Array, Array]:
        """The outputs on the outer examples, and their labels."""

    @abstractmethod
    def shift(self, move: Point) -> Point:
        """The change of the point by a move."""

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
    """Inner-product nets: a point holds the inner products of filters and patches, in place of the
    filters; a move holds coefficients of the patches. Other parameters are as they are."""

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
        seen: Float[Array, "patch filter sample"] = filters_of(point)[..., slice(*part)]
        return self.net.read(point, tuple(seen)), self.labels[slice(*part)]

    def shift(self, move: Point) -> Point:
        # The product needs filters first. Elsewhere patches come first: activations are three times
        # faster along the many examples than along the few patches of one.
        along: Float[Array, "filter patch sample"] = filters_of(move).transpose(1, 0, 2)
        square = self.gram.reshape(along[0].size, along[0].size)
        seen = (along.reshape(along.shape[0], -1) @ square).reshape(along.shape)
        return replaced(move, filters=seen.transpose(1, 0, 2))


class Descent(eqx.Module):
    """The result of adaptation: the displacement and the final point."""

    move: Point
    point: Point


def descend(
    task: AbstractTask, rate: Array | float, steps: int, pull: Array | float | None = None
) -> Descent:
    r"""`steps` of gradient descent on the inner loss, plus $\frac{\lambda}{2}\|W - W_0\|^2$ with
    $\lambda$ = `pull` if given."""

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
    outer examples, as a move: the mean of $g_i + \lambda H_i g_i$, where $g_i$ is the gradient of
    example i, as in `PerExamplePenalty`."""
    count = jax.eval_shape(task.outer_losses, point).shape[0]

    def own(chosen: Float[Array, " n"]) -> Point:
        slope = jax.grad(lambda at: task.outer_losses(at) @ chosen)
        along = slope(point)
        _, bend = jax.jvp(slope, (point,), (task.shift(along),))
        return jax.tree.map(lambda g, h: g + weight * h, along, bend)

    dtype = jax.tree.leaves(point)[0].dtype
    each = jax.vmap(own)(jnp.eye(count, dtype=dtype))
    return jax.tree.map(lambda leaf: leaf.mean(0), each)
