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

from learnscope import evidence as ev
from learnscope.papers.online.experiments import LEVEL

PLATEAU = 2000  # the step at alpha = 20
OVERLAPS = {"teacher_overlap": "direction", "student_overlap": "other_filter"}


def _deviation(runs: xr.Dataset, limit: xr.Dataset) -> xr.DataArray:
    """The root mean square over entries and records of what a run is off."""
    one, two = (((runs[n] - limit[n]) ** 2).mean(("filter", m)) for n, m in OVERLAPS.items())
    return ((one + two).isel(step=slice(1, None)).mean("step") / 2) ** 0.5


def _final_error(data: xr.Dataset) -> xr.DataArray:
    """The mean over the last quarter of the records."""
    return data.generalisation_error.isel(step=slice(-(data.sizes["step"] // 4), None)).mean("step")


def _examples(data: xr.Dataset) -> xr.DataArray:
    """The examples until the filter is aligned with the teacher, if it starts near enough."""
    overlap = data.teacher_overlap.isel(step=0, filter=0, direction=0, drop=True)
    near = (overlap * np.sqrt(data.dim.astype(float)) >= 0.5).all("dim")
    if not near.any():
        raise ev.Unanswered("no run starts near enough to the teacher")
    kept = data.isel(seed=np.flatnonzero(near))
    return ev.first_passage("alignment", above=LEVEL).read({"": kept}) * kept["data.batch"].values


ERROR = ev.computed("generalisation error at the end", _final_error)
DEVIATION = ev.computed("deviation from the limit", _deviation, "deviations", "limit")
EXAMPLES = ev.computed("examples until the exit", _examples)
PER_DIM = ev.computed("examples until the exit, over d", lambda data: _examples(data) / data.dim)
PER_LOG = ev.computed("examples until the exit, over d log d",
                      lambda data: _examples(data) / data.dim / np.log(data.dim))  # fmt: skip
_SOLLA, _GOLDT = "Saad and Solla, abstract", "Goldt et al., abstract"
_COMMITTEE, _NOISY = "K = M = 2, erf, η = 1.5", "erf, M = 2, σ = 0.3, η = 0.3"


def _exit(name: str, k: int, statement: str, reported: str, check: ev.Verb) -> ev.Claim:
    """A claim about the search for a direction."""
    return ev.Claim(
        name, statement, f"Ben Arous et al., k = {k}", reported,
        f"one filter on a sphere, link {'erf' if k == 1 else f'he{k}'}", f"k{k}", check,
        scope="reading: correlation loss; starts of overlap ≥ 0.5 d^(-1/2)",
        flags=("tuned: the rates, on the time that runs take",),
        nulls=(ev.UNTRAINED, ev.alike("dim"), ev.swapped("dim")),
    )  # fmt: skip


CLAIMS = (
    ev.Claim("plateau", "The overlaps reach a symmetric plateau, at which no hidden unit prefers a "
             "direction of the teacher", f"{_SOLLA}: overlaps among hidden units",
             "first-order differential equations", f"{_COMMITTEE}, α = 20", "plateau",
             ev.at_most(ev.at("specialisation", PLATEAU), 0.1)
             & ev.at_most(ev.at("generalisation_error", PLATEAU)
                          / ev.first("generalisation_error"), 0.5),
             scope="reading: the plateau is in the paper's figures, not in its abstract",
             flags=("added after looking: the time",)),
    ev.Claim("specialisation", "Then the student specialises and learns the teacher",
             f"{_SOLLA}: realizable learning scenarios", "the generalisation error", _COMMITTEE,
             "plateau", ev.at_least(ev.last("specialisation"), 0.95)
             & ev.at_most(ev.last("generalisation_error"), 1e-3),
             scope="reading: the time of the run is ours"),
    ev.Claim("deviation", "The description by differential equations is asymptotically exact in "
             "the limit of large inputs", _GOLDT, "asymptotically exact",
             f"{_COMMITTEE}, up to α = 1", ("deviations", "limit"),
             ev.exponent(DEVIATION, "dim", -0.5, by=0.05),
             scope="asymptotic: deviations ~ d^(-1/2)",
             nulls=(ev.UNTRAINED, ev.alike("dim"), ev.scaled(1.1, *OVERLAPS))),
    ev.Claim("first_layer", "The final generalisation error of the student increases with network "
             "size when training only the first layer", _GOLDT, "an increase", _NOISY, "wider",
             ev.rises(ERROR.sel(layers="first"), "width"), scope="as stated"),
    ev.Claim("both_layers", "It stays constant or even decreases with size when training both "
             "layers", _GOLDT, "constant or a decrease", _NOISY, "wider",
             ev.at_most((ERROR.sel(layers="both", width=6) / ERROR.sel(layers="both", width=2))
                        .named("error of 6 hidden units over that of 2, both layers"), 1.1),
             scope="as stated", nulls=(ev.swapped("layers"), ev.swapped("width"))),
    _exit("k1", 1, "With the information exponent 1, a linear number of examples is enough",
          "d", ev.exponent(EXAMPLES, "dim", 1.0, by=0.05)),
    _exit("k2", 2, "With the information exponent 2, d log d examples are needed",
          "d log d", ev.exponent(PER_LOG, "dim", 0.0, by=0.05)),
    _exit("k2.log", 2, "With the information exponent 2, a linear number of examples is too few",
          "d log d", ev.rises(PER_DIM, "dim")),
    _exit("k3", 3, "With the information exponent 3, d^2 examples are needed",
          "d^(k-1)", ev.exponent(EXAMPLES, "dim", 2.0, by=0.1)),
)  # fmt: skip
