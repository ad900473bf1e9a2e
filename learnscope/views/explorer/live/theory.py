"""Theory beside a run: times to mark, tables, and the verdict in words."""

import dataclasses
import re
from typing import Any

import numpy as np
import xarray as xr

from learnscope import theory
from learnscope.errors import BadInput
from learnscope.evidence import Preset
from learnscope.lab import Experiment
from learnscope.theory import Conditions, Prediction
from learnscope.views.explorer.live.catalogue import SLOTS

# Variables that sum a run up, by how their names end, the best first.
SCORES = ("test_accuracy", "accuracy", "test_loss", "loss")
_IN_STEPS = "_time", "_stage", "_steps"  # how names of predicted steps end
_TRUTH = {"True": "yes", "False": "no", "None": "none"}
_OURS = "Ours, beyond what the paper states"


@dataclasses.dataclass(frozen=True)
class Theory:
    """The prediction and the conditions for an experiment, where a theory covers it."""

    experiment: Experiment
    prediction: Prediction | None
    conditions: Conditions | None

    @staticmethod
    def of(experiment: Experiment) -> "Theory":
        found: list[Any] = []
        for ask in (theory.predict, theory.conditions):
            try:
                found.append(ask(experiment))
            except BadInput:
                found.append(None)
        return Theory(experiment, *found)

    @property
    def times(self) -> dict[str, float]:
        """Predicted times within the run."""
        found = {name.replace("_", " "): value for name, value in (self.prediction or {}).items()
                 if name.endswith(_IN_STEPS)}  # fmt: skip
        timed = {name: v for name, v in found.items() if isinstance(v, int | float)}
        return {name: float(v) for name, v in timed.items() if 0 < v < self.experiment.steps}

    def tables(self) -> list[dict[str, Any]]:
        """The conditions, those of each of the paper's statements together; then the prediction."""
        if self.prediction is None:
            kinds = " x ".join(type(getattr(self.experiment, slot)).__name__ for slot in SLOTS)
            return [_table("Theory", (f"No theory here covers {kinds}.",), [])]
        tables, listed = [], self.conditions or Conditions()
        for of in dict.fromkeys(each.of for each in listed):
            some = [each for each in listed if each.of == of]
            rows = [(c.statement, f"{_short(c.left)} {c.relation} {_short(c.right)}",
                     _short(c.margin), "holds" if c.holds else "fails") for c in some]  # fmt: skip
            held = sum(c.holds for c in some)
            verdict = "holds" if held == len(some) else "fails"
            verb = "holds" if len(some) == 1 else "hold"
            counted = f"{held} of {len(some)}" + f" {verb}" * (held < len(some) or not of)
            title = f"{of[0].upper()}{of[1:]} {verdict}: {counted}" if of else f"{_OURS}: {counted}"
            tables.append(_table(title, ("condition", "here", "margin", ""), rows, verdict))
        rows = [(name.replace("_", " "), _TRUTH.get(value, value), meaning)
                for name, value, meaning in self.prediction.rows()]  # fmt: skip
        return [*tables, _table("What theory predicts", ("", "value", "meaning"), rows)]

    def verdict(self, preset: Preset, data: xr.Dataset) -> str:
        """What came out, in a sentence, and whether theory says so."""
        whole = np.isnan(data.diverged_at.values)
        if not whole.any():
            return "Every run diverged." if data.sizes["seed"] > 1 else "The run diverged."
        recorded = {str(name): data.variables[name] for name in data.data_vars
                    if "step" in data.variables[name].dims}  # fmt: skip
        last = {name: np.median(values.isel(step=-1).transpose("seed", ...).values[whole], 0)
                for name, values in recorded.items()}  # fmt: skip
        score = next((name for end in SCORES for name in last
                      if name.endswith(end) and last[name].ndim == 0), None)  # fmt: skip
        said = f"{data[score].attrs.get('long_name', score)} {last[score]:.2f}" if score else ""
        try:
            outcome = preset.outcome(self.experiment, last) if preset.outcome else ""
        except KeyError:  # another data model, or its probes are not watched
            outcome = ""
        text = ": ".join(filter(None, [outcome, said])) or "trained"
        return text[:1].upper() + text[1:] + plainly(self._agreement(preset, outcome)) + "."

    def _agreement(self, preset: Preset, outcome: str) -> str:
        if not outcome or preset.expected is None or self.prediction is None:
            return ""
        try:
            expected, why, *who = preset.expected(self.experiment, self.prediction)
        except KeyError:  # the prediction of another paper
            return ""
        if not expected:
            return f". Theory leaves it open: {why}"
        says = who[0] if who else "theory says"
        if expected == outcome:
            return f", as {says}: {why}"
        return f". {says[:1].upper()}{says[1:]} {expected}: {why}"


def plainly(words: str) -> str:
    """Words without powers of ten that are short in full; the others are formulas.

    >>> plainly("about 3.5e+02 steps, not 2e+07")
    'about 350 steps, not $2e+07$'
    """

    def written(found: re.Match[str]) -> str:
        value = float(found[0])
        return f"{value:.0f}" if 1 <= value < 1e5 else f"${found[0]}$"

    return re.sub(r"\d[\d.]*e[+-]\d+", written, words)


def _short(value: float) -> str:
    """Three digits; thousands as whole numbers, without a power of ten."""
    if np.isinf(value):
        return "∞"
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e5 else f"{value:.3g}"


def _table(
    title: str, names: tuple[str, ...], rows: list[tuple[str, ...]], verdict: str = ""
) -> dict[str, Any]:
    return {"title": title, "names": names, "rows": rows, "verdict": verdict}
