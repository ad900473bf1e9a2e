"""Exit times of diffusions: their means, their growth, and runs that draw every example."""

import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.data import link_of
from learnscope.evidence import first_passage
from learnscope.nets import shape_of
from learnscope.papers import get
from learnscope.papers.online.claims import EXAMPLES
from learnscope.papers.online.experiments import LEVEL, SEARCHES, committee
from learnscope.papers.online.theory import exits, worse_as_power
from tests import law
from tests.papers.test_studies import check_all, smoke
from tests.small import refused, run

PATHS = 2000
MODULE = sys.modules[exits.__module__]  # the function has its name


def search(k, dim=1000, batch=1, steps=1, every=None, loss="correlation"):
    """The study's search at one dimension, and its eta."""
    link, rate, power, *_ = SEARCHES[k]
    eta = rate * dim**power
    base = committee(1, dim=dim, batch=batch, steps=steps, link=link, teacher=1, every=every)
    rule = ls.rules.SphericalDescent(rate=eta * batch / dim, loss=loss)
    setting = base.replace("rule", rule).replace("net.scale", dim**-0.5)
    return setting.replace("probes", (ls.probes.Overlaps(),)), eta


def test_fewer_than_three_runs_have_a_median_too():
    """`learnscope verify online --seeds 2` ended in a warning about an empty slice."""
    along = np.tile(np.linspace(0, 1, 11), (7, 1, 1))
    axes = {"dim": [100], "step": np.arange(11), "data.batch": ("dim", [4])}
    data = xr.Dataset({"alignment": (("seed", "dim", "step"), along)}, axes)
    for seeds, groups in ((1, 1), (2, 1), (3, 1), (7, 2)):
        found = EXAMPLES.read({"k1": data.isel(seed=slice(seeds))})
        assert found.sizes["seed"] == groups
        np.testing.assert_allclose(found, 4 * 10 * LEVEL)


def diffusion(k, dim, paths=PATHS):
    setting, eta = search(k, dim)
    return exits(setting, np.array([dim]), np.array([eta]), LEVEL, paths).examples.values[0]


def polynomials(setting):
    table = MODULE.means(setting, LEVEL)
    return lambda m: np.array([np.polyval(row, m / LEVEL) for row in table])


@pytest.mark.parametrize("k", [2, 3])
def test_the_drift_is_that_of_hermite_polynomials(k):
    """E t = -k m^(k-1) (1 - m^2), exactly zero at 0; E q = k at 0: E he_k'^2 E he_k^2."""
    found = polynomials(search(k)[0])
    for m in (1e-6, 0.2, -0.4):
        assert found(m)[0] == pytest.approx(-k * m ** (k - 1) * (1 - m**2), rel=1e-9)
    assert found(0.0)[0] == 0 and found(0.0)[1] == pytest.approx(k, rel=1e-12)


@pytest.mark.parametrize(("k", "loss"), [(1, "squared"), (2, "correlation")])
def test_means_are_those_of_samples(float64, k, loss):
    """200,000 examples with label noise; false alarms: 1e-5 (tests/law.py)."""
    setting = search(k, loss=loss)[0].replace("data.noise", 0.3)
    m, shape = 0.3, shape_of(setting.net.activation)
    z, own, noise = np.random.default_rng(0).normal(size=(3, 200_000))
    h = m * z + math.sqrt(1 - m**2) * own
    outputs, slopes = jax.jvp(shape, (jnp.asarray(h),), (jnp.ones(len(h)),))
    y = np.asarray(link_of(setting.data.link)(jnp.asarray(z[:, None]))) + 0.3 * noise
    push = np.asarray(slopes) * ((np.asarray(outputs) if loss == "squared" else 0) - y)
    t, q = push * (z - m * h), push**2
    rows, right = np.stack([t, q, t * t, t * q, q * q], 1), polynomials(setting)(m)
    law.assert_mean(rows, right)
    assert (law.errors_off(rows, 1.25 * right)[:3] > 1).all()


def test_with_the_exponent_2_a_decade_takes_as_long_as_growth_does():
    """The drift at 0 is (2 eta - eta^2) m: a tenfold d takes log(10) / 2 over that. Steps of 0.01
    are half a percent slower."""
    dims, eta = np.array([1e6, 1e7, 1e8, 1e9]), SEARCHES[2][1]
    found = exits(search(2)[0], dims, np.full(4, eta), LEVEL, 20).examples
    decades = (found / found.dim).diff("dim").values
    np.testing.assert_allclose(decades, math.log(10) / 2 / (2 * eta - eta**2), rtol=0.01)


def one_by_one(k, dim, paths, most):
    """Examples until the exit on the unit sphere in R^dim, one example per step: all that a step
    needs of an example are three numbers."""
    random, eta = np.random.default_rng(1), search(k, dim)[1]
    he = np.polynomial.hermite_e.HermiteE([0] * k + [math.factorial(k) ** -0.5])
    m, found = random.normal(size=paths) * dim**-0.5, np.full(paths, float(most))
    for n in range(most):
        h, e = random.normal(size=(2, paths))
        outside = np.sqrt(1 - m**2)
        z, rest = m * h + outside * e, e**2 + random.chisquare(dim - 2, paths)
        push = -eta / dim * he.deriv()(h) * he(z)
        m = (m - push * outside * e) / np.sqrt(1 + push**2 * rest)
        found[(np.abs(m) > LEVEL) & (found == most)] = n + 1
        if n % 100 == 0 and (found < most).all():
            break
    return found


def test_diffusions_exit_as_steps_on_single_examples_do():
    """False alarms: 1e-5 (tests/law.py). Times that are a quarter longer are told."""
    dim = 400
    runs, paths = one_by_one(2, dim, 1000, 25 * dim), diffusion(2, dim)
    law.assert_law({"": runs}, {"": paths})
    law.assert_other_law({"": runs}, {"": 1.25 * paths})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "dim", "batch", "seeds"),
    [(2, 1e3, 1, 400), (2, 1e4, 240, 300), (2, 1e5, 2400, 200), (3, 400, 10, 400)],
)
def test_diffusions_exit_as_runs_do(k, dim, batch, seeds):
    """Runs in law, every example drawn. Those that have not left by the end count as equal."""
    most = int((24 if k == 2 else 6) * dim ** (k - 1))
    steps = most // batch
    data = run(search(k, int(dim), batch, steps, max(1, steps // 400))[0], seeds=seeds)
    found = first_passage("alignment", above=LEVEL).read({"": data}).values * batch
    runs, paths = (np.minimum(values, most) for values in (found, diffusion(k, int(dim))))
    law.assert_law({"": runs}, {"": paths})
    law.assert_other_law({"": runs}, {"": 1.35 * paths})


def test_a_form_is_told_from_a_power():
    dims = 10.0 ** np.arange(3, 10)
    times = np.stack([dims * (1 + np.log(dims)), 7 * dims**1.08, dims**0.0], 1)
    table = xr.DataArray(times, dims=("dim", "seed"), coords={"dim": dims})
    worse = worse_as_power(table).values
    assert worse[0] > 0.01 and (worse[1:] < -0.01).all()


def test_what_stays_has_no_time_and_others_are_refused(monkeypatch):
    monkeypatch.setattr(MODULE, "_MOST", 30)
    found = exits(search(2)[0], np.array([1e9]), np.array([0.25]), LEVEL, 3).examples
    assert np.isnan(found).all()
    wide = search(2)[0].replace("net.width", 2)
    refused(lambda: exits(wide, np.array([1e9]), np.array([0.25]), LEVEL, 3), "one filter")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"level": 1.5}, "between 0 and 1"),
        ({"level": 0.0}, "between 0 and 1"),
        ({"rates": [0.25, 0.25]}, "1 dims and 2 rates"),
        ({"rates": [-0.25]}, "above 0"),
        ({"dims": 1e6, "rates": 0.25}, "list of finite numbers"),
        ({"dims": [np.nan]}, "list of finite numbers"),
        ({"dims": ["many"]}, "list of numbers"),
        ({"seeds": 0}, "at least 1"),
        ({"seeds": 2.5}, "at least 1"),
        ({"step": 0.0}, "between 0 and 1"),
    ],
)
def test_what_has_no_meaning_is_refused(given, words):
    right = {"dims": [1e6], "rates": [0.25], "level": 0.5, "seeds": 3, "step": 0.01}
    refused(lambda: exits(search(2)[0], **right | given), words)


def test_settings_without_exits_are_refused():
    given = np.array([1e6]), np.array([0.25]), 0.5, 3
    signs = search(2)[0].replace("data.signs", True)
    refused(lambda: exits(signs, *given), "one filter")
    fixed = search(1)[0].replace("data.train", 5).replace("data.batch", None)
    refused(lambda: exits(fixed, *given), "fresh")


def test_the_claims_at_smoke_scale():
    study = get("online")
    data = smoke(study, ("far1", "far2", "far3"))
    check_all(study, data)
    far = [claim for claim in study.claims if claim.id.endswith(".far")]
    assert len(far) == 5 and all(claim.find(data).verdict == "reproduced" for claim in far)
