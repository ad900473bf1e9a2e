"""The rows of the grid: every registered rule, with a net that it trains.

Nothing is tuned cell by cell. With P = E |x|^2 of a data model (`Column.power`), rates are a
constant over P, one per net and kind of rule; rules on pairs normalise outputs themselves and have
one rate. The weight of a gradient penalty is 2 / P, twice that at which the growth of an example's
own noise stops (`papers.pegr`), and it is switched off after half of the steps. Values belong to
field names, so that a user's own rule gets them too.
"""

import functools
from collections.abc import Callable
from typing import Any

from learnscope.data import AbstractData, Grouped, Viewed
from learnscope.engine.size import check_fit
from learnscope.errors import BadInput, unknown
from learnscope.grid.columns import Column, all_data, column
from learnscope.lab import Experiment, Record
from learnscope.nets import AbstractNet, Linear, PatchCNN, PatchEncoder, TwoLayer
from learnscope.part import example_of, kinds
from learnscope.probes import AbstractProbe, AdaptedTest, LearntResponse, LinearProbe, TestAccuracy
from learnscope.rules import AbstractPairRule, AbstractRule

# Sources that a rule may learn from, and the steps: labels, labels through a last layer of its own,
# tasks, tasks by linear regression, or pairs of views. A rule takes the first that can be traced.
STEPS = {"labels": 1000, "readout": 500, "tasks": 200, "centroid": 1, "pairs": 500}
LEARNS_FROM = {"Linearised": "readout"}
WIDTH = 10
SUPPORT, QUERIES = 2, 4  # examples of each half of a task that is dealt out
# Numbers of single rows; a row with a word after its rule's name is one more row of that rule.
PRESETS: dict[str, Callable[[Column], dict[str, Any]]] = {
    "FrozenFeatures": lambda c: {"after": 2},
    "Fomaml + penalty": lambda c: {"penalty": 2.0 / c.power},
    "Imaml": lambda c: {"weight": 0.1 / c.rate, "solver_steps": 3},
    "Reptile": lambda c: {"rate": 0.5},
    "MetaProx": lambda c: {"rate": 0.5, "weight": 0.1 / c.rate},
    "LinearCentroid": lambda c: {"weight": 0.1 * c.power},
    "PopulationFlow": lambda c: {"tolerance": 1e-3},
}


def all_rules() -> dict[str, type[AbstractRule]]:
    """Every rule by the name of its row."""
    more = [name for name in PRESETS if " " in name]
    return {
        name: kind
        for own, kind in kinds(AbstractRule).items()
        for name in (own, *(name for name in more if name.split()[0] == own))
    }


def experiment(rule: str, data: str, smoke: bool = False) -> Experiment:
    """The experiment of a pair: recorded before the first step, which is the untrained control, and
    after the last."""
    known = all_rules()
    if rule not in known:
        raise unknown("rule of the grid", rule, known)
    return _experiment(rule, known[rule], column(data, smoke), _source(known[rule]), smoke)


def reason(rule: str, data: str, smoke: bool = False) -> str | None:
    """Why a pair does not fit, in a sentence; None if it does. The pair is traced, not run."""
    return _obstacle(lambda: experiment(rule, data, smoke))


def _obstacle(make: Callable[[], Experiment]) -> str | None:
    try:
        check_fit(make())
    except BadInput as error:
        return str(error).removesuffix(".")
    except Exception as error:  # of a user's own part, which may raise anything
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return None


@functools.cache
def _source(kind: type[AbstractRule]) -> str:
    """What a rule learns from."""
    if kind.__name__ in LEARNS_FROM or issubclass(kind, AbstractPairRule):
        return LEARNS_FROM.get(kind.__name__, "pairs")
    for data in all_data():
        for source in STEPS:
            if not _obstacle(
                lambda d=data, s=source: _experiment(kind.__name__, kind, column(d, True), s, True)
            ):
                return source
    return "labels"


def _experiment(
    name: str, kind: type[AbstractRule], column: Column, source: str, smoke: bool
) -> Experiment:
    steps = min(STEPS[source], 20) if smoke else STEPS[source]
    own = PRESETS.get(name, lambda column: {})(column)
    known = () if column.truth is None else (LearntResponse(truth=column.truth),)
    rule = example_of(kind, {**_numbers(column, source, steps), **own})
    probes = (_accuracy(column, source), *known)
    data, net = _data(column, source), _net(column, source)
    return Experiment(data, net, rule, steps, probes, Record(every=steps))


def _data(column: Column, source: str) -> AbstractData:
    """The data model as a rule can learn from it."""
    problem = column.problem
    if source in ("tasks", "centroid") and problem.validation is None:
        tasks = problem.train.size // (2 * SUPPORT)
        return Grouped(column.data, tasks=tasks, validation=SUPPORT, queries=QUERIES)
    if source == "pairs" and column.structureless is not None:
        raise BadInput(column.structureless)
    if source == "pairs" and not problem.batches.fresh:
        return Viewed(column.data, column.pairs)
    return column.data


def _net(column: Column, source: str) -> AbstractNet:
    """PatchEncoder for pairs, Linear for regression, TwoLayer where examples are one vector or
    the rule needs a last layer, and PatchCNN (the papers' net) where they are patches."""
    size = column.power**0.5
    if source == "pairs":
        return PatchEncoder(width=WIDTH)
    if source == "centroid" or (column.regression and source != "readout"):
        return Linear(scale=0.1 / size)
    if column.vectors > 1 and source != "readout":
        return PatchCNN(
            width=WIDTH, activation="huberised", scale=0.1 / size, second_layer="sum",
            classes=column.data.labels or 2,
        )  # fmt: skip
    second = (2 * WIDTH) ** -0.5
    return TwoLayer(width=WIDTH, activation="relu", scale=1 / size, second_scale=second)


def _numbers(column: Column, source: str, steps: int) -> dict[str, Any]:
    """Values of rules' fields, by name. In two-step training the first step finds features at any
    rate, the second keeps them at the size of a start."""
    return {
        "rate": 0.05 if source == "pairs" else column.rate, "head_rate": 0.05,
        "first_rate": 1.0 / column.power, "second_rate": 20.0 / column.power,
        "weight": 2.0 / column.power, "until": steps // 2, "horizon": float(steps),
        "loss": "squared" if column.regression else "logistic",
        "weighted": not column.regression, **_inner(column, source),
    }  # fmt: skip


def _inner(column: Column, source: str) -> dict[str, Any]:
    """How a net adapts: at the outer rate, or 25 times that for PatchCNN, whose small initial
    weights need it (`papers.meta_split`)."""
    linear = source == "centroid" or column.regression
    rate = 0.5 / column.power if linear else (25 if column.vectors > 1 else 1) * column.rate
    return {"inner_rate": rate, "inner_steps": 3}


def _accuracy(column: Column, source: str) -> AbstractProbe:
    """The accuracy of the rule's net, as it is or adapted to each task, or of a linear readout."""
    if source == "pairs":
        return LinearProbe(classes=2, halves=True)
    if source in ("tasks", "centroid") and not column.regression:
        return AdaptedTest(**_inner(column, source))
    return TestAccuracy()
