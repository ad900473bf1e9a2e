"""What theory tells of an experiment, as tables and as times to mark."""

import dataclasses
from typing import Any

from learnscope import theory
from learnscope.errors import BadInput
from learnscope.lab import Experiment
from learnscope.rules.rule import AbstractPenalty


@dataclasses.dataclass(frozen=True)
class Told:
    """Predicted times within the run, and tables: a title, the columns' names, and rows."""

    times: dict[str, float]
    tables: list[dict[str, Any]]


def tell(experiment: Experiment) -> Told:
    """The prediction and the conditions of the theory that is about an experiment."""
    try:
        prediction = theory.predict(experiment)
    except BadInput:
        parts = (experiment.data, experiment.net, experiment.rule)
        kinds = " x ".join(type(part).__name__ for part in parts)
        return Told({}, [_table("Theory", (f"No theory here is about {kinds}.",), [])])
    times = {
        name.replace("_", " "): float(value)
        for name, value in prediction.items()
        if ("time" in name or "stage" in name)
        and (name != "closing_time" or isinstance(experiment.rule, AbstractPenalty))
        and isinstance(value, int | float)
        and 0 < value < experiment.steps
    }
    rows = [(name.replace("_", " "), _number(value), prediction.meanings.get(name, ""))
            for name, value in prediction.items()]  # fmt: skip
    tables = [_table("What theory predicts", ("", "value", "meaning"), rows)]
    try:
        checked = theory.conditions(experiment)
    except BadInput:
        return Told(times, tables)
    rows = [(c.statement, f"{c.left:.3g} {c.relation} {c.right:.3g}", _number(c.margin),
             "holds" if c.holds else "fails") for c in checked]  # fmt: skip
    title = f"Its conditions: {sum(c.holds for c in checked)} of {len(checked)} hold"
    return Told(times, [*tables, _table(title, ("condition", "here", "margin", ""), rows)])


def _table(title: str, names: tuple[str, ...], rows: list[tuple[str, ...]]) -> dict[str, Any]:
    return {"title": title, "names": names, "rows": rows}


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
