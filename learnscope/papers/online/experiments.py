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
PARTS = 1000  # steps of a search for the teacher
LEVEL = 0.5  # alignment at which a filter has left mediocrity
# Links by information exponent: eta at d = 1 and its power of d, the examples of a run over their
# power of d, and that power.
SEARCHES: dict[str, tuple[str, float, float, float, float]] = {
    "k1": ("erf", 1.0, 0.0, 4.0, 1.0),
    "k2": ("he2", 0.25, 0.0, 32.0, 1.0),
    "k3": ("he3", 0.5, -0.5, 4.0, 2.0),
}
SIZES = Scale(
    seeds=(3, 20, 50), plateau_dim=(500, 10_000, 100_000), plateau_time=(20, 300, 300),
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
        rule=GradientDescent(rate=rate * batch / dim, loss="squared"),
        steps=steps,
        probes=(Overlaps(), GeneralisationError()),
        record=Record(every=max(1, steps // 100)),
    )  # fmt: skip


def over_dims(dims: np.ndarray, batches: np.ndarray, rates: np.ndarray, norm: float) -> Axis:
    """Dimensions with the batch, the rate per example and the initial scale at each of them."""
    fields = {
        "data.dim": dims.astype(int), "data.batch": batches.astype(int),
        "rule.rate": rates * batches, "net.scale": norm * dims**-0.5,
    }  # fmt: skip
    return zipped({path: values.tolist() for path, values in fields.items()}, name="dim")


def deviations() -> Experiment:
    """The first examples, up to the plateau."""
    steps = round(1 / TIME)
    return committee(steps=steps).replace("record.every", steps // 4)


def in_the_limit() -> xr.Dataset:
    """The same at infinite dimension, from filters without any overlap with the teacher."""
    dim = 10**9
    experiment = deviations().replace("data.dim", dim).replace("data.batch", round(TIME * dim))
    experiment = experiment.replace("net.scale", SCALE * dim**-0.5)
    return limit(experiment.replace("rule.rate", RATE * TIME))


def search(name: str, points: int) -> tuple[Experiment, Axis]:
    """A single filter on a sphere that looks for a single direction."""
    link, rate, rate_power, samples, power = SEARCHES[name]
    dims = (100.0 if power > 1 else 1000.0) * np.array([2.0, 10.0][power == 1]) ** np.arange(points)
    batches = np.maximum(1, samples * dims**power / PARTS).round()
    base = committee(1, link=link, teacher=1, steps=PARTS).replace("probes", (Overlaps(),))
    base = base.replace("rule", SphericalDescent(rate=1.0, loss="correlation"))
    base = base.replace("record.every", 10)
    return base, over_dims(dims, batches, rate * dims**rate_power / dims, 1.0)


def sweeps(scale: str) -> dict[str, Sweep | FunctionSweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    batch, dims = size.plateau_dim // 100, 10.0 ** (3 + np.arange(size.limit_dims))
    steps = 100 * size.plateau_time
    rates = RATE / dims
    noisy = committee(
        dim=size.noisy_dim, batch=5, steps=size.noisy_time * size.noisy_dim // 5, rate=0.3,
        noise=0.3,
    )  # fmt: skip
    noisy = noisy.replace("record.every", noisy.steps // 20)
    layers = {"first": {}, "both": {"net.second_layer": "trained"}}
    searches = {name: search(name, size.search_dims) for name in SEARCHES}
    return {
        "plateau": arms(committee(dim=size.plateau_dim, batch=batch, steps=steps), size.seeds),
        "deviations": arms(deviations(), size.seeds, over_dims(dims, TIME * dims, rates, SCALE)),
        "limit": FunctionSweep(in_the_limit),
        "wider": arms(noisy, size.seeds, {"net.width": [2, 3, 4, 6]}, layers=layers),
        **{name: arms(base, size.search_seeds, axis) for name, (base, axis) in searches.items()},
    }
