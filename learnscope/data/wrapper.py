"""Base class for data models that wrap another one."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Key

from learnscope.data.problem import AbstractData, Problem, Samples
from learnscope.errors import refuse
from learnscope.space import Space
from learnscope.space.frame import Frame


class AbstractWrapper(AbstractData):
    """A data model that changes the draws of another one, `data`, but not its inputs or labels."""

    data: eqx.AbstractVar[AbstractData]

    @property
    def dim(self) -> Any:  # type: ignore[override]
        return self.data.dim

    @property
    def space(self) -> Space:
        return Space(self.data.space.span)

    @property
    def numeric(self) -> bool:
        return self.data.numeric

    @property
    def labels(self) -> int | None:
        return self.data.labels

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        return self.data.example(key, problem)

    def whole(self, key: Key[Array, ""], frame: Frame | None) -> Problem:
        """A draw of `data`, which must have one set of training examples."""
        drawn = self.data.sample(key, frame)
        if drawn.validation is not None or drawn.batches.fresh:
            must = "it must have one set of training examples, not tasks or fresh ones every step"
            refuse(self, "data", must)
        return drawn
