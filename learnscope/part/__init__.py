"""Parts: the typed, frozen, validated values that an experiment is built from."""

from learnscope.part.citations import PAPERS
from learnscope.part.document import AbstractDocument
from learnscope.part.fields import Allowed, Number, choice, count, flag, number, slot, slot_list
from learnscope.part.markup import html_details, html_part, html_table, text_table
from learnscope.part.part import (
    AbstractPart,
    allowed,
    allowed_kind,
    example_of,
    is_whole,
    kinds,
    require_field,
    shape_path,
)
from learnscope.part.paths import field_is_whole, field_kind, labels, value_at

__all__ = [
    "PAPERS", "AbstractDocument", "AbstractPart", "Allowed", "Number", "allowed",
    "allowed_kind", "choice", "count", "example_of", "field_is_whole", "field_kind", "flag",
    "html_details", "html_part", "html_table", "is_whole", "kinds", "labels", "number",
    "require_field", "shape_path", "slot", "slot_list", "text_table", "value_at",
]  # fmt: skip
