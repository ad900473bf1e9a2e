"""The limit along the axes of a sweep, from starts that do not fit, when it blows up, with both
layers trained, for labels that are signs, for PatchCNN, and the time at which it exits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import SignOf, link_of
from learnscope.nets import shape_of
from learnscope.papers.online import theory
from learnscope.papers.online.experiments import committee
from learnscope.probes import generalisation, misclassification
from tests import law
from tests.papers.test_online import OVERLAPS, overlap
from tests.small import quick, refused, run

SHORT = {"dim": 10**4, "batch": 100, "steps": 40, "every": 20}


def apart(one, other):
    """The largest difference of the overlaps at the end."""
    return max(float(np.abs(one[n] - other[n]).isel(step=-1).max()) for n in OVERLAPS)


@pytest.mark.parametrize(
    "over",
    [{"data.noise": [0.0, 2.0]}, {"rule.rate": [0.001, 0.01]}, {"data.dim": [10**3, 10**6]}],
    ids=["noise", "rate", "dim"],
)
def test_every_position_of_an_axis_has_its_own_limit(over):
    setting = committee(1, teacher=1, **SHORT)
    ((path, values),) = over.items()
    runs = run(setting, over, seeds=2)
    whole = ls.theory.limit(setting, runs)
    dim = path.rpartition(".")[2]
    assert whole.teacher_overlap.dims[:2] == (dim, "seed")
    for i, value in enumerate(values):
        one = ls.theory.limit(setting.replace(path, value), runs.isel({dim: i}, drop=True))
        assert apart(whole.isel({dim: i}), one) < 1e-9
        # The value selected on an axis counts, too.
        assert apart(ls.theory.limit(setting, runs.isel({dim: i})), one) < 1e-9
    first = ls.theory.limit(setting.replace(path, values[0]), runs.isel({dim: 1}, drop=True))
    assert apart(whole.isel({dim: 1}), first) > 1e-3


def test_axes_of_links_and_widths_have_their_limits():
    """Nets of two widths leave places of the dims empty."""
    setting = committee(2, teacher=1, **SHORT)
    runs = run(setting, {"net.width": [1, 2]}, seeds=1)
    path = ls.theory.limit(setting, runs)
    assert path.teacher_overlap.sizes["filter"] == 2
    assert np.isnan(path.teacher_overlap.sel(width=1).isel(filter=1)).all()
    for width in (1, 2):
        one, other = (each.sel(width=width).isel(filter=slice(width)) for each in (runs, path))
        assert float(np.abs(one.teacher_overlap - other.teacher_overlap).max()) < 0.1


def test_an_axis_that_is_no_field_and_starts_that_do_not_fit_are_refused():
    setting = committee(1, teacher=1, **SHORT)
    runs = run(setting, seeds=2)
    limit = ls.theory.limit
    refused(lambda: limit(setting, runs.expand_dims(arm=["a"])), "the dim 'arm'")
    refused(lambda: limit(setting.replace("data.directions", 2), runs), "1 of direction")
    refused(lambda: limit(setting.replace("net.width", 3), runs), "filter")
    axis = run(setting, {"data.repeats": [1, 2]})
    refused(lambda: limit(setting, axis), "used once")
    named = run(setting, {"rule.rate": {"slow": 0.001, "fast": 0.01}})
    refused(lambda: limit(setting, named), "rate")
    rules = {"rule": {"a": setting.rule, "b": ls.rules.SphericalDescent(rate=0.1)}}
    refused(lambda: limit(setting, run(setting, rules)), "parts on the axis 'rule'")


def test_a_limit_that_blows_up_is_nan_from_there():
    setting = committee(1, teacher=1, link="relu", rate=100.0, **SHORT | {"steps": 200})
    start = run(setting.replace("steps", 1))
    path = ls.theory.limit(setting, start)
    assert np.isfinite(path.isel(step=0).generalisation_error).all()
    assert np.isnan(path.isel(step=-1).generalisation_error).all()
    assert not np.isinf(path.student_overlap).any()


@pytest.mark.parametrize("rate", [8.0, 20.0])
def test_a_solution_that_blows_up_ends_there(float64, rate):
    """Not after all steps that the solver may take, one shorter than the other."""
    setting = committee(2, teacher=1, link="he2", rate=rate, dim=10**5, batch=100, steps=2000)
    student = jnp.asarray([[0.28, 0.03], [0.03, 0.28]])
    start = theory.Place(theory.Overlap(jnp.asarray([[0.1], [0.05]]), student))
    flow, last = theory.Steps.of(setting), jnp.asarray(2000.0)
    found = quick(lambda: flow.solution(start, 0 * last, last).stats["num_steps"])()
    assert 10 < found < 1000


def test_there_is_no_limit_where_steps_are_too_large():
    """Runs are lost, and the limit is not at a place where the correction for the size of steps is
    as large as the steps are."""
    setting = committee(2, teacher=1, link="he2", rate=3.0, dim=10**5, batch=100, steps=60)
    runs = run(setting, seeds=2)
    path = ls.theory.limit(setting, runs)
    for data in (runs, path):
        assert np.isnan(data.student_overlap.isel(step=-1)).all()
        assert np.isfinite(data.student_overlap.isel(step=0)).all()


def test_polynomials_need_few_nodes(float64):
    """Three variables, at 8 nodes each; and at 36, as for other activations."""
    at, second = overlap(2, 1)[0], jnp.asarray([1.0, -0.5])
    own = lambda z: (z[0] ** 2 - 1) * 0.5**0.5  # noqa: E731
    few, many = (theory.sampled_moments(theory.Task("he2", link, second, 0.3, True), at)
                 for link in ("he2", own))  # fmt: skip
    for one, two in zip(few, many, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10)


def test_the_second_layer_moves_along_the_gradient_of_the_generalisation_error(float64):
    at, _ = overlap(2, 2)
    second = jnp.asarray([1.0, -0.5])
    for link in ("erf", "he3", lambda z: z[0] * jnp.tanh(z[1])):
        error = lambda a, link=link: generalisation("erf", link, a, *at)[0]  # noqa: E731
        task = theory.Task("erf", link, second, 0.3, True)
        slope, found = quick(lambda a: (jax.grad(error)(a), task.outer(at)))(second)  # noqa: B023
        np.testing.assert_allclose(found, slope, atol=1e-12)


def both(**more):
    setting = committee(2, **{"dim": 10**6, "batch": 10**4, "steps": 100, "every": 50} | more)
    setting = setting.replace("net.second_layer", "trained").replace("net.second_scale", 0.5)
    return setting.replace("probes", (*setting.probes, ls.probes.SecondLayer()))


def test_runs_of_both_layers_follow_their_limit():
    setting = both(noise=0.2)
    runs = run(setting, seeds=3)
    assert runs.attrs["coordinates_used"] == "compressed"
    path = ls.theory.limit(setting, runs)
    last = runs.second_layer.isel(step=-1)
    assert float(np.abs(last - runs.second_layer.isel(step=0)).max()) > 0.03
    assert float(np.abs(last - path.second_layer.isel(step=-1)).max()) < 0.004
    assert apart(runs, path) < 0.004
    fixed = runs.assign(second_layer=0.5 * runs.second_layer)
    assert apart(runs, ls.theory.limit(setting, fixed)) > 0.01  # another second layer is told
    refused(lambda: ls.theory.limit(setting), "starts at random")
    refused(lambda: ls.theory.limit(setting, runs.drop_vars("second_layer")), "SecondLayer")
    twins = setting.replace("net.symmetric", True)
    refused(lambda: ls.theory.limit(twins, runs), "symmetric")


SIGNS = [("erf", "erf", 2, 0.0), ("erf", "linear", 3, 0.5), ("erf", "product", 2, 0.2)]


@pytest.mark.parametrize(("activation", "link", "directions", "noise"), SIGNS)
def test_moments_for_signs_are_those_of_samples(float64, activation, link, directions, noise):
    """False alarms: 1e-5 (tests/law.py)."""
    at, rows = overlap(2, directions, scale=0.4)
    second, count = jnp.asarray([1.0, 0.5]), 200_000
    task = theory.Task(activation, SignOf(link), second, noise, True)
    random = np.random.default_rng(1)
    x, xi = jnp.asarray(random.normal(size=(count, len(rows[0])))), random.normal(size=count)

    @quick
    def samples(x, xi):
        h, z = x @ jnp.asarray(rows).T, x[:, :directions]
        outputs, slopes = jax.jvp(shape_of(activation), (h,), (jnp.ones_like(h),))
        delta = outputs @ second - jnp.where(link_of(link)(z) + noise * xi < 0, -1.0, 1.0)
        s = second[None] * slopes
        along = (s * delta[:, None])[:, :, None] * jnp.concatenate([h, z], 1)[:, None]
        squares = (s * delta[:, None] ** 2)[:, :, None] * s[:, None]
        return along, squares, outputs * delta[:, None]

    found = quick(lambda at: (*task.moments(at), task.outer(at)))(at)
    for one, other in zip(samples(x, jnp.asarray(xi)), found, strict=True):
        law.assert_mean(np.asarray(one), np.asarray(other))


def test_runs_on_signs_follow_their_limit_and_their_misclassification():
    """The Hebb and the squared loss; a perceptron's error is the angle over pi."""
    for loss in ("squared", "correlation"):
        setting = committee(1, dim=10**6, batch=10**4, steps=100, teacher=1, signs=True, every=100)
        rule = ls.rules.GradientDescent(rate=0.01, loss=loss)
        probes = (ls.probes.Overlaps(), ls.probes.Misclassification(), ls.probes.TestAccuracy())
        setting = setting.replace("rule", rule).replace("probes", probes)
        runs = run(setting.replace("data.test", 20_000), seeds=2)
        assert apart(runs, ls.theory.limit(setting, runs)) < 0.01
        cosine = np.abs(runs.teacher_overlap[..., 0, 0]) / np.sqrt(runs.student_overlap[..., 0, 0])
        last = runs.isel(step=-1)
        right = np.arccos(cosine.isel(step=-1)) / np.pi
        np.testing.assert_allclose(last.misclassification, right, atol=1e-5)
        np.testing.assert_allclose(1 - last.test_accuracy, right, atol=0.02)
        assert (right < 0.4).all()


@pytest.mark.parametrize("link", ["he2", "erf", "product", "own"])
def test_misclassification_is_that_of_samples(link):
    at, rows = overlap(2, 2)
    chosen = SignOf((lambda z: z[0] + jnp.abs(z[1]) - 0.5) if link == "own" else link)
    x = np.random.default_rng(1).normal(size=(400_000, rows.shape[1]))
    second = jnp.asarray([1.0, -0.5])

    @quick
    def found(x):
        outputs = shape_of("erf")(x @ jnp.asarray(rows).T) @ second
        wrong = outputs * link_of(chosen)(x[:, :2]) < 0
        return wrong.mean(), misclassification("erf", chosen, second, *at)

    one, other = map(float, found(jnp.asarray(x)))
    assert one == pytest.approx(other, abs=0.005) and 0.1 < one < 0.9


def test_a_patch_network_follows_its_limit():
    setting = committee(2, dim=10**6, batch=10**4, steps=100, link="relu", rate=0.5, every=100)
    net = ls.nets.PatchCNN(2, "relu", scale=0.5e-3, second_layer="sum")
    setting = setting.replace("net", net)
    runs = run(setting, seeds=2)
    assert runs.attrs["coordinates_used"] == "compressed"
    path = ls.theory.limit(setting, runs)
    assert apart(runs, path) < 0.01
    assert apart(path, path.isel(step=[0, 0]).assign_coords(step=path.step)) > 0.1
    errors = [each.generalisation_error.isel(step=-1) for each in (runs, path)]
    np.testing.assert_allclose(*errors, rtol=0.02)


@pytest.mark.parametrize(("activation", "close"), [("he2", 1e-9), ("erf", 1e-3)])
def test_sums_over_four_variables_are_sums_over_all(float64, activation, close):
    """Filters that are nearly the same, too."""
    at, rows = overlap(2, 2)
    rows[1] = rows[0] + 1e-4 * rows[1]
    near = theory.Overlap(jnp.asarray(rows[:, :2]), jnp.asarray(rows @ rows.T))
    task = theory.Task(activation, "he2", jnp.asarray([1.0, 0.5]), 0.3, True)
    forms = theory.paired_moments, theory.sampled_moments
    for place in (at, near):
        one, two = quick(lambda at: [form(task, at) for form in forms])(place)
        np.testing.assert_allclose(one.along, two.along, rtol=close, atol=close)
        np.testing.assert_allclose(one.squares, two.squares, rtol=close, atol=10 * close)


@pytest.mark.slow
def test_six_variables_have_a_limit():
    setting = committee(3, dim=10**6, batch=10**4, steps=20, link="he2", rate=0.3, teacher=3,
                        every=20)  # fmt: skip
    runs = run(setting, seeds=1)
    path = ls.theory.limit(setting, runs)
    assert apart(runs, path) < 0.01
    assert apart(path, path.isel(step=[0, 0]).assign_coords(step=path.step)) > 0.03


def test_information_exponents_of_joint_links_in_any_number_of_directions():
    assert theory.information_exponent("product", 12) == 12
    assert theory.information_exponent("staircase", 12) == 1
    assert theory.information_exponent(SignOf("erf"), 12) == 1
    assert theory.information_exponent(SignOf("he2"), 1) == 2


def test_the_exit_of_the_limit_is_where_its_alignment_is():
    setting = committee(1, dim=10**5, batch=100, steps=4000, teacher=1, rate=1.0)
    setting = setting.replace("rule", ls.rules.SphericalDescent(rate=1e-3, loss="correlation"))
    start = run(setting.replace("steps", 1), seeds=2)
    found = ls.theory.exit_time(setting, 0.5, start)
    assert found.dims == ("seed",) and ((found > 100) & (found < 4000)).all()
    for seed in (0, 1):
        until = setting.replace("steps", int(found[seed])).replace("record.every", 1)
        path = ls.theory.limit(until, start.isel(seed=[seed]))
        norm = np.sqrt(path.student_overlap[0, -2:, 0, 0])
        cosine = np.abs(path.teacher_overlap[0, -2:, 0, 0]) / norm
        share = float(found[seed]) % 1
        at = cosine[-1] + share * (cosine[-1] - cosine[-2])
        assert float(at) == pytest.approx(0.5, abs=1e-5)
    assert (ls.theory.exit_time(setting, 1e-6, start) == 0).all()
    assert np.isnan(ls.theory.exit_time(setting.replace("steps", 5), 0.5, start)).all()
    refused(lambda: ls.theory.exit_time(setting, 1.5), "between 0 and 1")
