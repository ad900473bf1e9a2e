"""The inner products in which the paper writes its update rules."""

from typing import ClassVar

from jaxtyping import Array

from learnscope.data import Problem
from learnscope.probes import AbstractProbe, Output, hidden
from learnscope.rules import AbstractState


class TrainingOverlaps(AbstractProbe):
    r"""What Lemmas 5.1, 5.3 and 5.8 (Meng, Cao, Zou 2023) need of a state: $\langle w_{j,r}, \mu
    \rangle$, $\langle w_{j,r}, \xi_i \rangle$, the labels, and $\langle \xi_i, \xi_{i'} \rangle$ of
    the training examples."""

    papers: ClassVar = ("meng2023pegr",)
    outputs: ClassVar = {
        "on_signal": Output("<w, mu>", dims=("filter",)),
        "on_noise": Output("<w, xi> of training noise", dims=("filter", "sample")),
        "label": Output("label", dims=("sample",), low=-1, high=1),
        "noise_gram": Output("<xi, xi'> of training noise", dims=("sample", "other")),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        signal = hidden(self, problem.directions, "signal")
        noise = hidden(self, problem.train.vectors, "noise")
        return {
            "on_signal": state.overlap("signal", signal),
            "on_noise": state.hidden(problem.train, "noise"),
            "label": problem.train.y,
            "noise_gram": noise @ noise.T,
        }
