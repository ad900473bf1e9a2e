"""One step in closed form: Lemmas 5.1, 5.3 and 5.8, as printed and corrected. Symbols: `symbols`.

They are written in what `TrainingOverlaps` records, with R_i = ReLU<w, y_i mu>, S_i =
ReLU<w, xi_i>, and return the steps of gamma and rho (Definition 5.2). What is printed wrong, and
what is right, is in docs/errata.md.
"""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr


@dataclasses.dataclass(frozen=True)
class Update:
    """The setting of a step: eta, lambda (convention: half), m, ||mu||, and whether the formula is
    the printed one."""

    rate: float
    weight: float
    width: int
    signal: float = 1.0
    printed: bool = False

    def per_example(self, data: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
        """Lemma 5.3 (and 5.1): the bracket has 4 lambda zeta_i l''_i / m^2 (printed: / m)."""
        at, m = Pieces.of(data, self.width), self.width
        zeta = (at.on_signal**2 * self.signal**2 + at.on_noise**2 * at.square).sum("filter")
        pull = at.slope * (
            1 + 4 * self.weight * zeta * at.curvature / m ** (1 if self.printed else 2)
        )
        damping = 2 * self.weight / m * at.slope**2
        step = -2 * self.rate / (data.sizes["sample"] * m)
        gamma = at.on_signal * (pull + damping * self.signal**2 * at.sign * at.label)
        rho = at.on_noise * (pull * at.sign * at.label + damping * at.square)
        return step * self.signal**2 * gamma.sum("sample"), step * rho * at.square

    def full(self, data: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
        """Lemma 5.8, exact where the noise vectors are orthogonal: 2/m before the terms with l''
        (printed: 1), R_i in the mu part of the last sum (S_i), the indicator of <w, y_i mu> > 0
        (of = 0), and S_i j y_i on the first line (ReLU<w, j y_i xi_i>)."""
        at, n = Pieces.of(data, self.width), data.sizes["sample"]
        factor = 1.0 if self.printed else 2 / self.width
        summed = (at.slope * at.on_signal).sum("sample")
        shared = at.curvature * (summed * at.on_signal).sum("filter") * self.signal**2
        own = at.slope * at.curvature * (at.on_noise**2).sum("filter") * at.square
        seen = data.on_signal * at.label
        gate = (seen == 0 if self.printed else seen > 0).astype(float)
        mixed = at.on_noise if self.printed else at.on_signal
        gamma = factor * (shared * at.on_signal + own * mixed).sum("sample") + (
            at.sign * summed * (gate * at.slope * at.label).sum("sample") * self.signal**2
        )
        rho = factor * at.sign * at.label * at.on_noise * (shared + own) + (
            at.slope**2 * at.on_noise * at.square
        )
        first = at.sign * at.label * at.on_noise
        if self.printed:
            first = _relu(at.sign * at.label * data.on_noise)
        step = -2 * self.rate / (n * self.width)
        again = -4 * self.weight * self.rate / (n * self.width) ** 2
        return (step * summed + again * gamma) * self.signal**2, (
            step * at.slope * first + again * rho
        ) * at.square


@dataclasses.dataclass(frozen=True)
class Pieces:
    """R_i, S_i, l'_i, l''_i, ||xi_i||^2, y_i and j."""

    on_signal: xr.DataArray
    on_noise: xr.DataArray
    slope: xr.DataArray
    curvature: xr.DataArray
    square: xr.DataArray
    label: xr.DataArray
    sign: xr.DataArray

    @staticmethod
    def of(data: xr.Dataset, width: int) -> "Pieces":
        sign = xr.DataArray(np.repeat([1.0, -1.0], width), dims="filter")
        label = data.label
        on_signal, on_noise = _relu(data.on_signal * label), _relu(data.on_noise)
        margin = label / width * (sign * (on_signal**2 + on_noise**2)).sum("filter")
        slope = -1 / (1 + np.exp(margin))
        return Pieces(on_signal, on_noise, slope, -slope * (1 + slope), squares(data), label, sign)


def squares(data: xr.Dataset) -> xr.DataArray:
    """||xi_i||^2."""
    diagonal = np.diagonal(data.noise_gram.transpose(..., "sample", "other").values, 0, -2, -1)
    dims = [dim for dim in data.noise_gram.dims if dim not in ("sample", "other")]
    return xr.DataArray(diagonal, dims=[*dims, "sample"])


def _relu(values: Any) -> xr.DataArray:
    return values.clip(min=0.0)
