"""Split a step into tasks, and average the tasks' moves into a gradient."""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Samples, joined, patch_gram
from learnscope.nets import AbstractInnerProductNet, AbstractNet, Params
from learnscope.nets.net import filters_of, inner, replaced
from learnscope.rules.meta.task import AbstractTask, InSight, InWeights, Point


class Parts(eqx.Module):
    """The examples of some tasks, in sets that are concatenated task by task. `inner` and `outer`
    are the ranges (from, to) of a task's examples to adapt to and to compute the outer loss of."""

    sets: tuple[Samples, ...]
    inner: tuple[int, int] = eqx.field(static=True)
    outer: tuple[int, int] = eqx.field(static=True)

    @property
    def sizes(self) -> list[int]:
        """The number of examples per task in each set."""
        return [part.size // part.groups for part in self.sets]


class View(eqx.Module):
    """All tasks of a step. `each` holds the arrays of the tasks (leading axis: task), `make` builds
    a task from its slice, and `gather` averages the tasks' moves into a gradient by the parameters.
    Tasks are `vmapped`, or mapped one by one where batches of weights are slow."""

    each: Any
    make: Callable[[Any], AbstractTask]
    gather: Callable[[Point], Params]
    vmapped: bool = eqx.field(static=True, default=True)

    def map(self, function: Callable[[AbstractTask], Any]) -> Any:
        """Apply a function to every task."""
        mapped = jax.vmap if self.vmapped else lambda one: lambda each: jax.lax.map(one, each)
        return mapped(lambda one: function(self.make(one)))(self.each)

    def gradient(self, wanted: Callable[[AbstractTask], Point]) -> Params:
        """The mean of the moves that the tasks want, as a gradient by the parameters."""
        return self.gather(self.map(wanted))


@singledispatch
def view(net: AbstractNet, params: Params, parts: Parts, loss: str) -> View:
    """The tasks of any net, in terms of its weights."""
    together = joined(*(Samples(part.x, part.y, groups=part.groups) for part in parts.sets))

    def cut(bounds: tuple[int, int]) -> tuple[Any, Array]:
        part = jax.tree.map(lambda leaf: leaf[:, slice(*bounds)], together)
        return part.x, part.y

    def make(one: Any) -> AbstractTask:
        return InWeights(net=net, start=params, inner=one[0], outer=one[1], loss=loss)

    def gather(moves: Point) -> Params:
        return jax.tree.map(lambda leaf: leaf.mean(0), moves)

    return View((cut(parts.inner), cut(parts.outer)), make, gather, net.vmapped)


@view.register
def _(net: AbstractInnerProductNet, params: Params, parts: Parts, loss: str) -> View:
    """The tasks of an inner-product net, in terms of the products of filters and patches."""
    filters, rest = filters_of(params), replaced(params, filters=None)
    tasks = parts.sets[0].groups
    seen, back = jax.vjp(lambda rows: _seen(rows, parts.sets), filters)

    def folded(groups: tuple[Array, ...]) -> Array:
        """(patch, filter, task, sample)."""
        flat = [z.reshape(filters.shape[0], tasks, -1, z[0, 0].size) for z in groups]
        return jnp.concatenate([z.transpose(3, 0, 1, 2) for z in flat])

    start = jnp.concatenate([folded(groups) for groups in seen], axis=3).transpose(2, 0, 1, 3)
    labels = jnp.concatenate([part.y.reshape(tasks, -1) for part in parts.sets], axis=1)

    def make(one: Any) -> AbstractTask:
        z, y, gram = one
        return InSight(
            net=net, start=replaced(rest, filters=z), labels=y, gram=gram, inner=parts.inner,
            outer=parts.outer, loss=loss,
        )  # fmt: skip

    def gather(moves: Point) -> Params:
        along = filters_of(moves).transpose(1, 2, 0, 3) / tasks
        cotangents, at = [], 0
        for groups, size in zip(seen, parts.sizes, strict=True):
            own = along[..., at : at + size].reshape(*along.shape[:2], tasks * size)
            at, patch, pulled = at + size, 0, []
            for leaf in groups:  # (filter, task x sample, *patch)
                patches = leaf[0, 0].size
                part = own[patch : patch + patches].transpose(1, 2, 0)
                pulled.append(part.reshape(leaf.shape))
                patch += patches
            cotangents.append(tuple(pulled))
        (found,) = back(cotangents)
        means = jax.tree.map(lambda leaf: leaf.mean(0), replaced(moves, filters=None))
        return replaced(means, filters=found)

    return View((start, labels, _gram(parts)), make, gather)


def _seen(filters: Array, sets: tuple[Samples, ...]) -> list[tuple[Array, ...]]:
    """The inner products of filters with all patches of all sets. Where the first patch of a task's
    examples is a multiple of one vector (the mark `carried`), only that vector is multiplied."""
    if not all(isinstance(part.x, tuple) and "carried" in part.marks for part in sets):
        return [inner(filters, part.x) for part in sets]
    times = [part.marks["carried"].reshape(part.groups, -1) for part in sets]
    of_task = _by_task(sets[0].x[0], sets[0].groups)[:, 0] / times[0][:, :1]
    (seen,) = inner(filters, of_task)
    spread = [(seen[:, :, None] * t[None]).reshape(filters.shape[0], -1) for t in times]
    return [(own, *inner(filters, part.x[1:])) for own, part in zip(spread, sets, strict=True)]


def _gram(parts: Parts) -> Array:
    """The Gram matrix of each task's patches, as the data model gives it or from the patches."""
    if all("gram" in part.marks for part in parts.sets):
        found = jnp.concatenate(
            [_by_task(part.marks["gram"], part.groups) for part in parts.sets], axis=1
        )
    else:
        found = patch_gram(joined(*(Samples(p.x, p.y, groups=p.groups) for p in parts.sets)).x)
    return found.transpose(0, 2, 1, 3, 4)


def _by_task(leaf: Array, tasks: int) -> Array:
    return leaf.reshape(tasks, -1, *leaf.shape[1:])
