"""How the claims of section 4.2 are checked.

A rule trains if its loss ends below what guessing gives, log 10, by at least one hundredth of it; a
diverged run does not train. A network that guesses has learnt nothing that could be compared: PEGR
is above another rule where its accuracy is at least the other's, in the same seed, and at least
0.15. As in `checks`, a statement must hold for nine tenths of the seeds at every noise level. Where
nothing diverges and standard training itself still guesses, the run was too short to refute
anything: what differs there has not been run.
"""

import math

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, half_width, judged, mean, share
from learnscope.papers.pegr.real_figures import closing

TRAINED, LEARNT, SLACK, MOST = 0.99 * math.log(10), 0.15, 0.02, 0.9
UNFITTED = 0.5  # training loss above which images do not count as fitted


def _last(data: xr.Dataset, name: str, rule: str) -> xr.DataArray:
    return data[name].sel(rule=rule).isel(step=-1)


def setting(data: xr.Dataset) -> str:
    """The length of the run, which a claim at a smaller scale must state."""
    return f"{int(data.step[-1])} steps, {data.sizes['seed']} seeds"


def _why(data: xr.Dataset, failing: list[str]) -> str:
    """The known reasons of failures: divergence, or a penalty that holds learning back."""
    lost = {
        str(rule): int((~np.isfinite(_last(data, "loss", rule))).sum()) for rule in data.rule.values
    }
    total = data.sizes["noise"] * data.sizes["seed"]
    parts = [f"not at {', '.join(failing)}"] if failing else []
    parts += [f"{rule} diverges in {n} of {total} runs" for rule, n in lost.items() if n]
    open_ = data.loss.sel(rule="PEGR").sel(step=data.step[data.step <= closing(data)]).isel(step=-1)
    held = open_.where(open_ > TRAINED)
    if int(held.notnull().sum()):
        parts.append(
            f"PEGR's loss is still {float(held.median()):.2f} (median; guessing gives "
            f"{math.log(10):.2f}) when it closes after {closing(data):.0f} steps in "
            f"{int(held.notnull().sum())} of {total} runs"
        )
    fitted = data.loss.sel(rule="standard").isel(step=-1).mean("seed")
    fitted = fitted.sel(noise=fitted.noise[fitted.noise > 0])
    if bool((fitted > UNFITTED).all()):
        parts.append(
            f"standard training has not fitted its images either (loss {float(fitted.min()):.2f} "
            f"to {float(fitted.max()):.2f})"
        )
    return "; ".join(parts)


def _verdict(data: xr.Dataset, text: str, failing: list[str], names: list[str]) -> Finding:
    """Reproduced if nothing fails; not run if every failure was too short a run."""
    text = f"{text} ({setting(data)})"
    if not failing:
        return Finding(text, "reproduced")
    at = [float(name.rpartition("=")[2]) for name in failing]
    losses = data.loss.isel(step=-1).sel(noise=at, rule=names)
    guesses = bool((losses.sel(rule="standard").median("seed") > TRAINED).all())
    if guesses and bool(np.isfinite(losses).all()):
        why = f"too short to tell: standard training still guesses at {', '.join(failing)}"
        return Finding(text, "not run", why)
    return Finding(text, "differs", _why(data, failing))


def losses_decrease(data: xr.Dataset) -> Finding:
    """Both rules train at every noise level."""
    losses = {
        f"{rule} σp={float(noise):g}": _last(data, "loss", rule).sel(noise=noise)
        for rule in ("PEGR", "standard")
        for noise in data.noise
    }
    failing = [name for name, loss in losses.items() if float((loss <= TRAINED).mean()) < MOST]
    measured = "; ".join(f"{name}: {_mean(loss)}" for name, loss in losses.items())
    return _verdict(data, f"final loss {measured}", failing, ["PEGR", "standard"])


def _mean(values: xr.DataArray) -> str:
    return mean(values) if bool(np.isfinite(values).all()) else "diverged"


def accuracy_above(data: xr.Dataset, other: str = "standard") -> Finding:
    """PEGR's test accuracy is at least another rule's in noise, seed by seed."""
    failing, parts = [], []
    for noise in data.noise.values[data.noise.values > 0]:
        ours, theirs = (
            _last(data, "test_accuracy", rule).sel(noise=noise).values for rule in ("PEGR", other)
        )
        hits = (ours >= theirs) & (ours >= LEARNT)
        name = f"σp={noise:g}"
        parts.append(
            f"{name}: {_mean(xr.DataArray(ours))} against {_mean(xr.DataArray(theirs))}, "
            f"{_difference(ours, theirs)}{share(hits)} of seeds"
        )
        if hits.mean() < MOST:
            failing.append(name)
    return _verdict(data, "; ".join(parts), failing, ["PEGR", "standard"])


def _difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    change = ours - theirs
    if not np.isfinite(change).all():
        return ""
    return f"difference {change.mean():+.3f} ± {half_width(change):.3f}, "


def noiseless_is_kept(data: xr.Dataset) -> Finding:
    """Without noise PEGR ends at most 0.02 below standard training."""
    ours, theirs = (
        _last(data, "test_accuracy", rule).sel(noise=0.0) for rule in ("PEGR", "standard")
    )
    good = bool((ours >= theirs - SLACK).mean() >= MOST) and bool((ours >= LEARNT).mean() >= MOST)
    text = f"{_mean(ours)} against {_mean(theirs)}"
    return _verdict(data, text, [] if good else ["σp=0"], ["PEGR", "standard"])


def accuracy_falls(data: xr.Dataset) -> Finding:
    """For both rules the accuracy at the loudest noise is below that without noise."""
    measured, good = [], True
    for rule in ("PEGR", "standard"):
        values, level = _last(data, "test_accuracy", rule), float(data.noise[-1])
        quiet, loud = values.isel(noise=0), values.isel(noise=-1)
        measured.append(f"{rule} {_mean(quiet)} without noise, {_mean(loud)} at σp={level:g}")
        good &= bool((quiet > loud).mean() >= MOST)
    text = f"{'; '.join(measured)} ({setting(data)})"
    return judged(text, good, f"it does not fall for both rules; {_why(data, [])}".rstrip("; "))
