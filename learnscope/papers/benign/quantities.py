"""Quantities of the theorem and its lemmas, and the nulls that they must tell apart."""

import math
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtri

from learnscope.evidence import Null, Quantity, computed, every, experiment_of, last
from learnscope.papers.benign.experiments import DIMS, SMALL_CLASSES, SMALL_SIZE, WIDTH, theorem

EXAMPLES = SMALL_CLASSES * SMALL_SIZE
EPSILON = 0.1

# Theorem 1 and its remarks


_SMALL = last("test_accuracy", start="small")
_DEVIATE = _SMALL.isel(signal=[1, 2, 3, 4]).map(lambda v: v.copy(data=ndtri(v)), "Φ⁻¹(accuracy)")
DEVIATE_EXPONENT = (_DEVIATE.slope("signal", log="xy") / 4.0).named(  # SNR = |S| ‖u‖⁴
    "exponent of Φ⁻¹(1 - error) in SNR"
)
EDGE_OVER_NOISE = _SMALL.passage("signal", 0.7).map(
    lambda edge: edge * (edge.dim - SMALL_CLASSES) ** 0.25, "‖u‖ / b at accuracy 0.7"
)
BESIDE_GAUSSIAN = computed(
    "test accuracy minus that with Gaussian noise",
    lambda data: data.test_accuracy.isel(step=-1, drop=True).pipe(
        lambda each: (each - each.sel(noise="gaussian", drop=True)).isel(noise=slice(1, None))
    ).reset_coords(drop=True),
)  # fmt: skip


def misfit(form: Any) -> Quantity:
    """The rms error of a line through log error on the top 50 %, over a function of Γ."""

    def residual(error: xr.DataArray) -> xr.DataArray:
        x, y = form(error.correlation.astype(float)), error.pipe(np.log)
        x, y = x - x.mean(), y - y.mean("correlation", skipna=False)
        slope = (x * y).mean("correlation", skipna=False) / (x**2).mean()
        return ((y - slope * x) ** 2).mean("correlation", skipna=False) ** 0.5

    error = 1 - last("long_tail_accuracy", share="0.5").mean("class")
    word = "Γ" if form(2.0) == 2.0 else "log Γ"
    return error.map(residual, f"misfit of log error by a line over {word}")


# Lemmas 1 and 2


def _numbers(data: xr.Dataset) -> tuple[float, float, float, float]:
    """Rate, feature strength, initial scale and dimension of the one setting."""
    table = experiment_of(data, "").to_dict()
    fields = (("rule", "rate"), ("data", "signal"), ("net", "scale"), ("data", "dim"))
    rate, signal, scale, dim = (float(table[part][name]) for part, name in fields)
    return rate, signal, scale, dim


def _stage_1(data: xr.Dataset) -> xr.DataArray:
    """The slowest relative fall of any example's loss, over η |S| ‖u‖² / (m n)."""
    rate, signal, _, _ = _numbers(data)
    unit = rate * SMALL_SIZE * signal**2 / (WIDTH * EXAMPLES)
    loss = -np.log1p(-data.residual.sel(step=slice(None, 2 / unit)).astype(float))
    gap = float(data.step[1] - data.step[0])
    return (-np.log(loss).diff("step") / (gap * unit)).min(["step", "sample"], skipna=False)


def _stage_2(data: xr.Dataset) -> xr.DataArray:
    """The largest ratio of the mean loss to its bound; losses between records by the earlier."""
    rate, signal, scale, dim = _numbers(data)
    filters, goal = SMALL_CLASSES * WIDTH, 2.5 * math.log(4 * (SMALL_CLASSES - 1) / EPSILON)
    far = filters * (scale**2 * dim + (goal / signal) ** 2)
    past = data.loss.astype(float).isel(step=slice(None, -1)).cumsum("step")
    times = data.step[1:].astype(float).values
    mean = past * (times[0] / xr.DataArray(times, dims="step"))
    return (mean / (far / (rate * xr.DataArray(times, dims="step")) + EPSILON / 2)).max(
        "step", skipna=False
    )


STAGE_1 = computed("slowest fall of a loss in stage 1, over η|S|‖u‖²/(mn)", _stage_1)
STAGE_2 = computed("largest ratio of the mean loss to its bound", _stage_2)

# Lemmas 3 to 7

_SPECTRUM = last("noise_spectrum")
RANK = _SPECTRUM.map(
    lambda values: (values > 1e-5 * values.isel(rank=0)).sum("rank").min("class").astype(float),
    "rank of W A",
)
LARGEST = computed(
    "λ₁ / (√m log T)",
    lambda data: data.noise_spectrum.isel(step=-1, rank=0, drop=True).max("class").reset_coords(
        drop=True) / (math.sqrt(WIDTH) * math.log(float(data.step[-1]))),
)  # fmt: skip
SMALLEST = computed(
    "λ_(m-n) / (0.1 √m σ0)",
    lambda data: (data.noise_spectrum.isel(step=-1, rank=WIDTH - EXAMPLES - 1, drop=True)
                  .min("class") / (0.1 * math.sqrt(WIDTH) * _scale(data))).reset_coords(drop=True),
)  # fmt: skip


def _scale(data: xr.Dataset) -> xr.DataArray:
    """σ0 by arm and dimension."""
    starts = data.start.values.tolist()
    settings = [[theorem(dim, 1.0, each).to_dict() for dim in DIMS] for each in starts]
    values = [[table["net"]["scale"] for table in row] for row in settings]
    return xr.DataArray(values, {"start": starts, "dim": data.dim.values}, ("start", "dim"))


def _own_other(table: xr.DataArray, other: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """By class of neurons: by their own noise, and the largest by another's."""
    same = xr.DataArray(np.eye(len(table.noise_of), dtype=bool), dims=("neurons_of", "noise_of"))
    own = table.where(same, 0.0).sum("noise_of", skipna=False)
    return own, other.where(~same, -np.inf).max("noise_of", skipna=False)


def _literal_lemma_5(data: xr.Dataset) -> xr.DataArray:
    end = data.isel(step=-1, drop=True)
    own, other = _own_other(end.activation_least, end.activation_most)
    # Where no neuron sees another's noise, the ratio is infinite: the least float stands for 0.
    ratio = own / np.maximum(other, np.finfo(np.float32).tiny)
    return ratio.min("neurons_of", skipna=False).reset_coords(drop=True)


OWN_TO_OTHER = computed("least own over largest other training activation", _literal_lemma_5)
_TEST = last("test_activation")
OWN_TEST, OTHER_TEST = (
    _TEST.map(lambda v, i=i: _own_other(v, v)[i].mean("neurons_of"), f"{whose} activation")
    for i, whose in enumerate(("own", "other"))
)


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


OWN_OVER_THEORY = computed("own activation over η‖AᵀA‖b(S)/(mn)", _over_theory)
BALANCE = every("gradient_balance").max("step")

# Nulls

UNTRAINED_TAIL = Null(
    "the untrained network's tail",
    lambda data: data.assign(long_tail_accuracy=data.long_tail_untrained)
    if "long_tail_untrained" in data else None,
)  # fmt: skip
ONE_NEURON = Null(
    "all filters alike",
    lambda data: data.assign(
        noise_spectrum=data.noise_spectrum * (np.arange(data.sizes["rank"]) == 0)),
)  # fmt: skip


def _slower(data: xr.Dataset) -> xr.Dataset:
    """Error exp(-√SNR) / 2, up to the draws' own spread."""
    spread = 1e-3 * (data.test_accuracy - data.test_accuracy.mean("seed"))
    error = 0.5 * np.exp(-math.sqrt(SMALL_SIZE) * data.signal**2)
    return data.assign(test_accuracy=1 - error * (1 + spread))


SLOWER = Null("error exp(-√SNR)", _slower)
SHIFTED = Null(
    "boundary shifted by one value of ‖u‖",
    lambda data: data.assign(test_accuracy=data.test_accuracy.where(
        data.dim == data.dim[0], data.test_accuracy.shift(signal=1, fill_value=1 / 3))),
)  # fmt: skip
POWER = Null(
    "error Γ^(-1/2)",
    lambda data: data.assign(long_tail_accuracy=1 - 0.5 * data.correlation**-0.5
                             * (1 + 0.1 * (data.long_tail_accuracy - 0.5))),
)  # fmt: skip
