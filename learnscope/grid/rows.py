"""The rows of the grid: every registered rule, with a net that it trains.

Every rule takes the same number of steps (`LinearCentroid` is solved in one). With P = E |x|^2 of a
data model (`Column.power`), all rates of a rule are a standard value over P, times a factor that
`run.tuned` chooses in the same way for every pair; nothing else is tuned. The weight of a gradient
penalty is 2 / P, twice that at which the growth of an example's own noise stops (`papers.pegr`),
and it is switched off after half of the steps. Values belong to field names, so that a user's own
rule gets them too.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from learnscope.data import AbstractData, Grouped
from learnscope.engine.size import check_fit
from learnscope.errors import BadInput, unknown, why_of
from learnscope.grid.columns import Column, all_data, column
from learnscope.lab import Experiment, Record
from learnscope.nets import AbstractNet, Linear, PatchCNN, PatchEncoder, TwoLayer
from learnscope.part import example_of, kinds
from learnscope.probes import AbstractProbe, AdaptedTest, LearntResponse, LinearProbe, TestAccuracy
from learnscope.rules import AbstractPairRule, AbstractRule

STEPS = 1000
# Sources that a rule may learn from: labels, labels through a last layer of its own, tasks, tasks
# by linear regression, or pairs of views. A rule takes the first that can be traced.
SOURCES = ("labels", "readout", "tasks", "centroid", "pairs")
RATES = ("rate", "head_rate", "first_rate", "second_rate")
LEARNS_FROM = {"Linearised": "readout"}
WIDTH = 10
SUPPORT, QUERIES = 2, 4  # examples of each half of a task that is dealt out
# Numbers of single rows; a row with a word after its rule's name is one more row of that rule.
PRESETS: dict[str, Callable[[Column], dict[str, Any]]] = {
    "FrozenFeatures": lambda c: {"after": 2},
    "Fomaml + penalty": lambda c: {"penalty": 2.0 / c.power},
    "Imaml": lambda c: {"weight": 0.1 / c.rate, "solver_steps": 3},
    "MetaProx": lambda c: {"weight": 0.1 / c.rate},
    "LinearCentroid": lambda c: {"weight": 0.1 * c.power},
    "PopulationFlow": lambda c: {"tolerance": 1e-3},
}


class Meaningless(BadInput):
    """The question that a pair asks has no answer, whatever is built."""


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
    """Why there is no number for a pair; None if there is. The pair is traced, not run. The reason
    begins with its kind: `meaningless` (no answer exists), `not built` or `fails`."""
    return _obstacle(lambda: experiment(rule, data, smoke))


def _obstacle(make: Callable[[], Experiment]) -> str | None:
    try:
        check_fit(make())
    except Meaningless as error:
        return f"meaningless: {error}"
    except BadInput as error:
        kind = "not built" if error.__cause__ is None else "fails"  # a user's own part, with why
        return f"{kind}: {str(error).removesuffix('.')}"
    except Exception as error:  # of a user's own part, which may raise anything
        return f"fails: {why_of(error)}"
    return None


@functools.cache
def _source(kind: type[AbstractRule]) -> str:
    """What a rule learns from."""
    if kind.__name__ in LEARNS_FROM or issubclass(kind, AbstractPairRule):
        return LEARNS_FROM.get(kind.__name__, "pairs")
    for data in all_data():
        for source in SOURCES:
            if not _obstacle(
                lambda d=data, s=source: _experiment(kind.__name__, kind, column(d, True), s, True)
            ):
                return source
    return "labels"


def _experiment(
    name: str, kind: type[AbstractRule], column: Column, source: str, smoke: bool
) -> Experiment:
    steps = 1 if source == "centroid" else 20 if smoke else STEPS
    own = PRESETS.get(name, lambda column: {})(column)
    known = () if column.truth is None else (LearntResponse(truth=column.truth),)
    rule = _rule(kind, {**_numbers(column, steps), **_inner(column, source), **own})
    probes = (_accuracy(column, source), *known)
    data, net = _data(column, source), _net(column, source)
    return Experiment(data, net, rule, steps, probes, Record(every=steps))


def _rule(kind: type[AbstractRule], numbers: dict[str, Any]) -> AbstractRule:
    """A rule with its values; so has a rule inside it."""
    made = example_of(kind, numbers)
    for field in dataclasses.fields(made):
        inside = getattr(made, field.name)
        if isinstance(inside, AbstractRule):
            made = made.replace(field.name, _rule(type(inside), numbers))
    return made


def rates(part: Any, path: str = "rule") -> dict[str, float]:
    """The rates of a rule and of rules inside it, by path."""
    found = {}
    for field in dataclasses.fields(part):
        value, at = getattr(part, field.name), f"{path}.{field.name}"
        if field.name in RATES and value is not None:
            found[at] = float(value)
        elif isinstance(value, AbstractRule):
            found |= rates(value, at)
    return found


def _data(column: Column, source: str) -> AbstractData:
    """The data model as a rule can learn from it."""
    problem = column.problem
    if source in ("tasks", "centroid") and problem.validation is None:
        tasks = problem.train.size // (2 * SUPPORT)
        return Grouped(column.data, tasks=tasks, validation=SUPPORT, queries=QUERIES)
    if source == "pairs" and column.structureless is not None:
        raise Meaningless(column.structureless)
    return column.pairs if source == "pairs" else column.data


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


def _numbers(column: Column, steps: int) -> dict[str, Any]:
    """Values of rules' fields, by name. In two-step training the first step finds features at any
    rate, the second keeps them at the size of a start."""
    return {
        "rate": column.rate, "head_rate": column.rate,
        "first_rate": 1.0 / column.power, "second_rate": 20.0 / column.power,
        "weight": 2.0 / column.power, "until": steps // 2, "horizon": float(steps),
        "loss": "squared" if column.regression else "logistic",
        "weighted": not column.regression,
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
