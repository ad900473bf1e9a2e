"""Words for trained networks: the untrained control, and whether training was long enough."""

import numpy as np
import xarray as xr

from learnscope.evidence.finding import Finding
from learnscope.evidence.quantity import DRAWS, Datasets, Unanswered, first, last
from learnscope.evidence.verbs import Verb, above

_QUARTER = 0.75  # of the steps, after which the last quarter begins
_FALL = 0.02  # of the untrained loss: what the last quarter may still take off it
_LEARNT = 0.05  # above the untrained control


def converged(verb: Verb, loss: str = "loss") -> Verb:
    """A verb whose verdict counts only where training was long enough.

    It is inconclusive if in the last quarter of training the mean loss of some cell falls by more
    than 2 % of the untrained loss, or if the verdict before that quarter is another one. Runs
    that diverged are left out; dims without labels (tasks) are averaged like seeds.
    """

    def judge(data: Datasets) -> Finding:
        found = verb.judge(data)
        if found.verdict not in ("reproduced", "differs"):
            return found
        try:
            why = next(filter(None, (_still_falls(d, loss) for d in data.values())), "")
            before = verb.judge({name: _before(d) for name, d in data.items()}).verdict
        except Unanswered as reason:
            return found.replace(verdict="inconclusive", why=f"is training over? {reason}")
        if not why and before != found.verdict:
            why = f"{found.verdict} at the end, but {before} before the last quarter of training"
        return found.replace(verdict="inconclusive", why=why) if why else found

    return Verb(f"{verb.text} (training is over)", judge)


def learnt(variable: str, by: float = _LEARNT) -> Verb:
    """A variable ends above the untrained control in every cell of the datasets that have it."""

    def judge(data: Datasets) -> Finding:
        verb = above(last(variable), first(variable), by)
        having = [{name: each} for name, each in data.items() if variable in each]
        found = [verb.judge(each) for each in having]
        weaker = [each for each in found if each.verdict != "reproduced"]
        unrecorded = Finding("", "inconclusive", f"{variable} was not recorded")
        return next(iter([*weaker, *found]), unrecorded)

    return Verb(f"{variable.replace('_', ' ')} ends above the untrained control", judge)


def _before(data: xr.Dataset) -> xr.Dataset:
    """The records up to the last quarter of training."""
    if "step" not in data.dims:
        return data
    kept = data.sel(step=slice(None, _QUARTER * float(data.step[-1])))
    if kept.sizes["step"] < 2:
        raise Unanswered("nothing was recorded between the start and the last quarter")
    return kept


def _still_falls(data: xr.Dataset, loss: str) -> str:
    """Where the loss still falls, and by how much; empty if it does nowhere."""
    if "step" not in data.dims:
        return ""
    if loss not in data or int(data.step[0]) != 0:
        raise Unanswered(f"{loss} was not recorded from the start")
    values, early = data[loss].astype(float), _before(data)[loss].isel(step=-1)
    share = (early - values.isel(step=-1)) / values.isel(step=0)
    share = share.drop_vars([name for name in share.coords if name not in share.dims])
    alike = [dim for dim in share.dims if dim == DRAWS or dim not in share.coords]
    share = share.where(np.isfinite(share)).mean(alike)
    if not bool((share > _FALL).any()):
        return ""
    worst = share.fillna(-np.inf)
    worst = worst.isel(worst.argmax(...)) if worst.ndim else worst
    where = ", ".join(f"{name} = {value.item()}" for name, value in worst.coords.items())
    at = f" at {where}" if where else ""
    return (
        f"the loss still falls: by {100 * float(worst):.2g} % of its untrained value in the last "
        f"quarter of training{at}"
    )
