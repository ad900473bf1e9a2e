"""Self-supervised learning without negative pairs: SimSiam, BYOL and variants of them."""

from typing import Any

import jax
import optax
from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.nets import Params
from learnscope.part import Number, choice, count, flag, number
from learnscope.rules import optimiser as opt
from learnscope.rules.heads import HEADS, Head, apply_head, trained_part
from learnscope.rules.siamese import NORMALISATIONS, TARGETS, AbstractSiamese, Siamese, misaligned
from learnscope.rules.state import WeightState


class NonContrastive(AbstractSiamese):
    r"""Gradient descent on $\frac12 \frac1N \sum_i \|\tilde F(X_i^{(1)}) - \text{sg}\,
    \tilde G(X_i^{(2)})\|^2$ (Wen and Li 2022, Algorithm 1 and equation 3.3), where $F = g \circ f$
    is the encoder with a prediction head, $G = f$ the target, and a tilde the normalisation. With
    normalised outputs that is a constant minus the mean similarity of the two.

    | symbol | argument |
    |---|---|
    | $\eta, \eta_E$ | `rate`, `head_rate` |
    | $g$ | `head`: `identity` ($E = I$ at the start, its off-diagonal trained), `linear`, `mlp` (with `hidden` neurons), `symmetric` (equation 1.1: set to $E[f f^T]$ every step), `none` |
    | $\tilde{}$ | `normalise`: `batch` (equation 3.1), `l2`, `none` |
    | sg | `stop_gradient` |

    `target="ema"` is a target network without gradient that follows the encoder with `momentum`.
    `both_ways` averages the loss over both orders of the views. SimSiam (its MLP without batch
    normalisation inside) and BYOL are

    >>> simsiam = dict(head="mlp", normalise="l2", both_ways=True)
    >>> NonContrastive(rate=0.05, head_rate=0.05, **simsiam).target
    'shared'
    >>> NonContrastive(rate=0.05, head_rate=0.05, **simsiam, target="ema").momentum
    0.99
    """  # noqa: E501

    rate: Number = number(above=0)
    head_rate: Number = number(low=0)
    head: str = choice(*HEADS, default="identity")
    normalise: str = choice(*NORMALISATIONS, default="batch")
    stop_gradient: bool = flag(True)
    target: str = choice(*TARGETS, default="shared")
    momentum: Number = number(0.99, low=0, high=1)
    hidden: int = count(64)
    both_ways: bool = flag(False)
    loss: str = choice("pairs", default="pairs")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def __check_init__(self):
        super().__check_init__()
        opt.check_optimiser(type(self).__name__, self.optimiser, self.options)

    @property
    def basis_dependence(self) -> str | None:
        return opt.basis_dependence(self.optimiser)

    fresh_obstacle = opt.fresh_obstacle

    def _transforms(self) -> tuple[optax.GradientTransformation, optax.GradientTransformation]:
        """The optimisers of the encoder and of the head."""
        rates = self.rate, self.head_rate
        encoder, of_head = (opt.build(self.optimiser, rate, self.options) for rate in rates)
        return encoder, of_head

    def remember(self, params: Params, head: Head) -> Any:
        encoder, of_head = self._transforms()
        return encoder.init(params), of_head.init(head)

    def step(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        memory: Siamese = state.memory
        views = problem.pair(key)
        slope, head_slope = jax.grad(self._objective, argnums=(0, 1))(
            state.params, memory.head, state, views
        )
        head = memory.head
        if self.head == "symmetric":
            head = self._set(state.net(state.params, views[0]))
        encoder, of_head = self._transforms()
        updates, one = encoder.update(slope, memory.rest[0], state.params)
        params = optax.apply_updates(state.params, updates)
        # An optimiser may also decay entries without gradient: restrict its updates too.
        slope_of_head = trained_part(self.head, head_slope)
        of_update: Any
        of_update, two = of_head.update(slope_of_head, memory.rest[1], head)
        moved: Any = optax.apply_updates(head, trained_part(self.head, of_update))
        target = self.followed(memory.target, params)
        return state.advance(params, Siamese(moved, target, (one, two), self.normalise))

    def _set(self, outputs: Array) -> Head:
        """The symmetric head E[f f^T], without gradient."""
        outputs = jax.lax.stop_gradient(outputs)
        return {"matrix": outputs.T @ outputs / outputs.shape[0]}

    def _objective(self, params: Params, head: Head, state: WeightState, views: tuple) -> Array:
        """The loss of a pair of views; each view is multiplied with the trained parameters once."""
        net, target = state.net, state.memory.target
        hold = jax.lax.stop_gradient
        one = net(params, views[0])
        if target is not None:
            others = [net(target, view) for view in (views if self.both_ways else views[1:])]
        elif self.both_ways or not self.stop_gradient:
            others = [one, net(params, views[1])] if self.both_ways else [net(params, views[1])]
        else:
            others = [net(hold(params), views[1])]
        fixed = [hold(z) if self.stop_gradient else z for z in others]
        head = self._set(one) if self.head == "symmetric" else head
        there = misaligned(apply_head(head, one), fixed[-1], self.normalise)
        if not self.both_ways:
            return there
        two = net(params, views[1]) if target is not None else others[1]
        back = misaligned(apply_head(head, two), fixed[0], self.normalise)
        return 0.5 * (there + back)
