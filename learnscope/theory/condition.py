"""Inequalities of a theorem, with how far each is from failing."""

import dataclasses
import math
import operator
from collections.abc import Callable, Iterable

from learnscope.part import html_table, text_table

Row = tuple[str, str, float, str, float]
RELATIONS = {">=": operator.ge, "<=": operator.le}


@dataclasses.dataclass(frozen=True)
class Condition:
    """One inequality `left relation right`, its constants written out.

    The margin is left / right for ">=" and right / left for "<=", so that a margin of 1 or more
    means that the condition holds, and a margin of 0.1 that it fails by a factor of ten. Both
    sides are non-negative in every condition of this package. `of` names the statement of the paper
    that lists it; a condition without one is learnscope's addition.

    >>> Condition("dimension", "d >= 2 n", left=400, right=40, relation=">=").margin
    10.0
    """

    name: str
    statement: str
    left: float
    right: float
    relation: str
    of: str = ""

    def __post_init__(self):
        if self.relation not in RELATIONS:
            raise ValueError(f"relation is {self.relation!r}, but must be '>=' or '<='")

    @property
    def margin(self) -> float:
        """The factor by which the condition holds (1 or more) or fails (less than 1)."""
        over, under = (self.left, self.right) if self.relation == ">=" else (self.right, self.left)
        if under == 0:
            # Anything non-negative is infinitely far above zero, zero itself included.
            return math.nan if math.isnan(over) else math.inf
        return float(over) / float(under)

    @property
    def holds(self) -> bool:
        """Whether the inequality is true; never so when a side is not a number."""
        return bool(RELATIONS[self.relation](self.left, self.right))

    def to_dict(self) -> dict:
        """The fields, the margin and the verdict, as plain values."""
        fields = dataclasses.asdict(self)
        fields.update(left=float(self.left), right=float(self.right))
        return fields | {"margin": self.margin, "holds": self.holds}


class Conditions(list[Condition]):
    """Conditions that must hold together. Prints as a table.

    >>> print(Conditions([Condition("dimension", "d >= 2 n", 400, 40, ">=")]))
    condition  statement  left      right  margin  holds
    dimension  d >= 2 n    400  >=     40      10  yes
    """

    @classmethod
    def of(cls, rows: Iterable[Row], of: Callable[[str], str]) -> "Conditions":
        """Conditions from rows of name, statement, left side, relation and right side; the function
        says which statement of the paper lists a name."""
        return cls(Condition(name, text, float(left), float(right), relation, of(name))
                   for name, text, left, relation, right in rows)  # fmt: skip

    @property
    def holds(self) -> bool:
        """Whether all of them hold."""
        return all(condition.holds for condition in self)

    def _repr_html_(self) -> str:
        rows = [
            (c.name, c.statement, f"{c.left:.3g} {c.relation} {c.right:.3g}", f"{c.margin:.3g}",
             "yes" if c.holds else "no")
            for c in self
        ]  # fmt: skip
        return html_table(("condition", "statement", "here", "margin", "holds"), rows)

    def __str__(self) -> str:
        heading = ("condition", "statement", "left", "", "right", "margin", "holds")
        rows = [
            (c.name, c.statement, f"{c.left:.3g}", c.relation, f"{c.right:.3g}", f"{c.margin:.3g}",
             "yes" if c.holds else "no")
            for c in self
        ]  # fmt: skip
        return text_table([heading, *rows], "<<>^>><")
