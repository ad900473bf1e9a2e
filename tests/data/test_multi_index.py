"""Online learning of a teacher: compressed runs are ambient ones, path by path and in law."""

import dataclasses
import functools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import AbstractBatches, Samples, link_of
from learnscope.lab import one_run
from learnscope.space import Frame
from tests import law
from tests.small import quick, refused, refuses, run

KEY = jax.random.key(0)
DIM, SEEDS, WIDTH, TEACHER = 30, 1500, 2, 2
RECORDED = (1, 9)
SPHERE = ls.rules.SphericalDescent(rate=0.05)
PLAIN = ls.rules.GradientDescent(rate=0.05, loss="squared")

AWARE = ls.rules.SharpnessAware(rate=0.05, radius=0.3, loss="squared")


def committee(width=WIDTH, activation="erf", **given):
    setting = {"scale": 0.15, "bias": False, "symmetric": False, "second_layer": "sum"}
    return ls.nets.TwoLayer(width, activation, **setting | given)


def experiment(rule: Any = PLAIN, steps=9, net=None, **data):
    setting = {"dim": DIM, "directions": TEACHER, "link": "erf", "test": 5, "noise": 0.1}
    model = ls.data.MultiIndex(**setting | data)
    probes = (ls.probes.Overlaps(),)
    return ls.Experiment(model, net or committee(), rule, steps, probes, ls.Record(every=1))


class Given(AbstractBatches):
    """The examples of one step."""

    fresh: ClassVar[bool] = True
    samples: Samples

    def __call__(self, problem, key):
        return self.samples


@pytest.mark.parametrize(
    ("rule", "second_layer", "width", "batch"),
    [
        (PLAIN, "trained", 3, 3),
        (SPHERE, "sum", 4, 4),
        (PLAIN, "trained", 4, 2),
        (SPHERE, "sum", 3, 1),
    ],
)
def test_a_turned_frame_is_the_ambient_run_path_by_path(float64, rule, second_layer, width, batch):
    """The same examples in R^50, and in coordinates that are turned after each step."""
    dim = 50
    net = committee(width, second_layer=second_layer)
    model = ls.data.MultiIndex(dim, TEACHER, "erf", noise=0.1, batch=batch, test=2)
    problem = model.sample(KEY)
    state = rule.init(net, problem, KEY)
    draw = np.random.default_rng(0)

    frame = Frame(
        jnp.asarray(float(dim)), TEACHER + 2 * width + batch, TEACHER, seen=TEACHER + 2 * width
    )
    teacher = np.asarray(problem.directions["teacher"])
    start = np.asarray(state.params["filters"])
    known = np.linalg.qr(np.concatenate([teacher, start]).T)[0].T
    known[:TEACHER] = teacher
    tail = completed(known, np.zeros((0, dim)), width)
    small = jax.tree.map(jnp.asarray, dataclasses.replace(
        state, params=lowered(state.params, known, frame.rank),
        start=lowered(state.start, known, frame.rank),
    ))  # fmt: skip
    compressed = dataclasses.replace(problem, frame=frame)

    @quick
    def step(state, problem, x, y):
        given = dataclasses.replace(problem, batches=Given(Samples(x, y)))
        plain = rule.step(state, given, KEY)
        return plain, rule.refreshed(plain, given)

    for _ in range(8):
        x = draw.normal(size=(batch, dim))
        y = np.asarray(link_of("erf")(jnp.asarray(x @ teacher.T)))
        state, _ = step(state, problem, jnp.asarray(x), jnp.asarray(y))
        basis = np.concatenate([known, tail])
        new = completed(basis, x - x @ basis.T @ basis, batch)
        basis = np.concatenate([basis, new])
        before, small = step(small, compressed, (jnp.asarray(x @ basis.T),), jnp.asarray(y))
        filters = np.asarray(small.params["filters"])
        outside = np.asarray(before.params["filters"])[:, len(known) :] @ basis[len(known) :]
        triangle = filters[:, len(known) : len(known) + width]
        tail = rotation(triangle, outside, known)
        lifted = filters[:, :-batch] @ np.concatenate([known, tail])
        np.testing.assert_allclose(lifted, state.params["filters"], atol=1e-10)
        np.testing.assert_array_equal(filters[:, -batch:], 0)
        if second_layer == "trained":
            np.testing.assert_allclose(small.params["second"], state.params["second"], atol=1e-10)
    assert np.abs(lifted - start).max() > 0.01


def completed(basis, rows, count):
    """`count` more orthonormal rows: the span of `rows` first."""
    more = np.random.default_rng(1).normal(size=(count, basis.shape[1]))
    whole = np.linalg.qr(np.concatenate([basis, rows, more]).T)[0].T
    return whole[len(basis) : len(basis) + count]


def rotation(triangle, rows, known):
    """Orthonormal rows beyond known ones, of which a triangle makes some rows: fewer examples than
    filters have been seen at first, and then several fit."""
    left, sizes, right = np.linalg.svd(triangle.T @ rows, full_matrices=False)
    rank = (sizes > 1e-14 * sizes[0]).sum()
    seen = np.concatenate([known, right[:rank]])
    right[rank:] = completed(seen, right[:0], len(right) - rank)
    return left @ right


def lowered(params, known, rank):
    filters = np.asarray(params["filters"]) @ known.T
    return params.replace(filters=np.pad(filters, ((0, 0), (0, rank - len(known)))))


def inner_products(state):
    """All that inner products tell: overlaps with the teacher, and of filters now and at first; and
    a trained second layer."""
    rows = jnp.concatenate([state.params["filters"], state.start["filters"]])
    products = (rows @ rows.T)[np.tril_indices(len(rows))]
    found = [rows[:WIDTH, :TEACHER].ravel(), products]
    second = state.params["second"]
    return jnp.concatenate(found if second is None else [*found, second])


LAWS: dict[str, Any] = {
    "few examples": {"batch": 1},
    "many examples": {"batch": 7},
    "sphere": {"batch": 3, "rule": SPHERE},
    "repeated": {"batch": 4, "repeats": 3},
    "twins": {"batch": 2, "net": committee(symmetric=True, second_layer="trained")},
    "sharpness": {"batch": 3, "rule": AWARE},
    "both layers": {"batch": 3, "net": committee(second_layer="trained")},
    "own link": {"batch": 2, "link": lambda z: z[0] * jnp.tanh(z[1]) + z[1]},
}


@functools.cache
def simulate(name, how, first, dim=DIM):
    setting = experiment(**LAWS[name])

    def one(seed, dim):
        varying = {"data.dim": dim} if how == "compressed" else {}
        drawn = one_run(setting, seed, how, varying=varying)
        return jnp.stack([inner_products(drawn.after(step).state) for step in RECORDED])

    seeds = jnp.arange(first, first + SEEDS, dtype=jnp.uint32)
    walk = quick(lambda seeds, dim: jax.vmap(lambda seed: one(seed, dim))(seeds), 1)
    return np.asarray(walk(seeds, jnp.asarray(float(dim))))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "sphere")) for n in LAWS]
)
def test_compressed_runs_have_the_ambient_law(name):
    """False alarms: 1e-5 (tests/law.py). A dimension of 40 instead of 30 is told."""
    ambient = simulate(name, "ambient", SEEDS)
    law.assert_law(simulate(name, "compressed", 0), ambient)
    law.assert_other_law(simulate(name, "compressed", 0, 40), ambient, by=3)


def test_any_dimension_is_one_program_and_stays_finite():
    setting = experiment(steps=20, batch=2, dim=10**12, net=committee(scale=1e-6))
    data = run(setting, {"data.dim": [100, 10**6, 10**12]}, seeds=2)
    assert data.attrs["coordinates_used"] == "compressed"
    assert np.isfinite(data.student_overlap).all()


def test_fixed_examples_and_signs():
    model = ls.data.MultiIndex(DIM, 1, "he3", train=6, batch=None, signs=True, test=4)
    problem = quick(lambda: model.sample(KEY))()
    assert problem.train.x.shape == (6, DIM) and not problem.batches.fresh
    z = np.asarray(problem.train.x[:, 0], float)
    np.testing.assert_array_equal(problem.train.y, np.where(z**3 - 3 * z < 0, -1, 1))
    setting = experiment(train=6, batch=None)
    both = [run(setting, seeds=2, coordinates=how, precision="float64")
            for how in ("ambient", "rotate")]  # fmt: skip
    for name in ("teacher_overlap", "student_overlap"):
        np.testing.assert_allclose(both[0][name], both[1][name], atol=1e-10)


def test_what_cannot_be_compressed_says_why():
    from learnscope.engine import trial

    twins = experiment(net=ls.nets.TwoLayer(2, "relu"))
    for setting in (experiment(), twins, experiment(AWARE)):
        assert trial._tried.__wrapped__(_keyed(setting)) is None
    adam = ls.rules.GradientDescent(rate=0.1, loss="squared", optimiser="adam")
    refused(lambda: run(experiment(adam, dim=10**12)), "TB in ambient coordinates (", "adam")
    heavy = ls.rules.GradientDescent(rate=0.1, loss="squared", options={"momentum": 0.9})
    assert run(experiment(heavy)).attrs["coordinates_used"] == "ambient"


def _keyed(setting):
    from learnscope.engine.experiment import Keyed

    return Keyed(("compressed",), setting)


def test_spherical_steps_are_those_of_the_formula(float64):
    setting = experiment(SPHERE, batch=4)
    drawn = one_run(setting, 1, "ambient", "float64")
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), 2), 0)  # of the first step
    batch = drawn.problem.batch(key)
    w, x, y = (np.asarray(v) for v in (drawn.state.params["filters"], batch.x, batch.y))
    h = x @ w.T
    from scipy.special import erf

    delta = erf(h / 2**0.5).sum(1) - y
    slope = (delta[:, None] * (2 / np.pi) ** 0.5 * np.exp(-(h**2) / 2)).T @ x / len(x)
    unit = w / np.linalg.norm(w, axis=1, keepdims=True)
    v = w - 0.05 * (slope - (slope * unit).sum(1, keepdims=True) * unit)
    right = v / np.linalg.norm(v, axis=1, keepdims=True) * np.linalg.norm(w, axis=1, keepdims=True)
    np.testing.assert_allclose(drawn.after(1).state.params["filters"], right, atol=1e-12)


def test_a_filter_that_starts_at_zero_stays_on_its_sphere():
    data = run(experiment(SPHERE, net=committee(scale=0.0)))
    assert (data.student_overlap == 0).all() and (data.teacher_overlap == 0).all()


def test_repeated_batches_are_the_same_examples_for_so_many_steps(float64):
    """Three steps in R^d against the formula, on the examples of the first."""
    drawn = one_run(experiment(batch=4, repeats=3), 1, "ambient", "float64")
    key = jax.random.key(1)
    batches = [drawn.problem.batches.at(jnp.asarray(t), key) for t in range(4)]
    x = [np.asarray(each(drawn.problem, KEY).x) for each in batches]
    assert (x[0] == x[1]).all() and (x[0] == x[2]).all() and (x[0] != x[3]).all()
    assert [bool(each.reused()) for each in batches] == [True, True, False, True]
    batch = drawn.problem.batches.at(jnp.asarray(0), jax.random.fold_in(key, 2))(drawn.problem, KEY)
    w, x, y = (np.asarray(v) for v in (drawn.state.params["filters"], batch.x, batch.y))
    from scipy.special import erf

    for _ in range(3):
        h = x @ w.T
        delta = erf(h / 2**0.5).sum(1) - y
        w = w - 0.05 * (delta[:, None] * (2 / np.pi) ** 0.5 * np.exp(-(h**2) / 2)).T @ x / len(x)
    np.testing.assert_allclose(drawn.after(3).state.params["filters"], w, atol=1e-12)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (lambda z: z, "the shape (2,)"),
        (lambda z: z[:1], "the shape (1,)"),
        (lambda z: z[5], "more than the 2 projections"),
        (jax.jit(lambda z: jnp.tanh(z[5])), "more than the 2 projections"),
        (lambda z: np.tanh(z[0]), "jax.numpy"),
        (lambda z: z[0] if z[0] > 0 else z[1], "jnp.where"),
        (lambda z: (z[0], z[1]), "one number"),
        (lambda z, other: z[0], "TypeError"),
        (lambda z: z[0] + 1j, "real number"),
    ],
)
def test_a_link_that_does_not_fit_is_refused_in_a_sentence(link, words):
    refused(lambda: ls.data.MultiIndex(30, 2, link), words, match=r"MultiIndex\.link")


def test_own_links_that_fit():
    for link in (lambda z: z[-1], lambda z: z.at[0].set(1.0).sum(), lambda z: jnp.sign(z[0]) > 0):
        ls.data.MultiIndex(30, 2, link)
    for link in (lambda z: z.sum(), lambda z: jnp.max(z)):  # fits any number of directions
        ls.data.MultiIndex(30, 3, link).replace("directions", 5)


def test_refusals():
    refuses(functools.partial(ls.data.MultiIndex, 30, 2), {
        "link": {"link": "cosine"}, "batch = 9": {"batch": 9, "train": 4},
        "repeats": {"repeats": 2, "train": 4},
    }, match=r"MultiIndex\.")  # fmt: skip
    refuses(functools.partial(ls.nets.TwoLayer, 3), {
        "smoothing": {"activation": "erf", "smoothing": 0.1},
        "second_layer": {"second_layer": "sum"},
    }, match=r"TwoLayer\.")  # fmt: skip
