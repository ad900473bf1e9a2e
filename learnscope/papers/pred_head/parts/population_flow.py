"""Non-contrastive learning with infinitely many samples and infinitely small steps."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from learnscope.data import Problem
from learnscope.errors import refuse
from learnscope.nets import Params, filters_of, replaced
from learnscope.papers.pred_head.parts.population import CLOSED, LINEAR_HEADS, AbstractPopulation
from learnscope.papers.pred_head.parts.population_gradient import population_slopes
from learnscope.papers.pred_head.parts.population_law import Law, model_of, within_covariance
from learnscope.papers.pred_head.parts.rosenbrock import Walk, integrate
from learnscope.part import Number, choice, count, flag, number
from learnscope.rules import Head, Siamese, WeightState


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
    method with steps of its own choice, to a relative `tolerance` per step, in at most `most` steps
    between two times. Where that does not suffice, `memory.rest.time` stays behind. Tolerances
    below $10^{-4}$ need double precision; beyond times of $10^{12}/\eta$ rounding keeps steps short
    (learning takes about $d^2/\eta$).

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
    most: int = count(20000)
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
            refuse(self, "horizon", f"it must be above first = {self.first}")

    def time(self, step: Int[Array, ""]) -> Float[Array, ""]:
        """The end of a step."""
        part = jnp.clip((step - 1) / max(1, self.points - 1), 0, 1)
        later = self.first * (self.horizon / self.first) ** part
        last = step >= self.points
        return jnp.where(step < 1, 0.0, jnp.where(last, self.horizon, later))

    def remember(self, params: Params, head: Head) -> Any:
        kind = filters_of(params).dtype
        zero = jnp.zeros((), int)
        return Flowing(jnp.zeros((), kind), jnp.asarray(1e-2 / self.rate, kind), zero, zero)

    def step(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        memory: Siamese = state.memory
        rest: Flowing = memory.rest
        model, matrix = model_of(problem), memory.head["matrix"]
        filters = filters_of(state.params)
        overlaps, beyond = filters[:, : model.features], filters[:, model.features :]
        flow = Flow(
            Law.of(model), beyond @ beyond.T, matrix, self.rate, self.head_rate, self.head,
            self.normalise, self.stop_gradient,
        )  # fmt: skip
        walk = Walk(rest.time, flow.start(overlaps), rest.size, rest.tried, rest.refused)
        until = self.time(state.step + 1).astype(walk.time.dtype)
        walk = integrate(flow, walk, until, jnp.asarray(self.tolerance), self.most)
        overlaps, turn, matrix = flow.unpacked(walk.value)
        filters = jnp.concatenate([overlaps, turn @ beyond], axis=1)
        rest = Flowing(walk.time, walk.size, walk.tried, walk.refused)
        moved = Siamese({"matrix": matrix}, None, rest, self.normalise)
        return state.advance(replaced(state.params, filters=filters), moved)


class Flow(eqx.Module):
    r"""The equations in as few unknowns as they have: $B$, the matrix $T$ that takes the neurons'
    noise parts at the start to those now (which stay in their span), and the trained entries of
    $E$. With $G = T G_0 T^T$: $\dot B = -\eta\, \partial L/\partial B$, $\dot T = -2 \eta S T$,
    $\dot E = -\eta_E\, \partial L/\partial E$."""

    law: Law
    gram: Float[Array, "neuron neuron"]
    matrix: Float[Array, "neuron neuron"]
    rate: Number
    head_rate: Number
    head: str = eqx.field(static=True)
    normalise: str = eqx.field(static=True)
    stop_gradient: bool = eqx.field(static=True)

    @property
    def trained(self) -> tuple[np.ndarray, ...]:
        """Which entries of the head are."""
        width = len(self.gram)
        everywhere = np.ones((width, width), bool)
        which = {"identity": ~np.eye(width, dtype=bool), "linear": everywhere}
        return np.nonzero(which.get(self.head, ~everywhere))

    def start(self, overlaps: Float[Array, "neuron feature"]) -> Float[Array, " n"]:
        """The unknowns before anything moved."""
        turn = jnp.eye(len(self.gram), dtype=overlaps.dtype)
        return jnp.concatenate([overlaps.ravel(), turn.ravel(), self.matrix[self.trained]])

    def unpacked(self, value: Float[Array, " n"]) -> tuple[Array, Array, Array]:
        """B, T and E."""
        width, features = len(self.gram), len(self.law.within)
        cuts = width * features, width * (features + width)
        overlaps, turn, entries = jnp.split(value, cuts)
        overlaps, turn = overlaps.reshape(width, features), turn.reshape(width, width)
        if self.head == "symmetric":
            return overlaps, turn, within_covariance(self.law, overlaps, self.now(turn))
        return overlaps, turn, self.matrix.at[self.trained].set(entries)

    def now(self, turn: Float[Array, "neuron neuron"]) -> Float[Array, "neuron neuron"]:
        """G."""
        return turn @ self.gram @ turn.T

    def __call__(self, value: Float[Array, " n"]) -> Float[Array, " n"]:
        overlaps, turn, head = self.unpacked(value)
        slopes = population_slopes(
            self.law, overlaps, self.now(turn), head, self.normalise, self.stop_gradient
        )
        moved = [slopes.overlaps.ravel(), 2 * (slopes.gram @ turn).ravel()]
        moved = [-self.rate * slope for slope in moved]
        return jnp.concatenate([*moved, -self.head_rate * slopes.head[self.trained]])
