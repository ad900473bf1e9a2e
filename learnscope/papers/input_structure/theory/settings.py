"""The hyperparameters that the theorems set."""

import dataclasses
from typing import Any

from learnscope.errors import BadInput, refuse_value, unknown
from learnscope.papers.input_structure.theory.law import exact_law

FORMS = ("theorem_26", "lemma_23", "theorem_34")


@dataclasses.dataclass(frozen=True)
class Settings:
    r"""| symbol | field |
    |---|---|
    | $\sigma_w$, $\sigma_b$, $\sigma_a$ | `scale`, `bias_scale`, `second_scale` |
    | $\eta^{(1)}$, $\eta^{(2)}$, $\eta$ | `first_rate`, `second_rate`, `rate` |
    | $\lambda_a = \lambda_w$ for $t > 2$, at most | `decay` |
    | $\sigma_\xi$ of the first two steps | `noise` |
    """

    scale: float
    bias_scale: float
    second_scale: float
    first_rate: float
    second_rate: float
    rate: float
    decay: float
    noise: float


def settings(model: Any, width: int, steps: int, form: str = "theorem_26") -> Settings:
    r"""For a `Patterns` model, $m$ = `width` pairs of neurons and $T$ = `steps`.

    All forms have $\sigma_w = 1/k$, $\sigma_b = 1/k^2$, $\sigma_a = \tilde\sigma^2 / (\gamma k^2)$
    (section 3.1), $\eta^{(2)} = 1$, $\eta = k^2 / (T m^{1/3})$ and
    $\lambda \le k^3 / (\tilde\sigma m^{1/3})$. The paper prints three first rates:

    | form | $\eta^{(1)}$ | $\sigma_\xi$ |
    |---|---|---|
    | `theorem_26` (eqs. 276, 277) | $\gamma^2 \tilde\sigma^2 / (k m^3)$ | $k^{-2}$ |
    | `lemma_23` (eqs. 217, 218) | $\gamma^2 \tilde\sigma / (k m^3)$ | $k^{-3/2}$ |
    | `theorem_34` (eqs. 296, 297) | $\gamma^2 p_{\min} \tilde\sigma / (k m^3)$ | $k^{-3/2}$ |

    Theorem 34 has $\gamma = (E[\tilde\phi_j | y = 1] - E[\tilde\phi_j | y = -1]) / 2$, the others
    $E[y \tilde\phi_j] - E[y] E[\tilde\phi_j]$, which is the same for balanced classes; and it asks
    for a $\sigma_w^2 = \tilde\sigma^2 / \mathrm{poly}(Dm)$ that it does not spell out.

    >>> from learnscope.data import Patterns
    >>> model = Patterns(dim=500, patterns=100, relevant=5, train=1, test=1)
    >>> [f"{settings(model, 300, 600, form).first_rate:.2e}" for form in FORMS]
    ['1.16e-08', '2.31e-09', '1.16e-09']
    >>> settings(model, 300, 600).second_scale
    4.0
    """
    if form not in FORMS:
        raise unknown("form of the settings", form, FORMS)
    for name, given in (("width", width), ("steps", steps)):
        if given < 1:
            refuse_value(name, given, "it must be 1 or more")
    law = exact_law(model)
    k, sigma, p = law.relevant, law.scale, law.positive
    gamma = law.correlation / (4 * p * (1 - p)) if form == "theorem_34" else law.correlation
    if not gamma > 1e-12:
        raise BadInput(
            f"the theorems need patterns that go with the label +1: gamma is {gamma:.3g}, but must "
            "be above 0."
        )
    share = {"theorem_26": sigma, "lemma_23": 1.0, "theorem_34": min(p, 1 - p)}[form]
    root = width ** (1 / 3)
    return Settings(
        scale=1 / k, bias_scale=1 / k**2, second_scale=sigma**2 / (gamma * k**2),
        first_rate=gamma**2 * share * sigma / (k * width**3), second_rate=1.0,
        rate=k**2 / (steps * root), decay=k**3 / (sigma * root),
        noise=k**-2.0 if form == "theorem_26" else k**-1.5,
    )  # fmt: skip
