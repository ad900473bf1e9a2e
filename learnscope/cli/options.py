"""The options that commands share."""

import contextlib
import dataclasses
import functools
import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

RESULTS = "learnscope-results"
FileName = Annotated[str, Argument(metavar="FILE.toml", help="An experiment, as TOML.")]
_FIELDS = "[FIELD=VALUE[,VALUE...]]..."
Changes = Annotated[list[str] | None, Argument(metavar=_FIELDS, help="Such as data.noise=0.1,0.5.")]
Out = Annotated[str, Option(help="Folder for figures, data and ledger.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print errors only.")]
Store = Annotated[str, Option(help="Results folder or URL; 'none' keeps nothing.")]
DataFolder = Annotated[
    str | None, Option(metavar="DIR", help="Folder of image data sets (LEARNSCOPE_DATA).")
]
Parts = Annotated[
    list[str] | None,
    Option(metavar="FILE.py", help="A Python file with your own parts, or a paper's folder."),
]


@dataclasses.dataclass(frozen=True)
class Computing:
    """Options of every command that trains."""

    seeds: Annotated[int | None, Option(help="Number of seeds.", min=1)] = None
    out: Out = "learnscope-out"
    store: Store = RESULTS
    workers: Annotated[int | None, Option(help="Number of worker processes.", min=1)] = None
    cluster: Annotated[str | None, Option(metavar="ADDRESS", help="Use a Dask cluster.")] = None
    quiet: Quiet = False
    yes: Annotated[bool, Option("--yes", help="Compute even if it takes more than a day.")] = False
    parts: Parts = None

    def __post_init__(self) -> None:
        use_parts(self.parts)

    def ask(self, plans: list[Any]) -> None:
        """Say what long sweeps will take; beyond a day, only with --yes."""
        if self.yes and self.quiet:
            return
        from learnscope.cli.cost import announce

        announce(plans, self.where["store"], self.say, self.yes, self.workers or 1)

    @property
    def where(self) -> dict[str, Any]:
        """Where results go and who computes, as `learnscope.run` takes it."""
        from learnscope.errors import BadInput

        if self.workers is not None and self.cluster is not None:
            raise BadInput("--workers starts processes here and --cluster uses others: give one.")
        store = None if self.store == "none" else self.store
        return {"store": store, "cluster": self.cluster or self.workers}

    @property
    def say(self) -> Callable[[str], None]:
        return saying(self.quiet)


@dataclasses.dataclass(frozen=True)
class Experimenting(Computing):
    """Options of every command that runs experiments of a study or a file."""

    precision: Annotated[str | None, Option(help="float32 or float64.")] = None
    data: DataFolder = None

    def __post_init__(self) -> None:
        super().__post_init__()
        use_data(self.data)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `options` is a dataclass, as one with an option for each field."""
    parameters = dict(inspect.signature(command).parameters)
    group = parameters.pop("options").annotation
    named = functools.partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    fields = {f.name: named(f.name, default=f.default, annotation=f.type)
              for f in dataclasses.fields(group)}  # fmt: skip

    def called(**given: Any) -> None:
        options = group(**{name: given.pop(name) for name in fields})
        command(**given, options=options)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    both = [p.replace(kind=p.KEYWORD_ONLY) for p in (parameters | fields).values()]
    called.__annotations__ = {p.name: p.annotation for p in both}
    called.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    return called


def echo(text: str, err: bool = False) -> None:
    """Print what a command says."""
    from learnscope.errors import printable

    typer.echo(printable(text), err=err)


def saying(quiet: bool) -> Callable[[str], None]:
    return (lambda text: None) if quiet else echo


def seconds_of(text: str) -> float:
    """The seconds of a time.

    >>> seconds_of("2h"), seconds_of("1h30min"), seconds_of("45 s")
    (7200.0, 5400.0, 45.0)
    """
    from learnscope.errors import BadInput

    units = {"d": 86_400, "h": 3600, "min": 60, "m": 60, "s": 1}
    parts = re.findall(r"([\d.]+)\s*([a-z]+)", text)
    with contextlib.suppress(ValueError, KeyError):
        if parts and not re.sub(r"[\d.]+\s*[a-z]+|\s", "", text):
            return sum(float(number) * units[unit] for number, unit in parts)
    raise BadInput(f"--budget {text} is not allowed: it must be a time such as 2h or 90min.")


def use_data(folder: str | None) -> None:
    """Look for data sets there, in this process and those it starts."""
    if folder is not None:
        from learnscope.errors import BadInput

        if not Path(folder).is_dir():
            raise BadInput(f"--data {folder} is not allowed: there is no such folder.")
        os.environ["LEARNSCOPE_DATA"] = str(Path(folder).resolve())


def use_parts(files: list[str] | None) -> None:
    """Run files and papers' folders of the user's own, and say so first: they may do anything."""
    for file in files or ():
        from learnscope.part.own import load_file

        echo(f"running {file}, for its parts", err=True)
        if Path(file).is_dir():
            from learnscope.papers import add

            add(file)
        else:
            load_file(file)
