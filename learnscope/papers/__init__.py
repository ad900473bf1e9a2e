"""One folder per paper: its theory, sweeps, figures, claims, and parts of its own.

Every folder here is a paper; no other list exists. Its `study` holds the runs, its `theory` the
predictions; each is imported on demand. `add` takes in a folder of a user's own.
"""

import functools
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from learnscope.errors import BadInput, unknown
from learnscope.evidence import SCALES, Arm, BoundarySweep, Figure, FunctionSweep, Study, Sweep
from learnscope.part.own import load_folder

_own: list[str] = []  # packages of users' papers


def names() -> list[str]:
    """The papers, by the names of their folders."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def add(folder: str | Path) -> Study:
    """Take in a paper in a folder of a user's own, with a `study.py` that holds its `STUDY`."""
    module = load_folder(folder, "study")
    package, study = module.__package__ or "", getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise BadInput(f"{folder} is not allowed: its study.py must hold a Study named STUDY.")
    if package not in _own:
        if study.name in studies():
            raise BadInput(f"{folder} is not allowed: there is another study '{study.name}'.")
        _own.append(package)
        studies.cache_clear()
    return study


def modules(inside: str) -> Iterator[ModuleType]:
    """The module of that name (theory, parts) of every paper that has one."""
    for package in (*(f"{__name__}.{name}" for name in names()), *_own):
        path = f"{package}.{inside}"
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


__all__ = ["SCALES", "Arm", "Figure", "Study", "Sweep", "add", "get", "modules", "names", "studies"]
