"""Deep networks go through tasks one by one: the same numbers as by definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.rules.losses import logistic
from tests.small import quick

SIZES = {"tasks": 2, "ways": 3, "shots": 1, "validation": 2, "queries": 2, "test_tasks": 2}
DATA = ls.data.ImageTasks("digits", **SIZES, fresh=False)


@pytest.mark.parametrize(
    "split", ["train-validation", pytest.param("train-train", marks=pytest.mark.slow)]
)
def test_fomaml_of_a_convolutional_net(split):
    net = ls.nets.Conv4(classes=3, width=2, activation="huberised")
    rule = ls.rules.Fomaml(rate=0.1, inner_rate=0.2, inner_steps=2, split=split)

    def by_definition(params, problem):
        def loss(p, samples):
            return logistic(net(p, samples.x), samples.y).mean()

        total = []
        train, held = problem.train.by_group(), problem.validation.by_group()
        for k in range(2):
            inner, outer = (jax.tree.map(lambda v, k=k: v[k], part) for part in (train, held))
            if split == "train-train":
                inner = outer = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), inner, outer)
            p = params
            for _ in range(2):
                p = jax.tree.map(lambda w, g: w - 0.2 * g, p, jax.grad(loss)(p, inner))
            total.append(jax.grad(loss)(p, outer))
        return jax.tree.map(lambda a, b: (a + b) / 2, *total)

    def both():
        problem = DATA.sample(jax.random.key(0))
        state = rule.init(net, problem, jax.random.key(1))
        found = rule.gradient(state, problem, jax.random.key(2))
        return found, by_definition(state.params, problem)

    with jax.enable_x64(True):
        found, expected = quick(both)()
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_tasks_by_themselves_have_the_mean_of_all():
    net = ls.nets.FullyConnected(width=3, classes=3, activation="relu")
    settings = {"inner_rate": 0.5, "inner_steps": 2}

    def read():
        problem = DATA.sample(jax.random.key(0))
        state = ls.rules.Pooled(rate=0.1).init(net, problem, jax.random.key(1))
        kinds = (ls.probes.AdaptedTasks, ls.probes.AdaptedTest)
        return [kind(**settings)(state, problem) for kind in kinds]

    each, together = quick(read)()
    assert each["task_accuracy"].shape == (2,)
    for name in ("loss", "accuracy"):
        mean = each[f"task_{name}"].mean()
        np.testing.assert_allclose(mean, together[f"adapted_test_{name}"], rtol=1e-6)
