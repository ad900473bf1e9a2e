"""What the claims read: events, the plane of noise and dimension, ends of runs, best ridges."""

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from learnscope.evidence import UNTRAINED, Null, Quantity, computed, examples_of, first_passage
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split import theory

LEARNT = math.log(2) / 2  # a test loss below it


def plane(data: xr.Dataset) -> xr.Dataset:
    """The sweep `plane` with dims d and ||xi||^2 / (K n) in place of its cells."""
    flat = data.drop_vars([name for name, c in data.coords.items() if c.dims == ("cell",)])
    whole = flat.assign_coords(
        dim=("cell", [dim for dim in ex.DIMS for _ in ex.RATIOS]),
        ratio=("cell", ex.RATIOS * len(ex.DIMS)),
    )
    return whole.set_index(cell=["dim", "ratio"]).unstack("cell")


def on_plane(variable: str, rule: str, least: bool = False) -> Quantity:
    """A variable at the end (or its least value) over the plane."""

    def read(data: xr.Dataset) -> xr.DataArray:
        values = plane(data)[variable].sel(rule=rule, drop=True)
        found = values.min("step") if least else values.isel(step=-1, drop=True)
        accuracy = "accuracy" in variable
        return found.assign_attrs({"examples": examples_of(data, variable)} if accuracy else {})

    words = f"{'least' if least else 'last'} {variable.replace('_', ' ')}, {rule}"
    return computed(words, read, "plane")


@functools.cache
def _learns(rule: str, dim: int, ratio: float) -> bool:
    """Whether the feature outgrows the noise, by the linearised rates."""
    noise = ex.sized([dim], [ratio * ex.TASKS * ex.SAMPLES])["data.noise"][0]
    setting = ex.theorem(ex.method(rule), (), 1, 1, dim=dim, noise=noise)
    return theory.rates(setting).advantage > 1


def predicted_share() -> Quantity:
    """The share of ratios ||xi||^2 / (K n) at which a method learns the feature if its linearised
    rates say so, seed by seed, for every method and d."""

    def read(data: xr.Dataset) -> xr.DataArray:
        losses = plane(data).test_loss.isel(step=-1, drop=True)
        table = [[[_learns(str(rule), int(dim), float(ratio)) for ratio in losses.ratio]
                  for dim in losses.dim] for rule in losses.rule.values]  # fmt: skip
        sides = xr.DataArray(table, {d: losses[d] for d in ("rule", "dim", "ratio")})
        return ((losses < LEARNT) == sides).mean("ratio")

    return computed("share of ratios with the predicted outcome", read, "plane")


def threshold(arm: str, noise: bool) -> float:
    """m^-1/2 (1 + gamma sigma_xi^2 d / n)^-J or m^-1/2 (1 + gamma)^-J: the inner products that
    define T^(1) and T^(2) (sections E.1 and F.1)."""
    steps = ex.LEMMAS[arm][1]
    grown = ex.NOISE_SQUARED / ex.SAMPLES if noise else 1.0
    return ex.WIDTH**-0.5 * (1 + ex.INNER_RATE * grown) ** -steps


def event(arm: str) -> Quantity:
    """T^(1), when the noise of some example passes its threshold, or T^(2) for the feature."""
    noise = arm.startswith("train-train")
    variable = "training_noise" if noise else "shared_feature"
    return first_passage(variable, above=threshold(arm, noise), rule=arm).of("lemmas")


def before(variable: str, arm: str, how: str) -> Quantity:
    """The largest or smallest factor of the inner loop (`how`: max, min) up to T^(1) or T^(2), over
    the lemmas' gamma^J (feature), (gamma ||xi||^2 / n)^J (training noise) or 1."""
    gain = {"feature": 1.0, "training_noise": ex.NOISE_SQUARED / ex.SAMPLES}.get(variable, 0.0)
    paper = (ex.INNER_RATE * gain) ** ex.LEMMAS[arm][1] or 1.0

    def read(data: xr.Dataset) -> xr.DataArray:
        values = data[f"{variable}_amplification"].sel(rule=arm, drop=True) / paper
        until = event(arm).read({"lemmas": data})
        kept = values.where(values.step <= until)
        return getattr(kept, how)("step").where(np.isfinite(until))

    word = {"max": "largest", "min": "smallest"}[how]
    return computed(f"{word} factor on {variable.replace('_', ' ')} over {paper:.3g}, {arm}", read,
                    "lemmas")  # fmt: skip


def noise_at_event() -> Quantity:
    """Validation noise at T^(2), by dimension: interpolated in logarithms between records."""

    def read(data: xr.Dataset) -> xr.DataArray:
        level = threshold("train-validation, J = 5", noise=False)
        until = first_passage("shared_feature", above=level).read({"growth": data})

        def value(step: np.ndarray, noise: np.ndarray, when: float) -> float:
            if not math.isfinite(when):
                return math.nan
            return float(np.exp(np.interp(when, step, np.log(noise))))

        given = data.step.astype(float), data.validation_noise, until
        return xr.apply_ufunc(value, *given, input_core_dims=[["step"], ["step"], []],
                              vectorize=True).reset_coords(drop=True)  # fmt: skip

    return computed("validation noise at T^(2)", read)


def tabled(rows: Mapping[str, list[Quantity]], columns: Sequence[str], *sweeps: str) -> Quantity:
    """Quantities as a table with the dims row and column, for bars."""

    def read(data: xr.Dataset) -> xr.DataArray:
        across = xr.DataArray(list(columns), dims="column", name="column")
        made = [xr.concat([q.read({"": data}) for q in row], across) for row in rows.values()]
        return xr.concat(made, xr.DataArray(list(rows), dims="row", name="row"))

    return computed("", read, *sweeps)


def ended(variable: str, rule: str) -> Quantity:
    """A variable at the end of a rule's run: at equal budgets rules end at different steps."""

    def read(data: xr.Dataset) -> xr.DataArray:
        values = data[variable].sel(rule=rule, drop=True).dropna("step", how="all")
        return values.isel(step=-1, drop=True)

    return computed(f"{variable.replace('_', ' ')} at the end, {rule}", read)


def _ridges(data: xr.Dataset, variable: str, split: str) -> tuple[xr.DataArray, int]:
    """A variable at the end by ridge, and the place of the best ridge on even seeds."""
    values = data[variable].sel(rule=split, drop=True).isel(step=-1, drop=True)
    return values, int(values.isel(seed=slice(0, None, 2)).mean("seed").argmin("weight"))


def best(variable: str, split: str) -> Quantity:
    """A variable at the best ridge, which is chosen on even seeds and judged on odd ones."""

    def read(data: xr.Dataset) -> xr.DataArray:
        values, at = _ridges(data, variable, split)
        return values.isel(weight=at, drop=True).isel(seed=slice(1, None, 2))

    return computed(f"{variable.replace('_', ' ')} at the best ridge, {split}", read)


def edge(variable: str, split: str) -> Quantity:
    """By how much the best ridge's value differs from that of its neighbour, if it is the grid's
    first or last: a limit, if that is small; otherwise the grid is too short."""

    def read(data: xr.Dataset) -> xr.DataArray:
        values, at = _ridges(data, variable, split)
        if 0 < at < values.sizes["weight"] - 1:
            return 0.0 * values.isel(weight=0, drop=True)
        one, next_to_it = (values.isel(weight=i, drop=True) for i in (at, abs(at - 1)))
        return abs(next_to_it / one - 1)

    words = f"relative change of {variable.replace('_', ' ')} at the grid's edge, {split}"
    return computed(words, read)


def _shrink(data: xr.Dataset) -> xr.Dataset | None:
    start = UNTRAINED.apply(data)
    if start is None:
        return None
    split = data.setting.str.endswith(ex.SPLITS[1])
    size = 1.0 - 0.3 * (data.step / data.step[-1]) * split
    return start.assign(test_loss=size * start.test_loss)


def _shrink_each(data: xr.Dataset) -> xr.Dataset | None:
    start = UNTRAINED.apply(data)
    if start is None:
        return None
    mean = data.test_loss.mean("seed")
    size = (mean / mean.isel(step=0)).clip(max=1.0)
    least = np.minimum(start.test_loss, math.log(2))  # weights of 0
    return start.assign(test_loss=np.maximum(size * start.test_loss, least))


# Outputs on noise are proportional to the weights, and so are losses as large as those of Tables 1
# to 3: these nulls have their order, and have learnt nothing.
SHRUNK = Null("train-validation only shrinks its weights, x 0.7", _shrink)
SHRUNK_EACH = Null("every arm only shrinks its weights, by a factor of its own", _shrink_each)
