"""Signal learning, noise memorisation, and the decomposition of filters into the two."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.probes.probe import (
    AbstractProbe,
    Output,
    floor_of,
    hidden,
    hidden_of,
    overlap,
    two_class_net,
)
from learnscope.rules import AbstractState


class SignalLearning(AbstractProbe):
    r"""$\max_{j,r} |\langle w_{j,r}, \mu \rangle|$ (Meng, Cao, Zou 2023, Figure 2)."""

    papers: ClassVar = ("meng2023pegr",)
    outputs: ClassVar = {"signal_learning": Output("signal learning, max |<w, mu>|")}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return jnp.abs(overlap(self, state, problem, "signal")).max()


class NoiseMemorisation(AbstractProbe):
    r"""$\max_{j,r,i} \langle w_{j,r}, \xi_i \rangle$ over training noise (Figure 3)."""

    papers: ClassVar = ("meng2023pegr",)
    outputs: ClassVar = {
        "noise_memorisation": Output("noise memorisation, max <w, xi>", floor="noise_floor"),
        "noise_floor": Output("rounding error of <w, xi>", low=0),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        noise = hidden_of(self, state, problem.train, "noise").max()
        return {"noise_memorisation": noise, "noise_floor": floor_of(state, problem.train, "noise")}


class Decomposition(AbstractProbe):
    r"""The coefficients of Definition 5.2 (Meng, Cao, Zou 2023):

    $$w_{j,r} = w_{j,r}^{(0)} + j \gamma_{j,r} \frac{\mu}{\|\mu\|^2} + \sum_i \rho_{j,r,i}
    \frac{\xi_i}{\|\xi_i\|^2},$$

    where $\rho$ is $\bar\rho$ if the filter's sign j is the example's label, and $\underline\rho$
    otherwise (each is 0 where the other holds). They are unique if $\mu$ and the $\xi_i$ are
    linearly independent. A state in the span of the training vectors holds them; from weights they
    are computed by least squares: exact if the filters moved in that span, and NaN if there are
    more vectors than dimensions.
    """

    papers: ClassVar = ("meng2023pegr",)
    outputs: ClassVar = {
        "gamma": Output("signal coefficient gamma", dims=("filter",)),
        "rho_bar": Output("noise coefficient, own label", dims=("filter", "sample")),
        "rho_underbar": Output("noise coefficient, other label", dims=("filter", "sample")),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        signal = hidden(self, problem.directions, "signal")
        noise = hidden(self, problem.train.vectors, "noise")
        sign = two_class_net(self, state).signs
        along, rho = state.shares(problem, "signal", "noise")
        rho = rho * jnp.sum(noise**2, axis=1)[None]
        own = sign[:, None] == problem.train.y[None]
        return {
            "gamma": sign * along * jnp.sum(signal**2),
            "rho_bar": jnp.where(own, rho, 0.0),
            "rho_underbar": jnp.where(own, 0.0, rho),
        }
