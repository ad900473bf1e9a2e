"""One folder per paper: its theory, sweeps, figures, claims, and parts of its own.

Every folder here is a paper; no other list exists. Its `study` holds the runs, its `theory` the
predictions; each is imported on demand.
"""

import functools
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from learnscope.errors import unknown
from learnscope.evidence import SCALES, Arm, BoundarySweep, Figure, FunctionSweep, Study, Sweep


def names() -> list[str]:
    """The papers, by the names of their folders."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def modules(inside: str) -> Iterator[ModuleType]:
    """The module of that name (theory, parts) of every paper that has one."""
    for name in names():
        path = f"{__name__}.{name}.{inside}"
        if find_spec(path) is not None:
            yield import_module(path)


@functools.cache
def studies() -> dict[str, Study]:
    """All studies by name."""
    return {study.STUDY.name: study.STUDY for study in modules("study")}


def get(name: str) -> Study:
    """The study of that name."""
    if name not in studies():
        raise unknown("study", name, studies())
    return studies()[name]


def __getattr__(name: str):
    if name == "STUDIES":
        return studies()
    if name in (old := {"Computed": FunctionSweep, "Line": BoundarySweep}):
        return old[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = ["SCALES", "Arm", "Figure", "Study", "Sweep", "get", "modules", "names", "studies"]
