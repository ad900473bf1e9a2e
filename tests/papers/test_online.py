"""The limit of online learning: closed forms, quadrature, sampling, and runs."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import link_of
from learnscope.nets import by_quadrature, pair_mean, shape_of
from learnscope.papers import get
from learnscope.papers.online import theory
from learnscope.papers.online.experiments import NEAR, committee, over_dims
from learnscope.papers.online.theory import orthants
from learnscope.probes import generalisation
from tests import law
from tests.papers.test_studies import check_all, smoke
from tests.small import quick, refused, run

OVERLAPS = ("teacher_overlap", "student_overlap")


def overlap(width, directions, seed=0, scale=0.6):
    """M and Q of some filters, and the filters."""
    rows = scale * np.random.default_rng(seed).normal(size=(width, directions + width))
    return theory.Overlap(jnp.asarray(rows[:, :directions]), jnp.asarray(rows @ rows.T)), rows


@pytest.mark.parametrize("name", ["erf", "relu"])
def test_closed_forms_are_quadrature_and_their_slopes(float64, name):
    a, b = jnp.asarray([0.3, 1.0, 2.0]), jnp.asarray([1.0, 0.5, 1.5])
    c = jnp.asarray([0.2, -0.4, 1.2])
    shape = shape_of(name)
    close = 1e-9 if name == "erf" else 3e-3  # the kink
    by = lambda z: jax.jvp(shape, (z,), (jnp.ones_like(z),))[1]  # noqa: E731

    @quick
    def found(a, b, c):
        # Price (1958): the derivative by the covariance is the mean of the product of slopes.
        slope = jax.vmap(jax.grad(lambda c, a, b: pair_mean(name, name, a, b, c)))(c, a, b)
        return pair_mean(name, name, a, b, c), slope, [
            by_quadrature(one, one, a, b, c) for one in (shape, by)
        ]  # fmt: skip

    mean, slope, right = found(a, b, c)
    np.testing.assert_allclose(mean, right[0], atol=close)
    np.testing.assert_allclose(slope, right[1], atol=10 * close)


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize(("width", "directions"), [(1, 1), (2, 1), (2, 2)])
def test_closed_moments_are_sums_over_nodes(float64, width, directions, squared):
    at, _ = overlap(width, directions)
    second = jnp.linspace(1.0, 0.5, width)
    task = theory.Task("erf", "erf", second, 0.3, squared)
    close = {2: 1e-9, 3: 1e-5, 4: 1e-3}[width + directions]
    forms = theory.closed_moments, theory.sampled_moments
    one, two = quick(lambda at: [form(task, at) for form in forms])(at)
    np.testing.assert_allclose(one.along, two.along, atol=close)
    np.testing.assert_allclose(one.squares, two.squares, atol=close)


def on_orthant(c, *powers, count=36, far=8.5):
    """E of a product of variables where all are positive: the density has no kink there, so that
    Gauss-Legendre nodes are exact to about 1e-10."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    sizes = far * np.sqrt(np.diag(c))
    grid = np.meshgrid(*[size * (nodes + 1) / 2 for size in sizes], indexing="ij")
    each = np.meshgrid(*[size * weights / 2 for size in sizes], indexing="ij")
    inverse = np.linalg.inv(c)
    exponent = sum(inverse[i, j] * grid[i] * grid[j] for i, j in np.ndindex(*c.shape))
    density = np.exp(-exponent / 2) / np.sqrt(np.linalg.det(2 * np.pi * c))
    return (density * np.prod(each, axis=0) * np.prod([grid[i] for i in powers], axis=0)).sum()


@pytest.mark.parametrize("squared", [True, False])
def test_relu_moments_are_integrals_over_orthants(float64, squared):
    """Two filters and two directions: all numbers of different variables, up to four."""
    at, _ = overlap(2, 2)
    second, noise = np.array([1.0, 0.5]), 0.3
    task = theory.Task("relu", "relu", jnp.asarray(second), noise, squared)
    found = quick(task.moments)(at)
    c = np.block([[at.student, at.teacher], [at.teacher.T, np.eye(2)]])
    signs = np.array([*(second * squared), -1.0, -1.0])

    @functools.cache
    def mean(positive, *powers):
        kept = sorted(positive)
        return on_orthant(c[np.ix_(kept, kept)], *(kept.index(power) for power in powers))

    def third(i, v, n):  # v is regressed on the two others
        kept = [i] if i == n else [i, n]
        slopes = np.linalg.solve(c[np.ix_(kept, kept)], c[kept, v])
        return sum(b * mean(frozenset(kept), k, n) for b, k in zip(slopes, kept, strict=True))

    for i, v in np.ndindex(2, 4):
        right = second[i] * sum(signs[n] * third(i, v, n) for n in range(4))
        assert found.along[i, v] == pytest.approx(right, abs=1e-8)
    for i, j in np.ndindex(2, 2):
        right = noise**2 * mean(frozenset((i, j)))
        right += sum(signs[n] * signs[m] * mean(frozenset((i, j, n, m)), *sorted((n, m)))
                     for n, m in np.ndindex(4, 4))  # fmt: skip
        assert found.squares[i, j] == pytest.approx(second[i] * second[j] * right, abs=1e-8)


def test_four_variables_that_are_alike_or_the_same(float64):
    """Correlations of 1/2: 1/5 (exact). Pairs that are the same: two variables are left."""
    half = 0.5 * (jnp.eye(4) + 1)
    pairs = jnp.kron(jnp.array([[1.0, 0.3], [0.3, 1.0]]), jnp.ones((2, 2)))
    found = quick(lambda *all: [orthants.orthant(c) for c in all])(half, pairs)
    np.testing.assert_allclose(found[0], 0.2, atol=1e-12)
    np.testing.assert_allclose(found[1], 0.25 + np.arcsin(0.3) / (2 * np.pi), atol=1e-8)
    slope = quick(jax.grad(lambda r: orthants.orthant(half.at[0, 1].add(r).at[1, 0].add(r))))(0.0)
    step = 1e-4
    moved = [float(orthants.orthant(half.at[[0, 1], [1, 0]].add(s))) for s in (step, -step)]
    assert float(slope) == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-6)


def test_mean_gradients_are_derivatives_of_the_generalisation_error(float64):
    at, _ = overlap(2, 1)
    second = jnp.asarray([1.0, -0.5])
    task = theory.Task("erf", "erf", second, 0.0, True)
    error = lambda at: generalisation("erf", "erf", second, *at)[0]  # noqa: E731
    slope, found = quick(lambda at: (jax.grad(error)(at), task.moments(at).along))(at)
    both = np.asarray(slope.student + slope.student.T)
    teacher, student = np.asarray(at.teacher), np.asarray(at.student)
    np.testing.assert_allclose(found[:, :2], slope.teacher @ teacher.T + both @ student, atol=1e-12)
    np.testing.assert_allclose(found[:, 2:], slope.teacher + both @ teacher, atol=1e-12)


@pytest.mark.parametrize("link", ["erf", "relu", "he3", "staircase", "product", "own"])
def test_the_generalisation_error_is_that_of_samples(float64, link):
    at, rows = overlap(2, 2)
    chosen = (lambda z: z[0] * jnp.tanh(z[1])) if link == "own" else link
    activation = link if link in ("erf", "relu", "he3") else "erf"
    x = np.random.default_rng(1).normal(size=(200_000, rows.shape[1]))
    second = jnp.asarray([1.0, -0.5])

    @quick
    def both(x):
        outputs = shape_of(activation)(x @ jnp.asarray(rows).T) @ second
        losses = (outputs - link_of(chosen)(x[:, :2])) ** 2 / 2
        return losses, *generalisation(activation, chosen, second, *at)

    losses, found, size = map(np.asarray, both(jnp.asarray(x)))
    assert float(size) >= float(found)
    law.assert_mean(losses, float(found))
    assert law.errors_off(losses, 1.1 * float(found)) > 1  # a tenth is told


def test_the_probe_refuses_other_nets():
    biased = committee(dim=60, steps=5).replace("net", ls.nets.TwoLayer(2, "relu"))
    refused(lambda: run(biased), "GeneralisationError", "without biases")
    steep = committee(dim=60, steps=5)
    steep = steep.replace("net", ls.nets.PatchCNN(2, "huberised"))
    refused(lambda: run(steep), "GeneralisationError", "without parameters")
    wrong = committee(dim=60, steps=5).replace("probes", (ls.probes.Misclassification(),))
    refused(lambda: run(wrong), "Misclassification", "signs")


DIMS, BATCH, STEPS, SEEDS = (1e3, 1e5, 1e9), 10, 100, 10


@functools.cache
def runs():
    """One program for three dimensions, eta = 1."""
    dims = np.array(DIMS)
    axis = over_dims(dims, np.full(3, BATCH), 1.0, 0.5)
    setting = committee(batch=BATCH, steps=STEPS, every=STEPS)
    data = run(setting, axis, seeds=SEEDS, precision="float64").load()
    assert data.attrs["coordinates_used"] == "compressed"
    return data


def from_limit(dim, wrong=1.0):
    """How far runs are off the limit from their own start at the end, in units of the square root
    of alpha / d."""
    setting = committee(dim=int(dim), batch=BATCH, steps=STEPS, rate=wrong, every=STEPS)
    data = runs().sel(dim=dim)
    data = data.drop_vars([name for name in data.coords if name not in data.dims])
    path, unit = theory.limit(setting, data), (STEPS * BATCH) ** 0.5 / dim
    ends = [(data[name] - path[name]).isel(step=-1) / unit for name in OVERLAPS]
    return np.concatenate([end.transpose("seed", ...).values.reshape(SEEDS, -1) for end in ends], 1)


@pytest.mark.parametrize("dim", DIMS)
def test_runs_are_off_the_limit_by_the_root_of_the_dimension(dim):
    off = from_limit(dim)
    assert 0.03 < np.sqrt((off**2).mean()) < 3
    law.assert_mean(off, 0)


def test_the_exponent_of_deviations_is_a_half():
    """Fitted at d = 10^3, 10^5, 10^9, seed by seed, in units of the root of alpha / d: no power of
    d is left. False alarms: 1e-5 (tests/law.py); exponents of 1/4 and 3/4 are told."""
    sizes = np.log([np.sqrt((from_limit(dim) ** 2).mean(1)) for dim in DIMS])
    slopes = np.polyfit(np.log(DIMS), sizes, 1)[0]
    law.assert_mean(slopes, 0)
    assert min(law.errors_off(slopes, wrong) for wrong in (-0.25, 0.25)) > 1


def test_a_wrong_rate_is_told():
    with pytest.raises(AssertionError):
        law.assert_mean(from_limit(1e9, wrong=3.0), 0)


@pytest.mark.slow
@pytest.mark.parametrize("link", ["relu", "he2"])
def test_other_activations_follow_their_limit(link):
    setting = committee(1, dim=10**5, batch=100, steps=300, rate=0.3, link=link, teacher=1)
    data = run(setting, seeds=4).load()
    path = ls.theory.limit(setting, data)
    ends = data.isel(step=-1), path.isel(step=-1), path.isel(step=0)
    off, moved = (max(np.abs(one[n] - two[n]).max() for n in OVERLAPS)
                  for one, two in itertools.pairwise(ends))  # fmt: skip
    assert off < 2 * (0.3 / 1e5) ** 0.5 and moved > 0.02


def test_the_limit_on_the_sphere_and_with_large_steps():
    """Steps of a hundredth of alpha: only the flow through the steps is within the noise."""
    base = committee(1, dim=10**5, batch=10**3, steps=100, rate=1.0, teacher=1, every=10)
    setting = base.replace("rule", ls.rules.SphericalDescent(rate=1e-2, loss="correlation"))
    data = run(setting, seeds=4).load()
    path = ls.theory.limit(setting, data)
    for name in OVERLAPS:
        assert np.abs(data[name] - path[name]).max() < 0.01, name
    norms = path.student_overlap.values
    np.testing.assert_allclose(norms, np.broadcast_to(norms[:, :1], norms.shape), rtol=1e-6)


def test_conditions_and_predictions():
    setting = committee(1, dim=10**4, steps=10, rate=0.5, link="he3", teacher=1)
    assert not ls.theory.conditions(setting).holds  # the rate
    assert ls.theory.predict(setting)["search_samples"] == pytest.approx(1e8)
    assert theory.information_exponent("product", 2) == 2
    refused(lambda: theory.information_exponent(lambda z: 1.0 + 0 * z[0]), "no Hermite")
    other = setting.replace("data.train", 5)
    refused(lambda: ls.theory.limit(other), "no theory here has the limit")


def test_axes_scale_with_the_dimension():
    axis = over_dims(np.array([1e3, 1e5]), np.array([1.0, 100.0]), np.array([1.0, 2.0]), 0.5)
    assert axis.fields["data.batch"] == [1, 100]
    np.testing.assert_allclose(axis.fields["rule.rate"], [1e-3, 2e-3])


def test_seeds_near_the_teacher_are_those_that_start_there():
    base = committee(1, dim=10**6, batch=8, link="he3", teacher=1)
    starts = run(base.replace("net.scale", 1e-3), seeds=NEAR[-1] + 1).isel(step=0)
    near = starts.teacher_overlap.values.ravel() >= 0.5e-3
    assert np.flatnonzero(near).tolist() == NEAR


WHOLE = pytest.param(None, marks=pytest.mark.slow, id="whole")


@pytest.mark.parametrize("names", [("deviations", "limit"), WHOLE])
def test_the_study_at_smoke_scale(names):
    study = get("online")
    check_all(study, smoke(study, names))
