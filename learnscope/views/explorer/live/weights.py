"""The picture of the weights at every recorded step: a map of directions, or a matrix."""

import functools
import itertools
import re
from typing import Any

import equinox as eqx
import jax
import numpy as np
import xarray as xr

from learnscope.data import AbstractData
from learnscope.engine.draw import draw_one, source_of, traced
from learnscope.engine.experiment import Keyed, room
from learnscope.engine.trial import choose
from learnscope.lab import Experiment
from learnscope.lab.sweep import programs
from learnscope.probes import AbstractProbe, landmarks
from learnscope.views.explorer.live.catalogue import fitting, preset, with_probes
from learnscope.views.explorer.live.state import State
from learnscope.views.explorer.live.training import Trainer
from learnscope.views.explorer.live.words import words_of

_MOST_POINTS = 200  # on a map


def pictures(state: State, trainer: Trainer) -> dict[str, Any]:
    """One picture per recorded step of the first seed, as plain lists, from the preset's first
    picture probe that fits: a square matrix with dims `name` and `other_name`. Cosines (from -1 to
    1) become a map, with the directions that the probe compares them to as landmarks; other
    matrices become a heat map."""
    listed = preset(state.start).pictures
    probe = next((each for each in listed if fitting(state.watched, (each,))), listed[-1])
    name, output, row = next((name, output, dim) for name, output in probe.outputs.items()
                             for dim in output.dims if f"other_{dim}" in output.dims)  # fmt: skip
    column = f"other_{row}"
    data = trainer.run(with_probes(state.watched, [probe]), 1).isel(seed=0)
    matrix = data[name]
    matrix = matrix.isel({d: 0 for d in matrix.dims if d not in ("step", row, column)})
    values = matrix.transpose("step", row, column).values
    if (output.low, output.high) != (-1, 1):
        return {"kind": "matrix", "values": np.round(values, 5).tolist(),
                "text": output.long_name, "of": row}  # fmt: skip
    count = values.shape[1]
    kept = np.unique(np.linspace(0, count - 1, min(count, _MOST_POINTS)).round().astype(int))
    width = getattr(state.experiment.net, "width", count) or count
    cosines, names = values[:, kept][:, :, kept], []
    if (beside := _beside(probe, data, row)) is not None:
        to, between = beside
        cosines = np.block([[cosines, to[:, kept]], [to[:, kept].swapaxes(1, 2), between]])
        names = _names(Keyed(jax.tree.structure(state.experiment), state.experiment))
    return {"kind": "map", "values": np.round(maps_of(cosines), 4).tolist(), "landmarks": names,
            "points": kept.tolist(), "count": count, "of": row,
            # Points of one output are neighbours; 1: outputs share their points.
            "outputs": count // width if count % width == 0 else 1}  # fmt: skip


def _beside(probe: AbstractProbe, data: xr.Dataset, row: str) -> tuple[Any, Any] | None:
    """The cosines to landmarks, and those between landmarks, if the probe records them."""
    dims = {output.dims: name for name, output in probe.outputs.items()}
    for of, mark in (given for given in dims if len(given) == 2):
        between = dims.get((mark, f"other_{mark}"))
        if of == row and between is not None:
            to = data[dims[of, mark]].transpose("step", row, mark)
            return to.values, data[between].transpose("step", mark, ...).values
    return None


@functools.lru_cache(maxsize=256)
def _names(asked: Keyed) -> list[str]:
    """The names of an experiment's landmarks: traced, not drawn."""
    experiment: Experiment = asked.experiment
    coordinates, _ = choose("auto", programs(experiment, []))
    source = source_of(traced(experiment, "float32", coordinates))
    given = np.uint32(0), coordinates, room(experiment, coordinates)
    problem, _ = eqx.filter_eval_shape(draw_one, source, *given)
    names = []
    for name, rows in landmarks(problem.directions).items():
        sign, count = _sign(experiment.data, name), 1 if rows.ndim == 1 else len(rows)
        names += [sign] if count == 1 else [f"{sign} {i + 1}" for i in range(count)]
    return names


def _sign(data: AbstractData, name: str) -> str:
    """The symbol of a direction: that of the field that is its length, or its name."""
    known = words_of(type(data)).get(name)
    length = re.fullmatch(r"\\\|(.+)\\\|", known.symbol) if known else None
    return length[1] if length else name


def maps_of(cosines: np.ndarray) -> np.ndarray:
    """Classical scaling (Torgerson 1952) of unit vectors to the plane, step by step.

    A map may be turned and mirrored: each is laid onto the one before as well as possible
    (orthogonal Procrustes problem), so that points move and the plane does not.

    >>> turns = np.linspace(0, 1, 5)[:, None] * np.arange(3)[None]
    >>> points = np.stack([np.cos(turns), np.sin(turns)], -1)
    >>> maps = maps_of(points @ points.transpose(0, 2, 1))
    >>> apart = np.linalg.norm(maps[4, 0] - maps[4, 1])
    >>> bool(np.isclose(apart, np.linalg.norm(points[4, 0] - points[4, 1])))
    True
    """
    finite = np.nan_to_num(np.asarray(cosines, float))
    count = finite.shape[1]
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(centre @ finite @ centre)
    lengths = np.sqrt(np.maximum(values[:, :-3:-1], 0.0))
    maps = vectors[:, :, :-3:-1] * lengths[:, None, :]
    if maps.shape[-1] < 2:  # a single filter
        maps = np.pad(maps, ((0, 0), (0, 0), (0, 2 - maps.shape[-1])))
    for before, now in itertools.pairwise(maps):
        left, _, right = np.linalg.svd(now.T @ before)
        now[:] = now @ left @ right
    return maps
