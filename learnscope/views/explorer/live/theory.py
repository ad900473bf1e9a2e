"""The theory of an experiment, as times to mark and as tables."""

from typing import Any

from learnscope import theory
from learnscope.errors import BadInput
from learnscope.lab import Experiment


def theory_of(experiment: Experiment) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Predicted times within the run; prediction and conditions as tables."""
    try:
        prediction = theory.predict(experiment)
    except BadInput:
        parts = (experiment.data, experiment.net, experiment.rule)
        kinds = " x ".join(type(part).__name__ for part in parts)
        return {}, [_table("Theory", (f"No theory here covers {kinds}.",), [])]
    timed = {name.replace("_", " "): value for name, value in prediction.items()
             if ("time" in name or "stage" in name) and isinstance(value, int | float)}  # fmt: skip
    times = {name: float(value) for name, value in timed.items() if 0 < value < experiment.steps}
    rows = [(name.replace("_", " "), *others) for name, *others in prediction.rows()]
    tables = [_table("What theory predicts", ("", "value", "meaning"), rows)]
    try:
        checked = theory.conditions(experiment)
    except BadInput:
        return times, tables
    rows = [(c.statement, f"{c.left:.3g} {c.relation} {c.right:.3g}", f"{c.margin:.4g}",
             "holds" if c.holds else "fails") for c in checked]  # fmt: skip
    title = f"Its conditions: {sum(c.holds for c in checked)} of {len(checked)} hold"
    return times, [*tables, _table(title, ("condition", "here", "margin", ""), rows)]


def _table(title: str, names: tuple[str, ...], rows: list[tuple[str, ...]]) -> dict[str, Any]:
    return {"title": title, "names": names, "rows": rows}
