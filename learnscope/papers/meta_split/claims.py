"""The paper's claims, sentence by sentence.

A training loss is small up to 0.01; a test loss is at a constant if it stays above 0.5 (log 2 =
0.69), and small below 0.1. Factors agree with the linearised ones if they are within a factor of 2.
"""

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

from learnscope import evidence as ev
from learnscope.evidence import NOISE_ONLY, Claim, Quantity, Verb, at_least, at_most, below, last
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split import forms
from learnscope.papers.meta_split import quantities as q
from learnscope.papers.meta_split.real_claims import REAL_CLAIMS
from learnscope.papers.meta_split.table_claims import CONSTANT, HALFWAY, SAME, SPLIT, TABLE_CLAIMS

FITTED, SMALL = 0.01, 0.1
LOUD = slice(0.75, None)  # ||xi||^2 / (K n) at which vanilla training fails by its rates
_FAR = {"dim": ex.LARGE}
_REGIME = "n = 2 + 2, m = 10, ‖ξ‖² = 24, γ = 2, J = 5, η = 0.1"
_LARGE = f"d = 10¹², K = 8, {_REGIME}"
_HOLDS = "regime: Conditions 4.1 to 4.3, at d = 10¹² with η = 0.1 and T ≈ d^(1/4)"
_BOTH = "regime: Conditions 4.1 to 4.3 at d = 10³; at 10⁷ and 10¹² but for η = 0.1 and T"
_ONE_T = "beyond: K grows at one d and one T; the theorem has T = poly(d) and K = polylog(d)"
_ONE_K = "reading: T grows at one d and one K; the theorem's K grows with it"
_OVER_DIM = f"d = 10³ to 10¹², K = 8, {_REGIME}"
_SETTINGS = {
    "separation, plane": f"{_REGIME}; d = 10³, K = 4 to 64, T = 1000 and d = 10³ to 10¹², K = 8, "
    "T = 2000",
    "separation": f"d = 10³, K = 4 to 64, {_REGIME}, T = 1000",
    "plane": f"K = 8, {_REGIME}, T = 2000".replace("‖ξ‖² = 24", "‖ξ‖²/(Kn) = 1/8 to 6"),
    "long": f"{_LARGE}, T = 8000 to 320 000, float64",
    "inner_steps": f"{_LARGE}, J = 1, 2, 8, T = 1000".replace("J = 5, ", ""),
    "width": f"{_LARGE}, m = 1, 2, 20, T = 1000".replace("m = 10, ", ""),
    "start": _OVER_DIM, "growth": _OVER_DIM.replace("η = 0.1", "η = 0.01"),
}  # fmt: skip


def _claim(id: str, statement: str, where: str, reported: str, needs: str, check: Verb,
           because: str = "", **more: Any) -> Claim:  # fmt: skip
    """A claim on sweeps, in the theorems' regime unless a scope is given; `because` is the known
    reason if it differs."""
    scope = _BOTH if needs == "separation, plane" else _HOLDS
    given: dict[str, Any] = {"scope": scope, "setting": _SETTINGS.get(needs, "")} | more
    verb = check.because(because) if because else check
    return Claim(id, statement, where, reported, needs=tuple(needs.split(", ")), check=verb,
                 **given)  # fmt: skip


# Theorems 4.4 and 4.5


def regime(variable: str, rule: str, least: bool = False) -> list[Quantity]:
    """A variable at the end (or its least value) over K at d = 1000, and over d at K = 8."""
    over_steps = ev.every(variable, rule=rule)
    over_tasks = over_steps.min("step") if least else over_steps.isel(step=-1)
    named = over_tasks.of("separation").named(f"{variable.replace('_', ' ')}, {rule}")
    return [named, q.on_plane(variable, rule, least).sel(ratio=0.75)]


def _both(verb: Callable[..., Verb], quantities: list[Quantity], bound: Any) -> Verb:
    """A verb over K and over d; the bound is a number, or two quantities likewise."""
    bounds = bound if isinstance(bound, list) else [bound] * 2
    return verb(quantities[0], bounds[0]) & verb(quantities[1], bounds[1])


def fits(rule: str) -> Verb:
    return _both(at_most, regime("meta_loss", rule), FITTED)


def _late(variable: str) -> Quantity:
    """From a fortieth of the time on (the first record), when the feature has grown."""
    return ev.every(variable).map(lambda values: values.isel(step=slice(1, None)), "{}")


def _fits_better(quantity: Quantity, dim: str, least: float, form, *others) -> Verb:
    """A form has a smaller error than others."""
    own, *errors = (forms.error(quantity, dim, each, least) for each in (form, *others))
    return functools.reduce(operator.and_, (below(own, error) for error in errors))


def _separates(**where) -> Verb:
    """Train-train is at a constant, train-validation below half of log 2."""
    return at_least(_SAME.sel(**where), CONSTANT) & at_most(_LOSS.sel(**where), q.LEARNT)


_LONGER = ("added after looking: ten times the time, since the rate had not settled",)
_AN_ORDER = ("added after looking: a constant and a small loss, for an order",)
_SAME, _LOSS = (last("test_loss", rule=rule) for rule in ex.SPLITS)
_SMALLER = at_most(q.on_plane("test_loss", SPLIT).sel(ratio=0.75, dim=ex.LARGE), SMALL)
_THEOREMS = [
    _claim("theorem44_training", "Train-train: the training loss becomes small.",
           "Theorem 4.4 (1)", "≤ O(1/poly(d))", "separation, plane", fits(SAME)),
    _claim("theorem44_test", "Train-train: the test loss stays at a constant.", "Theorem 4.4 (2)",
           "min_t ≥ Ω(1)", "separation, plane",
           _both(at_least, regime("test_loss", SAME, least=True), CONSTANT).given(fits(SAME))),
    _claim("theorem44_accuracy", "Train-train fails on new tasks: accuracy is near chance.",
           "Section 4, after Theorem 4.4", "fails on new tasks", "separation, plane",
           _both(at_most, regime("test_accuracy", SAME), HALFWAY).given(fits(SAME)),
           nulls=(ev.UNTRAINED, NOISE_ONLY)),
    _claim("theorem45_training", "Train-validation: the training loss becomes small.",
           "Theorem 4.5 (1)", "≤ O(1/poly(d))", "separation, plane", fits(SPLIT)),
    _claim("theorem45_test", "Train-validation: the test loss falls with the number of tasks, to "
           "below 0.1; at d = 10¹² it is there with K = 8.", "Theorem 4.5 (2)", "also small",
           "separation, plane", ev.falls(_LOSS.of("separation"), "tasks") & _SMALLER
           & at_most(_LOSS.sel(tasks=slice(32, None)).of("separation"), SMALL)),
    _claim("theorem45_form", "At one T, exp(-b K^c) fits the test loss better than a power of K "
           "and than a power of log K.", "Theorem 4.5 (2), rate", "O(exp(-K^c))", "separation",
           _fits_better(_LOSS.log(), "tasks", 8, forms.power, forms.logarithm, forms.iterated),
           "at one T the loss is limited by T: K and T = poly(d) grow together",
           setting=_SETTINGS["separation"].replace("K = 4", "K = 8"), scope=_ONE_T),
    _claim("theorem45_time", "At one K the test loss falls as a power of T: that fits better than "
           "a power of log T. With T = poly(d) and K = polylog(d) that is O(exp(-K^c)).",
           "Theorem 4.5 (2), rate", "c > 0", "long",
           at_most(_late("test_loss").slope("step", "xy").named("power of T in the test loss"),
                   -0.25)
           & _fits_better(_late("test_loss").log(), "step", 0, forms.logarithm, forms.iterated),
           "its rate in log T falls as 1 / log T, to T = 320 000", scope=_ONE_K, flags=_LONGER,
           sentence="the rate"),
    _claim("separation", "The split is necessary: train-validation's test loss is below "
           "train-train's.", "Section 4, after Theorem 4.5", "O(exp(-K^c)) against Ω(1)",
           "separation, plane",
           _both(below, regime("test_loss", SPLIT), regime("test_loss", SAME))),
    *(_claim(f"other_j{tag}", "The exact value of J is not essential: train-train's loss is at a "
             f"constant and train-validation's is not, for J = {words}.",
             "Section 4, remark on J", "J = Θ(1)", "inner_steps", _separates(inner_steps=chosen),
             "γ^J must exceed 2‖ξ‖²/(K n₂) = 3",
             setting=f"{_LARGE}, T = 1000".replace("J = 5", f"J = {words}"), **more)
      for tag, words, chosen, more in (
          ("", "2, 8", slice(2, None), {}),
          ("_one", "1", 1, {"scope": "reading: γ = 2, not large",
                            "flags": ("added after looking: J = 1 alone",)}))),
    _claim("steps_regime", "Where the theorems hold, the gap grows with the number of inner steps.",
           "Table 2, synthetic", "2.41 (1 step), 3.84 (5 steps)", "inner_steps",
           ev.rises(_SAME - _LOSS, "inner_steps", by=SMALL, slack=0.02),
           scope="reading: the theorems' setting", sentence="the gap with more steps"),
    *(_claim(f"width{tag}", f"Train-train's loss is at a constant and train-validation's is not, "
             f"for m = {words}.", f"Condition {where}", reported, "width", _separates(width=chosen),
             "narrow networks have examples that activate no filter of their sign",
             setting=_SETTINGS["width"].replace("1, 2, 20", words), **more)
      for tag, words, chosen, where, reported, more in (
          ("", "20", slice(3, None), "4.2", "m = polylog(d)", {"flags": _AN_ORDER}),
          ("_narrow", "1, 2", slice(None, 2), "D.1", "m = log(d)^0.2, which is 1.9 here",
           {"flags": _AN_ORDER, "scope": "reading: m as in Condition D.1"}))),
]  # fmt: skip


# The remarks on vanilla training, J = 0


def _beats_vanilla(ratios: slice) -> Verb:
    """Train-validation's loss is below vanilla training's by 0.1, at d = 10^12."""
    pair = [q.on_plane("test_loss", rule).sel(ratio=ratios, **_FAR) for rule in (SPLIT, "vanilla")]
    return below(*pair, by=SMALL)


_VANILLA = q.on_plane("test_loss", "vanilla", least=True)
_REMARK, _RATES = "Section 4, remark on J = 0", "rates (derived here)"
_REMARKS = [
    _claim("remark_vanilla", "Vanilla training has a constant test loss: for ‖ξ‖²/(Kn) ≥ 0.75 at "
           "d = 10¹².", _REMARK, "Θ(1)", "plane",
           at_least(_VANILLA.sel(ratio=LOUD, **_FAR), CONSTANT).given(
               at_most(q.on_plane("meta_loss", "vanilla").sel(ratio=LOUD, **_FAR), FITTED)),
           sentence="constant"),
    _claim("remark_vanilla_trend", "At ‖ξ‖²/(Kn) = 0.75 vanilla training's test loss rises with "
           "d.", _REMARK, "Θ(1)", "plane", ev.rises(_VANILLA.sel(ratio=0.75), "dim", by=SMALL),
           scope="asymptotic", nulls=(ev.UNTRAINED, NOISE_ONLY), sentence="constant"),
    _claim("remark_outperforms", "Train-validation significantly outperforms vanilla training: "
           "for ‖ξ‖²/(Kn) = 0.75 and 1.5 at d = 10¹².", _REMARK, "below", "plane",
           _beats_vanilla(slice(0.75, 1.5)), sentence="outperforms",
           flags=("added after looking: 3 and 6, where both fail, apart",)),
    _claim("remark_vanilla_tasks", "Vanilla training has a constant test loss whatever K.",
           _REMARK, "Θ(1)", "separation",
           at_least(last("test_loss", rule="vanilla"), CONSTANT).given(
               at_most(last("meta_loss", rule="vanilla"), FITTED)),
           "K n examples share the feature, which outweighs the noise of one",
           scope="beyond: ‖ξ‖² fixed as K grows; the remark has ‖ξ‖² above K n"),
    _claim("remark_accuracy", "Where vanilla training's loss is constant, its accuracy on fresh "
           "tasks is 1 nevertheless: a small feature outweighs the noise of order d^-1/2.",
           _REMARK, "not reported", "plane",
           at_least(q.on_plane("test_accuracy", "vanilla").sel(ratio=0.75, **_FAR), 0.99),
           scope="beyond"),
    _claim("remark_louder", "Train-validation outperforms vanilla training for ‖ξ‖²/(Kn) = 3 and "
           "6, too.", _REMARK, "it can", "plane",
           _beats_vanilla(slice(3.0, None)), "inner loops saturate, and both fail",
           scope="reading: at every ‖ξ‖² up to log(d)², after 2000 steps", sentence="outperforms",
           flags=("added after looking: apart from 0.75 and 1.5",)),
    _claim("criterion", "Linearised growth of feature and noise says at which ‖ξ‖²/(Kn) each "
           "method learns the feature, at d = 10¹².", _RATES, "not in the paper", "plane",
           at_least(q.predicted_share().sel(**_FAR), 0.8),
           "inner loops saturate before the feature has grown", scope="beyond"),
    _claim("criterion_trend", "The rates of train-validation are right at more ‖ξ‖²/(Kn) as d "
           "grows.", _RATES, "not in the paper", "plane",
           ev.rises(q.predicted_share().sel(rule=SPLIT), "dim"), scope="beyond"),
]  # fmt: skip


# The lemmas


def _factors(steps: int, **first_claim: Any) -> list[Claim]:
    """Lemmas 6.1 and 6.2 up to their events, which come after the start and within the run."""
    same, apart = (f"{split}, J = {steps}" for split in ex.SPLITS)
    words = [f"{_LARGE}, σ₀ = {ex.LEMMAS[arm][2]:g}".replace("J = 5, η = 0.1", f"J = {steps}")
             for arm in (same, apart)]  # fmt: skip
    return [
        _claim(f"lemma61_j{steps}", "Up to T⁽¹⁾ inner steps of train-train multiply noise by "
               "(γ‖ξ‖²/n)^J / 2 at least, and features by 2 γ^J at most.", "Lemma 6.1",
               "Ω(1) (γ polylog(d))^J, O(1) γ^J", "lemmas",
               at_least(q.before("training_noise", same, "min"), 0.5)
               & at_most(q.before("feature", same, "max"), 2.0) & at_least(q.event(same), 10.0),
               setting=words[0], **first_claim),
        _claim(f"lemma62_j{steps}", "Up to T⁽²⁾ inner steps of train-validation multiply the "
               "feature by γ^J / 2 at least, and validation noise by 2 at most.", "Lemma 6.2",
               "Ω(1) γ^J, O(1)", "lemmas", at_least(q.before("feature", apart, "min"), 0.5)
               & at_most(q.before("validation_noise", apart, "max"), 2.0)
               & at_least(q.event(apart), 10.0), setting=words[1], flags=() if steps == 3 else (
                   "added after looking: σ₀ and factor, for 1e-9 and the linearised one",)),
    ]  # fmt: skip


def _start(variable: str, rule: str) -> Quantity:
    return ev.first(f"{variable}_amplification", rule=rule)


_AT_START: dict[str, Any] = {
    "scope": f"{_HOLDS}; at t = 0, where networks are untrained",
    "survives": ("untrained: the sentence is about t = 0",),
}
_LEMMAS = [
    *_factors(3),
    *_factors(5, scope="asymptotic: σ₀ = d^-1/2 of d = 10¹⁸"),
    _claim("lemma61_start", "At t = 0 and σ₀ = d^-1/2 inner steps of train-train "
           "amplify noise more than the feature.", "Lemma 6.1", "γ^J against (γ polylog(d))^J",
           "start", ev.above(_start("training_noise", SAME), _start("feature", SAME)),
           nulls=(NOISE_ONLY,), **_AT_START),
    _claim("lemma62_start", "At t = 0 and σ₀ = d^-1/2 inner steps of "
           "train-validation amplify the feature more than validation noise.", "Lemma 6.2",
           "γ^J against O(1)", "start",
           ev.above(_start("feature", SPLIT), _start("validation_noise", SPLIT))
           & at_most(_start("validation_noise", SPLIT), 2.0), nulls=(NOISE_ONLY,), **_AT_START),
    _claim("lemma63", "At T⁽²⁾ validation noise is of order d^-1/2.", "Lemma 6.3",
           "Õ(d^-1/2) at T⁽²⁾", "growth", ev.exponent(q.noise_at_event(), "dim", -0.5, by=0.1),
           scope="asymptotic"),
    _claim("lemma64", "The sum of -ℓ' falls as 1/(Tη) or faster.", "Lemma 6.4", "Õ(1/(Tη))", "long",
           at_most(_late("outer_slope").slope("step", "xy").named("power of T in the sum of -ℓ'"),
                   -0.9), flags=("added after looking: an upper bound, for -1 within 0.25",)),
    _claim("lemma65", "At one T the shared feature grows as a power of K: that fits better than "
           "log K.", "Lemma 6.5", "Ω(K^c), c > 0", "separation",
           _fits_better(last("shared_feature", rule=SPLIT), "tasks", 4, forms.power,
                        forms.logarithm),
           "at one T the feature is limited by T: it grows as log T", scope=_ONE_T),
    _claim("lemma65_time", "At one K the shared feature grows as log T: that fits better than log "
           "log T. With T = poly(d) and K = polylog(d) that is Ω(K^c).", "Lemma 6.5",
           "Ω(K^c), c > 0", "long",
           at_least(_late("shared_feature").slope("step", "x").named("feature's growth with log T"),
                    0.05)
           & _fits_better(_late("shared_feature"), "step", 0, forms.logarithm, forms.iterated),
           "its rate in log T falls, to T = 320 000", scope=_ONE_K,
           flags=("added after looking: the comparison with log log T", *_LONGER)),
]  # fmt: skip


# Levels and margins of these claims were chosen after a first look.
_LOOKED = {"steps_regime", "remark_vanilla", "remark_vanilla_trend", "criterion",
           "table4_synthetic", "bai_algorithms"}  # fmt: skip
_LEVEL = ("added after looking: the level or margin",)
CLAIMS = tuple(
    dataclasses.replace(claim, flags=claim.flags + _LEVEL) if claim.id in _LOOKED else claim
    for claim in (*_THEOREMS, *_REMARKS, *_LEMMAS, *TABLE_CLAIMS, *REAL_CLAIMS)
)
