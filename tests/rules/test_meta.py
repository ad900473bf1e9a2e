"""Every meta-learning rule is plain autodiff of its definition, in any coordinates and net."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Samples
from learnscope.rules.meta.imaml import conjugate_gradients
from learnscope.rules.meta.rule import SPLITS
from tests import small
from tests.small import quick, refused

DATA = small.tasks(dim=40)
NETS = {
    "patches": ls.nets.PatchCNN(width=2, activation="huberised", scale=0.3, second_layer="sum"),
    "both layers": ls.nets.TwoLayer(width=3, activation="relu", scale=0.5, symmetric=False),
}
KEY = jax.random.key(0)
GAMMA, J, LAMBDA = 0.6, 2, 0.7
INNER = {"rate": 0.1, "inner_rate": GAMMA, "inner_steps": J}
RULES = {
    "Fomaml": ls.rules.Fomaml(**INNER),
    "penalty": ls.rules.Fomaml(**INNER, penalty=LAMBDA),
    "Maml": ls.rules.Maml(**INNER),
    "Reptile": ls.rules.Reptile(**INNER),
    "MetaProx": ls.rules.MetaProx(**INNER, weight=LAMBDA),
    "Imaml": ls.rules.Imaml(**INNER, weight=LAMBDA, solver_steps=40),
    "Pooled": ls.rules.Pooled(rate=0.1),
}


def wanted(name, net, params, inner, outer):
    """What one task asks for, by definition: autodiff of the ambient network's mean loss."""

    def loss(p, samples):
        return jnp.log1p(jnp.exp(-samples[1] * net(p, samples[0]))).mean()

    def penalised(p, samples):
        """L + (lambda/2) mean |grad l_i|^2, the gradients as they are."""
        alone = [tuple(leaf[i : i + 1] for leaf in samples) for i in range(samples[1].shape[0])]
        slopes = [jax.tree.leaves(jax.grad(loss)(p, one)) for one in alone]
        squares = sum(jnp.sum(g**2) for leaves in slopes for g in leaves)
        return loss(p, samples) + LAMBDA / 2 * squares / len(slopes)

    def proximal(p, start):
        far = jax.tree.map(lambda a, b: jnp.sum((a - b) ** 2), p, start)
        return loss(p, inner) + LAMBDA * sum(jax.tree.leaves(far))

    def adapted(start, objective):
        p = start
        for _ in range(J):
            p = jax.tree.map(lambda w, g: w - GAMMA * g, p, jax.grad(objective)(p))
        return p

    plain = lambda start: adapted(start, lambda p: loss(p, inner))  # noqa: E731
    minus = lambda found: jax.tree.map(lambda a, b: a - b, params, found)  # noqa: E731
    if name == "Pooled":
        return jax.grad(lambda p: loss(p, outer))(params)
    if name == "Fomaml":
        return jax.grad(lambda p: loss(p, outer))(plain(params))
    if name == "penalty":
        return jax.grad(lambda p: penalised(p, outer))(plain(params))
    if name == "Maml":
        return jax.grad(lambda p: loss(plain(p), outer))(params)
    if name == "Reptile":
        return minus(plain(params))
    near = adapted(params, lambda p: proximal(p, params))
    if name == "MetaProx":
        return minus(near)
    flat, back = jax.flatten_util.ravel_pytree(near)
    bend = jax.hessian(lambda v: loss(back(v), inner))(flat)
    right = jax.flatten_util.ravel_pytree(jax.grad(lambda p: loss(p, outer))(near))[0]
    return back(jnp.linalg.solve(jnp.eye(flat.size) + bend / (2 * LAMBDA), right))


def defined_step(name, net, params, problem, split, tasks=None):
    sets = [part.by_group() for part in (problem.train, problem.validation)]
    first, second = ((part.x, part.y) for part in sets)
    if split == "train-train":
        both = lambda a, b: jnp.concatenate([a, b], axis=1)  # noqa: E731
        first = second = jax.tree.map(both, first, second)
    if tasks is not None:
        first, second = jax.tree.map(lambda leaf: leaf[jnp.array(tasks)], (first, second))
    asked = jax.vmap(lambda a, b: wanted(name, net, params, a, b))(first, second)
    return jax.tree.map(lambda w, g: w - 0.1 * g.mean(0), params, asked)


def drawn():
    return small.drawn(DATA)


def started(rule, problem):
    return quick(lambda p: rule.init(NETS["patches"], p, jax.random.key(1)))(problem)


def close(one, other, tolerance=1e-9):
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("split", [pytest.param(SPLITS[0], marks=pytest.mark.slow), SPLITS[1]])
@pytest.mark.parametrize(
    ("name", "net"),
    [
        ("penalty", "patches"),
        ("Reptile", "both layers"),
        ("Imaml", "both layers"),
        ("MetaProx", "own"),
        *(pytest.param("Maml", net, marks=pytest.mark.slow) for net in ("both layers", "own")),
    ],
)
def test_all_parameters_adapt(name, net, split, float64):
    """By plain autodiff, also of a net with biases and a second layer, and of a user's own model;
    tests/reference has twenty steps of every rule in NumPy."""
    mlp = lambda key: eqx.nn.MLP(80, "scalar", 4, 1, activation=jnp.tanh, key=key)  # noqa: E731
    own = ls.nets.Model(lambda key: eqx.nn.Sequential([eqx.nn.Lambda(jnp.ravel), mlp(key)]))
    rule, net = RULES[name].replace("split", split), NETS.get(net, own)

    def both(problem):
        state = rule.init(net, problem, jax.random.key(1))
        moved = rule.step(state, problem, jax.random.key(2))
        return moved.params, defined_step(name, net, state.params, problem, split)

    close(*quick(both)(drawn()))


def test_a_batch_of_tasks(float64):
    rule, net = RULES["Fomaml"].replace("batch", 2), NETS["patches"]
    problem = drawn()
    state = started(rule, problem)
    moved = quick(lambda *given: rule.step(*given))(state, problem, jax.random.key(5))
    step = lambda p, pair: defined_step("Fomaml", net, p, problem, rule.split, pair)  # noqa: E731
    steps = [quick(step)(state.params, pair) for pair in [(0, 1), (0, 2), (1, 2)]]
    found = [np.allclose(moved.params["filters"], step["filters"], 1e-9, 1e-12) for step in steps]
    assert sum(found) == 1
    refused(lambda: rule.replace("batch", 4).step(state, problem, jax.random.key(5)),
            "Fomaml.batch = 4 is not allowed: there are 3 tasks")  # fmt: skip
    plain = small.drawn(small.signals())
    refused(lambda: RULES["Fomaml"].step(started(RULES["Fomaml"], plain), plain, KEY),
            "Fomaml needs a problem with tasks")  # fmt: skip


def test_any_optimiser_and_the_data_models_gram():
    """Adam outside; and patches alone give the same step as their Gram matrix does."""
    rule = ls.rules.Maml(rate=0.01, inner_rate=0.5, inner_steps=2, optimiser="adam")
    problem = drawn()
    bare = eqx.tree_at(
        lambda p: (p.train, p.validation), problem,
        tuple(Samples(p.x, p.y, groups=3) for p in (problem.train, problem.validation)),
    )  # fmt: skip
    state = started(rule, problem)
    one, other = (quick(rule.step)(state, p, jax.random.key(2)) for p in (problem, bare))
    close(one.params, other.params, 1e-4)
    assert float(jnp.abs(one.params["filters"] - state.params["filters"]).max()) > 1e-3


@pytest.mark.parametrize("split", [pytest.param(SPLITS[0], marks=pytest.mark.slow), SPLITS[1]])
def test_the_linear_centroid_minimises_its_objective(split, float64):
    """Its gradient by autodiff, through an inner problem that is solved by NumPy's formula."""
    sizes = {"dim": 5, "tasks": 4, "samples": 4, "validation": 2, "test_tasks": 1}
    data = ls.data.LinearTasks(**sizes, spread=1.0, noise=0.3)
    rule, net = ls.rules.LinearCentroid(weight=0.4, split=split), ls.nets.Linear(scale=0.3)
    problem = quick(lambda: data.sample(jax.random.key(0)))()

    def found(problem):
        once = rule.step(rule.init(net, problem, jax.random.key(1)), problem, jax.random.key(2))
        return once.params["filters"][0], rule.step(once, problem, KEY).params["filters"][0]

    first, second = (p.by_group() for p in (problem.train, problem.validation))
    if split == "train-train":
        first = second = jax.tree.map(lambda a, b: jnp.concatenate([a, b], 1), first, second)

    def objective(centroid):
        def one(x, y, test_x, test_y):
            n, d = x.shape
            system = x.T @ x / n + 0.4 * jnp.eye(d)
            own = jnp.linalg.solve(system, x.T @ y / n + 0.4 * centroid)
            return jnp.mean((test_y - test_x @ own) ** 2)

        return jax.vmap(one)(first.x, first.y, second.x, second.y).mean()

    centroid, again = quick(found)(problem)
    assert float(jnp.abs(quick(jax.grad(objective))(centroid)).max()) < 1e-8
    assert float(jnp.abs(quick(jax.grad(objective))(centroid + 0.1)).max()) > 1e-3
    close(centroid, again, 1e-8)
    words = "LinearCentroid needs the net Linear, not PatchCNN"
    refused(lambda: rule.init(NETS["patches"], problem, KEY), words)


def test_conjugate_gradients_in_an_inner_product_of_their_own():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    gram, square = root @ root.T, np.diag(np.arange(1.0, 7.0))
    # system is symmetric in <a, gram b> if gram @ system is symmetric.
    matrix = np.eye(6) + square @ gram
    right = rng.normal(size=6)
    product = lambda a, b: jnp.asarray(a) @ gram @ b  # noqa: E731
    found = conjugate_gradients(lambda x: matrix @ x, right, product, 12)
    np.testing.assert_allclose(matrix @ found, right, rtol=1e-2, atol=1e-2)


def test_coordinates_do_not_matter(float64):
    """The same draw in R^d and rotated into its span gives the same trajectory."""
    probes = small.probes("TestLoss Loss")
    experiment = small.experiment(RULES["Maml"], 6, 3, probes, DATA, NETS["patches"])
    ways = ("ambient", "rotate")
    ambient, rotated = (small.run(experiment, None, 1, how, "float64") for how in ways)
    for name in ("loss", "test_loss"):
        np.testing.assert_allclose(ambient[name], rotated[name], rtol=1e-9)


def test_without_inner_steps_a_penalty_is_that_of_the_pooled_examples(float64):
    """Fomaml with J = 0 and a penalty is PerExamplePenalty on all examples of all tasks."""
    problem, net = drawn(), NETS["both layers"]
    both = [jnp.concatenate(pair) for pair in zip(*((p.x, p.y) for p in (
        problem.train, problem.validation)), strict=True)]  # fmt: skip
    pooled = ls.data.Problem(Samples(*both), problem.test, problem.directions, problem.frame)
    meta = ls.rules.Fomaml(rate=0.1, inner_rate=1, inner_steps=0, split="train-train", penalty=0.5)
    plain = ls.rules.PerExamplePenalty(rate=0.1, weight=0.5)

    def step(rule, problem):
        state = rule.init(net, problem, jax.random.key(1))
        return rule.step(state, problem, jax.random.key(2)).params

    close(quick(lambda p: step(meta, p))(problem), quick(lambda p: step(plain, p))(pooled))
