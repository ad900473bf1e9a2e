"""What the claims read: outcomes of runs, filters after training, the flow at its events."""

import numpy as np
import xarray as xr

from learnscope.evidence import Quantity, at, computed, every, last
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.experiments import RATIO, model

ALL, ALL_STRONG, OTHER, UNSETTLED = "all features", "all strong", "other", "unsettled"
_WORDS = {"all": ALL, "strong": ALL_STRONG, "some": OTHER, "unsettled": UNSETTLED}
PAIR = ("neuron", "feature")


def outcome(shares: xr.DataArray) -> xr.DataArray:
    """Outcomes in words, from shares of variance: all features learnt by some neuron, all neurons
    the strong one, others, or unsettled (a neuron without a feature of 90 %)."""
    shares = shares.transpose(..., *PAIR)
    named = np.vectorize(_WORDS.__getitem__, otypes=["<U16"])(theory.outcomes(shares.values))
    return shares.isel(neuron=0, feature=0, drop=True).copy(data=named)


def ends(word: str, variable: str = "population_share", **where) -> Quantity:
    """Hits: training ends so."""
    said = last(variable, **where)

    def hits(shares: xr.DataArray) -> xr.DataArray:
        found = (outcome(shares) == word).astype(float)
        return found.where(shares.notnull().all(PAIR))

    return said.map(hits, said.text.replace(variable.replace("_", " ") + " at the end", word))


def covered(**where) -> Quantity:
    """The share of the features that some neuron has learnt; a setting may have fewer than others,
    whose shares are missing."""

    def share(shares: xr.DataArray) -> xr.DataArray:
        there = shares.notnull().any("neuron")
        return (shares >= 0.9).any("neuron").sum("feature") / there.sum("feature")

    return last("population_share", **where).map(share, "share of features learnt")


def learnt(**where) -> Quantity:
    """The share of neurons on the strong feature."""
    shares = last("population_share", **where).isel(feature=0)

    def share(values: xr.DataArray) -> xr.DataArray:
        return (values >= 0.9).sum("neuron") / values.notnull().sum("neuron")

    return shares.map(share, "share of neurons on the strong feature")


def pairs(variable: str, **where) -> Quantity:
    """The mean |correlation| of two neurons."""

    def mean(matrix: xr.DataArray) -> xr.DataArray:
        other = matrix.transpose(..., "neuron", "other_neuron")
        upper = np.triu_indices(other.sizes["neuron"], 1)
        values = np.abs(other.values[..., *upper])
        return other.isel(neuron=0, other_neuron=0, drop=True).copy(data=np.nanmean(values, -1))

    return last(variable, **where).map(mean, "mean |correlation| of two neurons")


def beyond(**where) -> Quantity:
    """sqrt(d) times the largest ||w_j - beta_j v|| over neurons, v the feature that j has most."""
    strength, noise = last("strength", **where), last("noise_norm", **where)
    rest = strength.map(lambda b: (b**2).sum("feature") - (b**2).max("feature"), "{}")

    def scaled(values: xr.DataArray) -> xr.DataArray:
        return values.max("neuron", skipna=False) ** 0.5 * values["dim"] ** 0.5

    return (rest + noise**2).map(scaled, "‖ε‖√d")


def least_beta(**where) -> Quantity:
    """The smallest |beta_j| over neurons."""
    found = abs(last("strength", **where)).max("feature").min("neuron")
    return found.named("least |β|")


# The flow at its events


def _at(variable: str, event: int, text: str, **place: int) -> Quantity:
    return at(variable, event).isel(**place).named(f"{text} at {theory.EVENTS[event]}")


def elapsed(event: int) -> Quantity:
    """The time from the event before to one."""
    names = theory.EVENTS
    text = names[1] if event == 1 else f"{names[event]} - {names[event - 1]}"
    return at("elapsed", event).named(text)


def overlap(neuron: int, feature: int, event: int) -> Quantity:
    text = f"|B{neuron}{feature}|"
    found = abs(_at("strength", event, text, neuron=neuron - 1, feature=feature - 1))
    return found.named(f"{text} at {theory.EVENTS[event]}")


def noise(neuron: int, event: int) -> Quantity:
    return _at("noise", event, f"R{neuron}", neuron=neuron - 1)


def entry(row: int, event: int) -> Quantity:
    """|E12| or |E21|."""
    text = f"|E{row}{3 - row}|"
    found = abs(_at("head", event, text, neuron=row - 1, other_neuron=2 - row))
    return found.named(f"{text} at {theory.EVENTS[event]}")


def head_norm(event: int) -> Quantity:
    def norm(head: xr.DataArray) -> xr.DataArray:
        return (head**2).sum(("neuron", "other_neuron"), skipna=False) ** 0.5

    return at("head", event).map(norm, f"‖E - I‖ at {theory.EVENTS[event]}")


def others() -> Quantity:
    """The largest overlap other than B11 over B11, at T1."""
    rest = [overlap(1, 2, 1), overlap(2, 1, 1), overlap(2, 2, 1)]

    def read(data) -> xr.DataArray:
        return xr.concat([q.read(data) for q in rest], "which").max("which", skipna=False)

    return (Quantity("", read) / overlap(1, 1, 1)).named("next largest overlap over |B11| at T1")


def substitute() -> Quantity:
    """What neuron 2 borrows over its own part, when v_1 is there, at T3,1."""
    borrowed = entry(2, 3) * overlap(1, 1, 3) ** 3
    return (borrowed / overlap(2, 1, 3) ** 3).named("|E21 f1| / |f2| on v1, at T3,1")


def in_order() -> Quantity:
    """Hits: T1 to T4 all come, T1 not at the start."""
    times = every("elapsed").map(lambda t: t.isel(step=slice(1, 6)), "{}")
    there = times.map(lambda t: (t < np.inf).all("step") & (t.isel(step=0) > 0), "{}")
    return there.map(lambda hits: hits.astype(float), "T1 < T2 < T3,1 ≤ T3 < T4")


def growth() -> Quantity:
    """T1 over its prediction by the tensor power method (Appendix G)."""
    law = theory.Law.of(model())

    def ratio(data: xr.Dataset) -> xr.DataArray:
        begun = data.isel(step=0, drop=True)
        time = xr.apply_ufunc(
            lambda b, r: theory.first_learned(law, b, r).time, begun.strength, begun.noise,
            input_core_dims=[PAIR, ["neuron"]], vectorize=True,
        )  # fmt: skip
        return (data.elapsed.isel(step=1, drop=True) / time).reset_coords(drop=True)

    return computed("T1 over its prediction", ratio)


def head_share() -> Quantity:
    """The largest |E21| over ||w_2(0)|| sqrt(eta_E / 3 eta)."""

    def ratio(data: xr.Dataset) -> xr.DataArray:
        begun = data.isel(step=0, neuron=1, drop=True)
        length = np.sqrt((begun.strength**2).sum("feature") + begun.noise)
        top = abs(data["head"].isel(neuron=1, other_neuron=0, drop=True)).max("step")
        return (top / (length * theory.head_bound(1.0, RATIO))).reset_coords(drop=True)

    return computed("largest |E21| over its bound", ratio)


def chance(strength: float) -> float:
    """That both neurons learn the strong feature without a head."""
    return theory.collapse_probability(model(strength), 2)
