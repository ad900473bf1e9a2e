"""Users' own parts from files, folders and installed packages."""

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
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
    if (there := _loaded(path, name, file)) is not None:
        return there
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _running(path, name):
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


def load_folder(path: str | Path, inside: str) -> ModuleType:
    """Import a module inside a folder, which becomes a package of the folder's name."""
    folder = Path(path).resolve()
    name, first = folder.name, folder / "__init__.py"
    if not first.is_file() or not (folder / f"{inside}.py").is_file():
        raise BadInput(f"{path} is not allowed: the folder lacks an __init__.py or {inside}.py.")
    _loaded(path, name, first)
    with _running(path, name):
        return importlib.import_module(f"{name}.{inside}")


def _loaded(path: str | Path, name: str, file: Path) -> ModuleType | None:
    """The module of a file that was loaded before; if not, modules beside it can be imported."""
    there = sys.modules.get(name)
    if there is not None and getattr(there, "__file__", None) != str(file):
        raise BadInput(f"{path} is not allowed: there is another module named '{name}'.")
    beside = file.parents[file.name == "__init__.py"]
    if str(beside) not in sys.path:
        sys.path.append(str(beside))
    return there


@contextlib.contextmanager
def _running(path: str | Path, name: str) -> Iterator[None]:
    """Turn an error of a user's code into one sentence, and forget its modules."""
    try:
        yield
    except BaseException as error:
        for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            del sys.modules[module]
        if not isinstance(error, Exception):
            raise
        why = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
        raise BadInput(f"{path} cannot be run: {why}.") from error


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
