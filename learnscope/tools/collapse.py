"""The collapse report: do representations use all their directions?"""

import dataclasses
from typing import Any

import numpy as np

from learnscope.images.classes import MEMORY, check_memory
from learnscope.tools.collapse_value import CollapseReport, Duplicates, Histogram
from learnscope.tools.collapse_verdict import Thresholds, judge
from learnscope.tools.moments import (
    Moments,
    centred_moments,
    entropy_rank,
    fractions,
    singular_values,
)

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_BINS = 20  # of |correlation|; signed correlations have twice as many, of the same width
_ROUNDING = 4.0  # largest deviation of a constant unit, in float steps at its mean
_SET_ASIDE = 0.1  # fraction of units, those that vary most, that are no standard for others
_FAIR = 5  # examples per unit; with fewer, sampling alone lowers the effective rank visibly
_ONE_UNIT = 0.5  # fraction of the variance in one unit that is worth a note
_ONE_POINT = 1e-3  # spread / length of the mean; below, all examples are nearly one vector
_RESCALED = 3.0  # ratio of the standardised to the effective rank that is worth a note


def collapse_report(
    representations: Any,
    *,
    dead: float = Thresholds.dead,
    duplicate: float = Thresholds.duplicate,
    dimensional: float = Thresholds.dimensional,
    copies: float = Thresholds.copies,
    partial: float = Thresholds.partial,
    lost: float = Thresholds.lost,
    examples_per_direction: float = Thresholds.examples_per_direction,
    memory: float = MEMORY,
) -> CollapseReport:
    r"""Judge whether representations have collapsed, from their covariance and correlations.

    `representations` is a matrix $X$ of real numbers, examples by units: NumPy, JAX, or anything
    with `__array__` (a PyTorch tensor on the CPU), memory-mapped if large. Let $\sigma_k$ be the
    singular values of $X - \bar X$ and $\lambda_k = \sigma_k^2$, proportional to the variances
    along its principal directions. The report has, in float64:

    | field | meaning |
    |---|---|
    | `singular_values` | $\sigma_k$; 0 if below $\sqrt{2^{-52} m} \sigma_1$ for $m$ units |
    | `variance_shares` | $p_k = \lambda_k / \sum_l \lambda_l$ |
    | `effective_rank` | $\exp(-\sum_k p_k \log p_k)$, of the variances |
    | `effective_rank_singular` | the same with $\sigma_k / \sum_l \sigma_l$ for $p_k$ |
    | `effective_rank_standardised` | `effective_rank` once every live unit has variance 1 |
    | `participation_ratio` | $(\sum_k \lambda_k)^2 / \sum_k \lambda_k^2$ |
    | `empty_directions` | the number of $\sigma_k$ of at most `dead` $\sigma_1$ (or missing) |
    | `correlation` | of every two units; 0 (the diagonal too) where one of them is dead |
    | `histogram`, `signed_histogram` | of $\|$correlation$\|$ and correlation over live pairs |
    | `mean_correlation`, `correlation_quantiles` | of $\|$correlation$\|$, if defined |
    | `deviations` | the standard deviation of every unit |
    | `dead` | units that do not vary, compared with the others |
    | `duplicates` | groups of units with $\|$correlation$\| \ge$ `duplicate`, with signs |

    Roy, Vetterli (2007), *The effective rank: a measure of effective dimensionality*, use singular
    values. The verdict uses variances, since a little noise in many directions hardly changes the
    variance but adds much to the singular values.

    A unit is **dead** if its standard deviation is at most `dead` times that of the unit that
    varies most. (With three or more units, the top tenth is set aside first, so that one huge unit
    does not make all others dead.) A unit is constant if rounding may explain its standard
    deviation (at most four float steps of the given type at its mean): it is dead, and counts as
    constant in the singular values. Copies of a copy are in one group.

    **Verdicts** (the first that applies), with $m$ units and $r$ = `effective_rank`:

    1. *complete collapse*: no unit varies.
    2. *dimensional collapse*: $(r - 1)/(m - 1) \le$ `dimensional`, or the mean
       $\|$correlation$\|$ is at least `copies`. Fewer examples than units are enough for this, if
       there are at least `examples_per_direction` times $r$.
    3. *too few examples to tell*: no more examples than units (the rank is below the number of
       examples), or fewer than `examples_per_direction`.
    4. *partial collapse*: $(r - 1)/(m - 1) \le$ `partial`, or at least a fraction `lost` of the
       units is dead or copies, or of the directions is empty.
    5. *no sign of collapse*.

    The thresholds are conventions, not theorems. Beside the input, the report needs about `memory`
    bytes and four matrices, units by units.

    >>> source = np.random.default_rng(0)
    >>> healthy = source.normal(size=(1000, 8))
    >>> collapse_report(healthy).verdict
    'no sign of collapse'
    >>> report = collapse_report(healthy[:, [0, 0, 0, 0]] * [1, -2, 3, 4])
    >>> report.verdict, round(report.effective_rank, 3), str(report.duplicates[0])
    ('dimensional collapse', 1.0, '0 = -1 = 2 = 3')
    """
    limits = Thresholds.check(
        dead=dead, duplicate=duplicate, dimensional=dimensional, copies=copies, partial=partial,
        lost=lost, examples_per_direction=examples_per_direction,
    )  # fmt: skip
    moments = centred_moments(representations, check_memory(memory))
    count, units = moments.count, len(moments.exponents)
    deviations = moments.deviations
    vary = deviations > _ROUNDING * moments.epsilon * np.abs(moments.means)
    live = _live(deviations, vary, limits.dead)
    correlation = _correlation(moments.gram, live)
    values = singular_values(moments, deviations, vary)
    variances = fractions(values, power=2)
    # Dead units have rows of zeros, which add zeros to the spectrum.
    standard_rank = entropy_rank(fractions(np.linalg.eigvalsh(correlation).clip(0)))
    empty = units - int((values > limits.dead * values[0]).sum())
    pairs = correlation[np.tri(units, k=-1, dtype=bool) & live[:, None] & live[None, :]]
    signed = _histogram(pairs, -1.0, 2 * _BINS)
    np.abs(pairs, out=pairs)
    groups = _duplicate_groups(correlation, limits.duplicate)
    some = len(pairs) > 0
    levels = np.quantile(pairs, QUANTILES).tolist() if some else []
    rank = entropy_rank(variances)
    for array in (values, variances, deviations, correlation):
        array.setflags(write=False)
    report = CollapseReport(
        examples=count, units=units, verdict="too few examples to tell", reasons=(),
        notes=_notes(moments, deviations, live, rank, standard_rank), effective_rank=rank,
        effective_rank_singular=entropy_rank(fractions(values)),
        effective_rank_standardised=standard_rank,
        participation_ratio=float(1 / (variances**2).sum()) if variances.any() else 0.0,
        singular_values=values, variance_shares=variances, empty_directions=empty,
        mean_correlation=float(pairs.mean()) if some else None,
        correlation_quantiles=dict(zip(QUANTILES, levels, strict=False)),
        histogram=_histogram(pairs, 0.0, _BINS), signed_histogram=signed,
        dead=tuple(np.flatnonzero(~live).tolist()), duplicates=groups, deviations=deviations,
        correlation=correlation, thresholds=limits,
    )  # fmt: skip
    verdict, reasons = judge(report)
    return dataclasses.replace(report, verdict=verdict, reasons=reasons)


def _live(deviations: np.ndarray, vary: np.ndarray, dead: float) -> np.ndarray:
    """A mask of the units that vary, compared with those that vary most."""
    if not vary.any():
        return vary
    ordered = np.sort(deviations[vary])[::-1]
    aside = int(np.ceil(_SET_ASIDE * len(ordered))) if len(ordered) >= 3 else 0
    return vary & (deviations > dead * ordered[aside])


def _correlation(gram: np.ndarray, live: np.ndarray) -> np.ndarray:
    """The correlation matrix: exactly symmetric, with ones on the diagonal; 0 for dead units."""
    squares = np.where(live, np.diagonal(gram), 1.0)
    scale = np.where(live, 1 / np.sqrt(squares), 0.0)
    correlation = np.outer(scale, scale)
    correlation *= gram
    np.clip(correlation, -1, 1, out=correlation)
    correlation[np.diag_indices(len(correlation))] = live
    return correlation


def _duplicate_groups(correlation: np.ndarray, threshold: float) -> tuple[Duplicates, ...]:
    """The connected groups of units with |correlation| above a threshold, large groups first."""
    # Rounding may put the correlation of equal units slightly below 1.
    near = np.abs(correlation) >= threshold - 1e-12
    left = near.sum(axis=1) > 1
    groups = []
    for first in np.flatnonzero(left):
        if not left[first]:
            continue
        signs = np.zeros(len(left), np.int8)
        signs[first], left[first] = 1, False
        queue = [first]
        for unit in queue:
            others = np.flatnonzero(near[unit] & left)
            left[others] = False
            signs[others] = signs[unit] * np.sign(correlation[unit, others])
            queue.extend(others)
        which = np.sort(queue)
        least = float(np.abs(correlation[np.ix_(which, which)]).min())
        groups.append(Duplicates(tuple(which.tolist()), tuple(signs[which].tolist()), least))
    return tuple(sorted(groups, key=lambda group: (-len(group.units), group.units)))


def _histogram(values: np.ndarray, low: float, bins: int) -> Histogram:
    edges = np.linspace(low, 1.0, bins + 1)
    return Histogram(edges, np.histogram(values, edges)[0])


def _notes(
    moments: Moments, deviations: np.ndarray, live: np.ndarray, rank: float, standard_rank: float
) -> tuple[str, ...]:
    count, units, notes = moments.count, len(deviations), []
    length, spread = float(np.linalg.norm(moments.means)), float(np.linalg.norm(deviations))
    if 0 < spread < _ONE_POINT * length:
        notes.append(
            f"examples differ from their mean by only {spread / length:.1e} of its length: for "
            "cosine similarity, or with rows normalised, this is a complete collapse"
        )
    if units < count < _FAIR * units:
        notes.append(
            f"{count} examples are few for {units} units: sampling alone lowers the effective rank"
        )
    if live.sum() > 1:
        squares = (deviations / deviations.max()) ** 2
        top = int(np.argmax(squares))
        fraction = squares[top] / squares.sum()
        if fraction >= _ONE_UNIT and units > 2:
            notes.append(
                f"unit {top} alone has {fraction:.1%} of the variance; "
                f"with units standardised the effective rank is {standard_rank:.4g}"
            )
        elif standard_rank > _RESCALED * rank:
            notes.append(
                f"with units standardised the effective rank is {standard_rank:.4g}: the verdict "
                "is about a few units of larger scale"
            )
    return tuple(notes)
