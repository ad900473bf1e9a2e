"""Users' own classes on their way to another process: by source, so that they arrive whole.

Pickle sends a class by the name of its module, which another process may not have: a script, a
notebook, a file given by `--parts`. Here the source goes along. Of a module with a file, that is
the whole file, with the user's own modules that it imports. Of a script or a notebook (`__main__`),
it is the definition of what is used and of all that this uses in turn.
"""

import dataclasses
import dis
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import io
import linecache
import pickle
import sys
import textwrap
import types
from collections.abc import Iterator
from typing import Any, ClassVar

from learnscope.errors import BadInput
from learnscope.part.code import own_file, reached_by

_MAIN = "__main__"


class _Pickler(pickle.Pickler):
    """Notes which of a user's own modules an object needs."""

    def __init__(self, file: io.BytesIO):
        super().__init__(file, protocol=5)
        self.needed: dict[str, list[Any]] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, type | types.FunctionType) or not is_own(obj.__module__):
            return None
        if "<locals>" in obj.__qualname__ or "<lambda>" in obj.__qualname__:
            raise BadInput(
                f"{obj.__qualname__} cannot be sent to worker processes: define it at the top "
                "level of a script, a notebook cell or a file."
            )
        self.needed.setdefault(obj.__module__, []).append(obj)
        return obj.__module__, obj.__qualname__


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, packed: "Packed"):
        super().__init__(file)
        self._packed = packed

    def persistent_load(self, pid: Any) -> Any:
        module, name = pid
        found: Any = (
            _Arrived.mains[self._packed.digest]
            if module == _MAIN
            else importlib.import_module(module)
        )
        for each in name.split("."):
            found = getattr(found, each)
        return found


def is_own(module: str) -> bool:
    """Whether a module is a user's own: neither installed nor learnscope's."""
    return module == _MAIN or (not module.startswith("learnscope") and own_file(module) is not None)


@dataclasses.dataclass(frozen=True)
class Packed:
    """A value as bytes; the source files of a user's modules that it needs, by module name (and
    whether each is a package); and definitions of `__main__`, with values that they use."""

    data: bytes
    files: dict[str, tuple[str, bool]]
    main: str = ""
    values: bytes = b""

    @property
    def digest(self) -> str:
        text = repr((sorted(self.files.items()), self.main, self.values))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def pack(value: Any) -> Packed:
    """A value, for `unpack` in another process."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    needed = dict(pickler.needed)
    text, values, modules = _definitions(needed.pop(_MAIN, []))
    files = {}
    for name in reached_by([*needed, *modules]):
        for each in (name, *_packages(name)):
            path = own_file(each)
            if path is not None and is_own(each):
                files[each] = path.read_text(encoding="utf-8"), path.name == "__init__.py"
    held = pickle.dumps(values, protocol=5) if values else b""
    return Packed(file.getvalue(), files, text, held)


def _packages(name: str) -> list[str]:
    pieces = name.split(".")
    return [".".join(pieces[:i]) for i in range(1, len(pieces))]


def unpack(packed: Packed) -> Any:
    """The value again, in any process."""
    if packed.files or packed.main:
        _Arrived.install(packed)
    return _Unpickler(io.BytesIO(packed.data), packed).load()


class _Arrived(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports modules whose sources have arrived."""

    files: ClassVar[dict[str, tuple[str, bool]]] = {}
    mains: ClassVar[dict[str, types.ModuleType]] = {}

    @classmethod
    def install(cls, packed: Packed) -> None:
        """Make a packed value's modules importable; a changed one takes its older form's place."""
        if not any(isinstance(finder, _Arrived) for finder in sys.meta_path):
            sys.meta_path.insert(0, cls())
        for name, file in packed.files.items():
            if cls.files.get(name) != file:
                cls.files[name] = file
                sys.modules.pop(name, None)
        if packed.main and packed.digest not in cls.mains:
            name = f"learnscope_main_{packed.digest}"
            cls.files[name] = packed.main, False
            module = types.ModuleType(name)
            vars(module).update(pickle.loads(packed.values) if packed.values else {})
            module.__spec__ = importlib.machinery.ModuleSpec(name, cls(), origin=f"<{name}>")
            sys.modules[name] = module
            cls().exec_module(module)
            cls.mains[packed.digest] = module  # not before: one that fails would be tried again

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname not in self.files:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=self.files[fullname][1])

    def is_package(self, fullname: str) -> bool:
        return self.files[fullname][1]

    def get_source(self, fullname: str) -> str:
        text = self.files[fullname][0]
        lines = text.splitlines(keepends=True)
        linecache.cache[f"<{fullname}>"] = (len(text), None, lines, f"<{fullname}>")
        return text

    def get_code(self, fullname: str) -> Any:
        return compile(self.get_source(fullname), f"<{fullname}>", "exec")


def _definitions(objects: list[Any]) -> tuple[str, dict[str, Any], list[str]]:
    """The definitions of some classes and functions of `__main__`, in an order in which they can be
    run; values that they use; and the modules of the user's own that they import."""
    scope = vars(sys.modules[_MAIN])
    lines, values, modules, done = list[str](), dict[str, Any](), list[str](), set[str]()

    def define(thing: Any) -> None:
        name = thing.__qualname__.partition(".")[0]
        if name in done:
            return
        done.add(name)
        try:
            text = textwrap.dedent(inspect.getsource(scope.get(name, thing)))
        except (OSError, TypeError):
            raise BadInput(
                f"{name} cannot be sent to worker processes: its source cannot be read; define it "
                "in a file."
            ) from None
        for used in _names(text):
            if used in scope and used not in done:
                bring(used, scope[used])
        lines.append(text)

    def bring(name: str, thing: Any) -> None:
        if isinstance(thing, types.ModuleType):
            done.add(name)
            lines.append(f"import {thing.__name__} as {name}")
            modules.append(thing.__name__)
        elif isinstance(thing, type | types.FunctionType) and thing.__module__ == _MAIN:
            define(thing)
        elif isinstance(thing, type | types.FunctionType | types.BuiltinFunctionType):
            done.add(name)
            modules.append(thing.__module__)
            lines.append(f"from {thing.__module__} import {thing.__qualname__} as {name}")
        elif _travels(thing):
            done.add(name)
            values[name] = thing
        elif (place := _place_of(thing)) is not None:  # a type, or a compiled function
            done.add(name)
            modules.append(place[0])
            lines.append(f"from {place[0]} import {place[1]} as {name}")

    for each in objects:
        define(each)
    return "\n".join(lines), values, modules


def _travels(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except Exception:
        return False
    return True


def _place_of(thing: Any) -> tuple[str, str] | None:
    """A module that has a value, and its name there."""
    for module, held in list(sys.modules.items()):
        if module != _MAIN and held is not None:
            for name, value in list(vars(held).items()):
                if value is thing:
                    return module, name
    return None


def _names(text: str) -> Iterator[str]:
    """The names that a definition uses and does not define itself, each once."""
    codes, found = [compile(text, "<definition>", "exec")], dict[str, None]()
    while codes:
        code = codes.pop()
        codes += [held for held in code.co_consts if isinstance(held, types.CodeType)]
        loaded = ("LOAD_NAME", "LOAD_GLOBAL")
        found |= {i.argval: None for i in dis.get_instructions(code) if i.opname in loaded}
    yield from (name for name in found if name != "__name__")  # a class's: the module's own
