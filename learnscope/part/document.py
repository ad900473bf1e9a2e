"""Parts that stand alone in a file: TOML, JSON, Python, HTML, and what to cite."""

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from typing import Any, Self

import tomli_w

from learnscope.errors import BadInput
from learnscope.part import plain as serial
from learnscope.part.citations import PAPERS
from learnscope.part.markup import html_details, html_part
from learnscope.part.part import AbstractPart
from learnscope.part.python import source


class AbstractDocument(AbstractPart):
    """Base class for a part with text forms of its own; all but Python can be read back."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data: every field of every part, named."""
        return serial.plain(self, top=True)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The part that `to_dict` described."""
        if not isinstance(plain, Mapping):
            raise BadInput(f"{cls.__name__} must be a table of its parts, not {plain!r}.")
        return serial.part(cls, plain, "")

    def to_toml(self) -> str:
        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        try:
            return cls.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"not a valid TOML text: {error}.") from None

    def to_json(self) -> str:
        return json.dumps(serial.finite(self.to_dict()), indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        try:
            return cls.from_dict(serial.unspelt(json.loads(text)))
        except json.JSONDecodeError as error:
            raise BadInput(f"not a valid JSON text: {error}.") from None

    def to_python(self) -> str:
        """The expression that makes it, with `learnscope` imported as `ls`."""
        return source(self)

    def text(self) -> str:
        """TOML, or the printed form of a part that holds code."""
        try:
            return self.to_toml()
        except BadInput:
            return repr(self)

    def _repr_html_(self) -> str:
        return html_part(self) + html_details("definition", self.text())

    def citation(self) -> str:
        """BibTeX entries of the papers behind the parts in use."""
        values = [getattr(self, field.name) for field in dataclasses.fields(self)]
        listed = [v for value in values for v in (value if isinstance(value, tuple) else [value])]
        keys = {key for v in listed if isinstance(v, AbstractPart) for key in v.papers}
        return "\n\n".join(PAPERS[key] for key in sorted(keys))
