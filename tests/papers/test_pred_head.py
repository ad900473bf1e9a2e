"""Wen and Li's population dynamics: formulas against simulation, autodiff and a reference."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.nets import PatchEncoder
from learnscope.papers.pred_head import theory as pred_head
from learnscope.papers.pred_head.parts import population_gradient as gradient
from learnscope.papers.pred_head.parts.population import PopulationDescent
from learnscope.rules.siamese import misaligned
from learnscope.space import Frame
from tests.errata import pred_head_misprints as misprints
from tests.errata import pred_head_terms as named_terms
from tests.law import assert_mean
from tests.reference import pairs as reference
from tests.small import strong_weak

# Compiled whole: op by op, small matrices take seconds.
slopes_of = jax.jit(gradient.population_slopes, static_argnums=(4, 5))
loss_of = jax.jit(gradient.loss)


def model_of(strengths=(2.0, 1.5), shares=(0.5, 0.5), dim=9, **more):
    given = {"patches": 8, "feature_patches": 2, "noise": 0.8, "batch": 2, "frequencies": shares}
    return ls.data.StrongWeak(dim, strengths=strengths, **given | more)


def start_of(seed, width=2, features=2, dim=9):
    """Filters of norm about 1, their two parts, and a head near the identity."""
    rng = np.random.default_rng(seed)
    filters = rng.standard_normal((width, dim)) / np.sqrt(dim)
    head = np.eye(width) + 0.3 * rng.standard_normal((width, width)) * (1 - np.eye(width))
    rest = filters[:, features:]
    return [jnp.asarray(x) for x in (filters, filters[:, :features], rest @ rest.T, head)]


def whole(slopes, filters):
    """By filters, from slopes by their overlaps and by the Gram matrix of the rest."""
    rest = filters[:, slopes.overlaps.shape[1] :]
    return jnp.concatenate([slopes.overlaps, 2 * slopes.gram @ rest], axis=1)


SIZES = [(2, 2, (0.5, 0.5)), (3, 2, (0.7, 0.3)), (2, 3, (0.2, 0.5, 0.3)), (4, 3, (0.4, 0.4, 0.2))]


@pytest.mark.parametrize(("width", "features", "shares"), SIZES)
def test_loss_and_gradients_equal_the_reference(float64, width, features, shares):
    model = model_of((2.0, 1.5, 1.2)[:features], shares)
    law, population = pred_head.Law.of(model), reference.Population(model)
    filters, overlaps, gram, head = start_of(width, width, features)
    w, e = np.asarray(filters), np.asarray(head)
    found = loss_of(law, overlaps, gram, head)
    np.testing.assert_allclose(found, population.loss(w, w, e, "batch"), rtol=1e-12)
    slopes = slopes_of(law, overlaps, gram, head)
    by_filters, _, by_head = population.gradients(w, w, e, "batch")
    np.testing.assert_allclose(whole(slopes, filters), by_filters, atol=1e-12)
    np.testing.assert_allclose(slopes.head, by_head, atol=1e-12)


@pytest.mark.parametrize("normalise", ["batch", "none"])
@pytest.mark.parametrize("stop_gradient", [True, False])
@pytest.mark.parametrize(("width", "features", "shares"), SIZES[1:3])
def test_gradients_equal_autodiff(float64, width, features, shares, stop_gradient, normalise):
    law = pred_head.Law.of(model_of((2.0, 1.5, 1.2)[:features], shares))
    filters, overlaps, gram, head = start_of(1, width, features)
    slopes = slopes_of(law, overlaps, gram, head, normalise, stop_gradient)
    rule = PopulationDescent(0.1, 0.1, "linear", normalise, stop_gradient)
    by_filters, by_head = jax.jit(lambda w, e: rule.slopes(w, e, None, law))(filters, head)
    limit = 1e-10 * max(1, float(jnp.abs(by_filters).max()))
    np.testing.assert_allclose(whole(slopes, filters), by_filters, atol=limit)
    np.testing.assert_allclose(slopes.head, by_head, atol=limit)


def test_corrected_terms_of_the_paper(float64):
    law = pred_head.Law.of(model_of())
    _, overlaps, gram, head = start_of(3)
    slopes = slopes_of(law, overlaps, gram, head)
    off = -jnp.stack([slopes.head[0, 1], slopes.head[1, 0]])
    named = named_terms.paper_terms(law, overlaps, gram, head)
    terms = jax.jit(pred_head.gradient_terms)(law, overlaps, gram, head)
    for found, right in (
        (named_terms.feature_gradient(named), -slopes.overlaps),
        (named_terms.head_gradient(named, gram, head), off),
        (named_terms.noise_gradient(named, gram, head), slopes.gram),
        (named.own, terms.growth + terms.acceleration),
        (named.borrowed, terms.borrowed),
        (-named.competition, terms.competition),
        (terms.fading[0, 1], -named.fading[0] * head[0, 1]),
        (terms.substitution[1, 0], named.substitution[1].sum()),
    ):
        np.testing.assert_allclose(found, right, atol=1e-12)


def test_printed_terms_are_off(float64):
    model = model_of()
    law = pred_head.Law.of(model)
    _, _, gram, head = start_of(3)
    overlaps = jnp.array([[0.8, -0.5], [0.7, 0.6]])
    slopes = slopes_of(law, overlaps, gram, head)
    right = named_terms.paper_terms(law, overlaps, gram, head)
    printed = misprints.terms_without_factors(law, overlaps, gram, head)
    features = named_terms.feature_gradient(printed)
    np.testing.assert_allclose(3 * features, -slopes.overlaps, atol=1e-12)
    noise = named_terms.noise_gradient(printed, gram, head)
    np.testing.assert_allclose(noise, 2 * slopes.gram, atol=1e-12)
    phi = misprints.terms_with_phi(law, overlaps, gram, head)
    assert relative(named_terms.feature_gradient(phi), -slopes.overlaps) > 0.1
    fading = misprints.fading(law, overlaps, right.phi)
    assert relative(fading, right.fading) > 0.01
    off = -jnp.stack([slopes.head[0, 1], slopes.head[1, 0]])
    wrong = named_terms.head_gradient(right._replace(fading=fading), gram, head)
    assert relative(wrong, off) > 1e-4
    doubled = misprints.law(model)
    assert float(doubled.noise / law.noise) == 2
    printed = loss_of(doubled, overlaps, gram, head)
    assert relative(printed, loss_of(law, overlaps, gram, head)) > 1e-3


def relative(found, wanted) -> float:
    found, wanted = np.asarray(found), np.asarray(wanted)
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


MODELS = {
    "two": {"strengths": (1.6, 1.2)},
    "frequencies": {"strengths": (1.6, 1.5), "frequencies": (3, 1)},
    "together": {"strengths": (1.6, 1.2), "together": True},
    "three": {"strengths": (1.6, 1.4, 1.2), "frequencies": (1, 2, 2)},
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in MODELS if name != "together"]


@pytest.mark.parametrize("name", ["together", *SLOW])
def test_loss_and_gradients_equal_simulation(float64, name):
    """24 groups of 2500 pairs in R^7."""
    given = MODELS[name]
    width, features, dim = 3, len(given["strengths"]), 7
    model = strong_weak(dim, patches=8, feature_patches=2, noise=0.7, batch=2500, **given)
    filters, overlaps, gram, head = start_of(5, width, features, dim)
    filters, overlaps = filters.at[:, :features].mul(1.5), 1.5 * overlaps
    problem = model.sample(jax.random.key(0), Frame.of_dimension(dim))
    net = PatchEncoder(width)

    def ambient(filters, head, one, other):
        target = jax.lax.stop_gradient(filters)
        mine = net({"filters": filters}, one) @ head.T
        return misaligned(mine, net({"filters": target}, other), "batch")

    @jax.jit
    def group(key):
        return jax.value_and_grad(ambient, argnums=(0, 1))(filters, head, *problem.pair(key))

    values, (by_filters, by_head) = jax.lax.map(group, jax.random.split(jax.random.key(1), 24))
    law = pred_head.Law.of(model)
    slopes = slopes_of(law, overlaps, gram, head)
    right = loss_of(law, overlaps, gram, head), whole(slopes, filters), slopes.head
    for found, wanted in zip((values, by_filters, by_head), right, strict=True):
        # The ratio of two estimates from 2500 pairs is biased by about a 2500th of its spread.
        assert_mean(found, wanted, np.var(found, 0) + 1e-5)
    # It would tell the printed count of noise patches from the right one.
    printed = loss_of(misprints.law(model), overlaps, gram, head)
    assert abs(values.mean() - printed) > 10 * values.std() / math.sqrt(23)


def test_late_gradients_keep_their_digits(float64):
    """Where noise has died out, the gradient by B is its share of the noise: 1e-20 and not 0."""
    law = pred_head.Law.of(model_of())
    overlaps, head = jnp.array([[1.0, 1e-4], [1e-4, 1.0]]), jnp.eye(2)
    small, large = (slopes_of(law, overlaps, s * jnp.eye(2), head).overlaps for s in (1e-7, 1e-6))
    np.testing.assert_allclose(large[0, 0] / small[0, 0], 1e3, rtol=1e-5)
    assert 0 < -small[0, 0] < 1e-18


@pytest.mark.parametrize("stop_gradient", [True, False])
@pytest.mark.parametrize("normalise", ["batch", "none"])
def test_where_the_laws_hold(float64, stop_gradient, normalise):
    """The invariants' rates of change along the flow, at a random point."""
    law = pred_head.Law.of(model_of(shares=(0.7, 0.3)))
    _, overlaps, gram, head = start_of(7, 3)
    ratio = 0.3

    def rate(head, moved):
        slopes = slopes_of(law, overlaps, gram, head, normalise, stop_gradient)
        by_gram = 2 * (slopes.gram @ gram + gram @ slopes.gram)
        lengths = 2 * (overlaps * slopes.overlaps).sum(1) + jnp.diag(by_gram)
        products = ratio * 2 * head * slopes.head * moved
        return lengths + 3 / ratio * (products.sum(1) - products.sum(0)), slopes.overlaps

    trained, _ = rate(head, 1 - jnp.eye(3))
    assert bool(jnp.abs(trained).max() < 1e-12) == (normalise == "batch")
    _, slopes = rate(jnp.eye(3), jnp.zeros((3, 3)))
    change = -4 * overlaps**-5 * slopes / law.across[None]
    np.testing.assert_allclose(change[:, 0], change[:, 1], rtol=1e-10)
