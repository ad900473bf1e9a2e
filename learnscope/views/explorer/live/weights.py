"""The weights' picture at every recorded step: a map of the filters' directions, or the head."""

import itertools
from typing import Any

import numpy as np

from learnscope.lab import Experiment
from learnscope.probes import FilterCosines, HeadOffDiagonal
from learnscope.rules import NonContrastive
from learnscope.views.explorer.live.state import State
from learnscope.views.explorer.live.training import Trainer

_MOST_FILTERS = 200  # on a map


def pictures(state: State, trainer: Trainer) -> dict[str, Any]:
    """A picture a recorded step of the first seed, as plain lists."""
    experiment = state.experiment
    has_matrix = isinstance(experiment.rule, NonContrastive) and experiment.rule.head != "mlp"
    probe = HeadOffDiagonal() if has_matrix else FilterCosines()
    one = Experiment(
        experiment.data, experiment.net, experiment.rule, experiment.steps, (probe,),
        experiment.record,
    )  # fmt: skip
    data = trainer.run(State(state.start, one, 1))
    if has_matrix:
        values = data["head"].isel(seed=0).transpose("step", ...).values
        return {"kind": "head", "values": np.round(values, 5).tolist()}
    cosines = data["filter_cosine"].isel(seed=0, layer=0).transpose("step", ...).values
    count = cosines.shape[1]
    kept = np.unique(np.linspace(0, count - 1, min(count, _MOST_FILTERS)).round().astype(int))
    maps = maps_of(cosines[:, kept][:, :, kept])
    return {"kind": "map", "values": np.round(maps, 4).tolist(), "filters": kept.tolist(),
            "of": count, "outputs": _outputs(experiment, count)}  # fmt: skip


def _outputs(experiment: Experiment, count: int) -> int:
    """How many outputs' filters stand one after the other; 1 if they are not told apart."""
    width = getattr(experiment.net, "width", count)
    return count // width if width and count % width == 0 else 1


def maps_of(cosines: np.ndarray) -> np.ndarray:
    """Classical scaling (Torgerson 1952) of unit vectors to the plane, step by step.

    A map is free to be turned and mirrored: each is laid onto the one before it as well as it goes
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
    found = vectors[:, :, :-3:-1] * lengths[:, None, :]
    if found.shape[-1] < 2:  # a single filter
        found = np.pad(found, ((0, 0), (0, 0), (0, 2 - found.shape[-1])))
    for before, now in itertools.pairwise(found):
        left, _, right = np.linalg.svd(now.T @ before)
        now[:] = now @ left @ right
    return found
