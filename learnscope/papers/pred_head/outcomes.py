"""The outcomes of runs in words, and the ends of phases, from the sweeps' datasets."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from learnscope.data import StrongWeak
from learnscope.evidence import experiment_of
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.experiments import HEAD, RATIO

ALL, ALL_STRONG, OTHER, UNSETTLED = "all features", "all strong", "other", "unsettled"
_WORDS = {"all": ALL, "strong": ALL_STRONG, "some": OTHER, "unsettled": UNSETTLED}


def outcome(shares: xr.DataArray) -> xr.DataArray:
    """Outcomes in words, from final shares of variance: all features learnt by some neuron, all
    neurons the strong one, others, or unsettled (a neuron without a feature of 90 %)."""
    last = shares.isel(step=-1).transpose(..., "neuron", "feature")
    words = theory.outcomes(last.values)
    named = np.vectorize(_WORDS.__getitem__, otypes=["<U16"])(words)
    return xr.DataArray(named, dims=last.dims[:-2], coords=last.isel(neuron=0, feature=0).coords)


def covered(shares: xr.DataArray) -> xr.DataArray:
    """The number of features that some neuron has learnt."""
    return (shares.isel(step=-1) >= 0.9).any("neuron").sum("feature")


def times(data: xr.Dataset, dim: float) -> np.ndarray:
    """The end of each recorded step of a flow, for one dimension of the sweep `phases`."""
    one = data.sel(dim=dim)
    first, horizon = float(one["rule.first"]), float(one["rule.horizon"])
    k = one.step.values
    return np.where(k < 1, 0.0, first * (horizon / first) ** ((k - 1) / (k[-1] - 1)))


class Ends(NamedTuple):
    """T1 to T4 of every seed, by working and by printed triggers."""

    working: np.ndarray
    printed: np.ndarray


def phase_ends(data: xr.Dataset, dim: float) -> Ends:
    """When the phases of the runs with a head end."""
    law = law_of(data)
    runs, at = data.sel(dim=dim, head_kind=HEAD), times(data, dim)

    def ends(seed: int, triggers: str) -> tuple[float, ...]:
        run = runs.isel(seed=seed)
        return theory.phase_times(
            law, at, run.strength.values, run["head"].values, run.noise_norm.values**2, RATIO, dim,
            triggers,
        )  # fmt: skip

    seeds = range(runs.sizes["seed"])
    return Ends(*(np.array([ends(seed, t) for seed in seeds]) for t in ("working", "paper")))


def law_of(data: xr.Dataset) -> theory.Law:
    """The distribution of the data in the dataset's experiment."""
    model = experiment_of(data, HEAD).data
    assert isinstance(model, StrongWeak)
    return theory.Law.of(model)
