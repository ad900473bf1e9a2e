"""Chen et al. (2023): the derived shift against autodiff, and the study at its smallest scale."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.lab import CROSSED
from learnscope.papers import get
from learnscope.papers.sam import theory
from learnscope.papers.sam.experiments import experiment
from tests.papers.test_studies import check_all, smoke

SAM = get("sam")
SETTING = experiment("SAM")


def test_the_shift_is_that_of_the_gradient_at_the_start():
    """By autodiff, over the active filters of the examples' own labels."""
    setting = SETTING.replace("data.batch", None).replace("data.dim", 3000)
    problem = setting.data.sample(jax.random.key(1))
    weights = setting.net.init(jax.random.key(2), problem)
    y, noise = problem.train.y, problem.train.vectors["noise"]

    def loss(filters):
        return jnp.logaddexp(
            0.0, -y * setting.net(ls.nets.Weights(filters), problem.train.x)
        ).mean()

    slope = jax.grad(loss)(weights.filters)
    moved = (setting.rule.radius * slope / jnp.linalg.norm(slope)) @ noise.T
    used = (weights.filters @ noise.T > 0) & (setting.net.signs[:, None] == y[None])
    found = -float(jnp.sum(jnp.where(used, moved, 0)) / used.sum())
    assert found == pytest.approx(theory.shift(setting), rel=0.15)


def test_conditions_and_predictions_by_hand():
    """d = 4000, B = 10, m = 10, signal 3, noise 1, rate 0.1, scale 0.001, radius 0.05, T = 200."""
    margins = {c.name: c.margin for c in ls.theory.conditions(SETTING)}
    expected = {"signal": 3.0, "radius (derived)": 5.0, "learning rate (derived)": 10.0,
                "steps (derived)": 200 / (20 / 0.9)}  # fmt: skip
    assert margins == pytest.approx(expected)
    predicted = ls.theory.predict(SETTING)
    assert predicted["silenced"] == pytest.approx(5.0)
    assert ls.theory.boundary(SETTING, "data.signal") == 1.0
    assert ls.theory.boundary(SETTING, "data.dim") is None
    # The radius that silences noise is the same in every dimension.
    for dim in (1e3, 1e6):
        far = experiment("SAM", dim=dim, factor=0.2)
        assert ls.theory.predict(far)["silenced"] == pytest.approx(5.0)
    assert np.isfinite(ls.theory.boundary(experiment(), "data.signal"))  # SGD: Kou et al.


def test_figures_are_drawn_and_claims_found():
    """The other sweeps are like these."""
    check_all(SAM, smoke(SAM, ("diagram", "boundary_sgd", "boundary_sam", "early", "radius")))


@pytest.mark.parametrize(
    ("exponent", "verdict"), [(-0.3, "reproduced"), (0.0, "reproduced"), (0.25, "differs")]
)
def test_a_boundary_of_sam_that_falls_with_the_dimension_is_no_objection(exponent, verdict):
    (claim,) = (each for each in SAM.claims if each.id == "sam_exponent")
    found = {"exponent": exponent, "exponent_error": 0.04, "seeds": 100}
    data = xr.Dataset({"status": ("dim", [CROSSED] * 3)}, attrs=found)
    assert claim.judge({"boundary_sam": data}).verdict == verdict
    assert "reproduced" not in claim.under_nulls({"boundary_sam": data}).values()
    short = data.assign(status=xr.full_like(data.status, ""))
    assert claim.judge({"boundary_sam": short}).verdict != "reproduced"


def test_boundaries_are_searched_where_each_rule_crosses_once():
    """At |mu| = 100 SAM fails again; SGD's boundary is at 13 where d is largest."""
    sweeps = SAM.sweeps("laptop")
    ranges = {name: sweeps[name].x["data.signal"] for name in ("boundary_sgd", "boundary_sam")}
    assert ranges["boundary_sam"][1] < 100 and ranges["boundary_sgd"][1] > 13
    for claim in SAM.claims:
        if "boundary_sam" in claim.needs:
            assert "30" in claim.setting and any("up to 30" in flag for flag in claim.flags)


@pytest.mark.parametrize(
    ("sgd", "sam", "verdict"),
    [(0.33, -0.13, "reproduced"), (0.25, 0.2, "differs"), (0.1, 0.3, "differs"),
     (0.25, 0.0, "inconclusive")],
)  # fmt: skip
def test_exponents_apart_by_less_than_a_quarter_differ(sgd, sam, verdict):
    (claim,) = (each for each in SAM.claims if each.id == "slower")
    data = {f"boundary_{name}": xr.Dataset(
        {each: ("dim", [1.0]) for each in ("boundary", "low", "high")},
        attrs={"exponent": exponent, "exponent_error": 0.02, "seeds": 100},
    ) for name, exponent in (("sgd", sgd), ("sam", sam))}  # fmt: skip
    assert claim.judge(data).verdict == verdict
    assert "reproduced" not in claim.under_nulls(data).values()
