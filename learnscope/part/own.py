"""Users' own parts from files and installed packages."""

import importlib
import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from learnscope.errors import BadInput

ENTRY_POINTS = "learnscope.parts"


def load_file(path: str | Path) -> ModuleType:
    """Run a Python file, once in a process. Its classes are then parts like any other, and it may
    import modules of its own folder.
    """
    file = Path(path).resolve()
    if file.suffix != ".py" or not file.is_file():
        raise BadInput(f"{path} is not allowed: parts are in a Python file, FILE.py.")
    name = file.stem
    there = sys.modules.get(name)
    if there is not None:
        if getattr(there, "__file__", None) == str(file):
            return there
        raise BadInput(f"{path} is not allowed: there is another module named '{name}'.")
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception):
            raise
        why = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
        raise BadInput(f"{path} cannot be run: {why}.") from error
    return module


def import_installed() -> None:
    """Import the parts of installed packages: the modules that they list as `learnscope.parts`."""
    for point in entry_points(group=ENTRY_POINTS):
        try:
            importlib.import_module(point.module)
        except Exception as error:
            raise BadInput(
                f"the package of {point.name} = {point.value} has parts that cannot be imported: "
                f"{type(error).__name__}: {error}."
            ) from error
