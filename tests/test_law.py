"""The harness of statistical tests raises no more alarms than it says, and tells small errors."""

import numpy as np
import pytest
from scipy import stats

from tests import law

DRAW = np.random.default_rng(0)


def test_p_values_are_those_of_chance():
    # Of 500 p-values a twentieth below 0.05: within 5 standard errors.
    off = lambda: law.errors_off(DRAW.normal(size=400), 0, 1)  # noqa: E731
    kinds = {
        "law": lambda: law.p_value(DRAW.normal(size=400), stats.norm()),
        "samples": lambda: law.p_value(*DRAW.normal(size=(2, 400))),
        "counts": lambda: law.count_p_value(np.bincount(DRAW.integers(0, 6, 400))),
        "mean": lambda: 2 * stats.norm.sf(off() * stats.norm.isf(law.LEVEL / 2)),
    }
    for name, draw in kinds.items():
        share = np.mean([draw() < 0.05 for _ in range(500)])
        assert abs(share - 0.05) < 5 * (0.05 * 0.95 / 500) ** 0.5, name


def test_the_right_law_passes_and_a_tenth_of_the_spread_is_told():
    right, again = DRAW.normal(size=(2, 20_000, 24))
    other, normal = 0.1 * (np.arange(24) == 3), stats.norm()
    law.assert_law(right, again)
    law.assert_law({3: right[:, 3]}, {3: normal})
    law.assert_mean(right, 0)
    law.assert_mean(right[:16], 0)
    law.assert_counts([1010, 990, 0], [0.5, 0.5, 0])
    law.assert_independent([[1000, 500], [1010, 490]])
    for wrong in (right + other, right * (1 + other)):
        law.assert_other_law(wrong, again)
        law.assert_other_law({3: wrong[:, 3]}, {3: normal})
    law.assert_other_counts([1200, 1000, 1000])
    for check, *given in (
        (law.assert_law, right + other, again), (law.assert_other_law, right, again),
        (law.assert_mean, right + other, 0), (law.assert_counts, [1200, 1000, 1000]),
        (law.assert_counts, [990, 1010, 1], [0.5, 0.5, 0]),
        (law.assert_independent, [[1000, 500], [500, 1000]]),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            check(*given)
