r"""Non-contrastive learning with infinitely many samples: exact population dynamics.

For `StrongWeak` with Gaussian noise and cubic neurons the loss depends on the weights only through
$B_{jl} = \langle w_j, v_l \rangle$ and the Gram matrix $G$ of their noise parts. With
$b = B^{\circ 3}$, $c_l = \alpha_l^6$, and $E[x^3 y^3] = 9 \text{var}(x) \text{var}(y)
\text{cov} + 6 \text{cov}^3$ for centred normal variables, a view's outputs have covariance

$$\Sigma = \sum_l C_{1,l} c_l b_l b_l^T + C_2 \sigma^6 (9\, \text{diag}(g) G\, \text{diag}(g) +
6 G^{\circ 3}),$$

and outputs of two views (of encoder and target) $A = \sum_l C_{0,l} c_l b_l b_l'^T$, since their
noise is independent. The counts $C$ are `StrongWeak.counts`. Then (Wen and Li 2022, equation A.1)

$$L = \sum_j 1 - (E A)_{jj} / \sqrt{(E \Sigma E^T)_{jj} \Sigma'_{jj}}.$$
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data import Problem, StrongWeak
from learnscope.data.strong_weak import FreshPairs
from learnscope.errors import BadInput
from learnscope.nets import AbstractNet, Params, PatchEncoder
from learnscope.part import Number, choice, count, flag, number
from learnscope.rules.heads import Head, trained_part
from learnscope.rules.rule import State
from learnscope.rules.siamese import TARGETS, AbstractSiamese, Siamese

LINEAR_HEADS = ("identity", "linear", "symmetric", "none")
CLOSED = ("batch", "none")


def covariance(
    model: StrongWeak, overlaps: Float[Array, "neuron feature"], gram: Float[Array, "neuron neuron"]
) -> Float[Array, "neuron neuron"]:
    r"""$\Sigma$: of the neurons' outputs for one view."""
    counts = model.counts
    lengths = jnp.diag(gram)
    noise = 9 * lengths[:, None] * gram * lengths[None] + 6 * gram**3
    cubes = overlaps**3
    weights = counts.within * strengths(model) ** 6
    return (cubes * weights[None]) @ cubes.T + counts.noise * model.noise**6 * noise


def cross_covariance(
    model: StrongWeak,
    overlaps: Float[Array, "neuron feature"],
    target: Float[Array, "neuron feature"],
) -> Float[Array, "neuron neuron"]:
    """A: of the neurons' outputs for one view and the target's for the other."""
    weights = model.counts.across * strengths(model) ** 6
    return (overlaps**3 * weights[None]) @ (target**3).T


def strengths(model: StrongWeak) -> Float[Array, " feature"]:
    """alpha_1, ..., alpha_L."""
    return jnp.stack([jnp.asarray(s, float) for s in model.strengths])


def population_loss(
    across: Float[Array, "neuron neuron"],
    within: Float[Array, "neuron neuron"],
    target: Float[Array, "neuron neuron"],
    head: Float[Array, "neuron neuron"],
    normalise: str,
) -> Float[Array, ""]:
    """Half the mean squared distance of the two views, from covariances."""
    together = jnp.diag(head @ across)
    online, other = jnp.diag(head @ within @ head.T), jnp.diag(target)
    if normalise == "none":
        return (0.5 * (online + other) - together).sum()
    return (1 - together * jax.lax.rsqrt(online * other)).sum()


def parts(filters: Float[Array, "neuron rank"], features: int) -> tuple[Array, Array]:
    """B and G of filters whose first coordinates are the features."""
    beyond = filters[:, features:]
    return filters[:, :features], beyond @ beyond.T


def law_of(problem: Problem) -> StrongWeak:
    """The data model behind a problem, or word that its population is not known."""
    batches = problem.batches
    if not isinstance(batches, FreshPairs) or batches.model.noise_law != "gaussian":
        raise BadInput("population dynamics need the data model StrongWeak with Gaussian noise.")
    return batches.model


class AbstractPopulation(AbstractSiamese):
    """A rule that knows the law of its examples instead of drawing them."""

    draws: ClassVar[bool] = False

    @property
    def basis_dependence(self) -> str | None:
        return None

    @property
    def fresh_obstacle(self) -> str | None:
        return None

    def prepare(self, net: AbstractNet, params: Params, problem: Problem, key: Key) -> Siamese:
        law_of(problem)
        if not isinstance(net, PatchEncoder) or net.activation != "cubic":
            raise BadInput(
                f"{type(self).__name__} needs the net PatchEncoder with activation = 'cubic', "
                "for which the population loss has a closed form."
            )
        return super().prepare(net, params, problem, key)

    def objective(
        self, filters: Array, matrix: Array, target: Array | None, model: StrongWeak
    ) -> Array:
        """The population loss as a function of the filters and the head."""
        hold = jax.lax.stop_gradient
        overlaps, gram = parts(filters, model.features)
        within = covariance(model, overlaps, gram)
        if target is None:
            theirs, other = overlaps, within
            if self.stop_gradient:
                theirs, other = hold(theirs), hold(other)
        else:
            theirs, other_gram = parts(target, model.features)
            other = covariance(model, theirs, other_gram)
        if self.head == "symmetric":
            matrix = hold(within)
        across = cross_covariance(model, overlaps, theirs)
        return population_loss(across, within, other, matrix, self.normalise)

    def slopes(
        self, filters: Array, matrix: Array, target: Array | None, model: StrongWeak
    ) -> tuple[Array, Array]:
        """Its derivatives by the filters, and by what is trained of the head."""
        slope, head_slope = jax.grad(self.objective, argnums=(0, 1))(filters, matrix, target, model)
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

    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        memory: Siamese = state.memory
        model, filters = law_of(problem), state.params["filters"]
        matrix = memory.head["matrix"]
        target = None if memory.target is None else memory.target["filters"]
        slope, head_slope = self.slopes(filters, matrix, target, model)
        params = {"filters": filters - self.rate * slope}
        if self.head == "symmetric":
            matrix = covariance(model, *parts(filters, model.features))
        head = {"matrix": matrix - self.head_rate * head_slope}
        followed = self.followed(memory.target, params)
        return state.advance(params, Siamese(head, followed, None, self.normalise))
