"""Quantities of the theorem and its lemmas, and the nulls that they must tell apart."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtri

from learnscope.evidence import Null, Quantity, computed, every, experiment_of, last
from learnscope.papers.benign import theory
from learnscope.papers.benign.experiments import DIMS, SMALL_CLASSES, SMALL_SIZE, WIDTH, theorem

EXAMPLES, EPSILON = SMALL_CLASSES * SMALL_SIZE, 0.1

# Theorem 1 and its remarks

_SMALL = last("test_accuracy", start="small")
_DEVIATE = _SMALL.isel(signal=[1, 2, 3]).map(lambda v: v.copy(data=ndtri(v)), "Φ⁻¹(accuracy)")
DEVIATE_EXPONENT = (_DEVIATE.slope("signal", log="xy") / 4.0).named(  # SNR = |S| ‖u‖⁴
    "exponent of Φ⁻¹(1 - error) in SNR"
)
EDGE_OVER_NOISE = _SMALL.passage("signal", 0.7).map(
    lambda edge: edge * (edge.dim - SMALL_CLASSES) ** 0.25, "‖u‖ / b at accuracy 0.7"
)
BESIDE_GAUSSIAN = last("test_accuracy").map(
    lambda each: (each - each.sel(noise="gaussian", drop=True)).isel(noise=slice(1, None)),
    "test accuracy minus that with Gaussian noise",
)


def misfit(form: Callable[..., Any]) -> Quantity:
    """The rms error of a line through log error on the top 50 %, over a function of Γ."""

    def residual(error: xr.DataArray) -> xr.DataArray:
        x: Any = form(error.correlation.astype(float))
        y: Any = np.log(error)
        x = x - x.mean()
        y = y - y.mean("correlation", skipna=False)
        slope = (x * y).mean("correlation", skipna=False) / (x**2).mean()
        return ((y - slope * x) ** 2).mean("correlation", skipna=False) ** 0.5

    error = 1 - last("long_tail_accuracy", share="0.5").mean("class")
    word = "Γ" if form(2.0) == 2.0 else "log Γ"
    return error.map(residual, f"misfit of log error by a line over {word}")


def log_error(share: str, place: int) -> Quantity:
    """The logarithm of the error on a share of the tail over the untrained network's on its own,
    at one of the values of Γ."""
    trained, start = (1 - last(name, share=share).mean("class")
                      for name in ("long_tail_accuracy", "long_tail_untrained"))  # fmt: skip
    ratio = (trained / start).isel(correlation=place).log()
    return ratio.named(f"log error over untrained, {share}, Γ number {place}")


def initial_margin(data: xr.Dataset) -> float:
    """m over what (b) asks of it at the largest initial weights that (c) allows."""
    found = [each for dim in DIMS for each in theory.conditions(theorem(dim, start="condition"))]
    return min(e.left / e.right for e in found if e.name == "width, initial weights")


# Lemmas 1 and 2


def _numbers(data: xr.Dataset) -> tuple[float, ...]:
    """Rate, feature strength, initial scale and dimension of the one setting."""
    table = experiment_of(data, "").to_dict()
    fields = (("rule", "rate"), ("data", "signal"), ("net", "scale"), ("data", "dim"))
    return tuple(float(table[part][name]) for part, name in fields)


def _stage_1(data: xr.Dataset) -> xr.DataArray:
    """The slowest relative fall of any example's loss, over η |S| ‖u‖² / (m n)."""
    rate, signal, *_ = _numbers(data)
    unit = rate * SMALL_SIZE * signal**2 / (WIDTH * EXAMPLES)
    loss = -np.log1p(-data.residual.sel(step=slice(None, 2 / unit)).astype(float))
    gap = float(data.step[1] - data.step[0])
    return (-np.log(loss).diff("step") / (gap * unit)).min(["step", "sample"], skipna=False)


def _stage_2(data: xr.Dataset) -> xr.DataArray:
    """The largest ratio of the mean loss to its bound; losses between records by the earlier."""
    rate, signal, scale, dim = _numbers(data)
    goal = 2.5 * math.log(4 * (SMALL_CLASSES - 1) / EPSILON) / signal
    far = SMALL_CLASSES * WIDTH * (scale**2 * dim + goal**2)
    loss = data.loss.astype(float)
    before, time = loss.isel(step=slice(None, -1)), loss.step[1:].astype(float).values
    time = before.step.copy(data=time)
    mean = before.cumsum("step") * (time[0] / time)
    return (mean / (far / (rate * time) + EPSILON / 2)).max("step", skipna=False)


STAGE_1 = computed("slowest fall of a loss in stage 1, over η|S|‖u‖²/(mn)", _stage_1)
STAGE_2 = computed("largest ratio of the mean loss to its bound", _stage_2)

# Lemmas 3 to 7


def _spectrum(data: xr.Dataset) -> xr.DataArray:
    """1 where all three parts of Lemma 3 hold for every class."""
    values = data.noise_spectrum.isel(step=-1, drop=True).reset_coords(drop=True)
    starts, root = data.start.values.tolist(), math.sqrt(WIDTH)
    tables = [[theorem(dim, 1.0, start).to_dict()["net"] for dim in DIMS] for start in starts]
    scale = xr.DataArray([[net["scale"] for net in row] for row in tables], dims=("start", "dim"))
    rank = (values > 1e-5 * values.isel(rank=0)).sum("rank")
    largest, bound = values.isel(rank=0), root * math.log(float(data.step[-1]))
    smallest = values.isel(rank=WIDTH - EXAMPLES - 1)
    hits = (rank >= 0.9 * WIDTH) & (largest <= bound) & (smallest >= 0.1 * root * scale)
    return hits.all("class").astype(float)


def _own_other(table: xr.DataArray, other: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """By class of neurons: by their own noise, and the largest by another's."""
    same = xr.DataArray(np.eye(len(table.noise_of), dtype=bool), dims=("neurons_of", "noise_of"))
    own = table.where(same, 0.0).sum("noise_of", skipna=False)
    return own, other.where(~same, -np.inf).max("noise_of", skipna=False)


def _any_example(data: xr.Dataset) -> xr.DataArray:
    end = data.isel(step=-1, drop=True)
    own, other = _own_other(end.activation_least, end.activation_most)
    # Where no neuron sees another's noise, the ratio is infinite: the least float stands for 0.
    ratio = own / np.maximum(other, np.finfo(np.float32).tiny)
    return ratio.min("neurons_of", skipna=False).reset_coords(drop=True)


def residual_sums(data: xr.Dataset, classes: int = SMALL_CLASSES) -> xr.DataArray:
    """b(S_k) of eq. (8): sums over steps by trapezia between records."""
    total = data.residual.astype(float).integrate("step")
    of = np.arange(total.sizes["sample"]) // (total.sizes["sample"] // classes)
    squares = (total**2).assign_coords({"class": ("sample", of)})
    return np.sqrt(squares.groupby("class").sum())


def _over_theory(data: xr.Dataset) -> xr.DataArray:
    """Own activation by test noise over η b(S) / (m n), as ‖AᵀA‖ = 1."""
    one = data.sel(start="small")
    own = _own_other(*[one.test_activation.isel(step=-1, drop=True)] * 2)[0].mean("neurons_of")
    predicted = one["rule.rate"] / (WIDTH * EXAMPLES) * residual_sums(one).mean("class")
    return (own / predicted).reset_coords(drop=True)


LEMMA_3 = computed("rank ≥ 0.9 m, λ₁ ≤ √m log T and λ_(m-n) ≥ 0.1 √m σ0", _spectrum)
OWN_TO_OTHER = computed("least own over largest other training activation", _any_example)
OWN_OVER_THEORY = computed("own activation over η‖AᵀA‖b(S)/(mn)", _over_theory)
OWN_TEST, OTHER_TEST = (
    last("test_activation").map(
        lambda v, i=i: _own_other(v, v)[i].mean("neurons_of"), f"{whose} activation by test noise"
    )
    for i, whose in enumerate(("own", "other"))
)
BALANCE = every("gradient_balance").max("step")

# Nulls


def _slower(data: xr.Dataset) -> xr.Dataset:
    spread = 1e-3 * (data.test_accuracy - data.test_accuracy.mean("seed"))
    error = 0.5 * np.exp(-math.sqrt(SMALL_SIZE) * data.signal**2)
    return data.assign(test_accuracy=1 - error * (1 + spread))


def _shifted(data: xr.Dataset) -> xr.Dataset:
    shifted = data.test_accuracy.shift(signal=1, fill_value=1 / SMALL_CLASSES)
    return data.assign(test_accuracy=data.test_accuracy.where(data.dim == data.dim[0], shifted))


def _exponential(data: xr.Dataset) -> xr.Dataset:
    spread = 0.1 * (data.long_tail_accuracy - 0.5)
    return data.assign(long_tail_accuracy=1 - 0.5 * np.exp(-data.correlation / 20) * (1 + spread))


def _one_neuron(data: xr.Dataset) -> xr.Dataset:
    first = np.arange(data.sizes["rank"]) == 0
    return data.assign(noise_spectrum=data.noise_spectrum * xr.DataArray(first, dims="rank"))


def _untrained_tail(data: xr.Dataset) -> xr.Dataset | None:
    if "long_tail_untrained" not in data:
        return None
    return data.assign(long_tail_accuracy=data.long_tail_untrained)


UNTRAINED_TAIL = Null("the untrained network's tail", _untrained_tail)
ONE_NEURON = Null("all filters alike", _one_neuron)
SLOWER = Null("error exp(-√SNR) / 2", _slower)
SHIFTED = Null("boundary shifted by one value of ‖u‖", _shifted)
EXPONENTIAL = Null("error exp(-Γ/20) / 2", _exponential)
