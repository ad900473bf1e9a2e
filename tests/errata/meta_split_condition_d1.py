"""Condition D.1 of Zuo et al., the concrete setting of the proofs, with its misprint corrected."""

import math
from typing import Any

from learnscope.theory import Condition, Conditions


def condition_d1(experiment: Any, factor: float = 2.0) -> Conditions:
    r"""Condition D.1, the concrete setting of the proofs: each parameter against its value, equal
    up to a `factor`. It prints $\eta = 1/\log(d)^{-5}$, which would be $\log(d)^5$ and not small;
    $\log(d)^{-5}$ is meant.

    | value | of |
    |---|---|
    | $\sigma_s \sqrt d = \log(d)^{-0.4}$ | `data.task_signal` |
    | $\sigma_\xi \sqrt d = \log(d)^{0.5}$ | `data.noise` |
    | $K = \log(d)^{0.5}$, $m = \log(d)^{0.2}$, $M = d/2$ | `data.tasks`, `net.width`, ... |
    | $\gamma = \log(d)^{0.4}$, $\eta = \log(d)^{-5}$ | `rule.inner_rate`, `rate` |
    """
    data, net, rule = experiment.data, experiment.net, experiment.rule
    d = float(data.dim)
    log, root = math.log(d), math.sqrt(d)
    values = [
        ("task features", "sigma_s sqrt(d) = log(d)^-0.4", float(data.task_signal), log**-0.4),
        ("noise", "sigma_xi sqrt(d) = log(d)^0.5", float(data.noise) * root, log**0.5),
        ("tasks", "K = log(d)^0.5", data.tasks, log**0.5),
        ("width", "m = log(d)^0.2", net.width, log**0.2),
        ("dictionary", "M = d / 2", data.dictionary, d / 2),
        ("initial weights", "sigma_0 = d^-0.5", float(net.scale), 1 / root),
        ("inner rate", "gamma = log(d)^0.4", float(getattr(rule, "inner_rate", 0.0)), log**0.4),
        ("outer rate", "eta = log(d)^-5", float(rule.rate), log**-5),
    ]
    listed = Conditions()
    for name, text, left, right in values:
        listed.append(Condition(f"D.1, {name}", f"{text}, at most", left, factor * right, "<="))
        listed.append(Condition(f"D.1, {name}", f"{text}, at least", left, right / factor, ">="))
    halves = min(data.halves) if data.balanced else 1
    listed.append(Condition("D.1, split", "both classes in both halves", halves, 2, ">="))
    return listed
