r"""Sweeps: the plateau, deviations from the limit over dimensions, wider students, exit times.

In the time $\alpha$ = examples / d, with the rate $\eta / d$ per example, a step on a batch of b
examples has the rate $\eta b / d$ and takes the time b / d.
"""

from typing import Any

import numpy as np
import xarray as xr

from learnscope.data import MultiIndex
from learnscope.evidence import FunctionSweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import TwoLayer
from learnscope.papers.online.theory import limit
from learnscope.probes import GeneralisationError, Overlaps
from learnscope.rules import GradientDescent, SphericalDescent

TEACHER = 2
SCALE = 0.5  # norm of the initial filters
RATE = 1.5  # eta of the plateau
TIME = 0.001  # alpha of a step, where deviations are measured
STEPS = 1000  # of a search for the teacher
LEVEL = 0.5  # alignment at which a filter has left mediocrity
# By information exponent k: the link, eta and its power of d, the examples of a run over d^(k-1) or
# d, the smallest dimension and the ratio of dimensions.
SEARCHES: dict[int, tuple[str, float, float, float, float, float]] = {
    1: ("erf", 1.0, 0.0, 4.0, 1e3, 10.0),
    2: ("he2", 0.25, 0.0, 32.0, 1e3, 10.0),
    3: ("he3", 0.5, -0.5, 4.0, 1e2, 2.0),
}
SIZES = Scale(
    seeds=(3, 20, 50), plateau_dim=(500, 10_000, 100_000), plateau_time=(25, 300, 300),
    limit_dims=(2, 5, 6), noisy_dim=(100, 500, 1000), noisy_time=(10, 400, 1000),
    search_dims=(2, 4, 5), search_seeds=(8, 40, 100),
)  # fmt: skip


def committee(
    width: int = TEACHER, dim: int = 1000, batch: int = 1, steps: int = 1, rate: float = RATE,
    link: str = "erf", teacher: int = TEACHER, **data: Any,
) -> Experiment:  # fmt: skip
    """A soft committee machine that learns from another one."""
    return Experiment(
        data=MultiIndex(dim, teacher, link, batch=batch, test=1, **data),
        net=TwoLayer(width, link, scale=SCALE * dim**-0.5, bias_scale=None, symmetric=False,
                     second_layer="sum"),
        rule=GradientDescent(rate=rate * batch / dim, loss="squared"), steps=steps,
        probes=(Overlaps(), GeneralisationError()), record=Record(every=max(1, steps // 100)),
    )  # fmt: skip


def over_dims(dims: np.ndarray, batches: np.ndarray, rates: Any, norm: float) -> Axis:
    """Dimensions with the batch, eta and the initial scale at each of them."""
    batches = batches.round().astype(int)
    fields = {
        "data.dim": dims.astype(int), "data.batch": batches, "rule.rate": rates * batches / dims,
        "net.scale": norm * dims**-0.5,
    }  # fmt: skip
    return zipped({path: values.tolist() for path, values in fields.items()}, name="dim")


def deviations(dim: int = 1000) -> Experiment:
    """The first examples, up to the plateau."""
    experiment = committee(dim=dim, batch=round(TIME * dim), steps=round(1 / TIME))
    return experiment.replace("record.every", 250)


def in_the_limit() -> xr.Dataset:
    """The same at infinite dimension, from filters without any overlap with the teacher."""
    return limit(deviations(10**9))


def search(k: int, points: int, seeds: int) -> Sweep:
    """A single filter on a sphere that looks for a single direction."""
    link, rate, power, examples, smallest, ratio = SEARCHES[k]
    dims = smallest * ratio ** np.arange(points)
    base = committee(1, link=link, teacher=1, steps=STEPS).replace("probes", (Overlaps(),))
    base = base.replace("rule", SphericalDescent(rate=1.0, loss="correlation"))
    batches = examples * dims ** max(1, k - 1) / STEPS
    return arms(base, seeds, over_dims(dims, batches, rate * dims**power, 1.0))


def sweeps(scale: str) -> dict[str, Sweep | FunctionSweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    dims = 10.0 ** (3 + np.arange(size.limit_dims))
    plateau = committee(
        dim=size.plateau_dim, batch=size.plateau_dim // 100, steps=100 * size.plateau_time
    )
    steps = size.noisy_time * size.noisy_dim // 5
    noisy = committee(dim=size.noisy_dim, batch=5, steps=steps, rate=0.3, noise=0.3)
    layers = {"first": {}, "both": {"net.second_layer": "trained"}}
    return {
        "plateau": arms(plateau, size.seeds),
        "deviations": arms(deviations(), size.seeds, over_dims(dims, TIME * dims, RATE, SCALE)),
        "limit": FunctionSweep(in_the_limit),
        "wider": arms(noisy, size.seeds, {"net.width": [2, 3, 4, 6]}, layers=layers),
        **{f"k{k}": search(k, size.search_dims, size.search_seeds) for k in SEARCHES},
    }
