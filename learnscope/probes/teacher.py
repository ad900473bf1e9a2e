"""A student and its teacher: their overlaps, and the generalisation error without samples."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem, SignOf
from learnscope.nets import PatchCNN, TwoLayer
from learnscope.probes.overlap_means import (
    fixed_layer,
    generalisation,
    misclassification,
    sum_obstacle,
)
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


class SecondLayer(AbstractProbe):
    """The weights of the second layer, trained or not."""

    papers: ClassVar = ("goldt2019dynamics",)
    outputs: ClassVar = {"second_layer": Output("second layer", dims=("filter",))}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return _student(self, state)[1]


class GeneralisationError(AbstractProbe):
    r"""$\frac12 E (f(x) - \phi(x))^2$ over new inputs, without label noise: in closed form for the
    error function and relu, by quadrature otherwise. If labels are signs, $\phi(x) = \pm 1$, and
    where they are not those of a sum of projections it is known to a percent. Smaller values than
    `generalisation_rounding` are rounding errors."""

    papers: ClassVar = ("saad1995online", "goldt2019dynamics")
    outputs: ClassVar = {
        "generalisation_error": Output(
            "generalisation error", low=0, floor="generalisation_rounding"
        ),
        "generalisation_rounding": Output("rounding error of the generalisation error", low=0),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        activation, second = _student(self, state)
        if problem.link is None:
            refuse(self, "a data model with a link, such as MultiIndex")
        teacher, student = _overlaps(self, state, problem)
        error, size = generalisation(activation, problem.link, second, teacher, student)
        return dict(zip(self.outputs, (error, jnp.finfo(size.dtype).eps * size), strict=True))


class Misclassification(AbstractProbe):
    r"""$P(\mathrm{sign} f(x) \ne \mathrm{sign} \phi(x))$ over new inputs, without label noise, for
    labels that are signs. It is $\arccos(R) / \pi$ for one filter with an odd increasing activation
    and the signs of a sum of projections, with the cosine $R$ between both; a mean over 32,768
    points, to about 0.002, otherwise."""

    papers: ClassVar = ("saad1995online",)
    outputs: ClassVar = {"misclassification": Output("probability of a wrong sign", low=0, high=1)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        activation, second = _student(self, state)
        if not isinstance(problem.link, SignOf):
            refuse(self, "a data model whose labels are signs, such as MultiIndex(signs=True)")
        teacher, student = _overlaps(self, state, problem)
        return misclassification(activation, problem.link, second, teacher, student)


def _student(probe: AbstractProbe, state: AbstractState) -> tuple[str, Float[Array, " filter"]]:
    """The activation and the second layer of a net that is a sum over filters."""
    filters_of(probe, state)
    why = sum_obstacle(state.net)
    if why is not None:
        refuse(probe, why)
    net = state.net
    assert isinstance(net, TwoLayer | PatchCNN)
    return net.activation, state.params["second"] if net.readout else fixed_layer(net)


def _overlaps(probe: AbstractProbe, state: AbstractState, problem: Problem) -> tuple[Array, Array]:
    filters = filters_of(probe, state)
    return overlap(probe, state, problem, "teacher"), filters @ filters.T
