"""The collapse report: do representations use the directions that they have?"""

from typing import Any

import numpy as np

from learnscope.data.classes import MEMORY, check_memory
from learnscope.tools.collapse_value import CollapseReport, Histogram
from learnscope.tools.collapse_verdict import Evidence, Thresholds, judge
from learnscope.tools.duplicates import duplicate_groups
from learnscope.tools.moments import Moments, centred_moments
from learnscope.tools.spectrum import entropy_rank, singular_values
from learnscope.tools.spectrum import shares as spectrum_shares

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_BINS = 20  # of |correlation|; twice as many of its signed values, with the same width
_ROUNDING = 4.0  # steps of the given type, relative to the mean, that a constant unit may vary
_SET_ASIDE = 0.1  # of units, the ones that vary most, before others are compared with them
_FAIR = 5  # examples to a unit, below which sampling alone lowers the effective rank visibly
_ONE_UNIT = 0.5  # share of the variance of one unit that is worth a note
_ONE_POINT = 1e-3  # spread over the mean's length, below which rows are nearly one vector
_RESCALED = 3.0  # times the effective rank, that of standardised units that is worth a note


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
    r"""Say whether representations have collapsed, from their covariance and correlations.

    `representations` is a matrix $X$ of real numbers, examples by units: NumPy, JAX, or anything
    with `__array__` (a PyTorch tensor on the CPU), memory-mapped if large. Let $\sigma_k$ be the
    singular values of $X - \bar X$ and $\lambda_k = \sigma_k^2$, proportional to the variances
    along its principal directions. The report has, all in float64:

    | part | what it is |
    |---|---|
    | `singular_values` | $\sigma_k$; given as 0 below $\sqrt{2^{-52} m} \sigma_1$ for $m$ units |
    | `variance_shares` | $p_k = \lambda_k / \sum_l \lambda_l$ |
    | `effective_rank` | $\exp(-\sum_k p_k \log p_k)$, of the variances |
    | `effective_rank_singular` | the same with $\sigma_k / \sum_l \sigma_l$ for $p_k$ |
    | `effective_rank_standardised` | `effective_rank` once every live unit has variance 1 |
    | `participation_ratio` | $(\sum_k \lambda_k)^2 / \sum_k \lambda_k^2$ |
    | `empty_directions` | how many $\sigma_k$ are at most `dead` $\sigma_1$ (or missing) |
    | `correlation` | of every two units; 0 (the diagonal too) where one of them is dead |
    | `histogram`, `signed_histogram` | of $\|$correlation$\|$ and correlation over live pairs |
    | `mean_correlation`, `correlation_quantiles` | of $\|$correlation$\|$, if defined |
    | `deviations` | the standard deviation of every unit |
    | `dead` | units that do not vary, compared with the others |
    | `duplicates` | groups of units with $\|$correlation$\| \ge$ `duplicate`, with signs |

    Roy, Vetterli (2007), *The effective rank: a measure of effective dimensionality*, take
    singular values. The verdict takes variances, since a little noise in many directions, which
    hardly matters to the variance, counts for much among the singular values.

    A unit is **dead** if its standard deviation is at most `dead` times that of the units that
    vary most (after a tenth of three or more units is set aside, so that a huge one does not make
    all others dead). A unit whose standard deviation rounding alone may explain (at most four
    steps of the type that was given, at its mean) does not vary: it is dead, and counts as constant
    in the singular values. Copies of a copy are in one group.

    **Verdicts**, the first that holds, with $m$ units and $r$ = `effective_rank`:

    1. *complete collapse*: no unit varies.
    2. *dimensional collapse*: $(r - 1)/(m - 1) \le$ `dimensional`, or the mean
       $\|$correlation$\|$ is at least `copies`. Fewer examples than units can show this, if they
       are at least `examples_per_direction` times $r$.
    3. *too few examples to tell*: no more examples than units (the rank is at most the examples
       less one), or fewer than `examples_per_direction`.
    4. *partial collapse*: $(r - 1)/(m - 1) \le$ `partial`, or a share of at least `lost` of the
       units is dead or copies, or of the directions is empty.
    5. *no sign of collapse*.

    Where the thresholds lie is a convention, not a theorem. Beside the input this takes about
    `memory` bytes and four matrices, units by units.

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
    shares = spectrum_shares(values, power=2)
    # Dead units have rows of zeros: they add zeros to the spectrum.
    standard_rank = entropy_rank(spectrum_shares(np.linalg.eigvalsh(correlation).clip(0)))
    empty = units - int((values > limits.dead * values[0]).sum())
    pairs = correlation[np.tri(units, k=-1, dtype=bool) & live[:, None] & live[None, :]]
    signed = _histogram(pairs, -1.0, 2 * _BINS)
    np.abs(pairs, out=pairs)
    groups = duplicate_groups(correlation, limits.duplicate)
    mean = float(pairs.mean()) if len(pairs) else None
    rank = entropy_rank(shares)
    verdict, reasons = judge(
        Evidence(
            examples=count,
            units=units,
            varying=int(live.sum()),
            effective_rank=rank,
            mean_correlation=mean,
            dead=units - int(live.sum()),
            copies=sum(len(group.units) - 1 for group in groups),
            empty=empty,
        ),
        limits,
    )
    for array in (values, shares, deviations, correlation):
        array.setflags(write=False)
    return CollapseReport(
        examples=count,
        units=units,
        verdict=verdict,
        reasons=reasons,
        notes=_notes(moments, deviations, live, rank, standard_rank),
        effective_rank=rank,
        effective_rank_singular=entropy_rank(spectrum_shares(values)),
        effective_rank_standardised=standard_rank,
        participation_ratio=float(1 / (shares**2).sum()) if shares.any() else 0.0,
        singular_values=values,
        variance_shares=shares,
        empty_directions=empty,
        mean_correlation=mean,
        correlation_quantiles=(
            dict(zip(QUANTILES, np.quantile(pairs, QUANTILES).tolist(), strict=True))
            if len(pairs)
            else {}
        ),
        histogram=_histogram(pairs, 0.0, _BINS),
        signed_histogram=signed,
        dead=tuple(np.flatnonzero(~live).tolist()),
        duplicates=groups,
        deviations=deviations,
        correlation=correlation,
        thresholds=limits,
    )


def _live(deviations: np.ndarray, vary: np.ndarray, dead: float) -> np.ndarray:
    """Which units vary, compared with those that vary most."""
    if not vary.any():
        return vary
    ordered = np.sort(deviations[vary])[::-1]
    aside = int(np.ceil(_SET_ASIDE * len(ordered))) if len(ordered) >= 3 else 0
    return vary & (deviations > dead * ordered[aside])


def _correlation(gram: np.ndarray, live: np.ndarray) -> np.ndarray:
    """Exactly symmetric, with a diagonal of ones; zeros for units that are not live."""
    squares = np.where(live, np.diagonal(gram), 1.0)
    scale = np.where(live, 1 / np.sqrt(squares), 0.0)
    found = np.outer(scale, scale)
    found *= gram
    np.clip(found, -1, 1, out=found)
    found[np.diag_indices(len(found))] = live
    return found


def _histogram(values: np.ndarray, low: float, bins: int) -> Histogram:
    edges = np.linspace(low, 1.0, bins + 1)
    return Histogram(edges, np.histogram(values, edges)[0])


def _notes(
    moments: Moments, deviations: np.ndarray, live: np.ndarray, rank: float, standard_rank: float
) -> tuple[str, ...]:
    count, units, found = moments.count, len(deviations), []
    length, spread = float(np.linalg.norm(moments.means)), float(np.linalg.norm(deviations))
    if 0 < spread < _ONE_POINT * length:
        found.append(
            f"examples differ from their mean by only {spread / length:.1e} of its length: for "
            "cosine similarity, or with rows normalised, this is a complete collapse"
        )
    if units < count < _FAIR * units:
        found.append(
            f"{count} examples are few for {units} units: sampling alone lowers the effective rank"
        )
    if live.sum() > 1:
        squares = (deviations / deviations.max()) ** 2
        top = int(np.argmax(squares))
        share = squares[top] / squares.sum()
        if share >= _ONE_UNIT and units > 2:
            found.append(
                f"unit {top} alone has {share:.1%} of the variance; "
                f"with units standardised the effective rank is {standard_rank:.4g}"
            )
        elif standard_rank > _RESCALED * rank:
            found.append(
                f"with units standardised the effective rank is {standard_rank:.4g}: the verdict "
                "is about a few units of larger scale"
            )
    return tuple(found)
