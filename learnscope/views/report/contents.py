"""The contents of a report, read from the output folder of `learnscope run` or `verify`."""

import contextlib
import dataclasses
import json
import re
from pathlib import Path

import h5py

from learnscope.errors import BadInput
from learnscope.evidence import VERDICTS, Study
from learnscope.evidence.ledger import MADE, read_rows
from learnscope.images.formats.folders import open_image
from learnscope.lab.origin import Origin, origins
from learnscope.papers import studies
from learnscope.theory import conditions
from learnscope.theory.condition import Conditions


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure of a study: its file, what it shows, and the sweeps that it needs."""

    study: str
    name: str
    title: str
    file: Path
    needs: tuple[str, ...]
    heading: str = ""

    @property
    def anchor(self) -> str:
        return f"{self.study}-{self.name}"


@dataclasses.dataclass(frozen=True)
class Defined:
    """An experiment of a sweep, as TOML, with the conditions of the theorem that covers it."""

    sweep: str
    arm: str
    toml: str
    over: str
    seeds: int
    conditions: Conditions | None


@dataclasses.dataclass(frozen=True)
class Part:
    """One study, with its figures and experiments in the folder."""

    study: Study
    pictures: tuple[Picture, ...]
    experiments: tuple[Defined, ...]

    def anchor(self, sweep: str) -> str:
        """The anchor of a sweep's experiments."""
        return f"{self.study.name}-runs-{sweep}"


@dataclasses.dataclass(frozen=True)
class Contents:
    """The rows of the ledger, and their studies."""

    folder: Path
    rows: tuple[dict[str, str], ...]
    parts: tuple[Part, ...]

    def pictures_of(self, row: dict[str, str]) -> list[Picture]:
        """The figure that a claim names; if none, all figures of the sweeps it was checked on."""
        part, needs = self._about(row)
        if part is None:
            return []
        drawn = [p for p in part.pictures if set(needs) & set(p.needs)]
        names = _names(row["where"])
        if any(name.partition("_")[0] in names for name in part.study.figures):
            return [p for p in drawn if p.name.partition("_")[0] in names]
        return drawn

    def sweeps_of(self, row: dict[str, str]) -> dict[str, str]:
        """The sweeps in the folder that a claim was checked on, with their anchors."""
        part, needs = self._about(row)
        if part is None:
            return {}
        there = {one.sweep for one in part.experiments}
        return {name: part.anchor(name) for name in needs if name in there}

    def _about(self, row: dict[str, str]) -> tuple[Part | None, list[str]]:
        """The part that holds a claim, and the sweeps that the claim needs."""
        for part in self.parts:
            if part.study.name == row["study"]:
                claims = [claim for claim in part.study.claims if claim.id == row["id"]]
                return part, list(dict.fromkeys(n for claim in claims for n in claim.needs))
        return None, []

    def counts(self, study: str | None = None) -> dict[str, int]:
        """How many claims, of all studies or one, have each verdict."""
        verdicts = [row["verdict"] for row in self.rows if study in (None, row["study"])]
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS}

    def made(self, study: str) -> str:
        """When, at which commit, scale and precision the rows of a study were measured."""
        rows = [row for row in self.rows if row["study"] == study]
        words = {name: ", ".join(sorted({row[name] for row in rows} - {""})) for name in MADE[:4]}
        said = {"date": "measured {}", "commit": "at {}", "scale": "scale {}", "precision": "{}"}
        return " ".join(said[name].format(held) for name, held in words.items() if held)

    def caption(self, picture: Picture) -> str:
        """What a figure shows, by its own heading, and the verdicts on claims about it."""
        own = [row for row in self.rows if row["study"] == picture.study]
        verdicts = [row["verdict"] for row in own if picture in self.pictures_of(row)]
        found = [f"{verdicts.count(v)} {v}" for v in VERDICTS if v in verdicts]
        said = picture.heading or picture.title
        return f"{said}. Claims about it: {', '.join(found)}." if found else f"{said}."


def read_contents(folder: str | Path) -> Contents:
    """The ledger, figures and datasets of an output folder."""
    folder = Path(folder)
    rows = read_rows(folder)
    there = dict.fromkeys(row["study"] for row in rows)
    known = studies()
    parts = tuple(_part(known[name], folder / name) for name in there if name in known)
    return Contents(folder, rows, parts)


def _names(where: str) -> set[str]:
    """The possible names of the figures at a place of a paper.

    >>> sorted(_names("Figures 4b and 22 (left), Theorem 3"))
    ['figure22', 'figure4', 'figure4b']
    """
    first = where.split(",")[0].lower()
    kind = re.match(r"figure|table", first)
    numbers = re.findall(r"(\d+)([a-z]?)\b", first)
    return {f"{kind.group()}{n}{part}" for n, of in numbers for part in ("", of)} if kind else set()


def _part(study: Study, folder: Path) -> Part:
    needed = dict.fromkeys(
        [need for figure in study.figures.values() for need in figure.needs]
        + [need for claim in study.claims for need in claim.needs]
    )
    files = [(name, folder / f"{name}.nc") for name in needed]
    experiments = [one for name, file in files if file.is_file() for one in _defined(name, file)]
    return Part(study, pictures(study, folder), tuple(experiments))


def pictures(study: Study, folder: Path) -> tuple[Picture, ...]:
    """The figures of a study that its folder holds."""
    return tuple(
        Picture(study.name, name, figure.title, file, figure.needs, _heading(file))
        for name, figure in study.figures.items()
        if (file := folder / f"{name}.png").is_file()
    )


def _heading(file: Path) -> str:
    """The heading that `Output.figure` noted in a picture."""
    with contextlib.suppress(BadInput), open_image(file) as image:
        return str(image.info.get("Title", ""))
    return ""  # a damaged picture, which is refused when it is shown


def _defined(sweep: str, file: Path) -> list[Defined]:
    """The experiments behind a dataset, from its attributes."""
    try:
        # NetCDF is HDF5; xarray would read every variable first (0.1 s per file).
        with h5py.File(file) as data:
            arms = origins(data.attrs)
            seed = data.get("seed")
            seeds = len(seed) if isinstance(seed, h5py.Dataset) else 1
    except BadInput:  # of no experiment
        return []
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}.") from None
    return [
        Defined(sweep, arm, made.text, json.dumps(made.over) if made.over else "", seeds,
                _checked(made))
        for arm, made in arms.items()
    ]  # fmt: skip


def _checked(made: Origin) -> Conditions | None:
    try:
        return conditions(made.experiment)
    except BadInput:  # no theory covers it, or another version wrote it
        return None
