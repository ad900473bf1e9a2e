"""Which rule fits which data model: an experiment for a pair, or why it would mean nothing."""

from learnscope.data import AbstractData, Grouped, StrongWeak, Viewed
from learnscope.lab import Experiment, Record
from learnscope.probes import (
    AbstractProbe,
    AdaptedTest,
    LearntResponse,
    LinearProbe,
    TestAccuracy,
)
from learnscope.rules import FrozenFeatures, TwoStep
from learnscope.studies.grid.columns import Column
from learnscope.studies.grid.rows import Row, inner

SUPPORT = 2  # examples of each half of a task that is dealt out
QUERIES = 4


def reason(row: Row, column: Column) -> str | None:
    """Why a pair means nothing, in a sentence; none if it means something."""
    data = type(column.data).__name__
    if row.needs == "law" and not isinstance(column.data, StrongWeak):
        return "the law of pairs must be known in closed form, which it is for StrongWeak alone"
    if row.needs == "pairs" and column.structureless is not None:
        return f"of {data} {column.structureless}"
    if column.fresh and row.needs in ("tasks", "centroid"):
        return f"{data} draws every example once, and tasks have examples that a rule comes back to"
    if column.fresh and issubclass(row.kind, TwoStep | FrozenFeatures):
        return f"{data} draws every example once, and the first two steps are on the full batch"
    return None


def experiment(row: Row, column: Column, smoke: bool) -> Experiment:
    """The experiment of a pair that means something: recorded before the first step, which is the
    untrained control, and after the last."""
    steps = row.steps(smoke)
    return Experiment(
        data=reached(row, column),
        net=row.net(column),
        rule=row.rule(column, smoke),
        steps=steps,
        probes=probes(row, column),
        record=Record(every=steps),
    )


def reached(row: Row, column: Column) -> AbstractData:
    """The data model as a rule of that need can learn from it."""
    data = column.data
    if row.needs in ("tasks", "centroid") and not column.tasks:
        size = 2 * SUPPORT
        return Grouped(data, tasks=column.train // size, validation=SUPPORT, queries=QUERIES)
    if row.needs == "pairs" and not column.fresh:
        return Viewed(data, column.pairs)
    return data


def probes(row: Row, column: Column) -> tuple[AbstractProbe, ...]:
    """Accuracy as the rule means it to be used, and what the filters learnt, if truth is known."""
    known = () if column.truth is None else (LearntResponse(truth=column.truth),)
    return (accuracy(row, column), *known)


def accuracy(row: Row, column: Column) -> AbstractProbe:
    """On the rule's own net as it is; after adapting to each fresh task; or of a linear readout."""
    if row.needs in ("pairs", "law"):
        return LinearProbe(classes=2, halves=True)
    if row.needs in ("tasks", "centroid") and not column.regression:
        return AdaptedTest(**inner(column, linear=row.needs == "centroid"))
    return TestAccuracy()
