"""What a theory predicts for one experiment: named numbers with their meanings."""

from collections.abc import Mapping
from typing import Any

from learnscope.part import html_table, text_table


class Prediction(dict[str, Any]):
    """Predicted quantities by name. Prints as a table with what each one means.

    >>> print(Prediction({"closing_time": 1799.0}, {"closing_time": "T1 of Theorem 3.2"}))
    closing_time  1799  T1 of Theorem 3.2
    """

    def __init__(self, values: Mapping[str, Any], meanings: Mapping[str, str]):
        super().__init__(values)
        self.meanings = dict(meanings)

    @classmethod
    def of(cls, rows: Mapping[str, tuple[Any, str]]) -> "Prediction":
        """Quantities from rows of a value and its meaning, by name."""
        return cls(*({name: row[i] for name, row in rows.items()} for i in (0, 1)))

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, value and meaning of each quantity, as text."""
        shown = {n: f"{v:.4g}" if isinstance(v, float) else str(v) for n, v in self.items()}
        return [(name, text, self.meanings.get(name, "")) for name, text in shown.items()]

    def _repr_html_(self) -> str:
        return html_table(("", "value", "meaning"), self.rows())

    def __str__(self) -> str:
        return text_table(self.rows(), "<><")
