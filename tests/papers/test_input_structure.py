"""Shi, Wei, Liang (2022): the explicit network, Lemma 6, bounds, settings and conditions."""

import itertools
import math

import equinox as eqx
import jax
import numpy as np
import pytest

import learnscope as ls
from learnscope.evidence import SCALES
from learnscope.papers.input_structure import theory
from learnscope.papers.input_structure.experiments import sweeps
from tests.data.test_patterns import CASES, every
from tests.papers.pattern_models import neurons, patterns, smoothed
from tests.small import refused


@pytest.mark.parametrize("model", [*CASES.values(), patterns(100, 50), patterns(2, 1)])
def test_the_explicit_network_on_every_count(model):
    law, k = theory.exact_law(model), model.k
    bias, second = theory.explicit_neurons(law)
    count = np.arange(k + 1)[:, None] - k * law.mean[0]  # <w, x>
    z = count / (4 * k) + bias
    assert np.clip(z, 0, 1) @ second == pytest.approx(law.signs, abs=1e-9)
    assert bias.shape == (3 * (k + 1),)
    assert abs(z).max() <= 1 and abs(second).max() <= 32 * k
    assert abs(bias).min() >= 1 / (32 * k) and abs(bias).max() <= 0.5


def test_the_explicit_network_for_every_set_of_counts():
    for size in range(1, 5):
        for counts in itertools.combinations(range(5), size):
            law = theory.exact_law(patterns(9, 4, label="counts", counts=counts, background=0.3))
            bias, second = theory.explicit_neurons(law)
            count = (np.arange(5)[:, None] - 4 * law.mean[0]) / 16
            signs = np.where(np.isin(np.arange(5), counts), 1, -1)
            assert np.clip(count + bias, 0, 1) @ second == pytest.approx(signs, abs=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        patterns(60, (3, 17, 30, 41, 59), dim=80, train=2000, background=0.2),
        patterns(40, 30, dim=40, train=500, label="counts", counts=(3, 14, 15), structure="none"),
    ],
)
def test_the_explicit_network_on_a_drawn_problem(model):
    problem = eqx.filter_jit(model.sample)(jax.random.key(0))
    law = theory.exact_law(model)
    bias, second = theory.explicit_neurons(law)
    along = law.scale / (4 * model.k) * np.asarray(problem.directions["relevant"], float).sum(0)
    z = (np.asarray(problem.train.x, float) @ along)[:, None] + bias
    outputs = np.clip(z, 0, 1) @ second
    assert outputs == pytest.approx(np.asarray(problem.train.y), abs=1e-2)


def test_lemma_6_by_enumeration():
    model = patterns(11, 5)
    q, bias, _ = neurons(model, 3)
    found = theory.lemma_6(model, q, bias, 0.04)
    law = theory.exact_law(model)
    gradient = theory.population_gradient(model, q, bias, np.ones(3), 0.04)["filters"]
    np.testing.assert_array_equal(np.hstack([found.relevant, found.background]), -gradient)
    there, likely, _ = every(model)
    x = (there - law.mean) / law.scale
    x[:, :5] = 0
    _, slope = smoothed(x @ q.T + bias, 0.04)
    assert found.beta == pytest.approx(likely @ slope, abs=1e-13)
    assert found.centre == pytest.approx(found.beta / 4 / law.scale, abs=1e-15)


def error_of_lemma_15(patterns, k, variances, width=300, delta=0.1):
    """epsilon_e, with sigma_phi^2 sigma~^2 (D - k) read as the sum of background variances."""
    log = math.log(patterns * width / delta)
    return (k * log**0.5 + log**1.5) / math.sqrt(variances)


def test_lemma_6_holds_and_its_bounds_say_nothing_at_the_papers_size():
    """|T_j| is never above 1 / sigma~, and epsilon_e is 13; what is true is a thousand times
    smaller, and falls as the number of patterns grows."""
    seen = []
    for size in (100, 400):
        model = patterns(size, 5)
        q, bias, _ = neurons(model, 20)
        found = theory.lemma_6(model, q, bias, 0.04)
        scale = theory.exact_law(model).scale
        error = error_of_lemma_15(size, 5, (size - 5) / 4)
        seen.append(scale * abs(found.relevant - found.centre[:, None]).max())
        assert seen[-1] <= error and error > 7
        assert scale * abs(found.background).max() <= error / 4
        assert found.beta.min() > 0.2 and found.beta.max() < 0.8
        assert abs(found.background).max() < 0.05 * abs(found.relevant).min()
    assert seen[0] < 0.01 and seen[1] < seen[0]


def test_lemma_6_needs_a_background_that_is_independent():
    """A mixture with p_o < 1/2 has two groups of unlike background, against (A2). If the label
    tells the group, as P = {0, k} does, background patterns go with it as relevant ones do."""
    sizes = []
    for background in (0.5, 0.1):
        model = patterns(label="counts", counts=(0, 5), background=background)
        q, bias, _ = neurons(model, 20)
        found = theory.lemma_6(model, q, bias, 0.04)
        sizes.append(abs(found.background).mean() / abs(found.relevant).mean())
        assert found.centre == pytest.approx(0, abs=1e-12)  # gamma = 0
    assert sizes[0] < 0.2 and sizes[1] > 0.5


def test_fixed_features_bound():
    """Theorem 2's bound falls with N and B, rises with k, and follows from counting: some A has
    |E y h| <= B sqrt(N / C(D, k)), and hinge >= 1 - y h."""
    bound = theory.fixed_feature_bound
    assert bound(0.5, 5, 2, 8.0) == 0.25
    for values, grows in (
        ([bound(0.3, 7, n, 1.0) for n in (1, 10, 100, 1000)], False),
        ([bound(0.3, 7, 100, b) for b in (0.1, 1.0, 3.0)], False),
        ([bound(0.3, k, 100, 1.0) for k in (5, 7, 9, 11)], True),
        ([bound(p, 7, 100, 1.0) for p in (0.1, 0.3, 0.5)], True),
    ):
        assert values == sorted(values, reverse=not grows) and len(set(values)) == len(values)
    for k, size in ((5, 80), (7, 112), (9, 1000)):
        for features, norm in ((1, 1.0), (1000, 3.0)):
            counted = 0.5 * (1 - norm * math.sqrt(features / math.comb(size, k)))
            assert bound(0.5, k, features, norm) <= counted
    for scale in SCALES:  # Theorem 2 is about odd k > 3, at most D / 16
        for arm in sweeps(scale)["theorem2"].arms:
            data = arm.experiment.data
            assert 3 < data.k <= data.patterns / 16 and data.k % 2 == 1


def test_query_bound():
    assert theory.query_bound(10, 3) == pytest.approx(0.5 * 120 ** (1 / 3))
    sizes = [theory.query_bound(size, 5) for size in (10, 50, 100, 1000)]
    assert sizes == sorted(sizes)


def threshold_score(model):
    return theory.predict(experiment(model))["threshold"]


def test_scores_by_enumeration():
    for name, model in CASES.items():
        there, likely, y = every(model)
        count = there[:, : model.k].sum(1)
        majority = likely[np.where(count > model.k / 2, 1, -1) == y].sum()
        assert theory.majority_score(model) == pytest.approx(majority), name
        best = max(
            likely[sign * np.where(count > at, 1, -1) == y].sum()
            for at in np.arange(-1, model.k + 1) + 0.5
            for sign in (1, -1)
        )
        assert threshold_score(model) == pytest.approx(best), name
    assert theory.majority_score(patterns(12, 5)) == 0.84375
    assert threshold_score(patterns()) == 0.84375
    interval = {"label": "interval", "counts": (20, 30), "structure": "independent"}
    assert threshold_score(patterns(100, 30, **interval)) == pytest.approx(1)
    assert threshold_score(patterns(structure="none")) == pytest.approx(22 / 32)


def test_settings_in_the_papers_experiment():
    """The first rate of 2.3e-9 is Lemma 23's; Theorem 26 has 5 times that and Theorem 34 half."""
    found = {form: theory.settings(patterns(), 300, 600, form) for form in theory.FORMS}
    first = {form: each.first_rate for form, each in found.items()}
    right = {"theorem_26": 1.1574e-8, "lemma_23": 2.3148e-9, "theorem_34": 1.1574e-9}
    assert first == pytest.approx(right, rel=1e-4)
    for form, each in found.items():
        assert (each.scale, each.bias_scale, each.second_scale) == (0.2, 0.04, 4.0)
        assert (each.second_rate, each.rate) == (1, pytest.approx(25 / 600 / 300 ** (1 / 3)))
        assert each.decay == pytest.approx(25 / 300 ** (1 / 3))
        assert each.noise == pytest.approx(0.04 if form == "theorem_26" else 5**-1.5)


def test_settings_of_uneven_classes():
    """Theorem 34's gamma does not change with the share of a class, (A1)'s does."""
    even, uneven = (patterns(20, 5, background=0.5, negative=p) for p in (0.5, 0.8))
    one, two = (theory.settings(model, 30, 100, "theorem_34") for model in (even, uneven))
    scales = [theory.exact_law(model).scale for model in (even, uneven)]
    assert two.second_scale / one.second_scale == pytest.approx((scales[1] / scales[0]) ** 2)
    assert two.first_rate / one.first_rate == pytest.approx(0.4 * scales[1] / scales[0])
    other = theory.settings(uneven, 30, 100)
    assert other.second_scale / two.second_scale == pytest.approx(1 / (4 * 0.8 * 0.2))
    for words, *given in (
        ("gamma", patterns(structure="none"), 30, 100),
        ("theorem_26", patterns(), 30, 100, "theorem_27"),
        ("1 or more", patterns(), 0, 100),
        ("1 or more", patterns(), 30, 0),
    ):
        refused(lambda given=given: theory.settings(*given), words)


def experiment(model=None, width=300, steps=600, **more):
    rule = ls.rules.TwoStep(first_rate=1e-9, second_rate=1.0, rate=0.01)
    net = ls.nets.TwoLayer(width=width, **more)
    model = patterns() if model is None else model
    return ls.Experiment(data=model, net=net, rule=rule, steps=steps)


def margins(setting, **constants):
    return {each.name: each.margin for each in theory.conditions(setting, **constants)}


def test_conditions_by_hand():
    found = margins(experiment(), delta=0.05, error=0.5)
    right = {"relevant patterns": 5 / math.log(8000) ** 2, "background": 0.5 / 0.25}
    right |= {"width, error": 300 / (5**12 / 0.5**1.5), "width, patterns": 3.0}
    right |= {"balance (A0)": 1.0, "background (A2)": math.inf, "steps": 600 / 300 ** (4 / 3)}
    assert found == pytest.approx(right)
    twice = margins(experiment(), delta=0.05, error=0.5, constant=2.0)
    harder = {name for name in found if twice[name] < found[name]}
    assert harder == {"relevant patterns", "background", "width, error"}
    assert {twice[name] / found[name] for name in harder} == {0.5}


def test_conditions_that_a_model_breaks():
    def failing(model, **more):
        found = theory.conditions(experiment(model, **more))
        return {each.name for each in found if not each.holds}

    usual = {"relevant patterns", "width, error", "steps"}
    assert failing(patterns()) == usual
    assert failing(patterns(background=0.3)) == usual | {"background (A2)"}  # groups
    free = {"structure": "independent", "label": "majority"}
    assert failing(patterns(background=0.1, **free)) == usual | {"background"}
    assert failing(patterns(negative=0.7)) == usual | {"balance (A0)"}
    unlike = patterns(100, 5, background=tuple(np.linspace(0.3, 0.6, 95)), **free)
    assert failing(unlike) == usual | {"background (A2)"}
    assert margins(experiment(patterns(structure="none")))["relevant patterns"] == 0
    # With constants 1 it takes more neurons and steps than can be counted here.
    model = patterns(250_000, 351, **free)
    assert failing(model, width=2**31 - 1) == {"width, error", "steps"}


def test_it_says_what_it_is_about():
    good = experiment()
    assert theory.applies(good)
    assert theory.boundary(good, "data.background") is None
    told = theory.predict(good)
    assert (told["correlation"], told["scale"], told["signal"]) == (0.25, 5.0, 0.05)
    assert told["majority"] == 0.84375 and told["queries"] is None
    error = 5**8 / 300 ** (2 / 3) + 125 * 600 / 9e4 + 25 * 300 ** (2 / 3) / 600
    assert told["error"] == pytest.approx(error)
    assert "gamma" in str(told)
    assert theory.predict(experiment(patterns(structure="none")))["queries"] > 200
    changes = {"net.activation": "relu", "net.symmetric": False, "rule.loss": "logistic"}
    for path, value in (changes | {"data.noise": 0.1, "data.dictionary": "random"}).items():
        assert not theory.applies(good.replace(path, value)), path
    assert not theory.applies(experiment(patterns(30, 10, label="codes", structure="independent")))
