"""Training the last layer alone, on fixed features."""

from typing import Any

import jax
import optax
from jaxtyping import Array, Key

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import AbstractNet, Params
from learnscope.part import Number, choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES, loss_of
from learnscope.rules.rule import AbstractRule, State


def readout_of(owner: str, net: AbstractNet) -> str:
    """The name of a net's last layer, or word that it has none."""
    if net.readout is None:
        raise BadInput(
            f"{owner} needs a net with a last layer of its own, such as TwoLayer, "
            f"not {type(net).__name__}."
        )
    return net.readout


def readout_gradient(state: State, name: str, samples: Samples) -> Array:
    """The gradient of the mean loss with respect to the last layer alone."""

    def mean_loss(layer: Array) -> Array:
        outputs = state.net({**state.params, name: layer}, samples.x)
        return loss_of(state.loss, outputs, samples.y).mean()

    return jax.grad(mean_loss)(state.params[name])


class RandomFeatures(AbstractRule):
    r"""The first layer stays as it was drawn; the last one is trained.

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

    @property
    def basis_dependence(self) -> str | None:
        return None  # what is trained has no coordinates

    def prepare(self, net: AbstractNet, params: Params, problem: Problem, key: Key) -> Any:
        layer = params[readout_of("RandomFeatures", net)]
        return opt.build(self.optimiser, self.rate, self.options).init(layer)

    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        name = readout_of("RandomFeatures", state.net)
        transform = opt.build(self.optimiser, self.rate, self.options)
        gradient, layer = readout_gradient(state, name, problem.batch(key)), state.params[name]
        updates, memory = transform.update(gradient, state.memory, layer)
        return state.advance({**state.params, name: optax.apply_updates(layer, updates)}, memory)
