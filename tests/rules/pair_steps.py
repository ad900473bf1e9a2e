"""What tests of rules on pairs share: rates, populations, and paths of a rule."""

import jax
import numpy as np

from learnscope.lab import one_run
from tests.small import quick, strong_weak

STEPS, KEY = 20, jax.random.key(11)
RATES = {"rate": 0.07, "head_rate": 0.05, "momentum": 0.9}
DEFAULT = {"normalise": "batch", "stop_gradient": True, "target": "shared", "both_ways": False}
TWO = {"feature_patches": 2, "noise": 0.7}
THREE = {"feature_patches": 3, "noise": 0.6, "frequencies": (1, 3, 2)}
POPULATIONS = {
    "two features": strong_weak(4, patches=4, strengths=(1.5, 1.2), **TWO),
    "unlike frequencies": strong_weak(5, patches=6, strengths=(1.2, 1, 1.1), **THREE),
    "together": strong_weak(4, patches=6, strengths=(1.3, 1.1), together=True, **TWO),
}


def numbers(state):
    """Weights, head and target as NumPy arrays."""
    target = state.memory.target
    head = {name: np.asarray(value) for name, value in state.memory.head.items()}
    other = None if target is None else np.asarray(target["filters"])
    return np.asarray(state.params["filters"]), head, other


@quick
def path(rule, state, problem, keys):
    def step(state, key):
        state = rule.step(state, problem, key)
        memory = [getattr(state.memory, name, None) for name in ("head", "target")]
        return state, (state.params, *memory)

    return jax.lax.scan(step, state, keys)[1]


def word(case):
    return "-".join(str(value) for value in case.values())


def first_draw(setting, precision, seed=0):
    """The problem and the first weights of a compressed run."""
    run = quick(lambda: one_run(setting, seed, "compressed", precision))()
    return run.problem, run.state.params
