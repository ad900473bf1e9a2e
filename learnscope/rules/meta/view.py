"""All tasks of a step at once: how they are told apart, and how what they want is put together."""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Samples, joined, patch_gram
from learnscope.nets import AbstractInnerProductNet, AbstractNet, Params
from learnscope.nets.net import inner
from learnscope.rules.meta.task import AbstractTask, InSight, InWeights, Point


class Parts(eqx.Module):
    """Examples of some tasks in sets that follow each other within a task, and which of them are
    adapted to and judged by (from, to)."""

    sets: tuple[Samples, ...]
    inner: tuple[int, int] = eqx.field(static=True)
    outer: tuple[int, int] = eqx.field(static=True)

    @property
    def sizes(self) -> list[int]:
        """Examples of a task in every set."""
        return [part.size // part.groups for part in self.sets]


class View(eqx.Module):
    """`each` holds what differs between tasks (leading axis), `make` a task of it, and `gather` the
    gradient for the parameters from the mean of what every task wants, as moves. Tasks are
    `vmapped` or, where batches of weights are slow, gone through one by one."""

    each: Any
    make: Callable[[Any], AbstractTask]
    gather: Callable[[Point], Params]
    vmapped: bool = eqx.field(static=True, default=True)

    def map(self, function: Callable[[AbstractTask], Any]) -> Any:
        """A function of every task."""
        mapped = jax.vmap if self.vmapped else lambda one: lambda each: jax.lax.map(one, each)
        return mapped(lambda one: function(self.make(one)))(self.each)

    def gradient(self, wanted: Callable[[AbstractTask], Point]) -> Params:
        """The mean over tasks of a move that each of them wants, in the parameters."""
        return self.gather(self.map(wanted))


@singledispatch
def view(net: AbstractNet, params: Params, parts: Parts, loss: str) -> View:
    """Tasks in the weights of any net."""
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
    """Tasks in what their patches see of the filters."""
    filters = params["filters"]
    rest = {name: value for name, value in params.items() if name != "filters"}
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
            net=net, start={**rest, "filters": z}, labels=y, gram=gram, inner=parts.inner,
            outer=parts.outer, loss=loss,
        )  # fmt: skip

    def gather(moves: Point) -> Params:
        along = moves["filters"].transpose(1, 2, 0, 3) / tasks
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
        means = {name: moves[name].mean(0) for name in rest}
        return {**means, "filters": found}

    return View((start, labels, _gram(parts)), make, gather)


def _seen(filters: Array, sets: tuple[Samples, ...]) -> list[tuple[Array, ...]]:
    """What every patch of every set sees of the filters. Where a group of patches is multiples of
    one vector a task (the mark `carried`), that vector alone is multiplied."""
    if not all(isinstance(part.x, tuple) and "carried" in part.marks for part in sets):
        return [inner(filters, part.x) for part in sets]
    times = [part.marks["carried"].reshape(part.groups, -1) for part in sets]
    of_task = _by_task(sets[0].x[0], sets[0].groups)[:, 0] / times[0][:, :1]
    (seen,) = inner(filters, of_task)
    spread = [(seen[:, :, None] * t[None]).reshape(filters.shape[0], -1) for t in times]
    return [(own, *inner(filters, part.x[1:])) for own, part in zip(spread, sets, strict=True)]


def _gram(parts: Parts) -> Array:
    """Of every task's own patches: as the data model gives it, or from the patches."""
    if all("gram" in part.marks for part in parts.sets):
        found = jnp.concatenate(
            [_by_task(part.marks["gram"], part.groups) for part in parts.sets], axis=1
        )
    else:
        found = patch_gram(joined(*(Samples(p.x, p.y, groups=p.groups) for p in parts.sets)).x)
    return found.transpose(0, 2, 1, 3, 4)


def _by_task(leaf: Array, tasks: int) -> Array:
    return leaf.reshape(tasks, -1, *leaf.shape[1:])
