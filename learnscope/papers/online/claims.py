"""The papers' claims, as far as their texts were found.

Abstracts: Saad and Solla (1995) at scilit.com, Goldt et al. (2019) at nips.cc, Ben Arous et al.
(2021) at arxiv.org/html/2003.10409v4, whose thresholds the abstract of Damian et al. (2023,
arXiv:2305.10633) states as d^(k-1) and that of Arnaboldi et al. (2023, arXiv:2305.18502) as
d log d. That deviations fall as d^(-1/2) is our reading of "asymptotically exact".

Exits are searched for with the correlation loss -y f. On the sphere its population loss has the
squared loss's gradient, and the theorem depends on that alone; single examples are less noisy, so
that larger rates are allowed. A search needs d^(k-1) examples, each of which is drawn: this limits
d, not the cost of a step. Starts are those of the theorem's set: an overlap with the teacher of at
least 0.5 / sqrt(d).
"""

import numpy as np
import xarray as xr

from learnscope.evidence import (
    UNTRAINED,
    Claim,
    Null,
    Unanswered,
    Verb,
    above,
    alike,
    at,
    at_least,
    at_most,
    computed,
    exponent,
    first,
    first_passage,
    flat,
    last,
    rises,
    scaled,
    swapped,
)
from learnscope.papers.online.experiments import LEVEL

PLATEAU = 2000  # the step at alpha = 20
OVERLAPS = {"teacher_overlap": ["filter", "direction"], "student_overlap": ["filter", "other_filter"]}


def _deviation(runs: xr.Dataset, limit: xr.Dataset) -> xr.DataArray:
    """The root mean square over entries and records of what a run is off."""
    squares = [((runs[n] - limit[n]) ** 2).mean(dims) for n, dims in OVERLAPS.items()]
    return (sum(squares).isel(step=slice(1, None)).mean("step") / 2) ** 0.5  # type: ignore[union-attr]


def _final_error(data: xr.Dataset) -> xr.DataArray:
    """The mean over the last quarter of the records."""
    return data.generalisation_error.isel(step=slice(-data.sizes["step"] // 4, None)).mean("step")


def _examples(data: xr.Dataset) -> xr.DataArray:
    """The examples until the filter is aligned with the teacher."""
    overlap = data.teacher_overlap.isel(step=0, filter=0, direction=0, drop=True)
    near = (overlap * np.sqrt(data.dim.astype(float)) >= 0.5).all("dim")
    if not near.any():
        raise Unanswered("no run starts near enough to the teacher")
    kept = data.isel(seed=np.flatnonzero(near))
    return first_passage("alignment", above=LEVEL).read({"": kept}) * data["data.batch"].values


def _per(power: float, log: float):
    """Examples over d^power log(d)^log."""

    def read(data: xr.Dataset) -> xr.DataArray:
        dim = data.dim.astype(float)
        return _examples(data) / dim**power / np.log(dim) ** log

    word = f"d^{power:g}" + " log d" * int(log)
    return computed(f"examples until the exit, over {word}", read)


DEVIATION = computed("deviation of the overlaps from the limit", _deviation, "deviations", "limit")
ERROR = computed("generalisation error at the end", _final_error)
EXAMPLES = computed("examples until the exit", _examples)
_SOLLA = "Saad and Solla, abstract"
_GOLDT = "Goldt et al., abstract"
_AROUS = "Ben Arous et al., thresholds"
_TUNED = ("tuned: learning rates, on the time that runs take",)
_READING = "reading: correlation loss; starts of overlap ≥ 0.5 d^(-1/2)"
_SEARCH = "one filter on a sphere, batches of d^(k-1) / 250 or less"


def _grows_with_dim(name: str) -> tuple[Null, ...]:
    return UNTRAINED, alike("dim"), Null("dimensions in reverse", swapped("dim").apply)


def _exit(name: str, order: int, statement: str, reported: str, check: Verb) -> Claim:
    setting = f"link he{order}" if order > 1 else "link erf"
    return Claim(name, statement, f"{_AROUS}, k = {order}", reported, f"{setting}, {_SEARCH}",
                 name.partition(".")[0], check, scope=_READING, flags=_TUNED,
                 nulls=_grows_with_dim(name))  # fmt: skip


CLAIMS = (
    Claim("plateau", "The overlaps reach a symmetric plateau, at which no hidden unit prefers a "
          "direction of the teacher", f"{_SOLLA} (overlaps among the hidden units)",
          "first-order differential equations of the overlaps", "K = M = 2, erf, η = 1.5, α = 20",
          "plateau",
          at_most(at("specialisation", PLATEAU), 0.1)
          & at_most(at("generalisation_error", PLATEAU) / first("generalisation_error"), 0.5),
          scope="reading: the plateau is known from the papers' figures, not from the abstract",
          flags=("added after looking: the time",)),
    Claim("specialisation", "Then the student specialises and learns the teacher",
          f"{_SOLLA} (realizable scenarios)", "generalisation error", "K = M = 2, erf, η = 1.5",
          "plateau", at_least(last("specialisation"), 0.95)
          & at_most(last("generalisation_error"), 1e-3),
          scope="reading: the time of the run is ours"),
    Claim("deviation", "The description by differential equations is asymptotically exact in the "
          "limit of large inputs", _GOLDT, "asymptotically exact",
          "K = M = 2, erf, η = 1.5, up to α = 1", ("deviations", "limit"),
          exponent(DEVIATION, "dim", -0.5, by=0.05), scope="asymptotic: deviations ~ d^(-1/2)",
          nulls=(UNTRAINED, alike("dim"), scaled(1.1, *OVERLAPS))),
    Claim("first_layer", "The final generalisation error of the student increases with network "
          "size when training only the first layer", _GOLDT, "an increase",
          "erf, M = 2, σ = 0.3, η = 0.3", "wider",
          rises(ERROR.sel(layers="first"), "width"), scope="as stated"),
    Claim("both_layers", "It stays constant or even decreases with size when training both layers",
          _GOLDT, "constant or a decrease", "erf, M = 2, σ = 0.3, η = 0.3", "wider",
          at_most((ERROR.sel(layers="both", width=6) / ERROR.sel(layers="both", width=2))
                  .named("generalisation error of 6 hidden units over that of 2"), 1.1)
          & above(ERROR.sel(layers="first", width=6), ERROR.sel(layers="both", width=6)),
          scope="as stated", nulls=(UNTRAINED, swapped("layers"))),
    _exit("k1", 1, "With the information exponent 1, a linear number of examples is enough",
          "d", exponent(EXAMPLES, "dim", 1.0, by=0.05)),
    _exit("k2", 2, "With the information exponent 2, d log d examples are needed", "d log d",
          exponent(_per(1, 1), "dim", 0.0, by=0.05)),
    _exit("k2.log", 2, "A linear number of examples is not enough for the information exponent 2",
          "d log d", rises(_per(1, 0), "dim")),
    _exit("k3", 3, "With the information exponent 3, d^2 examples are needed", "d^(k-1)",
          exponent(EXAMPLES, "dim", 2.0, by=0.1)),
)  # fmt: skip
