"""Rules on pairs in any coordinates: compressed runs against ambient ones, and what is refused."""

import dataclasses
import functools
import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.engine import size
from learnscope.lab import one_run
from learnscope.lab.blocks import Plan
from learnscope.rules import AbstractPairRule, AbstractRule
from tests import law, small
from tests.rules.pair_steps import KEY, first_draw
from tests.small import quick, refused, run

SEEDS, DIM = 1500, 40
PAIRED = functools.partial(ls.rules.NonContrastive, rate=2.0, head_rate=0.1)
LAWS = {
    "one-sided": PAIRED(),
    "no stop-gradient": PAIRED(stop_gradient=False),
    "ema, both ways": PAIRED(target="ema", momentum=0.95, both_ways=True),
    "contrastive": ls.rules.Contrastive(rate=2.0),
}
RECORDED = (0, 1, 4, 10)


def experiment(rule, dim=DIM, width=2, **data):
    given = {"patches": 4, "feature_patches": 2, "strengths": (2, 1.5), "noise": 1.0, "batch": 24}
    net, probes = ls.nets.PatchEncoder(width=width), small.probes("FeatureStrengths")
    model = small.strong_weak(dim, test=5, **given | data)
    return small.experiment(rule, RECORDED[-1], 1, probes, model, net)


def basis_free(state, features):
    """All that inner products tell of a state: components along features, products of noise parts
    of all filters there are, and the head."""
    rows = [state.params["filters"], state.start["filters"]]
    head = jnp.zeros((0,))
    if hasattr(state.memory, "head"):
        head = state.memory.head["matrix"][~np.eye(2, dtype=bool)]
        rows += [] if state.memory.target is None else [state.memory.target["filters"]]
    rows = jnp.concatenate(rows)
    noise = rows[:, features:]
    products = (noise @ noise.T)[np.tril_indices(len(rows))]
    return jnp.concatenate([rows[:, :features].ravel(), products, head])


def simulate(name, how, first, dims):
    """Runs as the laboratory takes them, at the recorded steps: dim, seed, step, number."""
    setting = experiment(LAWS[name])

    def walk(seeds, dim):
        def one(seed):
            run = one_run(setting, seed, how, varying={"data.dim": dim} if how != "ambient" else {})
            return jnp.stack([basis_free(run.after(step).state, 2) for step in RECORDED])

        return jax.vmap(one)(seeds)

    walk = quick(walk, 0 if how == "compressed" else 1)  # ambient runs take longer
    seeds = jnp.arange(first, first + SEEDS, dtype=jnp.uint32)
    return [np.asarray(walk(seeds, jnp.asarray(float(dim)))) for dim in dims]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "ema, both ways")) for name in LAWS],
)
def test_compressed_runs_have_the_ambient_law(name):
    """Every number that inner products give, at four times. A dimension of 50 instead of 40 is
    told, and 10^6 is the same program."""
    right, wrong, high = simulate(name, "compressed", 0, [DIM, 50, 10**6])
    (ambient,) = simulate(name, "ambient", SEEDS, [DIM])
    assert all(np.isfinite(runs).all() for runs in (right, wrong, ambient))
    if name != "contrastive":  # see `test_small_outputs_have_finite_gradients`
        assert np.isfinite(high).all()
    assert ambient[0].size > 60
    law.assert_law(right, ambient)
    law.assert_other_law(wrong, ambient, by=3)


def test_turning_keeps_all_inner_products_and_takes_the_first_coordinates():
    setting = experiment(LAWS["ema, both ways"])
    with jax.enable_x64(True):
        run = quick(lambda: one_run(setting, 5, "compressed", "float64"))()
        problem, turned, traced = run.problem, run.state, run.experiment.rule

        @quick
        def both(problem, state, t):
            key = jax.random.fold_in(KEY, t)
            plain = traced.step(dataclasses.replace(state, step=t), problem, key)
            return plain, traced.refreshed(plain, problem)

        width = eqx.filter_eval_shape(problem.batch, KEY).x[0].values.shape[-1]
        for t in range(4):
            plain, turned = both(problem, turned, jnp.asarray(t))
            np.testing.assert_allclose(basis_free(plain, 2), basis_free(turned, 2), atol=1e-12)
            assert turned.step == plain.step
            filters = turned.params["filters"]
            assert filters.shape == (2, 2 + 5 * 2)
            assert (np.abs(plain.params["filters"][:, 8:]) > 1e-6).any()  # it had left the span
            target = turned.memory.target["filters"]
            for rows, used in ((filters, 4), (target, 6), (turned.start["filters"], 8)):
                np.testing.assert_allclose(rows[:, used:], 0, atol=1e-14)
            # Fresh patches have all coordinates of what they meet.
            assert (np.abs(target[:, 4:]) > 1e-6).any()
            np.testing.assert_allclose(target[:, width:], 0, atol=1e-14)


def test_the_cost_does_not_depend_on_the_dimension():
    shapes = []
    for dim in (100, 10**6):
        problem, carry, *_ = size.shapes(
            experiment(LAWS["one-sided"], dim), "compressed", "float32"
        )
        batch = eqx.filter_eval_shape(lambda p: p.batch(jax.random.key(0)), problem)
        shapes.append([leaf.shape for leaf in jax.tree.leaves((problem, carry, batch))])
    assert shapes[0] == shapes[1]
    assert max(math.prod(shape) for shape in shapes[0]) < 1000


def test_patches_have_no_coordinates_beyond_the_dimension():
    setting = experiment(LAWS["one-sided"], dim=4, width=8)
    assert Plan.of(setting, None, 1, "auto", "float32").coordinates == "compressed"
    problem, _ = first_draw(setting, "float32")
    assert (np.asarray(quick(problem.batch)(KEY).x[0].values)[..., 4:] == 0).all()


def with_rule(**given):
    return experiment(ls.rules.NonContrastive(rate=0.1, head_rate=0.1, **given))


MOMENTUM = {"options": {"momentum": 0.9}}
UNIFORM = with_rule().replace("data.noise_law", "uniform")
NOT_COMPRESSED = {
    "the optimiser adam treats coordinates one by one": with_rule(optimiser="adam"),
    "remembers vectors of earlier steps": with_rule(**MOMENTUM),
    "StrongWeak draws vectors that leave any fixed span": UNIFORM,
    "GradientDescent learns from labels, not from pairs of fresh views": experiment(small.DESCENT),
    "remembers vectors": experiment(ls.rules.Contrastive(rate=0.1, **MOMENTUM)),
}


def test_coordinates_that_are_not_possible():
    def chosen(setting):
        return Plan.of(setting, None, 1, "auto", "float32").coordinates

    words = "coordinates = 'rotate' is not possible: every step draws new vectors"
    refused(lambda: run(with_rule(), coordinates="rotate"), words)
    for words, setting in NOT_COMPRESSED.items():
        refused(lambda setting=setting: run(setting, coordinates="compressed"), words)
        assert chosen(setting) == "ambient"
    for rule in LAWS.values():
        assert chosen(experiment(rule)) == "compressed"


POPULATION = ls.rules.PopulationDescent(rate=0.1, head_rate=0.1)


def test_what_does_not_go_together():
    setting, other = experiment(POPULATION), small.signals()
    cubic = "PopulationDescent needs the net PatchEncoder with activation = 'cubic'"
    gaussian = "need the data model StrongWeak with Gaussian noise"
    viewless = with_rule().replace("data", other)
    for wrong, words in (
        (setting.replace("net.activation", "relu"), cubic),
        (setting.replace("net", ls.nets.PatchCNN(width=2)), cubic),
        (setting.replace("data.noise_law", "uniform"), gaussian),
        (setting.replace("data", other), gaussian),
        (viewless.replace("probes", [ls.probes.NeuronCorrelation()]),
         "the data model has no positive pairs"),
        (setting.replace("net.overlaps", (1, 2, 3)),
         "PatchEncoder.overlaps has 3 entries: it must have width = 2 times"),
    ):  # fmt: skip
        refused(lambda wrong=wrong: run(wrong), words)


@pytest.mark.parametrize("how", ["ambient", "compressed"])
def test_overlaps_fix_sizes_and_leave_signs_free(how):
    setting = experiment(POPULATION).replace("net.overlaps", (2, 1, 0.5, 1.3))

    def one(seed):
        return one_run(setting, seed, how).state.params["filters"]

    found = np.asarray(quick(jax.vmap(one))(jnp.arange(400, dtype=jnp.uint32)))
    sizes = np.array([[2, 1], [0.5, 1.3]]) / DIM**0.5
    np.testing.assert_allclose(np.abs(found[..., :2]), np.broadcast_to(sizes, (400, 2, 2)), 1e-6)
    codes = (found[..., :2] > 0).reshape(400, 4) @ 2 ** np.arange(4)
    law.assert_counts(np.bincount(codes, minlength=16))
    norms = (found[..., 2:] ** 2).sum(-1) * DIM
    law.assert_law(norms, dict.fromkeys(range(2), stats.chi2(DIM - 2)))


class OwnTarget(AbstractRule):
    """A rule that draws a second network, as a target that is not a copy would be."""

    loss: str = ls.part.choice("pairs", default="pairs")
    basis_dependence: ClassVar = None

    def prepare(self, state, problem, key):
        return state.net.init(key, problem)

    def step(self, state, problem, key):
        return state.advance(state.params, state.memory)


def test_what_a_rule_draws_is_independent_of_the_initial_weights():
    setting = experiment(OwnTarget())
    state = quick(lambda: one_run(setting, 1, "ambient"))().state
    assert not issubclass(OwnTarget, AbstractPairRule)
    assert np.abs(state.params["filters"] - state.memory["filters"]).min() > 0
