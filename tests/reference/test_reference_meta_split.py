"""The rules against plain NumPy."""

import jax
import numpy as np
import pytest

import learnscope as ls
from tests.reference import meta_split as reference
from tests.small import quick, tasks

RULES = ("Fomaml", "Maml", "Reptile", "MetaProx", "Imaml", "Pooled")
DATA = tasks(dim=12, dictionary=3, noise=0.5)
NET = ls.nets.PatchCNN(width=2, activation="huberised", scale=0.4, second_layer="sum")
GAMMA, J, LAMBDA, RATE = 0.5, 2, 0.6, 0.1


def rule_of(name, split):
    more = {} if name == "Pooled" else {"inner_rate": GAMMA, "inner_steps": J}
    if name in ("MetaProx", "Imaml"):
        more["weight"] = LAMBDA
    if name == "Imaml":
        more["solver_steps"] = 40
    return getattr(ls.rules, name)(rate=RATE, split=split, **more)


@pytest.mark.parametrize(
    "split", [pytest.param("train-train", marks=pytest.mark.slow), "train-validation"]
)
def test_twenty_steps_are_numpys(split, float64):
    rules = {name: rule_of(name, split) for name in RULES}

    def trajectories():
        problem = DATA.sample(jax.random.key(3))
        found = {}
        for name, rule in rules.items():
            state = rule.init(NET, problem, jax.random.key(1))

            def step(state, _, rule=rule, problem=problem):
                state = rule.step(state, problem, jax.random.key(2))
                return state, state.params["filters"]

            found[name] = (state.params["filters"], jax.lax.scan(step, state, None, length=20)[1])
        return problem, found

    problem, found = quick(trajectories)()
    sets = [
        (np.asarray(part.x).reshape(3, -1, 2, 12), np.asarray(part.y).reshape(3, -1))
        for part in (problem.train, problem.validation)
    ]
    first, second = sets
    if split == "train-train":
        first = second = tuple(np.concatenate(pair, axis=1) for pair in zip(*sets, strict=True))
    for name, (start, ours) in found.items():
        filters = np.asarray(start)
        for t in range(20):
            asked = [
                reference.wanted(
                    name, filters, (first[0][k], first[1][k]), (second[0][k], second[1][k]),
                    GAMMA, J, LAMBDA,
                )
                for k in range(3)
            ]  # fmt: skip
            filters = filters - RATE * np.mean(asked, axis=0)
            np.testing.assert_allclose(ours[t], filters, rtol=1e-8, atol=1e-9, err_msg=name)
