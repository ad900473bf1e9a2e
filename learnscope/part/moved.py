"""Names of a package that live elsewhere, in a room above it or in a paper's folder."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def moved(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """A package's `__getattr__`: names by the module that has them, imported when first used."""
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name in home:
            return getattr(import_module(home[name]), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return get
