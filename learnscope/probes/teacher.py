"""A student and its teacher: their overlaps, and the generalisation error without samples."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import SHAPES, Link, Problem, link_of
from learnscope.nets import TwoLayer, normal_grid, pair_mean, shape_of
from learnscope.probes.probe import AbstractProbe, Output, filters_of, overlap, refuse
from learnscope.rules import AbstractState


class Overlaps(AbstractProbe):
    r"""The order parameters of online learning (Saad and Solla 1995): $M_{ik} = \langle w_i, u_k
    \rangle$ with the teacher, $Q_{ij} = \langle w_i, w_j \rangle$ among students.

    `alignment` is the largest $|M_{ik}| / \sqrt{Q_{ii}}$: the step at which it passes a level is
    the exit time from mediocrity. `specialisation` is how far it is above the next one of the same
    filter, averaged over filters: 0 on the symmetric plateau, 1 for a student that has learnt."""

    papers: ClassVar = ("saad1995online",)
    outputs: ClassVar = {
        "teacher_overlap": Output("overlap with the teacher", dims=("filter", "direction")),
        "student_overlap": Output("overlap of two filters", dims=("filter", "other_filter")),
        "alignment": Output("largest |cosine| with the teacher", low=0, high=1),
        "specialisation": Output("|cosine| with one direction above the next", low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        filters = filters_of(self, state)
        teacher, student = overlap(self, state, problem, "teacher"), filters @ filters.T
        norms = jnp.sqrt(jnp.diag(student))[:, None]
        cosines = jnp.minimum(jnp.abs(teacher) / jnp.where(norms > 0, norms, 1.0), 1.0)
        ordered = jnp.sort(jnp.pad(cosines, ((0, 0), (1, 0))), axis=1)
        found = teacher, student, cosines.max(), (ordered[:, -1] - ordered[:, -2]).mean()
        return dict(zip(self.outputs, found, strict=True))


class GeneralisationError(AbstractProbe):
    r"""$\frac12 E (f(x) - \phi(x))^2$ over new inputs, without label noise: in closed form for the
    error function and relu, by quadrature otherwise. Smaller values than `generalisation_rounding`
    are rounding errors."""

    papers: ClassVar = ("saad1995online", "goldt2019dynamics")
    outputs: ClassVar = {
        "generalisation_error": Output(
            "generalisation error", low=0, floor="generalisation_rounding"
        ),
        "generalisation_rounding": Output("rounding error of the generalisation error", low=0),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        net, filters = state.net, filters_of(self, state)
        if not isinstance(net, TwoLayer) or net.bias or net.smoothing is not None:
            refuse(self, "the net TwoLayer without biases (bias = false) and smoothing")
        if problem.link is None:
            refuse(self, "a data model with a link and no signs, such as MultiIndex")
        teacher, student = overlap(self, state, problem, "teacher"), filters @ filters.T
        second = state.params["second"]
        second = fixed_layer(net) if second is None else second
        error, size = generalisation(net.activation, problem.link, second, teacher, student)
        return dict(zip(self.outputs, (error, jnp.finfo(size.dtype).eps * size), strict=True))


def fixed_layer(net: TwoLayer) -> Float[Array, " filter"]:
    """The second layer of a net that does not train it."""
    return jnp.full(net.width, 1.0 if net.second_layer == "sum" else 1 / net.width)


def generalisation(
    activation: str, link: str | Link, second: Float[Array, " filter"],
    teacher: Float[Array, "filter direction"], student: Float[Array, "filter filter"],
) -> tuple[Float[Array, ""], Float[Array, ""]]:  # fmt: skip
    """The generalisation error from the overlaps, and the size of the terms that it is made of."""
    own, ones = jnp.diag(student), jnp.ones_like(teacher)
    squares = second @ pair_mean(
        activation, activation, jnp.broadcast_to(own[:, None], student.shape),
        jnp.broadcast_to(own[None], student.shape), student,
    ) @ second  # fmt: skip
    if link in SHAPES:
        each = jnp.broadcast_to(own[:, None], teacher.shape)
        products = (second @ pair_mean(activation, str(link), each, ones, teacher)).sum()
        same = jnp.eye(teacher.shape[1], dtype=teacher.dtype)
        labels = pair_mean(str(link), str(link), jnp.ones_like(same), jnp.ones_like(same), same)
    else:
        nodes, weights = (jnp.asarray(v, teacher.dtype) for v in normal_grid(teacher.shape[1]))
        outside, chances = (jnp.asarray(v, teacher.dtype) for v in normal_grid(1))
        y = link_of(link)(nodes)
        rest = jnp.sqrt(jnp.maximum(own - (teacher**2).sum(1), 0.0))
        h = (teacher @ nodes.T)[..., None] + rest[:, None, None] * outside[None, None, :, 0]
        products = second @ (shape_of(activation)(h) @ chances) @ (weights * y)
        labels = weights * y**2
    terms = squares / 2, -products, labels.sum() / 2
    return jnp.maximum(sum(terms), 0.0), sum(map(jnp.abs, terms))  # type: ignore[return-value]
