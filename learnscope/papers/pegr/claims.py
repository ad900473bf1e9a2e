"""The paper's claims, sentence by sentence.

A training loss has converged below 0.05; a test accuracy is near 1 from 0.99 on, and fails below
0.75, halfway to chance. What the theorems say holds with probability 1 - δ; with δ = 0.1, the one
that T1 is computed for, a statement must hold for nine tenths of the seeds, at every noise level. A
diverged run does not satisfy any.
"""

import math

import xarray as xr

from learnscope.evidence import (
    NOISE_ONLY,
    TRAINED,
    UNTRAINED,
    Claim,
    Quantity,
    Verb,
    alike,
    at,
    at_least,
    bounded_by,
    computed,
    every,
    first,
    last,
    most_seeds,
    scaled,
    swapped,
    within,
)
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import theory as pegr
from learnscope.papers.pegr.real_claims import REAL_CLAIMS

CONVERGED, NEAR_ONE, HALFWAY = 0.05, 0.99, 0.75
EPSILON = 0.1  # the theorems' epsilon: a loss that the runs are long enough to reach
RULES, OTHERS = ["PEGR", "FGR", "standard"], ["FGR", "standard"]
LOUD = slice(0.5, None)  # noise at which standard training fails, according to the paper


def most(hits: Quantity) -> Verb:
    return most_seeds(hits, diverged="fails")


def near_one(**where) -> Verb:
    return most(last("test_accuracy", **where) >= NEAR_ONE)


# Section 4.1


def _suppressed(noise: Quantity) -> Verb:
    """PEGR's noise is below half of the others', in the same seed."""
    hits = noise.sel(rule="PEGR") < 0.5 * noise.sel(rule=OTHERS).min("rule")
    return most(hits.named(f"PEGR's {noise} is below half of the others'"))


def _grows(variable: str) -> Verb:
    """At sigma_p = 0.1 a variable ends above twice its start under every rule."""
    where = {"noise": 0.1, "rule": RULES}
    hits = last(variable, **where) / first(variable, **where) > 2.0
    return most(hits.named(f"{variable.replace('_', ' ')} at σp = 0.1 ends above twice its start"))


_SIGNAL = last("signal_learning", noise=LOUD)
_FITTED = most(last("loss", rule=OTHERS, noise=LOUD) < CONVERGED)


def _figures(closing: int) -> dict[str, tuple[str, str, str, Verb]]:
    """The sentences on Figures 1 to 4: statement, figure, what is reported, verb."""
    loud = "for σp = 0.5, 1, 1.5"
    learns = (_SIGNAL.sel(rule="PEGR") > 2.0 * _SIGNAL.sel(rule=OTHERS).max("rule")) & (
        last("test_accuracy", rule="PEGR", noise=LOUD) > HALFWAY
    )
    learns = learns.named("PEGR's signal is above twice the others', and its accuracy above 0.75")
    fails = most(last("test_accuracy", rule=OTHERS, noise=LOUD) < HALFWAY).given(_FITTED)
    return {
        "losses": ("All training losses converge to 0.", "Figure 1",
                   "all three rules, four noise levels",
                   most(last("loss", rule=RULES) < CONVERGED)),
        "signal": ("PEGR promotes signal learning, FGR and standard training fail to.", "Figure 2",
                   loud, most(learns)),
        "weak-signal": ("At σp = 0.1 signal learning increases in all cases.", "Figure 2",
                        "all three rules", _grows("signal_learning")),
        "noise": ("PEGR suppresses noise memorisation while it acts, the others fail to.",
                  "Figure 3", loud, _suppressed(at("noise_memorisation", closing, noise=LOUD))),
        "noise-end": ("PEGR's noise memorisation stays suppressed after the penalty is switched "
                      "off.", "Figure 3", loud,
                      _suppressed(last("noise_memorisation", noise=LOUD))),
        "weak-noise": ("At σp = 0.1 noise memorisation increases in all cases.", "Figure 3",
                       "all three rules", _grows("noise_memorisation")),
        "accuracy": ("PEGR's test accuracy tends to 1 at every noise level.", "Figure 4",
                     "→ 1 at σp = 0.1, 0.5, 1, 1.5", near_one(rule="PEGR")),
        "others": ("FGR and standard training tend to 1 at σp = 0.1 only.", "Figure 4",
                   "→ 1 at σp = 0.1 only", near_one(rule=OTHERS, noise=0.1) & fails),
    }  # fmt: skip


def _reason(layer: str, penalty: bool) -> str:
    """What the linearised rates of section 5.1 say of a reading in which a claim differs."""
    if not penalty:
        rates = pegr.rates(ex.DIM, ex.TRAIN, ex.WIDTH, 1.0, 0.1, ex.RATE, 0.0, layer)
        growth = math.exp(ex.STEPS * math.log1p(rates.signal_growth))
        return f"signal grows by a factor of {growth:.2g} in {ex.STEPS} steps at most"
    name, args = "λ‖ξ‖²/m" if layer == "mean" else "λ‖ξ‖²", (ex.DIM, ex.WIDTH, layer)
    ratios = ", ".join(f"{pegr.suppression_ratio(ex.WEIGHT, x, *args):.2g}" for x in ex.NOISES)
    return f"{name} is {ratios}, and noise is suppressed above 1 only"


def _section_4_1(reading: str, setting: str, scope: str, layer: str | None = None) -> list[Claim]:
    closing = ex.WORKING_CLOSING if layer is None else ex.CLOSING
    return [
        Claim(f"{id}.{reading}", statement, where, reported, setting, reading,
              verb.because(_reason(layer, statement.startswith("PEGR"))) if layer else verb,
              scope=scope)
        for id, (statement, where, reported, verb) in _figures(closing).items()
    ]  # fmt: skip


# The theorems, where their condition holds


def reaches(rule: str) -> Verb:
    """Loss and squared gradient norm are both below epsilon at some recorded step. A run that has
    not come there, but whose loss still falls, tells nothing: the theorems allow 10^9 steps."""

    def reached(data: xr.Dataset) -> xr.DataArray:
        arm = data.sel(rule=rule, drop=True)
        hits = ((arm.loss <= EPSILON) & (arm.gradient_norm <= EPSILON)).any("step")
        falls = arm.loss.isel(step=-1, drop=True) <= arm.loss.isel(step=0, drop=True)
        return hits.astype(float).where(hits | ~falls)

    return most_seeds(computed(f"loss and squared gradient reach {EPSILON:g}, {rule}", reached))


def _gamma_at_closing(rule: str, share: float) -> Quantity:
    """max_r gamma at the closing time, of the sign j for which it is smaller."""
    width = ex.THEOREM_SIZES[2]

    def smaller(gamma: xr.DataArray) -> xr.DataArray:
        halves = (slice(width), slice(width, None))
        one, other = (gamma.isel(filter=half).max("filter", skipna=False) for half in halves)
        return one.where(one < other, other)

    closing = ex.theorem_closing_time(share)
    return at("gamma", closing, rule=rule).map(smaller, f"max γ at step {closing}, {rule}")


_TO_T1 = {"until": ex.theorem_closing_time(), "rule": ex.CLOSED[0]}
_SIGNAL_BOUNDS = pegr.signal_bounds(*ex.THEOREM_SIZES[1:])
_RHO = every("rho_bar", **_TO_T1) + every("rho_underbar", **_TO_T1)
_LOWEST = pegr.noise_bounds(*ex.THEOREM_SIZES, ex.THEOREM_NOISE, ex.THEOREM_SCALE).lower
_SMALL_RHO = bounded_by(_RHO.isel(step=-1).named("ρ at T1"), 1e-3 * abs(_LOWEST)) & bounded_by(
    (-1.0 * _RHO.isel(step=-1)).named("-ρ at T1"), -_LOWEST
)


def _ratio_to_lemma(squared_noise: float | str, sweep: str) -> Quantity:
    """||grad||^2 / (72 sigma_p^2 d L_S) at every step."""

    def ratio(data: xr.Dataset) -> xr.DataArray:
        square = data.noise**2 * ex.DIM if squared_noise == "swept" else squared_noise
        return (data.gradient_norm / (72 * square * data.loss)).reset_coords(drop=True)

    return computed(f"‖∇L‖² / (72 σp² d L), {sweep}", ratio, sweep)


LEMMA_5_5 = [
    _ratio_to_lemma("swept", "literal"), _ratio_to_lemma("swept", "working"),
    _ratio_to_lemma(ex.THEOREM["level"] ** 2, "theorem"),
]  # fmt: skip


def _growth() -> Quantity:
    """The signal's growth per step between steps 2000 and 12000, over that of section 5.1."""
    where = {"rule": ex.CLOSED[1]}
    grown = at("signal_learning", 12000, **where) / at("signal_learning", 2000, **where)
    theory = pegr.rates(
        *ex.THEOREM_SIZES, 1.0, ex.THEOREM_NOISE, ex.THEOREM_RATE, 1 / ex.THEOREM["level"]
    )
    predicted = math.log1p(theory.signal_growth - theory.signal_suppression)
    return (grown.log() / (10000 * predicted)).named("growth of the signal over theory's")


def _strongest(data: xr.Dataset) -> xr.DataArray:
    """Lemma 5.5's ratio before training, at the strongest signal."""
    start = data.isel(step=0, signal=-1, drop=True)
    return start.gradient_norm / (72 * ex.THEOREM["level"] ** 2 * start.loss)


# d, n, m, signal, rate, epsilon of T2
_T2 = (*ex.THEOREM_SIZES, ex.THEOREM["signal"], ex.THEOREM_RATE, EPSILON)
_LARGEST = 4 * math.log(ex.THEOREM_STEPS)
_BETWEEN = (
    bounded_by(every("gamma"), _LARGEST) & bounded_by(every("rho_bar"), _LARGEST)
    & bounded_by(-1.0 * every("rho_underbar"), _LARGEST)
    & bounded_by(-1.0 * every("gamma", rule="standard"), 1e-3 * _LARGEST)
    & bounded_by(-1.0 * every("rho_bar", rule="standard"), 1e-3 * _LARGEST)
)  # fmt: skip
_EARLY = {"step": 2000, "rule": ex.CLOSED[1]}
_kept = at("signal_learning", **_EARLY) > 0.8 * at("signal_learning", 2000, rule="standard")
_lost = at("noise_memorisation", **_EARLY) < 0.01 * at("noise_memorisation", 2000, rule="standard")


def success(data: xr.Dataset) -> xr.DataArray:
    """Test accuracy above 0.99 and training loss below 0.05 at the end; diverged runs fail."""
    end = data.isel(step=-1, drop=True)
    return ((end.test_accuracy > NEAR_ONE) & (end.loss < CONVERGED)).astype(float)


def _agreement(data: xr.Dataset) -> xr.DataArray:
    """The share of settings with the outcome that the linearised rates predict, seed by seed."""

    def side(weight: float, noise: float) -> bool:
        rates = pegr.rates(ex.DIM, ex.TRAIN, ex.WIDTH, 1.0, noise, ex.RATE, weight, "sum")
        signal = rates.signal_growth - rates.signal_suppression
        return signal > rates.noise_growth - rates.noise_suppression

    predicted = xr.apply_ufunc(side, data.weight, data.noise, vectorize=True)
    return (success(data) == predicted).mean(["weight", "noise"])


_REGIME = "regime: Condition 3.1 holds with constants 1"
_SETTING = "d = 10⁷, n = m = 26, σp√d = 60, λ = 1/(σp√d)"
_SIGNAL_WINS = most(
    at("signal_learning", ex.theorem_closing_time(0.5), rule=ex.CLOSED[1])
    > 10.0 * at("noise_memorisation", ex.theorem_closing_time(0.5), rule=ex.CLOSED[1])
)
_NOISE_WINS = most(
    last("noise_memorisation", rule="standard") > 10.0 * last("signal_learning", rule="standard")
)


def _theorem(id: str, statement: str, where: str, reported: str, verb: Verb, closed: str = "",
             **more) -> Claim:  # fmt: skip
    setting = "; ".join(filter(None, [_SETTING, closed]))
    scope = f"reading: {closed}" if "2 T1" in closed else _REGIME
    return Claim(id, statement, where, reported, setting, "theorem", verb, scope=scope, **more)


def _switched_off(tag: str, rule: str, closed: str, share: float) -> list[Claim]:
    """Theorem 3.2, with the penalty switched off at T1 as printed or at twice that."""
    large = most(_gamma_at_closing(rule, share) >= _SIGNAL_BOUNDS.lower)
    return [
        _theorem(f"theorem-3.2.1.{tag}", "Training loss and squared gradient fall below ε.",
                 "Theorem 3.2 (1)", "≤ ε for some t", reaches(rule), closed, nulls=(UNTRAINED,)),
        _theorem(f"theorem-3.2.2.{tag}", "The test error converges to 0.", "Theorem 3.2 (2)",
                 "≤ 1/poly(n)", near_one(rule=rule).given(reaches(rule)), closed),
        _theorem(f"proposition-5.6.3.{tag}", "At T1 the signal is large: max γ is above its bound.",
                 "Proposition 5.6 (3)", "≥ 1/(√(2 log(8m/δ)) log n)", large, closed,
                 nulls=(UNTRAINED,)),
    ]  # fmt: skip


def _closing(tag: str, when: str, label: str, scope: str) -> Claim:
    return Claim(f"theorem-3.2.closing{tag}", "With the penalty switched off at T1, PEGR's test "
                 "accuracy tends to 1.", "Theorem 3.2, section 4.1", "test error → 0",
                 f"section 4.1's data, 1/m, λ = 1/(σp√d), closed at {when}", "closing",
                 near_one(closing=label), scope=scope)  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *_section_4_1("literal", "1/m, λ/2", "as stated", "mean"),
    *_section_4_1("no_mean", "no 1/m, λ/2", "reading: no 1/m", "sum"),
    *_section_4_1("working", "1/m, λ = 2m/(σp² d), 30000 steps", "reading: λ = 2m/(σp² d)"),
    Claim("accuracy.no_mean.whole", "PEGR's test accuracy tends to 1 at every noise level.",
          "Figure 4", "→ 1 at σp = 0.1, 0.5, 1, 1.5", "no 1/m, penalty λ instead of λ/2",
          "no_mean", near_one(rule="PEGR with λ"), scope="reading: no 1/m, λ"),
    *_switched_off("t1", ex.CLOSED[0], "closed at the printed T1", 1.0),
    *_switched_off("2t1", ex.CLOSED[1], "closed at 2 T1", 0.5),
    _closing("", "the printed T1", "T1", "reading: the theorem's λ and T1 outside its condition"),
    _closing("-twice", "2 T1", "2 T1", "reading: closed at 2 T1, outside the condition"),
    _theorem("theorem-3.3.1", "Without a penalty, loss and squared gradient fall below ε.",
             "Theorem 3.3 (1)", "≤ ε for some t", reaches("standard"), nulls=(UNTRAINED,)),
    _theorem("theorem-3.3.2", "Without a penalty the test error is large.", "Theorem 3.3 (2)",
             "≥ 1/2.01", at_least((1 - last("test_accuracy", rule="standard")).named(
                 "test error, standard"), 1 / 2.01).given(reaches("standard"))),
    _theorem("theorems.signal-noise", "PEGR learns signal and no noise, standard training the "
             "reverse.", "Section 3, after Theorem 3.3", "signal ≫ noise; noise ≫ signal",
             _SIGNAL_WINS & _NOISE_WINS),
    Claim("lemma-5.5", "The squared gradient is at most 72 σp² d L, all along.", "Lemma 5.5",
          "ratio ≤ 1", "literal, working and theorem settings, every rule",
          ("literal", "working", "theorem"),
          bounded_by(LEMMA_5_5[0], 1.0) & bounded_by(LEMMA_5_5[1], 1.0)
          & bounded_by(LEMMA_5_5[2], 1.0), scope=_REGIME, nulls=(NOISE_ONLY,)),
    Claim("lemma-5.5.fails", "Without the condition on the signal the bound fails.", "Lemma 5.5",
          "not in the paper: |μ| is 100 σp√d", "untrained networks", "strong",
          at_least(computed("‖∇L‖² / (72 σp² d L) at |μ| = 100 σp√d", _strongest), 1.0),
          scope="beyond", nulls=(alike("signal"),)),
    _theorem("proposition-5.4", "All along, γ and ρ̄ are in [0, 4 log T*], and no ρ is below "
             "-4 log T*.", "Proposition 5.4", "0 ≤ γ, ρ̄ ≤ 4 log T*; ρ ≥ -4 log T*",
             _BETWEEN, "T* is the length of the run; non-negative up to a thousandth of the bound, "
             "without a penalty", nulls=(scaled(100.0, "gamma", "rho_bar", "rho_underbar"),)),
    _theorem("proposition-5.6.1", "Up to T1 the loss derivative of every example stays near -1/2.",
             "Proposition 5.6 (1)", "O(1/log² n)", bounded_by(
                 abs(every("residual", **_TO_T1) - 0.5).named("|ℓ' + 1/2| up to T1"),
                 1 / math.log(ex.THEOREM["train"]) ** 2), nulls=(TRAINED,)),
    _theorem("proposition-5.6.2", "Up to T1 every γ is at most 5/log n.", "Proposition 5.6 (2)",
             "≤ 5/log n", bounded_by(every("gamma", **_TO_T1).named("γ up to T1"),
                                     _SIGNAL_BOUNDS.upper), nulls=(TRAINED,)),
    _theorem("proposition-5.6.rho", "At T1 every ρ is non-positive and small.",
             "Proposition 5.6 (3), ρ", "0 ≥ ρ ≥ -8√(log(8mn/δ)) σ0 σp√d", _SMALL_RHO,
             "non-positive up to a thousandth of the bound", nulls=(swapped("rule"),)),
    _theorem("proposition-5.7", "The loss falls below ε within T2 steps after T1.",
             "Proposition 5.7", f"T2 = {pegr.second_stage(*_T2):.2g} steps for ε = {EPSILON:g}",
             reaches(ex.CLOSED[0]), "closed at the printed T1; 80000 steps", nulls=(UNTRAINED,)),
    _theorem("remark-3.4", "The penalty suppresses noise, and lets the signal grow.", "Remark 3.4",
             "the suppression of the signal is relatively small",
             most(_kept & _lost), "after 2000 steps", nulls=(swapped("rule"), UNTRAINED)),
    _theorem("section-5.1.rates", "Early in training the signal grows at a rate of η‖μ‖²/(2m) per "
             "step.", "Section 5.1", "Θ(η‖μ‖²), constants worked out",
             within(_growth(), 1.0, by=0.3)),
    Claim("section-5.1.criterion", "Suppression beats noise growth where λ‖ξ‖²/m > 1.",
          "Section 5.1, criterion", "PEGR succeeds above the boundary",
          "no 1/m, grid over (λ, σp), 1500 steps", "phase",
          at_least(computed("share of settings with the predicted outcome", _agreement), 0.9)
          .because("far above the boundary steps overshoot, which the linearisation ignores"),
          scope="reading: no 1/m"),
    *REAL_CLAIMS,
)  # fmt: skip
