"""Experiments and sweeps as text: TOML files, and `field=value` changes of the command line."""

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from learnscope.cli.options import use_parts
from learnscope.engine.experiment import Experiment
from learnscope.errors import BadInput
from learnscope.lab.blocks import Plan
from learnscope.lab.boundary import boundary, first_plan
from learnscope.lab.run import run_plan
from learnscope.lab.sweep import Axis, field_kind, zipped
from learnscope.part import plain as serial
from learnscope.part.plain import parse_value

_SETTINGS = ("seeds", "coordinates", "precision")


@dataclasses.dataclass(frozen=True)
class SweepFile:
    """An experiment and its sweep, as in a TOML file: the experiment's tables, `seeds`,
    `coordinates`, `precision`, a table `over` of dotted fields and lists, tables `[[zipped]]` of
    fields that change together, a table `boundary` for `learnscope boundary`, and `parts`, a list
    of Python files with parts of one's own, beside the file.

    >>> text = '''
    ... steps = 5
    ... seeds = 2
    ... data = {kind = "SignalNoise", dim = 50, train = 4, test = 9, signal = 1, noise = 1}
    ... net = {kind = "PatchCNN", width = 3}
    ... rule = {kind = "GradientDescent", rate = 0.1}
    ... over = {"data.noise" = [0.1, 0.5]}
    ... '''
    >>> SweepFile.parse(text).run(progress=False).loss.shape
    (2, 2, 6)
    """

    experiment: Experiment
    axes: tuple[Axis, ...] = ()
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    asked: dict[str, Any] | None = None

    @classmethod
    def read(cls, path: str | Path) -> "SweepFile":
        """From a file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise BadInput(f"{path} cannot be read: {reason}.") from None
        return cls.parse(text, str(path), Path(path).parent)

    @classmethod
    def parse(cls, text: str, name: str = "the text", folder: Path | None = None) -> "SweepFile":
        """From TOML text; `parts` are files in `folder` (none: they are refused)."""
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{name} is not valid TOML: {error}.") from None
        files = tables.pop("parts", [])
        if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
            raise BadInput(f"{name}: parts must be a list of Python files, such as ['rules.py'].")
        if files and folder is None:
            raise BadInput(f"{name} has parts = {files}: only a file of one's own runs code.")
        use_parts([str((folder or Path()) / file) for file in files])
        settings = {key: tables.pop(key) for key in _SETTINGS if key in tables}
        over, together = tables.pop("over", {}), tables.pop("zipped", [])
        asked = _asked(tables.pop("boundary", None))
        if not isinstance(over, Mapping):
            raise BadInput("over must be a table of dotted fields and lists of values.")
        if not isinstance(together, list) or not all(isinstance(t, Mapping) for t in together):
            raise BadInput("zipped must be tables, written as [[zipped]].")
        experiment = Experiment.from_dict(tables)
        axes = [_axis({path: values}) for path, values in serial.flat(over).items()]
        axes += [_axis(serial.flat(table)) for table in together]
        return cls(experiment, tuple(axes), settings, asked)

    def change(self, changes: Mapping[str, list[Any]], **settings: Any) -> "SweepFile":
        """With fields set (one value) or swept (several), and settings other than None."""
        experiment, axes = self.experiment, list(self.axes)
        for path, values in changes.items():
            field_kind(experiment, path)
            axes = [axis for axis in axes if path not in axis.fields]
            if len(values) == 1:
                experiment = experiment.replace(path, values[0])
            else:
                axes.append(zipped({path: values}))
        given = {key: value for key, value in settings.items() if value is not None}
        return SweepFile(experiment, tuple(axes), self.settings | given, self.asked)

    def plans(self, boundary: bool = False) -> list[tuple[Plan, float]]:
        """What will be run (or bisected), for an estimate of what it costs."""
        if not boundary:
            return [(self._plan(), 1)]
        return [first_plan(self.experiment, **self._asked(), **self.settings)]

    def _plan(self) -> Plan:
        return Plan.of(self.experiment, self.axes, **self.settings)

    def run(self, **settings: Any) -> xr.Dataset:
        """The dataset; `settings` are those of `learnscope.run` that the file has not: store,
        cluster, progress; and the sweep's `name` in lists."""
        return run_plan(self._plan(), **settings)

    def boundary(self, **settings: Any) -> xr.Dataset:
        """The boundary that the file's table `[boundary]` asks for.

        >>> text = '''
        ... steps = 30
        ... seeds = 4
        ... probes = [{kind = "TestAccuracy"}]
        ... data = {kind = "SignalNoise", dim = 50, train = 4, test = 50, signal = 1, noise = 1}
        ... net = {kind = "PatchCNN", width = 3, activation = "relu"}
        ... rule = {kind = "GradientDescent", rate = 0.1}
        ... [boundary]
        ... at = 0.75
        ... of = "test_accuracy"
        ... x = {"data.signal" = [0.1, 30]}
        ... y = {"data.dim" = [50, 200]}
        ... '''
        >>> SweepFile.parse(text).boundary(progress=False).boundary.dims
        ('dim',)
        """
        return boundary(self.experiment, **self._asked(), **(self.settings | settings))

    def _asked(self) -> dict[str, Any]:
        if self.asked is None:
            raise BadInput("the file has no table [boundary] with x, y, at and of.")
        if self.axes:
            dim = self.axes[0].dim
            raise BadInput(f"a boundary has no axis '{dim}': its x and y say what varies.")
        return self.asked


def _asked(table: Any) -> dict[str, Any] | None:
    """The arguments of `boundary` in a table: x and y as fields or tables of one (y: of several
    that change together), at, of, and if need be tolerance and level."""
    if table is None:
        return None
    if not isinstance(table, Mapping):
        raise BadInput("boundary must be a table with x, y, at and of.")
    needed = {"x", "y", "at", "of"}
    serial.check_names("[boundary]", table, {*needed, "tolerance", "level"}, needed)
    asked = dict(table)
    for name in ("x", "y"):
        if isinstance(asked[name], Mapping):
            asked[name] = serial.flat(asked[name])
    if isinstance(asked["y"], Mapping):
        asked["y"] = zipped(asked["y"])
    return asked


def _axis(fields: Mapping[str, Any]) -> Axis:
    """An axis whose values may be tables that describe parts."""
    built = {}
    for path, values in fields.items():
        base = Experiment.slots.get(path)
        if base is not None and isinstance(values, list):
            values = [serial.part(base, value, path) for value in values]
        built[path] = values
    return zipped(built)


def parse_changes(words: Iterable[str]) -> dict[str, list[Any]]:
    """`data.noise=0.1,0.5` as a field and its values; a value in brackets is a list.

    >>> parse_changes(["data.noise=0.1,0.5", "net.activation=relu", "data.relevant=[3,4]"])
    {'data.noise': [0.1, 0.5], 'net.activation': ['relu'], 'data.relevant': [[3, 4]]}
    """
    changes: dict[str, list[Any]] = {}
    for word in words:
        path, equals, text = word.partition("=")
        if not equals or not path or not text:
            example = "field=value, such as data.noise=0.1,0.5"
            raise BadInput(f"'{word}' is not a change: write {example}.")
        if path in changes:
            raise BadInput(f"'{path}' is changed twice.")
        pieces = re.split(r",(?![^\[]*\])", text)  # at commas outside brackets
        changes[path] = [parse_value(piece.strip()) for piece in pieces]
    return changes
