"""The words of a figure: what an axis, its values and a variable are called."""

import math
import re
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.evidence.statistics import Interval
from learnscope.probes import AbstractProbe
from learnscope.probes.probe import RESERVED

_MOST_DIGITS = 4  # behind the point
_LOWERED = str.maketrans("ijklrt", "ᵢⱼₖₗᵣₜ")
_GREEK = {"gamma": "γ", "mu": "μ", "nu": "ν", "rho": "ρ", "xi": "ξ"}


def label(values: xr.DataArray | xr.Dataset, dim: str) -> str:
    """An axis by its field, such as `data.noise`."""
    return str(values[dim].attrs.get("field", dim))


def is_number(values: xr.DataArray) -> bool:
    """Whether an axis has numbers on it; others are categories: names of rules, of nets, flags."""
    return bool(np.issubdtype(values.dtype, np.number))


def text(value: Any) -> str:
    """A value of an axis, short."""
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def brief(found: Interval) -> str:
    """An estimate with its interval, to two significant digits of the interval's half width.

    >>> brief(Interval(0.01202, 0.001604, 0.02244)), brief(Interval(2.5, 1.0, 4.0))
    ('0.012 [0.002, 0.022]', '2.5 [1.0, 4.0]')
    """
    half = (found.high - found.low) / 2
    digits = 1 - math.floor(math.log10(half)) if 0 < half < math.inf else _MOST_DIGITS
    digits = min(max(digits, 0), _MOST_DIGITS)
    return f"{found.middle:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


def place(coords: xr.DataArray | xr.Dataset, dims: list[str]) -> str:
    """The values that some axes have here: `rule = GradientDescent, noise = 0.1`."""
    return ", ".join(f"{dim} = {text(coords[dim].values[()])}" for dim in dims)


def selected(data: xr.Dataset) -> str:
    """The values of axes of which one is left."""
    return place(data, [str(n) for n, c in data.coords.items() if c.ndim == 0 and n != "step"])


def swept(data: xr.Dataset) -> list[str]:
    """The axes of a sweep without its seeds."""
    if isinstance(data, xr.DataArray):
        raise BadInput(
            "figures are drawn of datasets: give the values a name, as in "
            "result.assign(error=1 - result.test_accuracy)."
        )
    dims = data["diverged_at"].dims if "diverged_at" in data else data.dims
    # A probe's own dims have no coordinates.
    return [str(dim) for dim in dims if dim in data.coords and dim not in ("seed", "step")]


def variable(data: xr.Dataset, name: str) -> str:
    """A variable by its long name, with its unit if it has one; by its name, as words, if those are
    not its own.

    xarray keeps attributes in arithmetic: `1 - result.test_accuracy` still says "test accuracy",
    and a time squared still has the unit s. So a long name, and the unit with it, counts only
    for variables that a probe gives it to, or if it is nobody else's. What arithmetic makes needs
    a name of its own, then: the same name has the same label.

    >>> result = xr.Dataset({"test_accuracy": ("x", [0.9], {"long_name": "test accuracy"})})
    >>> result["error"] = 1 - result.test_accuracy
    >>> variable(result, "test_accuracy"), variable(result, "error")
    ('test accuracy', 'error')
    """
    attributes = data[name].attrs
    words = attributes.get("long_name")
    owners = _recorded().get(words, {n for n in RESERVED if n in data})
    others = {n for n, other in data.data_vars.items() if other.attrs.get("long_name") == words}
    if words is None or (name not in owners and (words in _recorded() or others != {name})):
        return name.replace("_", " ")
    unit = str(attributes.get("units", ""))
    return signs(f"{words} ({unit})" if unit not in ("", "1") else str(words))


def signs(words: str) -> str:
    """Mathematics that is written in ASCII, in its own signs.

    >>> signs("signal learning, max |<w, mu>|"), signs("max_r <w_r, M_j>")
    ('signal learning, max |⟨w, μ⟩|', 'maxᵣ ⟨wᵣ, Mⱼ⟩')
    """
    pointed = re.sub(r"<([^<>=]*)>", r"⟨\1⟩", words)
    pointed = re.sub(r"_([ijklrt])\b", lambda found: found[1].translate(_LOWERED), pointed)
    return re.sub(rf"\b({'|'.join(_GREEK)})\b", lambda found: _GREEK[found[0]], pointed)


def _recorded() -> dict[Any, set[str]]:
    """The names of the variables that probes record, by their long names."""
    found: dict[Any, set[str]] = {}
    kinds: list[type[AbstractProbe]] = [AbstractProbe]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        for name, output in getattr(kind, "outputs", {}).items():
            found.setdefault(output.long_name, set()).add(name)
    return found
