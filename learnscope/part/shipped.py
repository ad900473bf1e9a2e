"""Users' own classes on their way to another process: by source, so that they arrive whole.

Pickle sends a class by the name of its module, which another process may not have: a script, a
notebook, a file given by `--parts`. Here the source goes along. Of a module with a file, that is
the whole file, with the user's own modules that it imports. Of a script or a notebook (`__main__`),
it is the definition of what is used and of all that this uses in turn.
"""

import ast
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
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from learnscope.errors import BadInput
from learnscope.part.code import own_file, reached_by, source_of

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
    """A value as bytes, with values of `__main__` that hold its own objects; the source files of a
    user's modules that it needs, by module name (and whether each is a package); and definitions of
    `__main__`, with other values that they use."""

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
    _, needed = _pickled(value)
    used = Definitions()
    for thing in needed.pop(_MAIN, []):
        used.define(thing)
    data, _ = _pickled((value, used.late))
    files = {}
    for name in reached_by([*needed, *used.modules]):
        for each in (name, *_packages(name)):
            path = own_file(each)
            if path is not None and is_own(each):
                files[each] = path.read_text(encoding="utf-8"), path.name == "__init__.py"
    held = pickle.dumps(used.values, protocol=5) if used.values else b""
    return Packed(data, files, used.text, held)


def _pickled(value: Any) -> tuple[bytes, dict[str, list[Any]]]:
    """A value as bytes, and the classes and functions of a user's own modules that it needs."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return file.getvalue(), pickler.needed


def _packages(name: str) -> list[str]:
    pieces = name.split(".")
    return [".".join(pieces[:i]) for i in range(1, len(pieces))]


def unpack(packed: Packed) -> Any:
    """The value again, in any process."""
    if packed.files or packed.main:
        _Arrived.install(packed)
    value, late = _Unpickler(io.BytesIO(packed.data), packed).load()
    if late:
        vars(_Arrived.mains[packed.digest]).update(late)
    return value


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


class Definitions:
    """The definitions of classes and functions of `__main__` and of all that they use there, in an
    order in which they can be run: their `text`, the `values` that they use, those of them that
    hold objects of `__main__` (`late`), and the `modules` that they import."""

    def __init__(self) -> None:
        self._scope = vars(sys.modules[_MAIN])
        self._lines, self._done = list[str](), set[str]()
        self.values, self.late = dict[str, Any](), dict[str, Any]()
        self.modules = list[str]()

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def define(self, thing: Any) -> None:
        """Add the definition of a class or function, after those that it uses."""
        name, _, inside = thing.__qualname__.partition(".")
        if name in self._done:
            return
        self._done.add(name)
        try:
            text = textwrap.dedent(source_of(self._scope.get(name, thing) if inside else thing))
        except (OSError, TypeError):
            _unsent(name, "its source cannot be read; define it in a file")
        code = thing.__code__ if "<lambda>" in name else compile(text, "<definition>", "exec")
        self._add(text, code)

    def _add(self, text: str, code: types.CodeType) -> None:
        for used in names(code):
            if used in self._scope and used not in self._done:
                self._bring(used, self._scope[used])
        self._lines.append(text)

    def _bring(self, name: str, thing: Any) -> None:
        inner = inspect.unwrap(thing) if callable(thing) else thing
        coded = isinstance(inner, type | types.FunctionType)
        if coded and inner.__module__ == _MAIN:
            decorated = inner is not thing and source_of(inner).lstrip().startswith("@")
            if name == inner.__qualname__ and (inner is thing or decorated):
                self.define(inner)
                return
            self._done.add(name)
            text = _assignment(name, self._scope)  # slope = jax.grad(loss), say
            self._add(text, compile(text, "<definition>", "exec"))
            return
        self._done.add(name)
        if isinstance(thing, types.ModuleType):
            self._lines.append(f"import {thing.__name__} as {name}")
            self.modules.append(thing.__name__)
        elif isinstance(thing, type | types.FunctionType | types.BuiltinFunctionType):
            self._import(thing.__module__, thing.__qualname__, name)
        elif (place := _place_of(thing)) is not None:  # a type, or a compiled function
            self._import(*place, name)
        else:
            self._hold(name, thing)

    def _import(self, module: str, there: str, name: str) -> None:
        self.modules.append(module)
        self._lines.append(f"from {module} import {there} as {name}")

    def _hold(self, name: str, value: Any) -> None:
        try:
            _, needed = _pickled(value)
        except Exception:  # what uses it will say that it is missing
            return
        (self.late if needed else self.values)[name] = value
        for thing in needed.pop(_MAIN, []):
            self.define(thing)
        self.modules += needed


def _unsent(name: str, why: str) -> NoReturn:
    raise BadInput(f"{name} cannot be sent to worker processes: {why}.") from None


def _assignment(name: str, scope: dict[str, Any]) -> str:
    """The last statement of a script or a notebook that gives a name its value."""
    file = scope.get("__file__")
    cells = list(scope.get("In", [])) if file is None else [Path(file).read_text("utf-8")]
    for cell in reversed(cells):
        for node in reversed(ast.parse(cell).body):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return ast.get_source_segment(cell, node) or ""
    _unsent(name, "define it by a statement of its own, at the top level")


def _place_of(thing: Any) -> tuple[str, str] | None:
    """A module that has a value other than a constant, and its name there."""
    if isinstance(thing, bool | int | float | complex | str | bytes | tuple | None):
        return None
    for module, held in list(sys.modules.items()):
        if module != _MAIN and held is not None:
            for name, value in list(vars(held).items()):
                if value is thing:
                    return module, name
    return None


def names(code: types.CodeType) -> Iterator[str]:
    """The names that code uses and does not define itself, each once."""
    codes, found = [code], dict[str, None]()
    while codes:
        code = codes.pop()
        codes += [held for held in code.co_consts if isinstance(held, types.CodeType)]
        loaded = ("LOAD_NAME", "LOAD_GLOBAL")
        found |= {i.argval: None for i in dis.get_instructions(code) if i.opname in loaded}
    yield from (name for name in found if name != "__name__")  # a class's: the module's own
