"""What the claims read: outcomes of runs, filters after training, the flow at its events."""

import numpy as np
import xarray as xr

from learnscope.evidence import Quantity, at, computed, every, hits_of, last
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.experiments import RATIO, model

ALL, ALL_STRONG, OTHER, UNSETTLED = "all features", "all strong", "other", "unsettled"
PAIR = ("neuron", "feature")
CLEAR = 0.9  # share of its variance by which a neuron has learnt a feature


def learnt(shares: np.ndarray, clear: float = CLEAR) -> np.ndarray:
    """The feature that every neuron has learnt, or -1, from shares by (..., neuron, feature)."""
    return np.where(shares.max(-1) >= clear, shares.argmax(-1), -1)


def outcome(shares: xr.DataArray) -> xr.DataArray:
    """Outcomes in words: all features learnt by some neuron, all neurons the strong one, others, or
    unsettled (a neuron has learnt none), which is not collapse."""
    shares = shares.transpose(..., *PAIR)
    which = learnt(shares.values)
    covered = np.all([(which == k).any(-1) for k in range(shares.sizes["feature"])], axis=0)
    words = np.where(covered, ALL, np.where((which == 0).all(-1), ALL_STRONG, OTHER))
    named = np.where((which < 0).any(-1), UNSETTLED, words)
    return shares.isel(neuron=0, feature=0, drop=True).copy(data=named)


def ends(word: str, variable: str = "population_share", **where) -> Quantity:
    """Hits: training ends so."""
    said = last(variable, **where)

    def hits(shares: xr.DataArray) -> xr.DataArray:
        found = (outcome(shares) == word).astype(float)
        return hits_of(found.where(shares.notnull().all(PAIR)))

    return said.map(hits, said.text.replace(variable.replace("_", " ") + " at the end", word))


def in_turn(**where) -> Quantity:
    """Hits: the neuron that begins ahead learns the strong feature, the other one the weak one."""

    def hits(shares: xr.DataArray) -> xr.DataArray:
        which = learnt(shares.transpose(..., *PAIR).values)
        found = (which == np.arange(which.shape[-1])).all(-1).astype(float)
        made = shares.isel(neuron=0, feature=0, drop=True).copy(data=found)
        return hits_of(made.where(shares.notnull().all(PAIR)))

    return last("share", **where).map(hits, "neuron 1 has the strong feature, 2 the weak one")


def covered(**where) -> Quantity:
    """The share of the features that some neuron has learnt; a setting may have fewer than others,
    whose shares are missing."""

    def share(shares: xr.DataArray) -> xr.DataArray:
        there = shares.notnull().any("neuron")
        return (shares >= CLEAR).any("neuron").sum("feature") / there.sum("feature")

    return last("population_share", **where).map(share, "share of features learnt")


def on_strong(**where) -> Quantity:
    """The share of neurons on the strong feature."""

    def share(values: xr.DataArray) -> xr.DataArray:
        return (values >= CLEAR).sum("neuron") / values.notnull().sum("neuron")

    shares = last("population_share", **where).isel(feature=0)
    return shares.map(share, "share of neurons on the strong feature")


def pairs(variable: str, **where) -> Quantity:
    """The mean |correlation| of two neurons."""

    def mean(matrix: xr.DataArray) -> xr.DataArray:
        other = matrix.transpose(..., "neuron", "other_neuron")
        values = np.abs(other.values[..., *np.triu_indices(other.sizes["neuron"], 1)])
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
    return abs(last("strength", **where)).max("feature").min("neuron").named("least |β|")


def while_high(data: xr.Dataset) -> xr.DataArray:
    """The head's asymmetry while its norm is above half of its highest value."""
    high = data.head_norm > 0.5 * data.head_norm.max("step")
    return data.head_asymmetry.where(high).mean("step")


# The flow at its events


def _at(variable: str, event: int, text: str, **place: int) -> Quantity:
    return at(variable, event).isel(**place).map(abs, f"{text} at {theory.EVENTS[event]}")


def elapsed(event: int) -> Quantity:
    """The time from the event before to one."""
    before, name = theory.EVENTS[event - 1 : event + 1]
    return at("elapsed", event).named(name if event == 1 else f"{name} - {before}")


def overlap(neuron: int, feature: int, event: int) -> Quantity:
    place = {"neuron": neuron - 1, "feature": feature - 1}
    return _at("strength", event, f"|B{neuron}{feature}|", **place)


def noise(neuron: int, event: int) -> Quantity:
    return _at("noise", event, f"R{neuron}", neuron=neuron - 1)


def entry(row: int, event: int) -> Quantity:
    """|E12| or |E21|."""
    return _at("head", event, f"|E{row}{3 - row}|", neuron=row - 1, other_neuron=2 - row)


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

    def hits(elapsed: xr.DataArray) -> xr.DataArray:
        times = elapsed.isel(step=slice(1, 6))
        return hits_of(((times < np.inf).all("step") & (times.isel(step=0) > 0)).astype(float))

    return every("elapsed").map(hits, "T1 < T2 < T3,1 ≤ T3 < T4")


def growth() -> Quantity:
    """T1 over its prediction by the tensor power method (Appendix G)."""
    law = theory.Law.of(model())

    def ratio(data: xr.Dataset) -> xr.DataArray:
        begun = data.isel(step=0, drop=True)
        time = xr.apply_ufunc(
            lambda b, r: theory.first_time(law, b, r), begun.strength, begun.noise,
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
    return float(theory.learning_probabilities(model(strength))[0] ** 2)
