"""Probes of class noise at the edges: dead neurons, absent classes, tiny residuals, wrong parts.

That they are right in the middle is in tests/reference/test_reference_benign.py.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope import probes
from learnscope.data import MatrixFactors, Problem, Samples
from learnscope.space import Frame
from tests import small

CLASSES, DIM = 3, 6
# Features along the first three axes; the noise of class k is strongest along axis 3 + k.
FEATURES = np.eye(3, DIM)
MATRICES = np.stack([np.diag([0.0] * 3 + [3.0 if i == k else 1.0 for i in range(3)])
                     for k in range(3)])  # fmt: skip
AXES = np.eye(DIM)


def samples(noise, labels):
    labels = np.asarray(labels)
    x = np.stack([FEATURES[labels], np.asarray(noise, float)], axis=1)
    return Samples(x=jnp.asarray(x), y=jnp.asarray(labels))


def setting(filters, test, train=None, start=None):
    """A state and a problem in R^6 around filters (K, m, dim) and examples (noise, labels)."""
    train, test = samples(*(test if train is None else train)), samples(*test)
    features, factors = {"features": jnp.asarray(FEATURES)}, MatrixFactors(jnp.asarray(MATRICES))
    problem = Problem(train, test, features, Frame.of_dimension(DIM), factors=factors)
    filters = np.asarray(filters, float)
    net = ls.nets.PatchCNN(width=filters.shape[1], activation="relu", classes=CLASSES)
    start = filters if start is None else np.asarray(start, float)
    flat = [{"filters": jnp.asarray(w.reshape(-1, DIM))} for w in (start, filters)]
    state = ls.rules.GradientDescent(rate=1.0).init(net, problem, jax.random.key(0), flat[0])
    return state.advance(flat[1], state.memory), problem


def long_tail(share, filters, test, **more):
    found = probes.LongTailAccuracy(share=share)(*setting(filters, test, **more))
    return np.asarray(found["long_tail_accuracy"]), np.asarray(found["long_tail_untrained"])


def some(seed=0, width=4, count=60):
    """Any filters and test examples."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, count)
    noise = np.einsum("nij,nj->ni", MATRICES[labels], draw.normal(size=(count, DIM)))
    return draw.normal(size=(3, width, DIM)), (noise, labels)


@pytest.fixture(autouse=True)
def double(float64):
    """All of it in float64, but where a test says otherwise."""


@pytest.mark.parametrize("other", [5.0, -5.0], ids=["silent wrong", "silent right"])
def test_an_example_that_activates_no_own_neuron_is_never_in_the_tail(other):
    # Class 1 looks along axis 4, class 2 along it too: the other way round, or harder still.
    filters = [np.zeros((2, DIM)), [AXES[4], 2 * AXES[4]], [-other * AXES[4], -other * AXES[4]]]
    test = [AXES[4], -AXES[4]], [1, 1]  # active, and silent
    right = 1.0 if other > 0 else 0.0
    accuracy = probes.ClassAccuracy()(*setting(filters, test))
    # Where class 2 is silent too, all three tie: a third of an example.
    np.testing.assert_allclose(accuracy[1], 0.5 if other > 0 else 1 / 6)
    for share in (1e-6, 0.5, 1.0):
        assert long_tail(share, filters, test)[0][1] == right


def test_classes_without_a_tail():
    test = [AXES[3], AXES[4], AXES[5]], [0, 1, 2]
    # Silent examples only.
    filters = [[-AXES[3]], [-AXES[4]], [AXES[5]]]
    np.testing.assert_array_equal(long_tail(1.0, filters, test)[0], [np.nan, np.nan, 1.0])
    # Filters along the features, which see the feature patch, and the noise not at all.
    filters = [[AXES[0]], [AXES[1]], [AXES[2]]]
    assert np.isnan(long_tail(1.0, filters, test)[0]).all()
    np.testing.assert_array_equal(probes.ClassAccuracy()(*setting(filters, test)), 1.0)


def test_the_whole_share_is_the_accuracy_of_active_examples():
    filters, (noise, labels) = some(width=2)
    active = np.array([(filters[y] @ xi > 0).any() for xi, y in zip(noise, labels, strict=True)])
    assert 3 < np.count_nonzero(~active) < 30  # there are some of both
    found = long_tail(1.0, filters, (noise, labels))[0]
    only = probes.ClassAccuracy()(*setting(filters, (noise[active], labels[active])))
    np.testing.assert_allclose(found, only, rtol=1e-13)
    assert np.abs(found - probes.ClassAccuracy()(*setting(filters, (noise, labels)))).max() > 0.01


@pytest.mark.parametrize(("share", "count"), [(0.01, 1), (0.2, 1), (0.5, 3), (0.8, 5), (1.0, 6)])
def test_the_tail_is_the_share_with_the_largest_noise(share, count):
    # One neuron a class: zeta' grows with the noise a along its axis. F_0 = a, F_1 = a / 2 + 2.1.
    filters = [[AXES[3]], [0.5 * AXES[3] + 2.1 * AXES[0]], [np.zeros(DIM)]]
    test = np.array([4.0, 1.0, 6.0, 2.0, 5.0, 3.0])[:, None] * AXES[3], np.zeros(6, int)
    ranked = np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) > 4.2
    assert long_tail(share, filters, test)[0][0] == pytest.approx(ranked[:count].mean())


def test_the_untrained_network_has_a_tail_of_its_own():
    filters, test = some()
    other, _ = some(seed=1)
    trained, untrained = long_tail(0.3, filters, test, start=other)
    np.testing.assert_array_equal(untrained, long_tail(0.3, other, test)[0])
    np.testing.assert_array_equal(trained, long_tail(0.3, filters, test)[0])
    assert np.abs(trained - untrained).max() > 0.05


def everything(state, problem):
    found = {}
    for probe in NEW:
        value = probe(state, problem)
        found |= value if isinstance(value, dict) else dict.fromkeys(probe.outputs, value)
    return {name: np.asarray(value) for name, value in found.items()}


def test_a_dead_network():
    _, test = some()
    found = everything(*setting(np.zeros((3, 4, DIM)), test))
    for name in ("long_tail_accuracy", "long_tail_untrained"):
        assert np.isnan(found.pop(name)).all()
    np.testing.assert_allclose(found.pop("residual"), 2 / 3, rtol=1e-15)
    assert found.pop("gradient_balance") == 1.0
    assert np.isfinite(found.pop("class_accuracy")).all()
    for name, value in found.items():
        np.testing.assert_array_equal(value, 0.0, err_msg=name)


def test_a_class_without_test_examples_is_not_a_number():
    filters, (noise, labels) = some()
    kept = labels != 1
    found = everything(*setting(filters, (noise[kept], labels[kept]), train=(noise, labels)))
    whole = everything(*setting(filters, (noise, labels)))
    by_class = {name for name, value in found.items() if value.shape == (3,)}
    assert len(by_class) == 8
    for name in by_class:
        np.testing.assert_array_equal(np.isnan(found[name]), [False, True, False], err_msg=name)
        np.testing.assert_allclose(found[name][[0, 2]], whole[name][[0, 2]], err_msg=name)
    for name in ("noise_spectrum", "residual", "gradient_balance", "activation"):
        np.testing.assert_allclose(found[name], whole[name], err_msg=name)
    expected = np.where(np.arange(3)[None] == 1, np.nan, whole["test_activation"])
    np.testing.assert_allclose(found["test_activation"], expected)


def test_networks_that_are_not_numbers_do_not_pass_for_some():
    filters, test = some()
    found = everything(*setting(np.full_like(filters, np.nan), test))
    for name in ("class_accuracy", "noise_spectrum", "residual", "gradient_balance",
                 "explicit_own", "implicit_other", "activation", "test_activation"):  # fmt: skip
        assert np.isnan(found[name]).all(), name


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_small_residuals_do_not_cancel(precision):
    # F_y of 69.1, 70 and 72 above two others of 0: residuals of about 2 exp(-F), near 1e-30.
    gaps = np.array([69.1, 70.0, 72.0])
    filters = [[AXES[3]], [AXES[4]], [AXES[5]]]
    test = gaps[:, None] * AXES[3:], [0, 1, 2]
    tolerance = {"float32": 2e-5, "float64": 1e-12}[precision]
    with jax.enable_x64(precision == "float64"):
        state, problem = setting(filters, test)
        residual = np.asarray(probes.Residual()(state, problem), float)
        kappa = float(probes.GradientBalance()(state, problem))
        assert probes.GradientBalance()(state, problem).dtype == precision
    np.testing.assert_allclose(residual, 2 * np.exp(-gaps), rtol=tolerance)
    assert residual.max() < 3e-30
    assert kappa == pytest.approx(np.exp(72.0 - 69.1), rel=tolerance)


def test_residuals_near_one_and_ratios_beyond_all_residuals_are_exact():
    filters = [[AXES[3]], [50 * AXES[3]], [np.zeros(DIM)]]
    right = (np.exp(50) + 1) / (np.exp(50) + np.exp(1) + 1)
    found = probes.Residual()(*setting(filters, ([AXES[3]], [0])))
    np.testing.assert_allclose(found, [right], rtol=1e-15)
    # exp(-900) is 0 in float64; the ratio of two such residuals is not.
    filters = [[AXES[3]], [AXES[4]], [AXES[5]]]
    state, problem = setting(filters, (np.array([900.0, 903.0])[:, None] * AXES[3:5], [0, 1]))
    assert (np.asarray(probes.Residual()(state, problem)) == 0).all()
    assert float(probes.GradientBalance()(state, problem)) == pytest.approx(np.exp(3.0), rel=1e-12)


def test_residuals_of_one_output_are_derivatives_of_the_logistic_loss():
    setting = small.experiment(steps=3, probes=small.probes("Residual GradientBalance Loss"))
    data = small.run(setting, precision="float64")
    residual = data.residual.transpose(..., "sample").values
    # loss = log(1 + exp(-y f)) and residual = 1/(1 + exp(y f)): loss = -log(1 - residual).
    np.testing.assert_allclose(-np.log1p(-residual).mean(-1), data.loss.values, rtol=1e-12)
    ratio = residual.max(-1) / residual.min(-1)
    np.testing.assert_allclose(ratio, data.gradient_balance.values, rtol=1e-12)


NEW = small.probes(
    "ClassAccuracy LongTailAccuracy ActiveNeurons NoiseSpectrum Residual GradientBalance "
    "Contributions Activations"
)
ANY_NET = "Residual", "GradientBalance"
OF_NOISE = "LongTailAccuracy Contributions ActiveNeurons NoiseSpectrum Activations"


def test_wrong_parts_are_told_by_the_probe_that_minds():
    for probe in (each for each in NEW if type(each).__name__ not in ANY_NET):
        plain, name = small.experiment(steps=2, probes=[probe]), type(probe).__name__
        words = rf"the probe {name} needs a (net|data model) with"
        small.refused(lambda plain=plain: small.run(plain), match=words)
    # Classes without noise of their own.
    state, problem = setting(*some())
    bare = Problem(problem.train, problem.test, problem.directions, problem.frame)
    for probe in small.probes(OF_NOISE):
        words = f"the probe {type(probe).__name__} needs a data model"
        small.refused(lambda probe=probe: probe(state, bare), match=words)
