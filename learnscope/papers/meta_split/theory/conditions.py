"""Conditions 4.1 to 4.3, with margins, and the experiments they cover."""

import math
from typing import Any

from learnscope.data import TaskFamily
from learnscope.nets import PatchCNN
from learnscope.rules import Fomaml, Pooled
from learnscope.theory import Conditions, is_a, plain

SCOPE = (
    "TaskFamily with a two-class PatchCNN(activation='huberised') under Fomaml or Pooled with "
    "plain gradient descent outside"
)


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    return (
        isinstance(experiment.data, TaskFamily)
        and is_a(experiment.net, PatchCNN, activation="huberised", classes=2)
        and is_a(experiment.rule, Fomaml | Pooled)
        and plain(experiment)
    )


def conditions(experiment: Any, power: float = 3.0, delta: float = 0.01) -> Conditions:
    r"""Conditions 4.1, 4.2 and 4.3, with polylog(d) read as at most $\log(d)^{power}$, $\Theta(1)$
    as at most 10, "$d \gg K n$" as $d \ge 2 K n$ and poly(d) as at least d.

    Condition 4.1 is about a random dictionary: its lines compare what its M Gaussian vectors do
    with probability $1 - \delta$ (a union bound) with what is asked for.

    >>> import learnscope as ls
    >>> data = ls.data.TaskFamily(dim=1000, dictionary=500, tasks=343, samples=10, validation=5,
    ...                           signal=1.0, task_signal=0.021, noise=10.42, test_tasks=1)
    >>> net = ls.nets.PatchCNN(width=18, activation="huberised", second_layer="sum", scale=0.032)
    >>> rule = ls.rules.Fomaml(rate=1e-4, inner_rate=1e-3)
    >>> checked = conditions(ls.Experiment(data=data, net=net, rule=rule, steps=4000))
    >>> [each.name for each in checked if not each.holds]
    ['4.2, noise', '4.2, tasks', ...
    """
    data, net, rule = experiment.data, experiment.net, experiment.rule
    d, dictionary = float(data.dim), data.dictionary
    log = math.log(d)
    poly = log**power
    root = math.sqrt(d)
    few = math.log(2 * dictionary / delta)
    pairs = math.log(dictionary**2 / delta)
    # Laurent and Massart's bounds on ||z||^2 / sigma_s^2 of the d - 1 dimensions.
    longest = d - 1 + 2 * math.sqrt((d - 1) * few) + 2 * few
    shortest = max(0.0, d - 1 - 2 * math.sqrt((d - 1) * few))
    noise, own = float(data.noise), float(data.task_signal)
    gamma = float(getattr(rule, "inner_rate", 0.0))
    steps_inside = getattr(rule, "inner_steps", 0)
    p = f"log(d)^{power:g}"
    rows = [
        ("4.1, length above", "max |z_i| <= 1.5 sigma_s sqrt(d)", math.sqrt(longest), "<=",
         1.5 * root),
        ("4.1, length below", "min |z_i| >= 0.5 sigma_s sqrt(d)", math.sqrt(shortest), ">=",
         0.5 * root),
        ("4.1, correlation", "max |<z_i, z_j>| <= 2 sigma_s^2 sqrt(d) log(d)",
         math.sqrt(2 * pairs * longest), "<=", 2 * root * log),
        ("4.2, shared feature", "|nu| <= 1", float(data.signal), "<=", 1.0),
        ("4.2, shared feature, below", "|nu| >= 1", float(data.signal), ">=", 1.0),
        ("4.2, noise", f"sigma_xi sqrt(d) <= {p} / 2", noise * root, "<=", poly / 2),
        ("4.2, noise, below", "sigma_xi sqrt(d) >= 1", noise * root, ">=", 1.0),
        ("4.2, task features", "sigma_s sqrt(d) <= 1", own, "<=", 1.0),
        ("4.2, task features, below", f"sigma_s sqrt(d) >= 1 / {p}", own, ">=", 1 / poly),
        ("4.2, samples a task", "n <= 10", data.samples, "<=", 10),
        ("4.2, tasks", f"K <= {p}", data.tasks, "<=", poly),
        ("4.2, width", f"m <= {p}", net.width, "<=", poly),
        ("4.2, dictionary", "M <= d / 2", dictionary, "<=", d / 2),
        ("4.2, dictionary, below", "M >= sqrt(d)", dictionary, ">=", root),
        ("4.2, dimension", "d >= 2 K n", d, ">=", 2 * data.tasks * data.samples),
        ("4.3, initial weights", "sigma_0 sqrt(d) <= 1.05", float(net.scale) * root, "<=", 1.05),
        ("4.3, initial weights, below", "sigma_0 sqrt(d) >= 0.95", float(net.scale) * root, ">=",
         0.95),
        ("4.3, inner rate", f"gamma <= {p}", gamma, "<=", poly),
        ("4.3, inner rate, below", "gamma >= 1", gamma, ">=", 1.0),
        ("4.3, outer rate", "eta <= 1 / log(d)", float(rule.rate), "<=", 1 / log),
        ("4.3, inner steps", "J >= 5", steps_inside, ">=", 5),
        ("4.3, steps", "T >= d", experiment.steps, ">=", d),
    ]  # fmt: skip
    return Conditions.of(rows, lambda name: f"Condition {name[:3]}")
