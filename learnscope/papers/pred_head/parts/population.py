"""Non-contrastive learning with infinitely many samples: exact population dynamics."""

from typing import Any, ClassVar

import jax
from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.nets import Params, PatchEncoder, filters_of, replaced
from learnscope.papers.pred_head.parts.population_law import (
    Law,
    cross_covariance,
    model_of,
    parts,
    population_loss,
    within_covariance,
)
from learnscope.part import Number, choice, count, flag, number
from learnscope.rules import (
    TARGETS,
    AbstractSiamese,
    AbstractState,
    Head,
    Siamese,
    WeightState,
    no_reason,
    trained_part,
)

LINEAR_HEADS = ("identity", "linear", "symmetric", "none")
CLOSED = ("batch", "none")


class AbstractPopulation(AbstractSiamese):
    """A rule that knows the law of its examples instead of drawing them."""

    draws: ClassVar[bool] = False

    basis_dependence = no_reason
    fresh_obstacle = no_reason

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Siamese:
        model_of(problem)
        net = state.net
        if not isinstance(net, PatchEncoder) or net.activation != "cubic":
            raise BadInput(
                f"{type(self).__name__} needs the net PatchEncoder with activation = 'cubic', "
                "for which the population loss has a closed form."
            )
        return super().prepare(state, problem, key)

    def objective(self, filters: Array, matrix: Array, target: Array | None, law: Law) -> Array:
        """The population loss as a function of the filters and the head."""
        hold = jax.lax.stop_gradient
        overlaps, gram = parts(filters, law.features)
        within = within_covariance(law, overlaps, gram)
        if target is None:
            theirs, other = overlaps, within
            if self.stop_gradient:
                theirs, other = hold(theirs), hold(other)
        else:
            theirs, other_gram = parts(target, law.features)
            other = within_covariance(law, theirs, other_gram)
        if self.head == "symmetric":
            matrix = hold(within)
        across = cross_covariance(law, overlaps, theirs)
        return population_loss(across, within, other, matrix, self.normalise)

    def slopes(
        self, filters: Array, matrix: Array, target: Array | None, law: Law
    ) -> tuple[Array, Array]:
        """Its derivatives by the filters, and by what is trained of the head."""
        slope, head_slope = jax.grad(self.objective, argnums=(0, 1))(filters, matrix, target, law)
        return slope, trained_part(self.head, {"matrix": head_slope})["matrix"]


class PopulationDescent(AbstractPopulation):
    r"""`NonContrastive` with batches of infinitely many examples: $w_j \leftarrow w_j - \eta
    \nabla L$, $E \leftarrow E - \eta_E \nabla_E L$ with the exact gradients. In any dimension it
    costs the same. Heads are the linear ones, normalisation is by batch or none: what is closed.

    | symbol | argument |
    |---|---|
    | $\eta, \eta_E$ | `rate`, `head_rate` |

    >>> PopulationDescent(rate=0.05, head_rate=0.01).normalise
    'batch'
    """

    rate: Number = number(above=0)
    head_rate: Number = number(low=0)
    head: str = choice(*LINEAR_HEADS, default="identity")
    normalise: str = choice(*CLOSED, default="batch")
    stop_gradient: bool = flag(True)
    target: str = choice(*TARGETS, default="shared")
    momentum: Number = number(0.99, low=0, high=1)
    loss: str = choice("pairs", default="pairs")
    hidden: int = count(1)  # no closed head has hidden neurons

    def remember(self, params: Params, head: Head) -> Any:
        return None

    def step(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        memory: Siamese = state.memory
        law, filters = Law.of(model_of(problem)), filters_of(state.params)
        matrix = memory.head["matrix"]
        target = None if memory.target is None else filters_of(memory.target)
        slope, head_slope = self.slopes(filters, matrix, target, law)
        params = replaced(state.params, filters=filters - self.rate * slope)
        if self.head == "symmetric":
            matrix = within_covariance(law, *parts(filters, law.features))
        head = {"matrix": matrix - self.head_rate * head_slope}
        followed = self.followed(memory.target, params)
        return state.advance(params, Siamese(head, followed, None, self.normalise))
