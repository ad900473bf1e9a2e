"""Probes of self-supervised runs against NumPy on ambient data, and where they degenerate.

Wen and Li (2022): Figures 1, 3, 7, equation 3.3 and section 5. All in float64.
"""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.probes.pairs import correlations, effective_rank
from learnscope.space import Columns, Frame
from learnscope.tools import collapse_report
from tests.law import assert_mean
from tests.reference import pairs as reference
from tests.small import quick, refused, signals, strong_weak

KEY, DIM = jax.random.key(2), 6
SIZES = {"patches": 6, "feature_patches": 2, "batch": 4, "test": 300}
DATA = strong_weak(DIM, strengths=(1.5, 1.2), noise=0.7, frequencies=(1, 2), **SIZES)
MANY = DATA.replace("test", 60_000)
RULE = ls.rules.NonContrastive(rate=0.1, head_rate=0.1)


@functools.cache
def problem_of(model=DATA):
    with jax.enable_x64(True):
        return quick(model.sample)(KEY)


def state_of(w, rule=RULE, problem=None, head=None, target=None):
    """A state at given weights; its net has as many neurons as there are."""
    problem = problem_of() if problem is None else problem
    state = rule.init(ls.nets.PatchEncoder(width=len(w)), problem, KEY, {"filters": jnp.asarray(w)})
    if head is not None:
        state = eqx.tree_at(lambda s: s.memory.head, state, head)
    if target is not None:
        state = eqx.tree_at(lambda s: s.memory.target, state, {"filters": jnp.asarray(target)})
    return state


def weights(width, seed=0):
    return np.random.default_rng(seed).normal(size=(width, DIM))


def outputs(w, problem=None):
    problem = problem_of() if problem is None else problem
    return reference.encode(np.asarray(w), np.asarray(problem.test.x))


def test_strengths_and_shares(float64):
    w, x = weights(3), np.asarray(problem_of().test.x)
    found = ls.probes.FeatureStrengths()(state_of(w), problem_of())
    np.testing.assert_allclose(found["strength"], w[:, :2], rtol=1e-14)
    np.testing.assert_allclose(found["noise_norm"], np.linalg.norm(w[:, 2:], axis=1), rtol=1e-14)
    found = ls.probes.FeatureShares()(state_of(w), problem_of())
    for feature in range(2):
        only = np.where(np.arange(DIM) == feature, x, 0)
        right = reference.encode(w, only).var(0) / outputs(w).var(0)
        np.testing.assert_allclose(found[:, feature], right, rtol=1e-12)


@pytest.mark.parametrize("head", ["matrix", "mlp"])
@pytest.mark.parametrize("how", ["batch", "l2", "none"])
@pytest.mark.parametrize("own", [False, True])
def test_pair_loss(float64, head, how, own):
    rng, w = np.random.default_rng(1), weights(3)
    given = {"matrix": rng.normal(size=(3, 3))}
    if head == "mlp":
        given = {"first": rng.normal(size=(5, 3)), "first_bias": rng.normal(size=5),
                 "second": rng.normal(size=(3, 5)), "second_bias": rng.normal(size=3)}  # fmt: skip
    rule = ls.rules.NonContrastive(
        rate=0.1, head_rate=0.1, head="linear" if head == "matrix" else "mlp", hidden=5,
        normalise=how, target="ema" if own else "shared",
    )  # fmt: skip
    target = weights(3, 5) if own else None
    state = state_of(w, rule, head=jax.tree.map(jnp.asarray, given), target=target)
    found = ls.probes.PairLoss()(state, problem_of())
    views = [np.asarray(v) for v in problem_of().viewed(problem_of().test, jax.random.key(0))]
    np.testing.assert_allclose(views[0] + views[1], problem_of().test.x)
    how = {"normalise": how, "both_ways": False}
    right = reference.loss(w, target if own else w, given, views, how)
    assert float(found) == pytest.approx(right, rel=1e-12)


def test_head_off_diagonal(float64):
    def read(matrix):
        state = state_of(weights(len(matrix)), head={"matrix": jnp.asarray(matrix, float)})
        return ls.probes.HeadOffDiagonal()(state, problem_of())

    matrix = np.array([[1.0, 0.3, -0.2], [0.1, 1.0, 0.0], [0.5, 0.4, 1.0]])
    found = read(matrix)
    np.testing.assert_array_equal(found["head"], matrix - np.eye(3))
    norm = np.sqrt(0.09 + 0.04 + 0.01 + 0.25 + 0.16)
    assert float(found["head_norm"]) == pytest.approx(norm)
    skew = np.sqrt(2 * (0.2**2 + 0.7**2 + 0.4**2))
    assert float(found["head_asymmetry"]) == pytest.approx(skew / norm)
    # Asymmetry from none to all, whatever the diagonal.
    for upper, lower, asymmetry in ((0, 0, 0), (1, 1, 0), (1, -1, 2), (1, 0, 2**0.5)):
        for diagonal in (0.0, 1.0, 3.0):
            found = read([[diagonal, upper], [lower, diagonal]])
            assert float(found["head_asymmetry"]) == pytest.approx(asymmetry, rel=1e-12)


def right_rank(matrix):
    values = np.clip(np.linalg.eigvalsh(matrix), 0, None)
    shares = values[values > 0] / values.sum()
    return np.exp(-(shares * np.log(shares)).sum())


def test_correlations_and_their_histogram(float64):
    w = weights(5)
    w[1] = w[0] + 0.1 * w[1]
    found = ls.probes.NeuronCorrelation(bins=10)(state_of(w), problem_of())
    right = np.corrcoef(outputs(w).T)
    np.testing.assert_allclose(found["correlation"], right, atol=1e-12)
    apart = right[~np.eye(5, dtype=bool)]
    counts, _ = np.histogram(apart, bins=np.linspace(-1, 1, 11))
    np.testing.assert_allclose(found["correlation_share"], counts / 20, atol=1e-12)
    assert float(found["correlation_size"]) == pytest.approx(np.abs(apart).mean())
    assert float(found["effective_rank"]) == pytest.approx(right_rank(right))
    # The rank is that of the collapse report.
    for width, dead in ((2, 0), (5, 0), (5, 2)):
        w = weights(width, 3)
        w[:dead] = 0
        found = ls.probes.NeuronCorrelation()(state_of(w), problem_of())
        report, rank = collapse_report(outputs(w)), float(found["effective_rank"])
        assert rank == pytest.approx(report.effective_rank_standardised, rel=1e-10)
        np.testing.assert_allclose(found["correlation"], report.correlation, atol=1e-12)
        assert abs(rank - report.effective_rank) > 1e-3  # the other is not the same


def test_inputs_of_any_kind_are_read_alike(float64):
    """In compressed coordinates, and by columns as the engine keeps them."""
    problem = quick(DATA.sample)(KEY, Frame(jnp.asarray(float(DIM)), 2 + 5 * 3, seen=5))
    by_columns = eqx.tree_at(lambda p: p.test.x, problem, (Columns.of(problem.test.x[0]),))
    w = np.random.default_rng(0).normal(size=(3, 17))
    probes = (ls.probes.FeatureShares(), ls.probes.NeuronCorrelation(), ls.probes.PairLoss())
    for probe in probes:
        one, other = (probe(state_of(w, problem=p), p) for p in (problem, by_columns))
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    x = np.asarray(problem.test.x[0])
    found = probes[1](state_of(w, problem=by_columns), by_columns)
    right = np.corrcoef(reference.encode(w, x).T)
    np.testing.assert_allclose(found["correlation"], right, atol=1e-12)
    views, how = (x[:, :3], x[:, 3:]), {"normalise": "batch", "both_ways": False}
    right = reference.loss(w, w, {"matrix": np.eye(3)}, views, how)
    assert float(probes[2](state_of(w, problem=problem), problem)) == pytest.approx(right)


def test_a_neuron_that_is_constantly_zero(float64):
    w = weights(3)
    w[1] = 0
    state, problem = state_of(w), problem_of()
    found = ls.probes.NeuronCorrelation()(state, problem)
    for line in (found["correlation"][1], found["correlation"][:, 1]):
        assert (np.asarray(line) == 0).all()
    right = np.corrcoef(outputs(w)[:, [0, 2]].T)
    np.testing.assert_allclose(found["correlation"][::2, ::2], right, atol=1e-12)
    assert float(found["effective_rank"]) == pytest.approx(right_rank(right))
    assert (np.asarray(ls.probes.FeatureShares()(state, problem))[1] == 0).all()
    assert np.isfinite(ls.probes.PairLoss()(state, problem))
    found = ls.probes.FeatureStrengths()(state, problem)
    assert (np.asarray(found["strength"])[1] == 0).all() and float(found["noise_norm"][1]) == 0
    moments = ls.probes.PopulationMoments()(state, problem)
    for name in ("population_share", "population_correlation"):
        assert (np.asarray(moments[name])[1] == 0).all()
    assert float(moments["population_rank"]) <= 2 + 1e-12
    assert np.isfinite(moments["population_loss"])
    # Nothing at all.
    found = ls.probes.NeuronCorrelation()(state_of(np.zeros((2, DIM))), problem)
    assert float(found["effective_rank"]) == 0 and float(found["correlation_size"]) == 0
    assert np.isfinite(np.concatenate([np.ravel(v) for v in found.values()])).all()


def test_one_neuron(float64):
    w = weights(1)
    found = ls.probes.NeuronCorrelation(bins=4)(state_of(w), problem_of())
    np.testing.assert_allclose(found["correlation"], [[1.0]], atol=1e-12)
    assert float(found["effective_rank"]) == pytest.approx(1)
    for name in ("correlation_size", "correlation_share"):  # there are no pairs
        assert (np.asarray(found[name]) == 0).all()
    head = ls.probes.HeadOffDiagonal()(state_of(w), problem_of())
    assert float(head["head_norm"]) == float(head["head_asymmetry"]) == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_copies_and_opposite_copies(float64, sign):
    w = weights(2)
    w[1] = sign * 2 * w[0]
    found = ls.probes.NeuronCorrelation(bins=20)(state_of(w), problem_of())
    moments = ls.probes.PopulationMoments()(state_of(w), problem_of())
    for values in (found["correlation"], moments["population_correlation"]):
        np.testing.assert_allclose(values, [[1, sign], [sign, 1]], atol=1e-12)
    share = np.asarray(found["correlation_share"])
    assert share[19 if sign > 0 else 0] == pytest.approx(1) and share.sum() == pytest.approx(1)
    assert float(found["correlation_size"]) == pytest.approx(1)
    report = collapse_report(outputs(w)).effective_rank_standardised
    for rank in (found["effective_rank"], report, moments["population_rank"]):
        assert float(rank) == pytest.approx(1, abs=1e-6)


def test_formulas_of_covariances(float64):
    np.testing.assert_allclose(correlations(jnp.diag(jnp.array([4.0, 0.0]))), [[1, 0], [0, 0]])
    found = correlations(jnp.array([[4.0, 3.0], [3.0, 9.0]]))
    np.testing.assert_allclose(found, [[1, 0.5], [0.5, 1]])
    for values, rank in (([1, 1, 1], 3), ([1, 0, 0], 1), ([0, 0, 0], 0),
                         ([0.5, 0.25, 0.25], 2**1.5)):  # fmt: skip
        matrix = jnp.diag(jnp.array(values, float))
        assert float(effective_rank(matrix)) == pytest.approx(rank)
        assert float(effective_rank(7 * matrix)) == pytest.approx(rank)


def test_population_moments_are_the_formula(float64):
    law, w, target = reference.Population(DATA), weights(3), weights(3, 4)
    matrix = np.eye(3) + 0.2 * np.random.default_rng(3).normal(size=(3, 3))
    for how, own in itertools.product(("batch", "none"), (False, True)):
        rule = RULE.replace("normalise", how).replace("target", "ema" if own else "shared")
        head = {"matrix": jnp.asarray(matrix)}
        state = state_of(w, rule, head=head, target=target if own else None)
        found = ls.probes.PopulationMoments()(state, problem_of())
        right = law.loss(w, target if own else w, matrix, how)
        assert float(found["population_loss"]) == pytest.approx(right, rel=1e-12)
    cov = law.covariance(w)
    right = cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    np.testing.assert_allclose(found["population_correlation"], right, atol=1e-12)
    assert float(found["population_rank"]) == pytest.approx(right_rank(right))
    shares = law.within * w[:, :2] ** 6 / np.diag(cov)[:, None]
    np.testing.assert_allclose(found["population_share"], shares, rtol=1e-12)


def test_population_moments_are_those_of_many_views(float64):
    """60,000 test examples in 20 blocks. Moments are of one view; an example as a whole has shares
    and correlations of its own, which the two sample probes give, and these are compared with the
    moments of P0^2 feature patches and P - P0 noise patches."""
    problem, w = problem_of(MANY), 0.8 * weights(3)
    state = state_of(w, problem=problem)
    moments = ls.probes.PopulationMoments()(state, problem)
    view = np.asarray(problem.viewed(problem.test, jax.random.key(0))[0])
    x = np.asarray(problem.test.x)

    def sampled(x):
        f = reference.encode(w, x)
        only = [np.where(np.arange(DIM) == i, x, 0) for i in range(2)]
        shares = np.stack([reference.encode(w, part).var(0) for part in only], axis=1)
        pairs = np.corrcoef(f.T)[np.triu_indices(3, 1)]
        return np.concatenate([pairs, (shares / f.var(0)[:, None]).ravel()])

    def near(inputs, correlation, share):
        blocks = np.array([sampled(part) for part in np.split(inputs, 20)])
        blocks += sampled(inputs) - blocks.mean(0)  # less biased than the mean of blocks
        right = np.concatenate([np.asarray(correlation)[np.triu_indices(3, 1)], np.ravel(share)])
        assert_mean(blocks, right)
        assert blocks.std(0).max() / 20**0.5 < 0.03

    near(view, moments["population_correlation"], moments["population_share"])
    # A whole example: P0^2 instead of E k^2, and all noise patches instead of half of them.
    whole = reference.Population(MANY)
    whole.within = np.array([1, 2]) / 3 * 4 * np.array([1.5, 1.2]) ** 6
    whole.noise *= 2
    cov = whole.covariance(w)
    spread = np.sqrt(np.diag(cov))
    near(x, cov / np.outer(spread, spread), whole.within * w[:, :2] ** 6 / np.diag(cov)[:, None])
    # The probes are what was compared, and so is the loss.
    found = sampled(x)
    shares = ls.probes.FeatureShares()(state, problem)
    np.testing.assert_allclose(found[3:], np.ravel(shares), rtol=1e-9)
    matrix = ls.probes.NeuronCorrelation()(state, problem)["correlation"]
    np.testing.assert_allclose(found[:3], np.asarray(matrix)[np.triu_indices(3, 1)], atol=1e-9)
    loss = float(ls.probes.PairLoss()(state, problem))
    assert loss == pytest.approx(float(moments["population_loss"]), rel=0.03)


def test_what_probes_cannot_see(float64):
    w, problem, probes = weights(2), problem_of(), ls.probes

    plain = state_of(w, ls.rules.Contrastive(rate=0.1))
    mlp = state_of(w, RULE.replace("head", "mlp"))
    sphere = state_of(w, RULE.replace("normalise", "l2"))
    net = ls.nets.PatchEncoder(width=2, activation="relu")
    relu = RULE.init(net, problem, KEY, {"filters": jnp.asarray(w)})
    other = quick(DATA.replace("noise_law", "uniform").sample)(KEY)
    signs, cnn = quick(signals(dim=6).sample)(KEY), ls.nets.PatchCNN(width=1)
    descent = ls.rules.GradientDescent(rate=0.1).init(cnn, signs, KEY, cnn.init(KEY, signs))
    gaussian = "need the data model StrongWeak with Gaussian noise"
    head = "needs a rule with a predict"
    for kind, state, data, words in (
        *((getattr(probes, name), plain, problem, f"{name} {head}")
          for name in ("PairLoss", "HeadOffDiagonal", "PopulationMoments", "Phase")),
        (probes.HeadOffDiagonal, mlp, problem, "HeadOffDiagonal needs a linear head, not an mlp"),
        (probes.PopulationMoments, mlp, problem, "needs a linear head and normalise"),
        (probes.PopulationMoments, sphere, problem, "needs a linear head and normalise"),
        (probes.PopulationMoments, relu, problem, "needs a net with cubic neurons"),
        (probes.PopulationMoments, state_of(w, problem=other), other, gaussian),
        (probes.Phase, state_of(w, problem=other), other, gaussian),
        (probes.FeatureStrengths, descent, signs, "needs the data model's 'features'"),
        (probes.FeatureShares, descent, signs, "needs the data model's 'features'"),
        (probes.NeuronCorrelation, descent, signs, "needs a net with several outputs"),
        (probes.Phase, state_of(weights(1)), problem, "at least two neurons and two features"),
    ):  # fmt: skip
        refused(lambda k=kind, s=state, d=data: k()(s, d), words)
