r"""The four phases of training two neurons with a head (Wen and Li, section 5), from a trajectory.

Neuron 1 is the one whose overlap with the strong feature begins larger (`ordered` puts it first),
$R_j$ the squared norm of a neuron's noise part, $r = \eta_E/\eta$.

| time | as printed (`paper`) | `working` |
|---|---|---|
| $T_1$ | $\lvert B_{11}\rvert \ge 0.01$ | $\lvert B_{11}\rvert \ge \|w_1(0)\|/2$ |
| $T_2$ | $R_2 < \lvert E_{21}\rvert / \log d$ | $c_1 E_{21}^2 B_{11}^6 \ge 15 c_2 R_2^3$ |
| $T_3$ | $2 \lvert B_{22}\rvert \ge \min(\lvert B_{11}\rvert, \lvert E_{21}\rvert/\sqrt r)$ | it |
| $T_4$ | none | $\lvert E_{21}\rvert < 0.01 \max \lvert E_{21}\rvert$ after its peak |

with $c_1 = C_1 \alpha_1^6$, $c_2 = C_2 \sigma^6$. Each trigger counts from the one before. (C.1)
prints $E_{12}$ for $E_{21}$: see `misprints`. At finite d the printed ones fail:
$0.01 < d^{-1/2}$ up to $d = 10^4$, and $R_2$ falls below $\lvert E_{21}\rvert/\log d$ only on
plateaus so long that noise dies out on them. The working ones say what the printed ones are for:
the strong feature is most of the first filter; what the second neuron predicts by the first is more
than its noise.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from learnscope.papers.pred_head.parts.population_law import Law

TRIGGERS = ("working", "paper")
LABELS = ("I", "II", "III", "IV")


class PhaseTimes(NamedTuple):
    """When each phase ends; NaN if it did not."""

    first: float
    second: float
    third: float
    fourth: float


def ordered(
    overlaps: Float[np.ndarray, "time 2 2"],
    head: Float[np.ndarray, "time 2 2"],
    noise: Float[np.ndarray, "time 2"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same arrays, with the neuron of the larger first overlap with the first feature first."""
    overlaps, head, noise = (np.asarray(x, float) for x in (overlaps, head, noise))
    if abs(overlaps[0, 0, 0]) >= abs(overlaps[0, 1, 0]):
        return overlaps, head, noise
    return overlaps[:, ::-1], head[:, ::-1, ::-1], noise[:, ::-1]


def phase_times(
    law: Law, times: Float[np.ndarray, " time"], overlaps: Float[np.ndarray, "time 2 2"],
    head: Float[np.ndarray, "time 2 2"], noise: Float[np.ndarray, "time 2"], ratio: float,
    dim: float, triggers: str = "working",
) -> PhaseTimes:  # fmt: skip
    """T1 to T4: the first recorded times at which the triggers fire, the first time being 0."""
    if triggers not in TRIGGERS:
        raise ValueError(f"triggers is {triggers!r}, but must be one of {', '.join(TRIGGERS)}")
    overlaps, head, noise = ordered(overlaps, head, noise)
    times = np.asarray(times, float)
    strong, weak = np.abs(overlaps[:, 0, 0]), np.abs(overlaps[:, 1, 1])
    substitute, left = np.abs(head[:, 1, 0]), noise[:, 1]
    if triggers == "paper":
        grown = strong >= 0.01
        replaced = left < substitute / np.log(dim)
    else:
        length = np.sqrt((overlaps[0, 0] ** 2).sum() + noise[0, 0])
        grown = strong >= length / 2
        predicted = float(law.within[0]) * substitute**2 * strong**6
        replaced = predicted >= 15 * float(law.noise) * left**3
    with np.errstate(divide="ignore"):
        caught = weak >= np.minimum(strong, substitute / np.sqrt(ratio)) / 2
    gone = substitute < 0.01 * np.nanmax(substitute)
    first = _next(grown, 0)
    second = _next(replaced, first)
    third = _next(caught, second)
    peak = None if second is None else int(np.nanargmax(substitute))
    fourth = None if triggers == "paper" else _next(gone, peak)
    ends = (first, second, third, fourth)
    return PhaseTimes(*(np.nan if at is None else float(times[at]) for at in ends))


def phase_labels(times: Float[np.ndarray, " time"], ends: PhaseTimes) -> Int[np.ndarray, " time"]:
    """0, 1, 2, 3 for phases I to IV (`LABELS`) at every time: IV is what follows T3."""
    ends_of_three = [end for end in ends[:3] if not np.isnan(end)]
    return np.searchsorted(ends_of_three, np.asarray(times, float), side="right")


def _next(fires: np.ndarray, after: int | None) -> int | None:
    """The first index from `after` on at which a trigger fires."""
    if after is None or not fires[after:].any():
        return None
    return after + int(np.argmax(fires[after:]))
