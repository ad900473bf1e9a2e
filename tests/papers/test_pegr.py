"""Conditions, times and criteria of the gradient-penalty paper."""

import dataclasses
import json
import math

import pytest

from learnscope.papers.pegr import theory as pegr
from learnscope.theory.condition import Condition, Conditions
from tests.errata.pegr_closed_forms import printed_second_stage

PAPER = {"dim": 400, "train": 20, "width": 10, "signal": 1.0}  # Section 4.1
# Every inequality of Condition 3.1 holds here, at constants of 1 and a factor of 10.
ROOMY = {"dim": 1e12, "train": 2000, "width": 50, "signal": 1.0, "noise": 25e-6, "scale": 1e-6}
ROOMY |= {"rate": 0.1}


def test_margin_of_either_relation():
    assert Condition("a", "a >= b", 6.0, 2.0, ">=").margin == 3.0
    assert Condition("a", "a <= b", 6.0, 2.0, "<=").margin == pytest.approx(1 / 3)
    assert Condition("a", "a <= b", 2.0, 2.0, "<=").holds
    assert Condition("a", "a <= b", 0.0, 2.0, "<=").margin == math.inf
    assert not Condition("a", "a >= b", 6.0, math.inf, ">=").holds
    assert not Condition("a", "a >= b", math.nan, 1.0, ">=").holds
    with pytest.raises(ValueError, match="relation is '>'"):
        Condition("a", "a > b", 1.0, 2.0, ">")


@pytest.mark.parametrize("relation", [">=", "<="])
@pytest.mark.parametrize(("left", "right"), [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)])
def test_a_margin_of_one_means_that_it_holds(left, right, relation):
    condition = Condition("a", "", left, right, relation)
    assert condition.holds == (condition.margin >= 1.0)


def test_conditions_print_as_a_table_and_export():
    table = pegr.condition_3_1(**PAPER, noise=1.5, scale=0.001, rate=0.02)
    lines = str(table).splitlines()
    assert len(lines) == 1 + len(table) == 8
    assert lines[0].split() == ["condition", "statement", "left", "right", "margin", "holds"]
    column = lines[0].index("holds")
    assert {line[column:] for line in lines[1:]} == {"yes", "no"}
    exported = json.loads(json.dumps(table[0].to_dict()))
    assert exported["name"] == "dimension"
    assert exported["holds"] is False
    assert exported["margin"] == pytest.approx(table[0].margin)
    assert Conditions([]).holds


def test_section_4_1_is_far_from_condition_3_1():
    table = pegr.condition_3_1(**PAPER, noise=1.5, scale=0.001, rate=0.02)
    assert table[0].right == pytest.approx(math.log(400) * 100 * 20**2.001)
    assert not table.holds
    assert {condition.name for condition in table if not condition.holds} == {"dimension", "width"}


def test_condition_3_1_answers_to_its_constants():
    assert pegr.condition_3_1(**ROOMY).holds
    harder = {"constant": [5.0], "power": [2.0], "much": [30.0], "dim": [1e9], "rate": [10.0]}
    # Without noise or weights it fails rather than raises.
    harder |= {"noise": [5e-6, 0.0], "scale": [0.1, 0.0], "width": [10]}
    for key, values in harder.items():
        assert not any(pegr.condition_3_1(**ROOMY | {key: value}).holds for value in values), key
    with pytest.raises(ValueError, match=r"alpha is 0\.5"):
        pegr.condition_3_1(**ROOMY, alpha=0.5)


def test_condition_3_1_does_not_imply_what_the_proofs_use():
    weight = pegr.theorem_weight(ROOMY["noise"], ROOMY["dim"])
    setting = {key: value for key, value in ROOMY.items() if key != "scale"}
    table = {row.name: row for row in pegr.implicit_conditions(**setting, weight=weight, much=1.0)}
    # lambda ||xi||^2 / m = sigma_p sqrt(d) / m = 25 / 50: the noise grows despite the penalty.
    assert table["noise is suppressed"].left == pytest.approx(0.5)
    assert not table["noise is suppressed"].holds
    # n ||mu||^2 / 2 = 1000 > 625 = sigma_p^2 d: the signal grows faster without a penalty.
    assert not table["noise outruns signal"].holds
    assert table["signal survives"].holds
    assert table["no overshooting"].holds
    # With much noise, the largest rate that Condition 3.1 allows throws rho beyond its bound.
    noisy = {**ROOMY, "train": 100, "noise": 0.01, "scale": 1e-9, "rate": 1.8e-6}
    assert pegr.condition_3_1(**noisy).holds
    del noisy["scale"]
    weight = pegr.theorem_weight(noisy["noise"], noisy["dim"])
    table = {row.name: row for row in pegr.implicit_conditions(**noisy, weight=weight)}
    assert not table["no overshooting"].holds


@pytest.mark.parametrize(("scale", "time"), [(0.01, 1799), (0.001, 2950)])
def test_closing_time_in_section_4_1(scale, time):
    assert round(pegr.closing_time(20, 10, 1.0, scale, 0.02)) == time


def test_times_by_hand():
    # n = e^2 and 8m/delta = e^8 make every logarithm a whole number.
    train, width, delta = math.exp(2), 1.0, 8 * math.exp(-8)
    goal = 4 / (0.01 * 2.0 * 2 * 4)
    time = pegr.closing_time(train, width, 2.0, 0.01, 0.5, delta)
    assert time == pytest.approx(math.log(goal) / (0.5 * 4))
    half = pegr.closing_time(train, width, 2.0, 0.01, 0.5, delta, share=0.5)
    assert half == pytest.approx(2 * time)
    stage = pegr.second_stage(3.0, train, width, 2.0, 0.5, math.log(2.0), delta)
    assert stage == pytest.approx(2 * train / (0.5 * 0.5 * 4) * math.log(4 * 2 * 3))
    found = pegr.memorisation_time(400, 20, 10, 0.5, 0.02, 0.1, constant=2.0)
    assert found == pytest.approx(2 * (20 * 10 / (0.02 * 100) + 1000 * 20 / (0.02 * 0.1)))


def test_printed_second_stage_without_penalty_is_negative():
    assert printed_second_stage(400, 20, 10, 0.5, 0.02) < 0


def test_criterion_in_section_4_1():
    # lambda = 0.01 suppresses the noise only from sigma_p = 1.58 on, with 1/m and lambda/2.
    assert pegr.suppression_ratio(0.01, 1.5, 400, 10) == pytest.approx(0.9)
    assert pegr.suppression_ratio(0.01, math.sqrt(2.5), 400, 10) == pytest.approx(1.0)
    assert pegr.suppression_ratio(0.01, 0.5, 400, 10, second_layer="sum") == pytest.approx(1.0)
    assert pegr.suppression_ratio(0.01, 0.5, 400, 10, "sum", half=False) == pytest.approx(2.0)
    assert pegr.suggested_weight(0.5, 400, 10) == pytest.approx(2 * 10 / (0.25 * 400))
    assert pegr.theorem_weight(0.5, 400) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="second_layer is 'max'"):
        pegr.suppression_ratio(0.01, 0.5, 400, 10, second_layer="max")


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("second_layer", ["mean", "sum", 0.3])
def test_critical_weight_balances_the_rates(second_layer, half):
    weight = pegr.critical_weight(0.7, 300, 9, second_layer, half)
    rates = pegr.rates(300, 25, 9, 1.3, 0.7, 0.05, weight, second_layer, half)
    assert rates.noise_suppression == pytest.approx(rates.noise_growth)
    assert pegr.suppression_ratio(weight, 0.7, 300, 9, second_layer, half) == pytest.approx(1.0)
    full = pegr.full_rates(300, 25, 9, 1.3, 0.7, 0.05, 25 * weight, second_layer, half)
    assert full.noise_suppression == pytest.approx(full.noise_growth)
    assert pegr.critical_weight(0.0, 300, 9, second_layer, half) == math.inf


def test_critical_noise_balances_the_growth_and_separates_section_4_1():
    rates = pegr.rates(300, 25, 9, 1.3, pegr.critical_noise(1.3, 300, 25), 0.05, 0.0)
    assert rates.noise_growth == pytest.approx(rates.signal_growth)
    # Plain training learns the signal at sigma_p = 0.1 and fails from 0.5 on (Figure 4c).
    assert 0.1 < pegr.critical_noise(1.0, 400, 20) < 0.5


def test_rates_do_not_see_a_change_of_units():
    rate, weight, scale = pegr.rescaled(9, 0.05, 0.2, 0.01, "sum")
    assert (rate, weight, scale) == pytest.approx((0.45, 1.8, 0.03))
    given = pegr.rates(300, 25, 9, 1.3, 0.7, 0.05, 0.2, "sum")
    same = pegr.rates(300, 25, 9, 1.3, 0.7, rate, weight)
    assert dataclasses.astuple(same) == pytest.approx(dataclasses.astuple(given))
    assert pegr.rescaled(9, 0.05, 0.2, 0.01, "mean") == pytest.approx((0.05, 0.2, 0.01))


def test_bounds():
    bounds = pegr.signal_bounds(20, 10)
    assert bounds.upper == pytest.approx(5 / math.log(20))
    assert bounds.lower == pytest.approx(1 / (math.sqrt(2 * math.log(800)) * math.log(20)))
    bounds = pegr.noise_bounds(400, 20, 10, 0.5, 0.01)
    assert bounds == pytest.approx((-8 * math.sqrt(math.log(16000)) * 0.1, 0.0))
