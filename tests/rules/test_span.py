"""States in the span of the training vectors, in weights, and NumPy: the same steps."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.engine import size, train
from learnscope.engine.draw import draw_one, key_of, source_of, traced
from learnscope.engine.experiment import room
from learnscope.lab import worker
from learnscope.lab.blocks import Runs
from learnscope.rules import SpanState, WeightState
from learnscope.rules.gram import Gram
from tests import small
from tests.reference import states
from tests.small import PENALTY, run

STEPS, SEED = 200, 5
SIGNS = {"dim": 60, "train": 6, "test": 2, "signal": 1.5, "noise": 0.3}
CLASSES = {"dim": 60, "classes": 3, "train_per_class": (2, 4, 3), "test": 2, "signal": 1.0}
TASKS = {"dim": 40, "dictionary": 5, "tasks": 3, "samples": 4, "validation": 2, "signal": 1.0,
         "task_signal": 1.0, "noise": 0.3, "test_tasks": 2}  # fmt: skip
PARITY = ls.data.GaussianParity(dim=30, factors=2, train=12, test=4, noise=0.3)
NET = ls.nets.PatchCNN(width=2, scale=0.05)
CLASS_NET = ls.nets.PatchCNN(width=2, activation="relu", scale=0.05, classes=3)
rules = ls.rules


def net(activation="relu2", **more):
    return ls.nets.PatchCNN(width=2, activation=activation, scale=0.3, **more)


def experiment(rule, data=SIGNS, net=NET, every=STEPS):
    return small.experiment(rule, STEPS, every, small.probes("Loss TestLoss"), data, net)


def penalty(kind, **more):
    return kind(rate=0.1, weight=0.05, **more)


ADAPTED = {"rate": 0.1, "inner_rate": 0.3, "inner_steps": 2}
# By name: the rule, and what else differs from the usual setting. Those of the first table have a
# NumPy reference, too.
NUMPY = {
    "descent": (rules.GradientDescent(0.1), {}),
    "momentum": (rules.GradientDescent(0.1, options={"momentum": 0.9}), {}),
    "nesterov": (rules.GradientDescent(0.05, options={"momentum": 0.9, "nesterov": True}), {}),
    "mini-batches": (rules.GradientDescent(0.1), {"data": SIGNS | {"batch": 2}}),
    "per-example penalty": (penalty(rules.PerExamplePenalty, until=90), {"net": net()}),
    "full penalty": (penalty(rules.FullPenalty, until=90), {"net": net()}),
    "sam": (rules.SharpnessAware(0.1, 0.2), {"net": net()}),
    "not orthogonal": (rules.GradientDescent(0.1), {"data": SIGNS | {"orthogonal": False}}),
    **{
        f"{kind.__name__} with bias, {activation}": (
            given, {"net": net(activation, bias=True)}
        )
        # The penalty takes second derivatives of the activation, the others do not.
        for kind, given, activations in [
            (rules.GradientDescent, rules.GradientDescent(0.1), ["cubic"]),
            (rules.PerExamplePenalty, penalty(rules.PerExamplePenalty), ["relu", "relu2", "cubic"]),
            (rules.SharpnessAware, rules.SharpnessAware(0.1, 0.1), ["relu"]),
        ]
        for activation in activations
    },
    "penalised mini-batches": (
        penalty(rules.PerExamplePenalty), {"data": SIGNS | {"batch": 3}, "net": net()}
    ),
}  # fmt: skip
CASES = NUMPY | {
    "classes": (rules.GradientDescent(1.0), {
        "data": ls.data.ClassNoise(**CLASSES, correlation=9), "net": CLASS_NET}),
    "classes, balanced, of uniform noise": (rules.GradientDescent(1.0, "balanced"), {
        "data": ls.data.ClassNoise(**CLASSES, noise="uniform"), "net": CLASS_NET}),
    "squared": (rules.GradientDescent(0.1, "squared"), {}),
    "both layers": (rules.GradientDescent(0.05, "squared"), {
        "data": PARITY, "net": ls.nets.TwoLayer(4, "relu")}),
    "averaged": (rules.Averaged(rules.GradientDescent(0.1), decay=0.9), {}),
    **{
        f"{kind.__name__} {len(given)}": (
            kind(**given), {"data": ls.data.TaskFamily(**TASKS), "net": net()}
        )
        for kind, given in [
            (rules.Fomaml, ADAPTED), (rules.Fomaml, ADAPTED | {"penalty": 0.1}),
            (rules.Maml, ADAPTED), (rules.Reptile, ADAPTED),
            (rules.MetaProx, ADAPTED | {"weight": 0.2}), (rules.Pooled, {"rate": 0.1}),
            (rules.Imaml, ADAPTED | {"weight": 0.2, "solver_steps": 4}),
        ]
    },
    "some tasks": (rules.Fomaml(**ADAPTED, batch=2), {
        "data": ls.data.TaskFamily(**TASKS), "net": net()}),
}  # fmt: skip


def chosen(setting):
    """The coordinates of a case."""
    return "rotate" if getattr(setting.data, "noise", None) == "uniform" else "compressed"


drawn = small.quick(draw_one)


@small.quick
def stepped(fixed, problem, start, batches):
    """The first states, in the span and in weights, and what each is after every step; the batches
    of all steps, if these are asked for. One program."""
    keys = jax.vmap(lambda t: jax.random.fold_in(key_of(SEED, "training"), t))(jnp.arange(STEPS))
    states = [train.start_one(fixed, SEED, problem, start, how).bare for how in (True, False)]

    def path(bare):
        whole = bare.within(problem)

        def step(carry, now):
            state = eqx.tree_at(lambda s: s.step, whole.holding(carry), now[0])
            state = fixed.rule.step(state, problem, now[1])
            shown = fixed.rule.evaluated(state)
            return state.bare, (shown.params, shown.losses(problem.train))

        return jax.lax.scan(step, bare, (jnp.arange(STEPS), keys))[1]

    return states, [path(state) for state in states], batches and jax.vmap(problem.batch)(keys)


@functools.cache
def paths(case):
    """The problem, and what `stepped` gives."""
    rule, more = CASES[case]
    setting = experiment(rule, **more)
    how = chosen(setting)
    with jax.enable_x64(True):
        fixed = traced(setting, "float64", how)
        problem, start = drawn(source_of(fixed), np.uint32(SEED), how, room(fixed, how))
        return problem, *stepped(fixed, problem, start, case in NUMPY)


@pytest.mark.parametrize("case", CASES)
def test_span_and_weights_take_the_same_steps(float64, case):
    _, (span, weights), (one, other), _ = paths(case)
    assert isinstance(span, SpanState) and isinstance(weights, WeightState)
    for found, right, start in zip(
        jax.tree.leaves(one),
        jax.tree.leaves(other),
        [*jax.tree.leaves(weights.start), None],
        strict=True,
    ):
        assert np.abs(found - right).max() < 1e-10 * np.abs(right).max()
        if start is not None:
            assert np.abs(right[-1] - start).max() > 1e-3 * np.abs(start).max()  # they moved


@pytest.mark.parametrize("case", NUMPY)
def test_numpy_takes_them_too(float64, case):
    problem, (span, _), (found, _), batches = paths(case)
    rule, more = NUMPY[case]
    start, rank = span.start, problem.frame.rank
    net = more.get("net", NET)
    numpy = states.Net(4, rank, net.activation, 1 / net.width, net.bias)

    def padded(batch):
        wide = [np.pad(leaf, ((0, 0), (0, rank - leaf.shape[1]))) for leaf in batch.x]
        return np.stack(wide, axis=1), np.asarray(batch.y)

    def step(t, *given):
        closed = t >= getattr(rule, "until", np.inf)
        if closed or isinstance(rule, rules.GradientDescent):
            return states.gradient_descent(*given)
        if isinstance(rule, rules.SharpnessAware):
            return states.sharpness_aware(*given, rule.radius)
        own = isinstance(rule, rules.PerExamplePenalty)
        return (states.per_example_penalty if own else states.full_penalty)(*given, rule.weight)

    bias = np.zeros(0) if start.bias is None else start.bias
    theta = np.concatenate([np.asarray(start.filters).ravel(), bias])
    batches = jax.device_get(batches)
    batches = [padded(jax.tree.map(lambda leaf, t=t: leaf[t], batches)) for t in range(STEPS)]
    path = states.train(step, numpy, theta, batches, rule.rate, **rule.options)[1:]
    params = found[0]
    mine = np.asarray(params.filters).reshape(STEPS, -1)
    if net.bias:
        mine = np.concatenate([mine, params.bias], axis=1)
    assert np.abs(mine - path).max() < 1e-10 * np.abs(path).max()


def test_a_span_that_forgets_is_told_apart(float64):
    """The power of the tests above: without the narrow patch's part the paths part."""
    problem, (state, _), _, batches = paths("not orthogonal")
    batch = jax.tree.map(lambda leaf: leaf[0], jax.device_get(batches))

    @small.quick
    def moved(state, batch):
        whole = state.within(problem)
        forgetful = eqx.tree_at(lambda s: s.span.gram.first, whole, replace_fn=lambda f: 0 * f)
        return [s.moved(whole.gradient(batch), -1.0).seen for s in (whole, forgetful)]

    one, other = moved(state, batch)
    assert np.abs(one[1] - other[1]).max() > 1e-3


@pytest.mark.parametrize("widths", [(1, 9), (9, 9), (2, 9, 5), (9,)])
def test_a_gram_matrix_is_that_of_the_vectors(float64, widths):
    random = np.random.default_rng(0)
    leaves = [jnp.asarray(random.normal(size=(4, w))) for w in widths]
    along = tuple(jnp.asarray(random.normal(size=(3, 4))) for _ in widths)
    rows = np.concatenate([np.pad(x, ((0, 0), (0, 9 - x.shape[1]))) for x in leaves])
    right = np.concatenate(along, axis=1) @ rows @ rows.T
    product = small.quick(lambda leaves, along: Gram.of(leaves)(along))
    found = np.concatenate(product(leaves, along), axis=1)
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)


def state_of(setting, how="compressed"):
    """The kind of state that the engine uses."""
    with jax.enable_x64(True):
        return type(size.shapes(setting, how, "float64")[1].bare)


def descent(**given):
    return rules.GradientDescent(rate=0.1, **given)


CHOICES = {
    "usual": (experiment(descent()), "compressed", SpanState),
    "rotated": (experiment(descent()), "rotate", SpanState),
    "ambient": (experiment(descent()), "ambient", WeightState),
    "recorded at every step": (experiment(descent(), every=1), "compressed", SpanState),
    "momentum": (experiment(descent(options={"momentum": 0.9})), "compressed", SpanState),
    "per-example penalty": (experiment(PENALTY), "compressed", SpanState),
    "small batches of many": (
        experiment(descent(), SIGNS | {"train": 200, "batch": 2, "dim": 999}),
        "compressed", WeightState,
    ),
    "random features": (
        experiment(rules.RandomFeatures(0.1), PARITY, ls.nets.TwoLayer(4)),
        "compressed", WeightState,

    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHOICES)
def test_the_state_is_chosen(case):
    setting, how, expected = CHOICES[case]
    assert state_of(setting, how) is expected


def test_many_examples_in_few_coordinates_are_stepped_in_weights():
    # Of n = 180 examples in 25 coordinates the Gram matrix is the larger one.
    for each, kind in ((6, SpanState), (60, WeightState)):
        sizes = {"dim": 25, "train_per_class": each, "noise": "uniform"}
        data = ls.data.ClassNoise(**CLASSES | sizes)
        assert state_of(experiment(descent(), data, CLASS_NET), "rotate") is kind


def test_diverging_runs_report_the_same_step():
    rates = {"rule.rate": [0.01, 3.0, 5.0, 10.0, 100.0, 1e4]}
    setting, both = experiment(rules.GradientDescent(0.1, "squared")), ("ambient", "rotate")
    assert [state_of(setting, how) for how in both] == [WeightState, SpanState]
    plain, in_span = (run(setting, rates, 5, how, "float64") for how in both)
    lost = plain.diverged_at.notnull()
    np.testing.assert_array_equal(lost, in_span.diverged_at.notnull())
    # What examples see overflows a few steps before or after the weights.
    assert abs(plain.diverged_at - in_span.diverged_at).max() <= 1
    assert np.isnan(plain.diverged_at.sel(rate=0.01)).all()
    assert len(np.unique(plain.diverged_at)) > 3  # at several steps, and not at all
    assert not np.isfinite(in_span.loss.isel(step=-1)).values[lost.values].any()


@pytest.mark.parametrize(
    ("case", "precision"),
    [("classes", "float32"), ("per-example penalty", "float64"), ("mini-batches", "float32")],
)
def test_neither_records_nor_segments_change_a_digit(case, precision):
    """Nor, with segments, checkpoints: these are kept between them."""
    rule, more = CASES[case]
    setting, last = experiment(rule, **more).replace("steps", 24), {}
    for every, segments in [(1, 1), (5, 1), (8, 3), (24, 7)]:
        runs = Runs(
            setting.replace("record.every", every), {}, np.array([3, 4]), "compressed", precision,
            batch=2, padded=2, segments=segments,
        )  # fmt: skip
        last[every, segments] = {k: v.T[-1] for k, v in worker.compute(runs).items()}
    for values in last.values():
        for name, array in last[1, 1].items():
            np.testing.assert_array_equal(values[name], array, err_msg=name)
