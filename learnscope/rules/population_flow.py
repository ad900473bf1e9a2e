"""Non-contrastive learning with infinitely many samples and infinitely small steps."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.nets import Params
from learnscope.part import Number, choice, count, flag, number
from learnscope.rules.heads import Head
from learnscope.rules.population import (
    CLOSED,
    LINEAR_HEADS,
    AbstractPopulation,
    covariance,
    law_of,
)
from learnscope.rules.population_gradient import Law, population_slopes
from learnscope.rules.rosenbrock import Walk, integrate
from learnscope.rules.rule import State
from learnscope.rules.siamese import Siamese


class Flowing(eqx.Module):
    """How far a flow has come: to `time`, with `tried` steps of which some were `refused`.

    An integration that ran out of steps has a `time` before the one that was asked for.
    """

    time: Float[Array, ""]
    size: Float[Array, ""]
    tried: Int[Array, ""]
    refused: Int[Array, ""]


class PopulationFlow(AbstractPopulation):
    r"""`PopulationDescent` with infinitely small steps: $\dot w_j = -\eta \nabla L$ and
    $\dot E = -\eta_E \nabla_E L$, so that a unit of time is a step of descent.

    Step $k$ goes on to time $t_k$, and $t_1, \dots, t_K$ grow geometrically from `first` to
    `horizon`; further steps do nothing. The equations are stiff: they are integrated by an implicit
    method with steps of its own choice, to a relative `tolerance` a step, in at most `most` steps
    between two times. Where that does not suffice, `memory.rest.time` stays behind. Tolerances
    below $10^{-4}$ need double precision.

    | symbol | argument |
    |---|---|
    | $\eta, \eta_E$ | `rate`, `head_rate` |
    | $K, t_1, t_K$ | `points`, `first`, `horizon` |

    >>> import jax.numpy as jnp
    >>> flow = PopulationFlow(rate=1, head_rate=0.05, horizon=1e4, points=5)
    >>> [float(flow.time(jnp.asarray(k))) for k in range(7)]
    [0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0, 10000.0]
    """

    rate: Number = number(above=0)
    head_rate: Number = number(low=0)
    horizon: Number = number(above=0)
    points: int = count(1)
    first: Number = number(1.0, above=0)
    tolerance: Number = number(1e-5, above=0)
    most: int = count(5000)
    head: str = choice(*LINEAR_HEADS, default="identity")
    normalise: str = choice(*CLOSED, default="batch")
    stop_gradient: bool = flag(True)
    target: str = choice("shared", default="shared")
    momentum: Number = number(0.99, low=0, high=1)  # no target of its own to follow
    loss: str = choice("pairs", default="pairs")
    hidden: int = count(1)  # no closed head has hidden neurons

    def __check_init__(self):
        super().__check_init__()
        known = isinstance(self.horizon, int | float) and isinstance(self.first, int | float)
        if known and self.points > 1 and self.horizon <= self.first:
            raise BadInput(
                f"PopulationFlow.horizon = {self.horizon} is not allowed: it must be above "
                f"first = {self.first}."
            )

    def time(self, step: Int[Array, ""]) -> Float[Array, ""]:
        """When a step ends."""
        part = jnp.clip((step - 1) / max(1, self.points - 1), 0, 1)
        later = self.first * (self.horizon / self.first) ** part
        last = step >= self.points
        return jnp.where(step < 1, 0.0, jnp.where(last, self.horizon, later))

    def remember(self, params: Params, head: Head) -> Any:
        kind = params["filters"].dtype
        zero = jnp.zeros((), int)
        return Flowing(jnp.zeros((), kind), jnp.asarray(1e-2 / self.rate, kind), zero, zero)

    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        memory: Siamese = state.memory
        model, filters = law_of(problem), state.params["filters"]
        law, at, matrix = Law.of(model), model.features, memory.head["matrix"]
        width = filters.shape[0]
        beyond = filters[:, at:]
        gram = beyond @ beyond.T
        # The noise parts stay in their span: only the matrix that turns them is integrated.
        free = _free(self.head, width)
        cuts = width * at, width * (at + width)

        def unpacked(value: Array) -> tuple[Array, Array, Array]:
            overlaps, turn, entries = jnp.split(value, cuts)
            head = matrix.at[free].set(entries)
            return overlaps.reshape(width, at), turn.reshape(width, width), head

        def field(value: Array) -> Array:
            overlaps, turn, head = unpacked(value)
            now = turn @ gram @ turn.T
            if self.head == "symmetric":
                head = covariance(model, overlaps, now)
            slopes = population_slopes(law, overlaps, now, head, self.normalise, self.stop_gradient)
            moved = [slopes.overlaps.ravel(), 2 * (slopes.gram @ turn).ravel()]
            moved = [-self.rate * slope for slope in moved]
            return jnp.concatenate([*moved, -self.head_rate * slopes.head[free]])

        start = [filters[:, :at].ravel(), jnp.eye(width).ravel(), matrix[free]]
        rest: Flowing = memory.rest
        walk = Walk(rest.time, jnp.concatenate(start), rest.size, rest.tried, rest.refused)
        until = self.time(state.step + 1).astype(walk.time.dtype)
        walk = integrate(field, walk, until, jnp.asarray(self.tolerance), self.most)
        overlaps, turn, matrix = unpacked(walk.value)
        filters = jnp.concatenate([overlaps, turn @ beyond], axis=1)
        if self.head == "symmetric":
            matrix = covariance(model, overlaps, turn @ gram @ turn.T)
        rest = Flowing(walk.time, walk.size, walk.tried, walk.refused)
        return state.advance(
            {"filters": filters}, Siamese({"matrix": matrix}, None, rest, self.normalise)
        )


def _free(head: str, width: int) -> tuple[np.ndarray, ...]:
    """Which entries of a head are trained."""
    trained = {"identity": ~np.eye(width, dtype=bool), "linear": np.ones((width, width), bool)}
    return np.nonzero(trained.get(head, np.zeros((width, width), bool)))
