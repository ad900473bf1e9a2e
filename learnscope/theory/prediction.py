"""What a theory predicts for one experiment: named numbers with their meanings."""

from collections.abc import Mapping
from typing import Any

from learnscope.part import html_table


class Prediction(dict[str, Any]):
    """Predicted quantities by name. Prints as a table with what each one means.

    >>> print(Prediction({"closing_time": 1799.0}, {"closing_time": "T1 of Theorem 3.2"}))
    closing_time  1799  T1 of Theorem 3.2
    """

    def __init__(self, values: Mapping[str, Any], meanings: Mapping[str, str]):
        super().__init__(values)
        self.meanings = dict(meanings)

    def _shown(self) -> dict[str, str]:
        return {
            name: f"{value:.4g}" if isinstance(value, float) else str(value)
            for name, value in self.items()
        }

    def _repr_html_(self) -> str:
        rows = [(name, value, self.meanings.get(name, "")) for name, value in self._shown().items()]
        return html_table(("", "value", "meaning"), rows)

    def __str__(self) -> str:
        shown = self._shown()
        names = max(map(len, shown))
        values = max(map(len, shown.values()))
        return "\n".join(
            f"{name:<{names}}  {value:>{values}}  {self.meanings.get(name, '')}".rstrip()
            for name, value in shown.items()
        )
