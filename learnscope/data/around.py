"""What data models around another one share."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Key

from learnscope.data.frame import Frame
from learnscope.data.problem import AbstractData, Problem, Samples
from learnscope.errors import BadInput


class AbstractAround(AbstractData):
    """A data model that changes what another one draws: its inputs and labels are of that one."""

    data: eqx.AbstractVar[AbstractData]

    @property
    def dim(self) -> Any:  # type: ignore[override]
        return self.data.dim

    @property
    def labels(self) -> int | None:
        return self.data.labels

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        return self.data.example(key, problem)

    def one_set(self, key: Key[Array, ""], frame: Frame | None) -> Problem:
        """A draw of that one, or word that it has not one set of training examples."""
        whole = self.data.sample(key, frame)
        if whole.validation is not None or self.data.sets > 1:
            raise BadInput(
                f"{type(self).__name__}.data = {type(self.data).__name__} is not allowed: it must "
                "have one set of training examples, not tasks or fresh ones every step."
            )
        return whole
