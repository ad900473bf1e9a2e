"""The condition of Theorem 1 of Shi, Wei and Liang (2022), and the experiments it covers."""

import math
from typing import Any

from learnscope.data import Patterns
from learnscope.nets import TwoLayer
from learnscope.papers.input_structure.theory.law import exact_law
from learnscope.rules import TwoStep
from learnscope.theory import Conditions, is_a

SCOPE = (
    "Patterns (orthonormal, noiseless, labels by counts) with a symmetric "
    "TwoLayer(activation='truncated') under TwoStep(loss='hinge')"
)


def applies(experiment: Any) -> bool:
    """Whether the paper's main text is about such an experiment."""
    data = experiment.data
    return (
        is_a(data, Patterns, dictionary="orthonormal")
        and data.label != "codes"
        and not data.noise
        and is_a(experiment.net, TwoLayer, activation="truncated", symmetric=True)
        and is_a(experiment.rule, TwoStep, loss="hinge")
    )


def conditions(
    experiment: Any, constant: float = 1.0, delta: float = 0.1, error: float = 0.1
) -> Conditions:
    r"""Theorem 1's condition, with $\Omega$ read as `constant`; then the model's assumptions (A0)
    and (A2), and Theorem 26's number of steps. (A1), $\gamma > 0$, is in the first: the logarithm
    is infinite otherwise.

    | symbol | argument |
    |---|---|
    | $D, k, p_o$ | `data.patterns`, `relevant`, `background` |
    | $m$, $T$ | `net.width`, `steps` |
    | $\delta$, $\epsilon$ | `delta`, `error` |

    $m \le \mathrm{poly}(D)$ is not listed: any number is.

    >>> import learnscope as ls
    >>> data = ls.data.Patterns(dim=500, patterns=100, relevant=5, train=9, test=9)
    >>> rule = ls.rules.TwoStep(first_rate=1e-9, second_rate=1.0, rate=0.01)
    >>> net = ls.nets.TwoLayer(width=300)
    >>> checked = conditions(ls.Experiment(data=data, net=net, rule=rule, steps=600))
    >>> {each.name: round(each.margin, 3) for each in checked if each.margin < 1}
    {'relevant patterns': 0.073, 'width, error': 0.0, 'steps': 0.299}
    """
    law, m, c = exact_law(experiment.data), experiment.net.width, constant
    k, patterns, gamma = law.relevant, law.patterns, law.correlation
    needed = math.log(patterns / (delta * gamma)) ** 2 if gamma > 0 else math.inf
    least = float(law.mean[k:].min())
    rarer = min(law.positive, 1 - law.positive)
    unlike = float(law.background.max() - law.background.min())
    g = f"{c:g}"
    rows = [
        ("relevant patterns", f"k >= {g} log(D / (delta gamma))^2", k, ">=", c * needed),
        ("background", f"p_o >= {g} k^2 / D", least, ">=", c * k**2 / patterns),
        ("width, error", f"m >= {g} k^12 / epsilon^1.5", m, ">=", c * k**12 / error**1.5),
        ("width, patterns", "m >= D", m, ">=", patterns),
        ("balance (A0)", "2 min Pr[y] >= 1", _tidy(2 * rarer), ">=", 1.0),
        ("background (A2)", "range of Pr[phi_j = 1 | group] <= 0", _tidy(unlike), "<=", 0.0),
        ("steps", "T >= m^(4/3)", experiment.steps, ">=", m ** (4 / 3)),
    ]
    theorem = lambda name: f"The condition of Theorem {26 if name == 'steps' else 1}"  # noqa: E731
    return Conditions.of(rows, theorem)


def _tidy(value: float) -> float:
    """Round away the error of an equality."""
    return round(value, 12)
