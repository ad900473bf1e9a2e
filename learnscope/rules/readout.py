"""Training the last layer only, on fixed features."""

from typing import Any

import jax
import optax
from jaxtyping import Array, Key

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import AbstractNet, replaced
from learnscope.part import Number, choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.rule import AbstractRule, no_reason
from learnscope.rules.state import AbstractState, WeightState


def readout_of(owner: str, net: AbstractNet) -> str:
    """The name of a net's last layer."""
    if net.readout is None:
        raise BadInput(
            f"{owner} needs a net with a last layer of its own, such as TwoLayer, "
            f"not {type(net).__name__}."
        )
    return net.readout


def readout_gradient(state: WeightState, name: str, samples: Samples) -> Array:
    """The gradient of the mean loss by the last layer only."""

    def mean_loss(layer: Array) -> Array:
        return state.losses_at(replaced(state.params, **{name: layer}), samples).mean()

    return jax.grad(mean_loss)(state.params[name])


class RandomFeatures(AbstractRule):
    r"""Training of the last layer; the first one stays as drawn.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\ell$ | `loss`: logistic, hinge or squared |

    >>> RandomFeatures(rate=0.1).loss
    'hinge'
    """

    rate: Number = number(above=0)
    loss: str = choice(*LOSSES, default="hinge")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def __check_init__(self):
        super().__check_init__()
        opt.check_optimiser("RandomFeatures", self.optimiser, self.options)

    basis_dependence = no_reason  # the last layer is no vector of the input space

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Any:
        layer = state.params[readout_of("RandomFeatures", state.net)]
        return opt.build(self.optimiser, self.rate, self.options).init(layer)

    def step(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        name = readout_of("RandomFeatures", state.net)
        transform = opt.build(self.optimiser, self.rate, self.options)
        gradient, layer = readout_gradient(state, name, problem.batch(key)), state.params[name]
        updates, memory = transform.update(gradient, state.memory, layer)
        trained = {name: optax.apply_updates(layer, updates)}
        return state.advance(replaced(state.params, **trained), memory)
