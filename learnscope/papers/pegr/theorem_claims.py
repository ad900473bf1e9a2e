"""Claims on the theorems, lemmas and remarks of sections 3 and 5, where Condition 3.1 holds."""

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
    at_most,
    bounded_by,
    computed,
    every,
    exponent,
    first,
    last,
    most_seeds,
    scaled,
    swapped,
    within,
)
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import theory as pegr

NEAR_ONE = 0.99
EPSILON = 0.1  # the theorems' epsilon: a loss that the runs are long enough to reach


def most(hits: Quantity) -> Verb:
    return most_seeds(hits, diverged="fails")


def near_one(**where) -> Verb:
    return most(last("test_accuracy", **where) >= NEAR_ONE)


def reaches(rule: str) -> Verb:
    """Loss and squared gradient norm are both below epsilon at some recorded step. A run that has
    not come there, but whose loss still falls in the last quarter, tells nothing: the theorems
    allow 10^9 steps."""

    def reached(data: xr.Dataset) -> xr.DataArray:
        arm = data.sel(rule=rule, drop=True)
        hits = ((arm.loss <= EPSILON) & (arm.gradient_norm <= EPSILON)).any("step")
        quarter = arm.loss.sel(step=slice(None, 0.75 * float(arm.step[-1])))
        falls = arm.loss.isel(step=-1, drop=True) < quarter.isel(step=-1, drop=True)
        return hits.astype(float).where(hits | ~falls)

    return most_seeds(computed(f"loss and squared gradient reach {EPSILON:g}, {rule}", reached))


def _gamma_at_closing(rule: str, share: float) -> Quantity:
    """max_r gamma when the penalty is switched off, of the sign j for which it is smaller."""
    width = ex.THEOREM_SIZES[2]

    def smaller(gamma: xr.DataArray) -> xr.DataArray:
        halves = (slice(width), slice(width, None))
        one, other = (gamma.isel(filter=half).max("filter", skipna=False) for half in halves)
        return one.where(one < other, other)

    closing = ex.theorem_closing_time(share)
    return at("gamma", closing, rule=rule).map(smaller, f"max γ at step {closing}, {rule}")


_TO_T1 = {"until": ex.theorem_closing_time(), "rule": ex.UNTIL[0]}
_SIGNAL_BOUNDS = pegr.signal_bounds(*ex.THEOREM_SIZES[1:])
_RHO = every("rho_bar", **_TO_T1) + every("rho_underbar", **_TO_T1)
_LOWEST = pegr.noise_bounds(*ex.THEOREM_SIZES, ex.THEOREM_NOISE, ex.THEOREM_SCALE).lower
_ALL_RHO = every("rho_bar", until=_TO_T1["until"]) + every("rho_underbar", until=_TO_T1["until"])
_LEFT = abs(_ALL_RHO.isel(step=-1)).max("filter", "sample")  # all that is 0 says nothing
_SMALL_RHO = (
    bounded_by(_RHO.isel(step=-1).named("ρ at T1"), 1e-3 * abs(_LOWEST))
    & bounded_by((-1.0 * _RHO.isel(step=-1)).named("-ρ at T1"), -_LOWEST)
    & most((_LEFT.sel(rule=ex.UNTIL[0]) < _LEFT.sel(rule="standard")).named(
        "largest |ρ| at T1 is below standard training's"))
)  # fmt: skip
_TRAINED = at_most(last("loss"), EPSILON)


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


def _growth(penalised: bool = True) -> Quantity:
    """The signal's growth per step between steps 2000 and 12000, over that of section 5.1 (or of
    training without a penalty)."""
    where = {"rule": ex.UNTIL[1]}
    grown = at("signal_learning", 12000, **where) / at("signal_learning", 2000, **where)
    theory = pegr.rates(
        *ex.THEOREM_SIZES, 1.0, ex.THEOREM_NOISE, ex.THEOREM_RATE, 1 / ex.THEOREM["level"]
    )
    lost = theory.signal_suppression if penalised else 0.0
    predicted = math.log1p(theory.signal_growth - lost)
    name = "theory's" if penalised else "that without a penalty"
    return (grown.log() / (10000 * predicted)).named(f"growth of the signal over {name}")


_START = first("noise_memorisation", rule="standard")
_NOISE = last("rho_bar").mean("filter", "sample")
_GROWN = (_NOISE.sel(rule="standard") / _START).named("noise learnt in a step")
_TAKEN = {
    rule: ((_NOISE.sel(rule="standard") - _NOISE.sel(rule=rule)) / _START).named(
        f"noise that {rule} takes back in a step")
    for rule in ("PEGR", "FGR")
}  # fmt: skip


def _strongest(data: xr.Dataset) -> xr.DataArray:
    """Lemma 5.5's ratio before training, at the strongest signal."""
    start = data.isel(step=0, signal=-1, drop=True)
    return start.gradient_norm / (72 * ex.THEOREM["level"] ** 2 * start.loss)


# d, n, m, signal, rate, epsilon of T2
_T2 = (*ex.THEOREM_SIZES, ex.THEOREM["signal"], ex.THEOREM_RATE, EPSILON)
_LARGEST = 4 * math.log(ex.THEOREM_STEPS)
# The printed lower bound has beta > 0, too: without it the bound is stricter.
_LEAST = (
    64
    * ex.THEOREM["train"]
    * math.sqrt(math.log(4 * ex.THEOREM["train"] ** 2 / 0.1) / ex.THEOREM["dim"])
    * math.log(ex.THEOREM_STEPS)
)
_BETWEEN = (
    bounded_by(every("gamma"), _LARGEST) & bounded_by(every("rho_bar"), _LARGEST)
    & bounded_by(-1.0 * every("rho_underbar"), _LEAST)
    & bounded_by(-1.0 * every("gamma", rule="standard"), 1e-3 * _LARGEST)
    & bounded_by(-1.0 * every("rho_bar", rule="standard"), 1e-3 * _LARGEST)
)  # fmt: skip
# A network without coefficients is bounded, too: one of them must have come to a hundredth.
_SIZE = abs(last("gamma")).max("filter") + abs(last("rho_bar")).max("filter", "sample")
_MOVED = most((_SIZE > 0.01 * _LARGEST).named("max |γ| + max |ρ̄| above a hundredth of the bound"))
# The penalty takes less than a fifth of the signal's growth, and all but a hundredth of the noise.
_lost = at("noise_memorisation", 2000, rule=ex.UNTIL[1]) < 0.01 * at(
    "noise_memorisation", 2000, rule="standard"
)


_REGIME = "regime: Condition 3.1 holds with constants 1"
_EARLY = f"{_REGIME}; a bound on early training, which untrained networks meet"
_SETTING = "d = 10⁷, n = m = 26, σp√d = 60, λ = 1/(σp√d)"
_SIGNAL_WINS = most(
    last("signal_learning", rule=ex.UNTIL[0]) > 10.0 * last("noise_memorisation", rule=ex.UNTIL[0])
)
_NOISE_WINS = most(
    last("noise_memorisation", rule="standard") > 10.0 * last("signal_learning", rule="standard")
)


def _theorem(id: str, statement: str, where: str, reported: str, verb: Verb, off: str = "",
             **more) -> Claim:  # fmt: skip
    setting = "; ".join(filter(None, [_SETTING, off]))
    scope = f"reading: {off}" if "2 T1" in off else more.pop("scope", _REGIME)
    return Claim(id, statement, where, reported, setting, "theorem", verb, scope=scope, **more)


def _switched_off(tag: str, rule: str, off: str, share: float) -> list[Claim]:
    """Theorem 3.2, with the penalty switched off at T1 as printed or at twice that."""
    large = most(_gamma_at_closing(rule, share) >= _SIGNAL_BOUNDS.lower).because(
        "the proof counts the n/2 examples of a class as n: the signal has grown by the square "
        "root of the intended factor"
    )
    return [
        _theorem(f"theorem-3.2.1.{tag}", "Training loss and squared gradient fall below ε.",
                 "Theorem 3.2 (1)", "≤ ε for some t", reaches(rule), off, nulls=(UNTRAINED,)),
        _theorem(f"theorem-3.2.2.{tag}", "The test error converges to 0.", "Theorem 3.2 (2)",
                 "≤ 1/poly(n)", near_one(rule=rule).given(reaches(rule)), off),
        _theorem(f"proposition-5.6.3.{tag}", "At T1 the signal is large: max γ is above its bound.",
                 "Proposition 5.6 (3)", "≥ 1/(√(2 log(8m/δ)) log n)", large, off,
                 nulls=(UNTRAINED,)),
    ]  # fmt: skip


def _closing(tag: str, when: str, label: str) -> Claim:
    return Claim(f"theorem-3.2.closing{tag}", f"Theorem 3.2's λ, switched off at {when}, works on "
                 "section 4.1's data, too.", "Theorem 3.2", "not in the paper",
                 f"section 4.1's data, 1/m, λ = 1/(σp√d), off after {when}", "closing",
                 near_one(closing=label), scope="beyond: Condition 3.1 fails there")  # fmt: skip


THEOREM_CLAIMS: tuple[Claim, ...] = (
    *_switched_off("t1", ex.UNTIL[0], "off after the printed T1", 1.0),
    *_switched_off("2t1", ex.UNTIL[1], "off after 2 T1", 0.5),
    _closing("", "the printed T1", "T1"), _closing("-twice", "2 T1", "2 T1"),
    _theorem("theorem-3.3.1", "Without a penalty, loss and squared gradient fall below ε.",
             "Theorem 3.3 (1)", "≤ ε for some t", reaches("standard"), nulls=(UNTRAINED,)),
    _theorem("theorem-3.3.2", "Without a penalty the test error is large.", "Theorem 3.3 (2)",
             "≥ 1/2.01", at_least((1 - last("test_accuracy", rule="standard")).named(
                 "test error, standard"), 1 / 2.01).given(reaches("standard"))),
    _theorem("theorems.signal-noise", "PEGR learns signal and no noise, standard training the "
             "reverse.", "Section 3, after Theorem 3.3", "signal ≫ noise; noise ≫ signal",
             _SIGNAL_WINS & _NOISE_WINS),
    Claim("lemma-5.5", "The squared gradient is at most 72 σp² d L, all along.", "Lemma 5.5",
          "ratio ≤ 1", "theorem setting; also section 4.1's, outside the condition; every rule",
          ("literal", "working", "theorem"),
          (bounded_by(LEMMA_5_5[0], 1.0) & bounded_by(LEMMA_5_5[1], 1.0)
           & bounded_by(LEMMA_5_5[2], 1.0)).given(at_most(last("loss").of("theorem"), EPSILON)),
          scope=_REGIME, nulls=(NOISE_ONLY,)),
    Claim("lemma-5.5.fails", "Without the condition on the signal the bound fails.", "Lemma 5.5",
          "not in the paper: |μ| is 100 σp√d", "untrained networks", "strong",
          at_least(computed("‖∇L‖² / (72 σp² d L) at |μ| = 100 σp√d", _strongest), 1.0),
          scope="beyond: a bound that untrained networks break", nulls=(alike("signal"),),
          survives=tuple(f"{null}: the claim is about untrained networks"
                         for null in ("untrained", "constant prediction"))),
    _theorem("proposition-5.4", "All along, γ and ρ̄ are in [0, 4 log T*], and no ρ is below "
             "its bound.", "Proposition 5.4",
             "0 ≤ γ, ρ̄ ≤ 4 log T*; ρ ≥ -β - 64n √(log(4n²/δ)/d) log T*",
             _BETWEEN.given(_TRAINED, _MOVED), "T* is the length of the run; non-negative up to a "
             "thousandth of the bound, without a penalty",
             nulls=tuple(scaled(by, "gamma", "rho_bar", "rho_underbar") for by in (0.0, 100.0))),
    _theorem("proposition-5.6.1", "Up to T1 the loss derivative of every example stays near -1/2.",
             "Proposition 5.6 (1)", "O(1/log² n)", bounded_by(
                 abs(every("residual", **_TO_T1) - 0.5).named("|ℓ' + 1/2| up to T1"),
                 1 / math.log(ex.THEOREM["train"]) ** 2), scope=_EARLY, nulls=(TRAINED,),
             survives=("untrained: the bound is on early training",)),
    _theorem("proposition-5.6.2", "Up to T1 every γ is at most 5/log n.", "Proposition 5.6 (2)",
             "≤ 5/log n", bounded_by(every("gamma", **_TO_T1).named("γ up to T1"),
                                     _SIGNAL_BOUNDS.upper), scope=_EARLY, nulls=(TRAINED,),
             survives=("untrained: the bound is on early training",)),
    _theorem("proposition-5.6.rho", "At T1 every ρ is non-positive and small.",
             "Proposition 5.6 (3), ρ", "0 ≥ ρ ≥ -8√(log(8mn/δ)) σ0 σp√d", _SMALL_RHO,
             "non-positive up to a thousandth of the bound; below standard training's",
             nulls=(swapped("rule"), scaled(0.0, "rho_bar", "rho_underbar"))),
    _theorem("proposition-5.7", "The loss falls below ε within T2 steps after T1.",
             "Proposition 5.7", f"T2 = {pegr.second_stage(*_T2):.2g} steps for ε = {EPSILON:g}",
             reaches(ex.UNTIL[0]), "off after the printed T1; 80000 steps", nulls=(UNTRAINED,)),
    _theorem("remark-3.4", "The penalty suppresses noise, and lets the signal grow.", "Remark 3.4",
             "the suppression of the signal is relatively small",
             at_least(_growth(penalised=False), 0.8) & most(_lost),
             "signal from step 2000 to 12000, noise after 2000 steps",
             nulls=(swapped("rule"), UNTRAINED),
             flags=("added after looking: growth against the rate without a penalty",)),
    *(Claim(f"section-{where.lower()[8:]}.{id}", statement, where, reported,
            "d = 10⁷, n = m = 26, σp√d from 15 to 120, λ = 1/60, the first step", "early", verb,
            scope="regime: small weights", nulls=nulls)
      for id, statement, where, reported, verb, nulls in (
          ("noise", "Early in training noise grows at a rate proportional to ‖ξ‖².", "Section 5.1",
           "Θ(η‖ξ‖²/n)", exponent(_GROWN, "noise", 2.0, by=0.1), (alike("noise"),)),
          ("suppression", "PEGR suppresses noise at a speed proportional to ‖ξ‖⁴.", "Section 5.1",
           "λΘ(η‖ξ‖⁴/n)", exponent(_TAKEN["PEGR"], "noise", 4.0, by=0.1),
           (alike("noise"), UNTRAINED)),
          ("full", "FGR suppresses noise n times more slowly than PEGR.", "Section 5.4",
           "λΘ(η‖ξ‖⁴/n²)", within(ex.THEOREM["train"] * (_TAKEN["FGR"] / _TAKEN["PEGR"]), 1.0,
                                  by=0.2), (swapped("rule"), UNTRAINED)))),
    _theorem("section-5.1.rates", "Early in training the signal grows at a rate of η‖μ‖²/(2m) per "
             "step.", "Section 5.1", "Θ(η‖μ‖²), constants worked out",
             within(_growth(), 1.0, by=0.3)),
)  # fmt: skip
