"""XOR clusters: the definition, the law in compressed coordinates, and a run in 10^9 dimensions."""

import functools
import inspect
import re
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.data import Columns, Frame, XorClusters
from tests.law import assert_counts, assert_law, assert_other_law
from tests.small import HERE, quick, refuses

USUAL = {"dim": 20, "train": 6, "test": 4000, "signal": 2.0, "noise": 0.5}


@pytest.mark.parametrize("changes", [{}, {"ratio": 0.5}, {"cosine": -0.6, "ratio": 2.0}])
def test_patches_are_those_of_the_definition(changes, float64):
    model = XorClusters(**USUAL, flip=0.2, **changes)
    problem = jax.tree.map(np.asarray, quick(model.sample)(jax.random.key(1)))
    u, v = (problem.directions[name] for name in "uv")
    np.testing.assert_allclose(u @ u, 4.0)
    np.testing.assert_allclose(v @ v, 4.0 * model.ratio**2)
    np.testing.assert_allclose(u @ v, 4.0 * model.ratio * model.cosine, atol=1e-12)
    np.testing.assert_allclose(problem.directions["centres"], [u + v, u - v], atol=1e-12)
    signal, noise = np.moveaxis(problem.test.x, 1, 0)
    centres = np.stack([u + v, -u - v, u - v, v - u])
    apart = np.abs(signal[:, None] - centres[None]).max(2)
    which = apart.argmin(1)
    np.testing.assert_allclose(apart.min(1), 0, atol=1e-12)
    flips = problem.test.y != np.where(which < 2, 1, -1)
    assert_counts(np.bincount(2 * which + flips), np.tile([0.2, 0.05], 4))
    np.testing.assert_allclose(noise @ np.stack([u, v]).T, 0, atol=1e-12)
    # The other 18 dimensions: squared lengths are those of a chi-square variable.
    assert_law({"length": (noise**2).sum(1) / 0.25}, {"length": stats.chi2(18)})
    assert_other_law({"length": (noise**2).sum(1) / 0.25}, {"length": stats.chi2(20)})


FEW = {"train": 3, "test": 3, "signal": 1.0, "noise": 0.3, "flip": 0.1, "ratio": 0.7, "cosine": 0.4}
PAIRS = [(i, j) for i in range(12) for j in range(i + 1)]


@functools.cache
def drawn(dim, compressed, draws=3000, **changes):
    """Inner products of the patches of three training examples and of three test examples (not of
    test patches with themselves: only what weights can see of them is drawn), and labels."""
    model = XorClusters(dim, **FEW | changes)

    def one(key):
        frame = Frame(jnp.asarray(float(dim)), model.span) if compressed else None
        problem = model.sample(key, frame)
        rank = problem.frame.rank
        patches = []
        for samples in (problem.train, problem.test):
            x = Columns.undone(samples.x)
            leaves = x if isinstance(x, tuple) else (x[:, 0], x[:, 1])
            patches += [jnp.pad(leaf, ((0, 0), (0, rank - leaf.shape[1]))) for leaf in leaves]
        rows = jnp.concatenate(patches)
        gram = rows @ rows.T
        seen = jnp.stack([gram[i, j] for i, j in PAIRS if j < 6])
        return jnp.concatenate([seen, problem.train.y * problem.test.y])

    first = 0 if compressed else draws
    keys = jax.vmap(jax.random.key)(jnp.arange(first, first + draws))
    values = np.asarray(quick(jax.vmap(one))(keys), float)
    return values[:, values.std(0) > 1e-9]


@pytest.mark.parametrize("dim", [9, 40])
def test_compressed_draws_have_the_ambient_law(dim):
    assert_law(drawn(dim, True), drawn(dim, False))


def test_another_law_would_be_seen():
    # Another dimension; another angle; a few more flips would take more draws.
    assert_other_law(drawn(60, True), drawn(40, False), by=3)
    assert_other_law(drawn(40, True, cosine=0.3), drawn(40, False), by=3)


def test_a_run_in_a_billion_dimensions():
    experiment = ls.Experiment(
        XorClusters(10**9, train=40, test=400, signal=6.0, noise=1e-4),
        ls.nets.PatchCNN(width=20, activation="relu", scale=1e-6, second_layer="mean"),
        ls.rules.GradientDescent(rate=0.1), steps=200, record=ls.Record(every=100),
        probes=[ls.probes.TestAccuracy(), ls.probes.CentreCosines()],
    )  # fmt: skip
    result = ls.run(experiment, {"data.cosine": [0.0, 0.3]}, seeds=2)
    assert result.attrs["coordinates_used"] == "compressed"
    assert (result.test_accuracy.isel(step=-1) > 0.99).all()
    linear = ls.run(experiment.replace("net", ls.nets.Linear()), seeds=2)
    assert (abs(linear.test_accuracy.isel(step=-1) - 0.5) < 0.1).all()


def test_an_example_is_new():
    model = XorClusters(**USUAL | {"test": 5}, flip=0.2)
    problem = model.sample(jax.random.key(1))
    many = quick(jax.vmap(lambda key: model.example(key, problem)))
    fresh = many(jax.random.split(jax.random.key(2), 2000))
    seen = np.asarray(fresh.x[:, 0] @ jnp.stack([problem.directions[name] for name in "uv"]).T) / 4
    np.testing.assert_allclose(np.abs(seen), 1, rtol=1e-5)
    assert np.mean(fresh.y == np.sign(seen.prod(1))) == pytest.approx(0.8, abs=0.05)


def test_what_does_not_fit_together_is_refused():
    bad = {
        "batch = 7 .*at most 6": {"batch": 7},
        "cosine = 2": {"cosine": 2},
        "dim = 2": {"dim": 2},
    }
    refuses(lambda **given: XorClusters(**USUAL | given), bad, r"XorClusters\.")


def test_the_page_shows_the_code():
    page = (HERE / "docs" / "extending" / "data.md").read_text()
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    source = textwrap.dedent(inspect.getsource(XorClusters))
    for block in shown.strip().split("\n\n"):
        assert textwrap.indent(block, "    ") in source
