"""The rows of the grid: every rule, with a net that it trains and a rate that follows the data.

Nothing is tuned cell by cell. With P = E |x|^2 of a data model (`Column.power`), rates are a
constant over P, one for each net and kind of rule, so that a first step moves outputs alike
everywhere; rules on pairs normalise outputs themselves and have one rate. The weight of a gradient
penalty is 2 / P, twice that at which the growth of an example's own noise stops
(`studies.pegr`), and it is closed after half of the steps.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from learnscope.nets import AbstractNet, Linear, PatchCNN, PatchEncoder, TwoLayer
from learnscope.rules import (
    AbstractRule,
    Contrastive,
    Fomaml,
    FrozenFeatures,
    FullPenalty,
    GradientDescent,
    Imaml,
    LinearCentroid,
    Linearised,
    Maml,
    MetaProx,
    NonContrastive,
    PerExamplePenalty,
    Pooled,
    PopulationDescent,
    PopulationFlow,
    RandomFeatures,
    Reptile,
    TwoStep,
)
from learnscope.studies.grid.columns import Column

# Steps by what a rule learns from: labels, labels through a last layer of its own, tasks, tasks by
# linear regression, pairs of views, or the law of such pairs.
STEPS = {"labels": 1000, "readout": 500, "tasks": 200, "centroid": 1, "pairs": 500, "law": 500}
WIDTH = 10
INNER_STEPS = 3


@dataclasses.dataclass(frozen=True)
class Row:
    """A rule of the grid: its kind, what it `needs`, and the rule for a data model."""

    kind: type[AbstractRule]
    needs: str
    make: Callable[[Column, int], AbstractRule]

    def steps(self, smoke: bool) -> int:
        whole = STEPS[self.needs]
        return min(whole, 20) if smoke else whole

    def net(self, column: Column) -> AbstractNet:
        """PatchEncoder for pairs, Linear for regression, TwoLayer where examples are one vector or
        the rule needs a last layer, and PatchCNN (the papers' net) where they are patches."""
        size = column.power**0.5
        if self.needs in ("pairs", "law"):
            return PatchEncoder(width=WIDTH)
        if self.needs == "centroid" or (column.regression and self.needs != "readout"):
            return Linear(scale=0.1 / size)
        if column.patches and self.needs != "readout":
            return PatchCNN(
                width=WIDTH, activation="huberised", scale=0.1 / size, second_layer="sum"
            )
        second = (2 * WIDTH) ** -0.5
        return TwoLayer(width=WIDTH, activation="relu", scale=1 / size, second_scale=second)

    def rule(self, column: Column, smoke: bool) -> AbstractRule:
        return self.make(column, self.steps(smoke))


def _rate(column: Column) -> float:
    """Of a step on labels: 2 / P, and 1/2 / P where the loss is a square and has no bend."""
    return (0.5 if column.regression else 2.0) / column.power


def _loss(column: Column) -> dict[str, Any]:
    return {"loss": "squared" if column.regression else "logistic"}


def _penalty(column: Column, steps: int) -> dict[str, Any]:
    return {"rate": _rate(column), "weight": 2.0 / column.power, "until": steps // 2}


def inner(column: Column, linear: bool = False) -> dict[str, Any]:
    """How a net adapts: at the outer rate, but for PatchCNN, whose small start leaves adapting
    without effect below 25 times that (`studies.meta_split`)."""
    if linear or column.regression:
        rate = 0.5 / column.power
    else:
        rate = (25 if column.patches else 1) * _rate(column)
    return {"inner_rate": rate, "inner_steps": INNER_STEPS}


def _meta(column: Column) -> dict[str, Any]:
    return {"rate": _rate(column), **inner(column), **_loss(column)}


def _two_steps(column: Column) -> dict[str, Any]:
    """The first step finds features at any rate, the second keeps them at the size of a start."""
    each = {"first_rate": 1.0 / column.power, "second_rate": 20.0 / column.power}
    return each | {"rate": _rate(column), "weighted": not column.regression, **_loss(column)}


ROWS: dict[str, Row] = {
    "GradientDescent": Row(
        GradientDescent, "labels", lambda c, n: GradientDescent(rate=_rate(c), **_loss(c))
    ),
    "PerExamplePenalty": Row(
        PerExamplePenalty, "labels", lambda c, n: PerExamplePenalty(**_penalty(c, n), **_loss(c))
    ),
    "FullPenalty": Row(
        FullPenalty, "labels", lambda c, n: FullPenalty(**_penalty(c, n), **_loss(c))
    ),
    "Linearised": Row(
        Linearised, "readout", lambda c, n: Linearised(rate=_rate(c), **_loss(c))
    ),
    "RandomFeatures": Row(
        RandomFeatures, "readout", lambda c, n: RandomFeatures(rate=_rate(c), **_loss(c))
    ),
    "TwoStep": Row(TwoStep, "readout", lambda c, n: TwoStep(**_two_steps(c))),
    "FrozenFeatures": Row(
        FrozenFeatures, "readout", lambda c, n: FrozenFeatures(after=2, **_two_steps(c))
    ),
    "Pooled": Row(Pooled, "tasks", lambda c, n: Pooled(rate=_rate(c), **_loss(c))),
    "Fomaml": Row(Fomaml, "tasks", lambda c, n: Fomaml(**_meta(c))),
    "Fomaml + penalty": Row(
        Fomaml, "tasks", lambda c, n: Fomaml(**_meta(c), penalty=2.0 / c.power)
    ),
    "Maml": Row(Maml, "tasks", lambda c, n: Maml(**_meta(c))),
    "Imaml": Row(
        Imaml, "tasks", lambda c, n: Imaml(**_meta(c), weight=0.1 / _rate(c), solver_steps=3)
    ),
    "Reptile": Row(
        Reptile, "tasks", lambda c, n: Reptile(rate=0.5, **inner(c), **_loss(c))
    ),
    "MetaProx": Row(
        MetaProx, "tasks",
        lambda c, n: MetaProx(rate=0.5, weight=0.1 / _rate(c), **inner(c), **_loss(c)),
    ),
    "LinearCentroid": Row(
        LinearCentroid, "centroid", lambda c, n: LinearCentroid(weight=0.1 * c.power)
    ),
    "NonContrastive": Row(
        NonContrastive, "pairs", lambda c, n: NonContrastive(rate=0.05, head_rate=0.05)
    ),
    "Contrastive": Row(Contrastive, "pairs", lambda c, n: Contrastive(rate=0.05)),
    "PopulationDescent": Row(
        PopulationDescent, "law", lambda c, n: PopulationDescent(rate=0.05, head_rate=0.05)
    ),
    "PopulationFlow": Row(
        PopulationFlow, "law",
        lambda c, n: PopulationFlow(rate=0.05, head_rate=0.05, horizon=float(n), tolerance=1e-3),
    ),
}  # fmt: skip
