"""Where a result comes from: its experiment and axes, or those of every arm of a study's sweep."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from learnscope.engine.experiment import Experiment
from learnscope.errors import BadInput


@dataclasses.dataclass(frozen=True)
class Origin:
    """The experiment of one arm as `text` (TOML), and the values of its axes by field."""

    text: str
    over: dict[str, list[Any]]

    @property
    def experiment(self) -> Experiment:
        """The experiment, with its own values of swept fields; an error if it holds code."""
        return Experiment.from_toml(self.text)


def origins(attributes: Mapping[str, Any]) -> dict[str, Origin]:
    """The origin of every arm of a result, read from its attributes; a single one is named ''."""
    text, over = attributes.get("experiment"), json.loads(attributes.get("over") or "{}")
    if not isinstance(text, str):
        raise BadInput("this dataset is not from learnscope.run: it names no experiment.")
    if not text.startswith("{"):
        return {"": Origin(text, over)}
    return {arm: Origin(each, json.loads(over.get(arm, "{}")))
            for arm, each in json.loads(text).items()}  # fmt: skip


def origin(attributes: Mapping[str, Any]) -> Origin:
    """The origin of a result of one experiment."""
    arms = origins(attributes)
    if len(arms) > 1:
        names = ", ".join(arms)
        raise BadInput(f"this dataset has several experiments: {names}; choose one by name.")
    return next(iter(arms.values()))
