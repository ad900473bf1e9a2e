"""Misprints of Zuo et al., "Understanding Train-Validation Split in Meta-Learning"."""

import math

import numpy as np
import pytest

from learnscope.papers.meta_split import reported

LOG = math.log(1000)


def test_the_lost_prime():
    """The proof of Theorem 4.5: loss <= -2 sum of l', not of l, which is negative."""
    margin = np.linspace(0.01, 30.0, 200)
    loss, slope = np.log1p(np.exp(-margin)), -1 / (1 + np.exp(margin))
    assert (-2 * slope >= loss).all()
    assert (-2 * loss < 0).all() and (loss > -2 * loss).all()


def test_the_rate_of_condition_d1():
    """1 / log(d)^-5 is log(d)^5; eta = 1/polylog(d) is meant (Condition 4.3)."""
    assert 1 / LOG**-5 > 1e4 and LOG**-5 < 1e-4


def test_condition_d1_has_one_filter():
    for exponent, filters in ((31.9, 1), (32.1, 2)):
        assert math.floor(exponent**0.2) == filters
    assert math.exp(32) == pytest.approx(7.9e13, rel=0.01)


def test_section_5_1_has_other_powers():
    """sigma_xi, sigma_s, m and K as powers of log d, beside those of Condition D.1."""
    root = math.sqrt(1000)
    printed = {"noise": 10.42 * root, "task": 0.00066 * root, "width": 18, "tasks": 343}
    powers = {"noise": (3, 0.5), "task": (-2, -0.4), "width": (1.5, 0.2), "tasks": (3, 0.5)}
    for name, value in printed.items():
        here, appendix = powers[name]
        assert value == pytest.approx(LOG**here, rel=0.05), name
        assert max(value / LOG**appendix, LOG**appendix / value) > 5, name


def test_table_3_disagrees():
    """Train-train on miniImageNet, 5 steps, outer rate below the inner one."""
    tables = {1: (25.93, 1.10), 2: (25.93, 1.10), 3: (20.00, 0.10), 5: (25.93, 1.10)}
    assert reported.MINI_IMAGENET["5 steps"][0] == tables[1] == tables[2] == tables[5]
    assert abs(tables[3][0] - tables[1][0]) > tables[3][1] + tables[1][1]


def test_section_5_2_has_the_rates_the_wrong_way_round():
    """Train-validation is better with the *larger* rate inside, in every column of Table 3."""
    outer, inner = (reported.SYNTHETIC[name][1][0] for name in ("outer > inner", "5 steps"))
    assert inner < outer  # losses
    for column in (reported.RAINBOW, reported.MINI_IMAGENET):
        assert column["5 steps"][1][0] > column["outer > inner"][1][0]  # accuracies
