r"""Sweeps: the plateau, deviations from the limit over dimensions, wider students, exit times of
runs and of diffusions. With the rate $\eta / d$ per example, a step on b examples has the rate
$\eta b / d$ and takes the time $\alpha = b / d$."""

from typing import Any

import numpy as np

from learnscope.data import MultiIndex
from learnscope.evidence import FunctionSweep, Scale, Sweep, arms
from learnscope.lab import Axis, Experiment, Record, zipped
from learnscope.nets import TwoLayer
from learnscope.papers.online.theory import exits, limit
from learnscope.probes import GeneralisationError, Overlaps
from learnscope.rules import GradientDescent, SphericalDescent

TEACHER, SCALE, RATE = 2, 0.5, 1.5  # hidden units, norm of initial filters, eta of the plateau
STEPS, LEVEL = 1000, 0.5  # of a search, and the alignment at which a filter has left mediocrity
# By k: link, eta and its power of d, examples over d^(k-1) or d, least dimension, ratio of those.
SEARCHES: dict[int, tuple[str, float, float, float, float, float]] = {
    1: ("erf", 1.0, 0.0, 4.0, 1e3, 10.0),
    2: ("he2", 0.25, 0.0, 24.0, 1e3, 10.0),
    3: ("he3", 0.5, -0.5, 6.0, 50.0, 4.0),
}
# Seeds whose filter starts with an overlap of at least 0.5 / sqrt(d) with the teacher, as bits.
_NEAR = int("5200270a1086e6c320e4fc45c26a84016020c03082210ba500a9c394416da0298a"
            "82aa88302280501840104061d1104316401238ae8a2284930ac865154270714dfc7", 16)  # fmt: skip
NEAR = [seed for seed in range(_NEAR.bit_length()) if _NEAR >> seed & 1]
SIZES = Scale(
    seeds=(3, 12, 50), plateau_dim=(500, 10_000, 100_000), plateau_time=(25, 300, 300),
    limit_dims=(2, 3, 4), noisy_dim=(100, 500, 1000), noisy_time=(10, 400, 1000),
    search_dims=(2, 3, 4), search_seeds=(6, 180, 180), paths=(12, 1000, 4000),
)  # fmt: skip


def committee(
    width: int = TEACHER, dim: int = 1000, batch: int = 1, steps: int = 1, rate: float = RATE,
    link: str = "erf", teacher: int = TEACHER, every: int | None = None, **data: Any,
) -> Experiment:  # fmt: skip
    """A soft committee machine that learns from another one."""
    return Experiment(
        data=MultiIndex(dim, teacher, link, batch=batch, test=1, **data),
        net=TwoLayer(width, link, scale=SCALE * dim**-0.5, bias=False, symmetric=False,
                     second_layer="sum"),
        rule=GradientDescent(rate=rate * batch / dim, loss="squared"), steps=steps,
        probes=(Overlaps(), GeneralisationError()),
        record=Record(every=every or max(1, steps // 100)),
    )  # fmt: skip


def over_dims(dims: np.ndarray, batches: np.ndarray, rates: Any, norm: float) -> Axis:
    """Dimensions with the batch, eta and the initial scale at each of them."""
    batches = batches.round().astype(int)
    fields = {"data.dim": dims.astype(int), "data.batch": batches,
              "rule.rate": rates * batches / dims, "net.scale": norm * dims**-0.5}  # fmt: skip
    return zipped({path: values.tolist() for path, values in fields.items()}, name="dim")


def searches(k: int, size: Any) -> dict[str, Sweep | FunctionSweep]:
    """A filter on a sphere looks for a direction: runs, and diffusions where runs are too long."""
    link, rate, power, examples, smallest, ratio = SEARCHES[k]
    dims, far = smallest * ratio ** np.arange(size.search_dims), 10.0 ** np.arange(3, 10)
    base = committee(1, link=link, teacher=1, steps=STEPS, every=1).replace("probes", (Overlaps(),))
    base = base.replace("rule", SphericalDescent(rate=1.0, loss="correlation"))
    axis = over_dims(dims, examples * dims ** max(1, k - 1) / STEPS, rate * dims**power, 1.0)
    paths = FunctionSweep(lambda: exits(base, far, rate * far**power, LEVEL, size.paths))
    return {f"k{k}": arms(base, NEAR[: size.search_seeds], axis), f"far{k}": paths}


def sweeps(scale: str) -> dict[str, Sweep | FunctionSweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    dims = 10.0 ** (3 + 2 * np.arange(size.limit_dims))
    dim, steps = size.plateau_dim, size.noisy_time * size.noisy_dim // 10
    plateau = committee(dim=dim, batch=dim // 100, steps=100 * size.plateau_time)
    span: dict[str, Any] = {"steps": 1000, "every": 250}
    noisy = committee(dim=size.noisy_dim, batch=10, steps=steps, rate=0.75, noise=0.3)
    layers = {"first": {}, "both": {"net.second_layer": "trained"}}
    return {
        "plateau": arms(plateau, size.seeds),
        "deviations": arms(committee(**span), size.seeds, over_dims(dims, dims / 1e3, RATE, SCALE)),
        "limit": FunctionSweep(lambda: limit(committee(dim=10**9, batch=10**6, **span))),
        "wider": arms(noisy, size.seeds, {"net.width": [2, 6]}, layers=layers),
        **{name: each for k in SEARCHES for name, each in searches(k, size).items()},
    }
