"""The paper's claims, sentence by sentence.

A training loss is small up to 0.01; a test loss is at a constant if it stays above 0.5 (log 2 =
0.69), and small below 0.1. Factors agree with the linearised ones if they are within a factor of 2.
"""

import dataclasses
import math

from learnscope.evidence import (
    NOISE_ONLY,
    UNTRAINED,
    Claim,
    Quantity,
    Verb,
    above,
    at_least,
    at_most,
    below,
    every,
    exponent,
    falls,
    first,
    last,
    rises,
)
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split import forms
from learnscope.papers.meta_split.quantities import (
    LEARNT,
    before,
    event,
    noise_at_event,
    on_plane,
    predicted_share,
)
from learnscope.papers.meta_split.real_claims import REAL_CLAIMS
from learnscope.papers.meta_split.table_claims import CONSTANT, HALFWAY, SAME, SPLIT, TABLE_CLAIMS

FITTED, SMALL = 0.01, 0.1
LOUD = slice(0.75, None)  # ||xi||^2 / (K n) at which vanilla training fails by its rates
_REGIME = "n = 2 + 2, m = 10, ‖ξ‖² = 24, γ = 2, J = 5, η = 0.1"
_BOTH = f"{_REGIME}; d = 10³, K = 4 to 64, T = 1000 and d = 10³ to 10¹², K = 8, T = 2000"
_LARGE = f"d = 10¹², K = 8, {_REGIME}"
_HOLDS = "regime: Conditions 4.1 to 4.3, at d = 10¹² with η = 0.1 and T ≈ d^(1/4)"


# Theorems 4.4 and 4.5


def regime(variable: str, rule: str, least: bool = False) -> list[Quantity]:
    """A variable at the end (or its least value) over K at d = 1000, and over d at K = 8."""
    over_steps = every(variable, rule=rule)
    over_tasks = over_steps.min("step") if least else over_steps.isel(step=-1)
    named = over_tasks.of("separation").named(f"{variable.replace('_', ' ')}, {rule}")
    return [named, on_plane(variable, rule, least).sel(ratio=0.75)]


def fits(rule: str) -> Verb:
    one, other = (at_most(loss, FITTED) for loss in regime("meta_loss", rule))
    return one & other


_LOSS = last("test_loss", rule=SPLIT)
_SAME = last("test_loss", rule=SAME)


def _late(variable: str) -> Quantity:
    """From step 800 on, when the feature has grown."""
    return every(variable).map(lambda values: values.sel(step=slice(800, None)), "{}")


def _fits_better(quantity: Quantity, dim: str, form, others, least: float) -> Verb:
    """A form has a smaller error than others."""
    own = forms.error(quantity, dim, form, least)
    verb = below(own, forms.error(quantity, dim, others[0], least))
    for other in others[1:]:
        verb &= below(own, forms.error(quantity, dim, other, least))
    return verb


def _theorem(id: str, statement: str, where: str, reported: str, check: Verb, setting=_BOTH,
             needs: str | tuple[str, ...] = ("separation", "plane"), scope=_HOLDS,
             **more) -> Claim:  # fmt: skip
    return Claim(id, statement, where, reported, setting, needs, check, scope=scope, **more)


def _separates(**where) -> Verb:
    """Train-train is at a constant, train-validation below half of log 2."""
    same, apart = _SAME.sel(**where), _LOSS.sel(**where)
    return at_least(same, CONSTANT) & at_most(apart, LEARNT)


_CONSTANT = [at_least(loss, CONSTANT) for loss in regime("test_loss", SAME, least=True)]
_CHANCE = [at_most(right, HALFWAY) for right in regime("test_accuracy", SAME)]
_LOWER = [below(*pair) for pair in zip(*(regime("test_loss", rule) for rule in (SPLIT, SAME)),
                                       strict=True)]  # fmt: skip
_SMALLER = at_most(on_plane("test_loss", SPLIT).sel(ratio=0.75, dim=ex.LARGE), SMALL)
_THEOREMS = [
    _theorem("theorem44_training", "Train-train: the training loss becomes small.",
             "Theorem 4.4 (1)", "≤ O(1/poly(d))", fits(SAME)),
    _theorem("theorem44_test", "Train-train: the test loss stays at a constant.",
             "Theorem 4.4 (2)", "min_t ≥ Ω(1)", (_CONSTANT[0] & _CONSTANT[1]).given(fits(SAME))),
    _theorem("theorem44_accuracy", "Train-train fails on new tasks: accuracy is near chance.",
             "Section 4, after Theorem 4.4", "fails on new tasks",
             (_CHANCE[0] & _CHANCE[1]).given(fits(SAME)), nulls=(UNTRAINED, NOISE_ONLY)),
    _theorem("theorem45_training", "Train-validation: the training loss becomes small.",
             "Theorem 4.5 (1)", "≤ O(1/poly(d))", fits(SPLIT)),
    _theorem("theorem45_test", "Train-validation: the test loss falls with the number of tasks, to "
             "below 0.1; at d = 10¹² it is there with K = 8.", "Theorem 4.5 (2)", "O(exp(-K^c))",
             falls(_LOSS.of("separation"), "tasks") & _SMALLER
             & at_most(_LOSS.sel(tasks=slice(32, None)).of("separation"), SMALL)),
    _theorem("theorem45_form", "At one T, exp(-b K^c) fits the test loss better than a power of K "
             "and than a power of log K.", "Theorem 4.5 (2)", "O(exp(-K^c))",
             _fits_better(_LOSS.log(), "tasks", forms.power, [forms.logarithm, forms.iterated], 8)
             .because("at one T the loss is limited by T: K and T = poly(d) grow together"),
             f"d = 10³, K = 8 to 64, {_REGIME}, T = 1000", "separation"),
    _theorem("theorem45_time", "The test loss falls as a power of T: that fits better than a power "
             "of log T. With T = poly(d) and K = polylog(d) that is O(exp(-K^c)).",
             "Theorem 4.5 (2)", "c > 0",
             at_most(_late("test_loss").slope("step", "xy").named("power of T in the test loss"),
                     -0.25)
             & _fits_better(_late("test_loss").log(), "step", forms.logarithm, [forms.iterated], 0)
             .because("the local power goes from -2 to -0.5 and has not settled at T = 32 000"),
             f"{_LARGE}, T = 800 to 32 000", "long", "asymptotic"),
    _theorem("separation", "The split is necessary: train-validation's test loss is below "
             "train-train's.", "Section 4, after Theorem 4.5", "O(exp(-K^c)) against Ω(1)",
             _LOWER[0] & _LOWER[1]),
    *(_theorem(f"other_j{tag}", "The exact value of J is not essential: train-train's loss is at a "
               f"constant and train-validation's is not, for J = {words}.",
               "Section 4, remark on J", "J = Θ(1)", _separates(inner_steps=chosen)
               .because("γ^J must exceed 2‖ξ‖²/(K n₂) = 3"), f"{_LARGE}, T = 1000".replace(
                   "J = 5", f"J = {words}"), "inner_steps", scope, flags=flags)
      for tag, words, chosen, scope, flags in (
          ("", "2, 8", slice(2, None), _HOLDS, ()),
          ("_one", "1", 1, "reading: γ = 2, not large", ("added after looking: J = 1 alone",)))),
    Claim("steps_regime", "Where the theorems hold, the gap grows with the number of inner steps.",
          "Table 2, synthetic", "2.41 (1 step), 3.84 (5 steps)",
          f"{_LARGE}, J = 1, 2, 8, T = 1000".replace("J = 5, ", ""), "inner_steps",
          rises(_SAME - _LOSS, "inner_steps", by=SMALL, slack=0.02),
          scope="reading: the theorems' setting"),
    _theorem("width", "Train-train's loss is at a constant and train-validation's is not, at every "
             "width.", "Condition 4.2", "m = polylog(d)", _separates()
             .because("narrow networks have examples that activate no filter of their sign"),
             f"{_LARGE}, m = 1, 2, 20, T = 1000".replace("m = 10, ", ""), "width",
             flags=("added after looking: a constant and a small loss, for an order",)),
]  # fmt: skip


# The remarks on vanilla training, J = 0


def _planar(id: str, statement: str, reported: str, check: Verb, scope: str,
            where: str = "Section 4, remark on J = 0", **more) -> Claim:  # fmt: skip
    """A claim on the plane of d and ||xi||^2 / (K n)."""
    words = f"K = 8, {_REGIME}, T = 2000".replace("‖ξ‖² = 24", "‖ξ‖²/(Kn) = 1/8 to 6")
    return Claim(id, statement, where, reported, words, "plane", check, scope=scope, **more)


_VANILLA = on_plane("test_loss", "vanilla", least=True)
_FAR = {"dim": ex.LARGE}
_SMALL_TRAINING = at_most(on_plane("meta_loss", "vanilla").sel(ratio=LOUD, **_FAR), FITTED)


def _beats_vanilla(ratios: slice) -> Verb:
    """Train-validation's loss is below vanilla training's by 0.1, at d = 10^12."""
    pair = [on_plane("test_loss", rule).sel(ratio=ratios, **_FAR) for rule in (SPLIT, "vanilla")]
    return below(*pair, by=SMALL)


_RATES = "Sections 6 and C, rates"
_REMARKS = [
    _planar("remark_vanilla", "Vanilla training has a constant test loss: for ‖ξ‖²/(Kn) ≥ 0.75 at "
            "d = 10¹².", "Θ(1)",
            at_least(_VANILLA.sel(ratio=LOUD, **_FAR), CONSTANT).given(_SMALL_TRAINING), _HOLDS),
    _planar("remark_vanilla_trend", "At ‖ξ‖²/(Kn) = 0.75 vanilla training's test loss rises with "
            "d.", "Θ(1)", rises(_VANILLA.sel(ratio=0.75), "dim", by=SMALL), "asymptotic",
            nulls=(UNTRAINED, NOISE_ONLY)),
    _planar("remark_outperforms", "Train-validation significantly outperforms vanilla training: "
            "for ‖ξ‖²/(Kn) = 0.75 and 1.5 at d = 10¹².", "below",
            _beats_vanilla(slice(0.75, 1.5)), _HOLDS,
            flags=("added after looking: 3 and 6, where both fail, apart",)),
    _theorem("remark_vanilla_tasks", "Vanilla training has a constant test loss whatever K.",
             "Section 4, remark on J = 0", "Θ(1)",
             at_least(last("test_loss", rule="vanilla"), CONSTANT).given(
                 at_most(last("meta_loss", rule="vanilla"), FITTED)).because(
                     "K n examples share the feature, which outweighs the noise of one"),
             f"d = 10³, K = 4 to 64, {_REGIME}, T = 1000", "separation",
             "reading: ‖ξ‖² fixed as K grows"),
    _planar("remark_accuracy", "Where vanilla training's loss is constant, its accuracy on fresh "
            "tasks is 1 nevertheless: a small feature outweighs the noise of order d^-1/2.",
            "not reported", at_least(
                on_plane("test_accuracy", "vanilla").sel(ratio=0.75, **_FAR), 0.99), "beyond"),
    _planar("remark_louder", "The same for ‖ξ‖²/(Kn) = 3 and 6.", "below",
            _beats_vanilla(slice(3.0, None)).because("inner loops saturate, and both fail"),
            "regime: ‖ξ‖² up to log(d)²", flags=("added after looking: apart from 0.75 and 1.5",)),
    _planar("criterion", "Linearised growth of feature and noise says at which ‖ξ‖²/(Kn) each "
            "method learns the feature, at d = 10¹².", "growth compared",
            at_least(predicted_share().sel(**_FAR), 0.8).because(
                "inner loops saturate before the feature has grown"), "reading: d = 10¹²", _RATES),
    _planar("criterion_trend", "The rates of train-validation are right at more ‖ξ‖²/(Kn) as d "
            "grows.", "growth compared", rises(predicted_share().sel(rule=SPLIT), "dim"),
            "asymptotic", _RATES),
]  # fmt: skip


# The lemmas


def _lemma(id: str, statement: str, where: str, reported: str, check: Verb, setting: str,
           needs: str, scope: str = _HOLDS, **more) -> Claim:  # fmt: skip
    return Claim(id, statement, where, reported, setting, needs, check, scope=scope, **more)


def _up_to(arm: str) -> Verb:
    """The event comes after the start and within the run."""
    return at_least(event(arm), 10.0)


def _factors(steps: int, scope: str) -> list[Claim]:
    """Lemmas 6.1 and 6.2; the first in its own scope."""
    same, apart = (f"{split}, J = {steps}" for split in ex.SPLITS)
    words = [f"{_LARGE}, σ₀ = {ex.LEMMAS[arm][2]:g}".replace("J = 5, η = 0.1", f"J = {steps}")
             for arm in (same, apart)]  # fmt: skip
    return [
        _lemma(f"lemma61_j{steps}", "Up to T⁽¹⁾ inner steps of train-train multiply noise by "
               "(γ‖ξ‖²/n)^J / 2 at least, and features by 2 γ^J at most.", "Lemma 6.1",
               "Ω(1) (γ polylog(d))^J, O(1) γ^J",
               at_least(before("training_noise", same, "min"), 0.5)
               & at_most(before("feature", same, "max"), 2.0) & _up_to(same), words[0],
               "lemmas", scope),
        _lemma(f"lemma62_j{steps}", "Up to T⁽²⁾ inner steps of train-validation multiply the "
               "feature by γ^J / 2 at least, and validation noise by 2 at most.", "Lemma 6.2",
               "Ω(1) γ^J, O(1)", at_least(before("feature", apart, "min"), 0.5)
               & at_most(before("validation_noise", apart, "max"), 2.0) & _up_to(apart), words[1],
               "lemmas", flags=() if steps == 3 else (
                   "added after looking: σ₀ and factor, for 1e-9 and the linearised one",)),
    ]  # fmt: skip


def _start(variable: str, rule: str) -> Quantity:
    return first(f"{variable}_amplification", rule=rule)


_LEMMAS = [
    *_factors(3, _HOLDS),
    *_factors(5, "asymptotic: σ₀ = d^-1/2 of d = 10¹⁸"),
    _lemma("lemma61_start", "At t = 0 and σ₀ = d^-1/2 inner steps of train-train "
           "amplify noise more than the feature.", "Lemma 6.1", "γ^J against (γ polylog(d))^J",
           above(_start("training_noise", SAME), _start("feature", SAME)),
           f"d = 10³ to 10¹², K = 8, {_REGIME}", "start", nulls=(NOISE_ONLY,)),
    _lemma("lemma62_start", "At t = 0 and σ₀ = d^-1/2 inner steps of "
           "train-validation amplify the feature more than validation noise.", "Lemma 6.2",
           "γ^J against O(1)", above(_start("feature", SPLIT), _start("validation_noise", SPLIT))
           & at_most(_start("validation_noise", SPLIT), 2.0),
           f"d = 10³ to 10¹², K = 8, {_REGIME}", "start", nulls=(NOISE_ONLY,)),
    _lemma("lemma63", "At T⁽²⁾ validation noise is of order d^-1/2.", "Lemma 6.3",
           "Õ(d^-1/2) at T⁽²⁾", exponent(noise_at_event(), "dim", -0.5, by=0.1),
           f"d = 10³ to 10¹², K = 8, {_REGIME}".replace("η = 0.1", "η = 0.01"), "growth",
           "asymptotic"),
    _lemma("lemma64", "The sum of -ℓ' falls as 1/(Tη).", "Lemma 6.4", "Õ(1/(Tη))",
           at_most(_late("outer_slope").slope("step", "xy").named("power of T in the sum of -ℓ'"),
                   -0.9), f"{_LARGE}, T = 800 to 32 000", "long",
           flags=("added after looking: an upper bound, for -1 within 0.25",)),
    _lemma("lemma65", "At one T the shared feature grows as a power of K: that fits better than "
           "log K.", "Lemma 6.5", "Ω(K^c), c > 0",
           _fits_better(last("shared_feature", rule=SPLIT), "tasks", forms.power,
                        [forms.logarithm], 4).because(
                            "at one T the feature is limited by T: it grows as log T"),
           f"d = 10³, K = 4 to 64, {_REGIME}, T = 1000", "separation"),
    _lemma("lemma65_time", "The shared feature grows as log T. With T = poly(d) and K = polylog(d) "
           "that is Ω(K^c).", "Lemma 6.5", "Ω(K^c), c > 0",
           at_least(_late("shared_feature").slope("step", "x").named("feature's growth with log T"),
                    0.05),
           f"{_LARGE}, T = 800 to 32 000", "long", "asymptotic"),
]  # fmt: skip


# Levels and margins of these claims were chosen after a first look.
_LOOKED = {"steps_regime", "remark_vanilla", "remark_vanilla_trend", "criterion",
           "table4_synthetic", "bai_algorithms"}  # fmt: skip
_LEVEL = ("added after looking: the level or margin",)
CLAIMS = tuple(
    dataclasses.replace(claim, flags=claim.flags + _LEVEL) if claim.id in _LOOKED else claim
    for claim in (*_THEOREMS, *_REMARKS, *_LEMMAS, *TABLE_CLAIMS, *REAL_CLAIMS)
)
assert math.isclose(ex.NOISE_SQUARED / (ex.TASKS * ex.SAMPLES), 0.75)
