"""Signal learnt, noise memorised, and the decomposition of filters into both."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.nets import PatchCNN
from learnscope.probes.probe import AbstractProbe, Output, filters_of, hidden
from learnscope.rules import State


class SignalLearning(AbstractProbe):
    r"""$\max_{j,r} |\langle w_{j,r}, \mu \rangle|$ (Meng, Cao, Zou 2023, Figure 2)."""

    papers: ClassVar = ("meng2023pegr",)
    outputs: ClassVar = {"signal_learning": Output("signal learning, max |<w, mu>|")}

    def __call__(self, state: State, problem: Problem) -> Array:
        return jnp.abs(filters_of(self, state) @ hidden(self, problem.directions, "signal")).max()


class NoiseMemorisation(AbstractProbe):
    r"""$\max_{j,r,i} \langle w_{j,r}, \xi_i \rangle$ over training noise (Figure 3)."""

    papers: ClassVar = ("meng2023pegr",)
    outputs: ClassVar = {"noise_memorisation": Output("noise memorisation, max <w, xi>")}

    def __call__(self, state: State, problem: Problem) -> Array:
        return (filters_of(self, state) @ hidden(self, problem.train.vectors, "noise").T).max()


class Decomposition(AbstractProbe):
    r"""The coefficients of Definition 5.2 (Meng, Cao, Zou 2023):

    $$w_{j,r} = w_{j,r}^{(0)} + j \gamma_{j,r} \frac{\mu}{\|\mu\|^2} + \sum_i \rho_{j,r,i}
    \frac{\xi_i}{\|\xi_i\|^2},$$

    with $\bar\rho$ where the filter's sign j is the example's label and $\underline\rho$ elsewhere
    (and zero otherwise). Unique when $\mu$ and the $\xi_i$ are independent; found by least
    squares, so exact whenever the movement lies in their span.
    """

    papers: ClassVar = ("meng2023pegr",)
    outputs: ClassVar = {
        "gamma": Output("signal coefficient gamma", dims=("filter",)),
        "rho_bar": Output("noise coefficient, own label", dims=("filter", "sample")),
        "rho_underbar": Output("noise coefficient, other label", dims=("filter", "sample")),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        signal = hidden(self, problem.directions, "signal")
        noise = hidden(self, problem.train.vectors, "noise")
        if not isinstance(state.net, PatchCNN) or state.net.classes != 2:
            raise BadInput("the probe Decomposition is defined for a two-class PatchCNN only.")
        rows = jnp.concatenate([signal[None], noise])
        squares = jnp.sum(rows**2, axis=1)
        moved = filters_of(self, state) - state.start["filters"]
        gram = rows @ rows.T / jnp.sqrt(squares[:, None] * squares[None])
        shares = jnp.linalg.solve(gram, (rows / jnp.sqrt(squares)[:, None]) @ moved.T).T
        coefficients = shares * jnp.sqrt(squares)[None]
        sign = state.net.signs
        own = sign[:, None] == problem.train.y[None]
        rho = coefficients[:, 1:]
        return {
            "gamma": sign * coefficients[:, 0],
            "rho_bar": jnp.where(own, rho, 0.0),
            "rho_underbar": jnp.where(own, 0.0, rho),
        }
