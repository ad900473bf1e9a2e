"""The exponents of Theorem 1 of Xu and Chen (2025), and the regimes that follow."""

import math
from typing import Any

import numpy as np
import xarray as xr

from learnscope.data import ClassNoise, MatrixNoise, noise_correlation_ratio
from learnscope.errors import BadInput

# From the worst for a class to the best.
REGIMES = ("harmful", "undetermined", "benign by covariance", "benign by features")


def exponents(experiment: Any) -> xr.Dataset:
    """What stands in the exponents of Theorem 1: `snr` (2a) and `ratio` (2b) of every class against
    every other, and the worst of either for each class.

    >>> import learnscope as ls
    >>> data = ls.data.ClassNoise(dim=103, classes=3, train_per_class=(4, 2, 2), test=1, signal=1)
    >>> net = ls.nets.PatchCNN(width=9, classes=3, activation="relu")
    >>> descent = ls.rules.GradientDescent(rate=0.1)
    >>> terms = exponents(ls.Experiment(data=data, net=net, rule=descent, steps=9))
    >>> terms.ratio.values.tolist()
    [[nan, 2.0, 2.0], [0.5, nan, 1.0], [0.5, 1.0, nan]]
    >>> terms.worst_snr.values.round(2).tolist()
    [1.28, 0.16, 0.16]
    """
    data = experiment.data
    if not isinstance(data, ClassNoise | MatrixNoise):
        raise BadInput(
            f"{type(data).__name__} has no exponents: they are for ClassNoise and MatrixNoise."
        )
    sizes, squares = np.asarray(data.sizes, np.float64), data.squares()
    signal = np.broadcast_to(np.asarray(data.signal, float), data.classes)
    with np.errstate(divide="ignore", invalid="ignore"):
        snr = (sizes**2 * signal**4)[:, None] / (sizes[None, :] * squares)
    pairs = {"snr": snr, "ratio": noise_correlation_ratio(squares, data.sizes)}
    # A class with orthogonal noise does no harm: infinite exponents, also for 0 / 0.
    pairs = {name: np.where(squares == 0, math.inf, each) for name, each in pairs.items()}
    for each in pairs.values():
        np.fill_diagonal(each, math.nan)
    worst = {f"worst_{name}": ("class", np.nanmin(each, 1)) for name, each in pairs.items()}
    return xr.Dataset({name: (("class", "other"), each) for name, each in pairs.items()} | worst)


def regime(snr: float, ratio: float, high: float = 10.0, low: float = 1.0) -> str:
    """The side of Figure 2 on which a class lies, by its worst exponents.

    The theorem does not give its constants C1, C2 (`high`) and C3 (`low`). With c1 = 1, an exponent
    of 10 bounds the error by (K - 1) / 20000; a ratio of 1 is noise that all classes share.
    Features come first: what they decide holds for all data, not for long-tailed data only.

    >>> [regime(20, 1), regime(0.5, 20), regime(0.5, 1), regime(5, 1)]
    ['benign by features', 'benign by covariance', 'harmful', 'undetermined']
    """
    if high < low:
        raise BadInput(f"high = {high:g} is below low = {low:g}: theory leaves a band between.")
    if snr >= high:
        return REGIMES[3]
    if ratio >= high:
        return REGIMES[2]
    # Noise that all classes share has a ratio of 1 up to rounding.
    return REGIMES[0] if max(snr, ratio) <= low * (1 + 1e-9) else REGIMES[1]
