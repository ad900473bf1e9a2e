"""The paper's claims, sentence by sentence.

A training loss has converged below 0.05; a test accuracy is near 1 from 0.99 on, and fails below
0.75, halfway to chance. What the theorems say holds with probability 1 - δ; with δ = 0.1, the one
that T1 is computed for, a statement must hold for nine tenths of the seeds, at every noise level. A
diverged run does not satisfy any.
"""

import math

import xarray as xr

from learnscope.evidence import Claim, Quantity, Verb, at, at_least, computed, first, last
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import theory as pegr
from learnscope.papers.pegr.lemma_claims import LEMMA_CLAIMS
from learnscope.papers.pegr.real_claims import REAL_CLAIMS
from learnscope.papers.pegr.theorem_claims import NEAR_ONE, THEOREM_CLAIMS, most, near_one

CONVERGED, HALFWAY = 0.05, 0.75
RULES, OTHERS = ["PEGR", "FGR", "standard"], ["FGR", "standard"]
LOUD = slice(0.5, None)  # noise at which standard training fails, according to the paper


# Section 4.1


def _suppressed(noise: Quantity) -> Verb:
    """PEGR's noise is below half of the others', in the same seed."""
    hits = noise.sel(rule="PEGR") < 0.5 * noise.sel(rule=OTHERS).min("rule")
    return most(hits.named(f"PEGR's {noise} is below half of the others'"))


def _grows(variable: str, rules: list[str] = RULES) -> Verb:
    """At sigma_p = 0.1 a variable ends above its start under some rules."""
    where = {"noise": 0.1, "rule": rules}
    hits = last(variable, **where) / first(variable, **where) > 1.0
    return most(hits.named(f"{variable.replace('_', ' ')} at σp = 0.1 ends above its start"))


def _kept_strong() -> Verb:
    """At sigma_p = 0.1 PEGR's signal grows, and ends at nine tenths of standard training's."""
    signal = last("signal_learning", noise=0.1)
    hits = signal.sel(rule="PEGR") > 0.9 * signal.sel(rule="standard")
    return _grows("signal_learning", ["PEGR"]) & most(hits)


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
        "strong-signal": ("PEGR does not suppress the signal even when it is strong.", "Figure 2",
                          "at σp = 0.1", _kept_strong()),
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


_SEEDS = ("added after looking: 100 seeds, since 35 left it open",)


def _flags(id: str, reading: str) -> tuple[str, ...]:
    if id == "strong-signal":
        return ("added after looking: the row, since both signals were seen",)
    if id.startswith("weak"):
        return ("added after looking: increases means above the start, not twice",)
    return _SEEDS if (id, reading) == ("losses", "no_mean") else ()


# What is said of sigma_p = 0.1 needs a sigma_0, which is not stated there.
_QUIET = {"losses", "weak-signal", "strong-signal", "weak-noise", "accuracy", "others"}
_GUESSED = "reading: σ0 = 0.01 at σp = 0.1, where none is stated"


def _section_4_1(reading: str, setting: str, scope: str, layer: str | None = None) -> list[Claim]:
    closing = ex.WORKING_CLOSING if layer is None else ex.CLOSING
    return [
        Claim(f"{id}.{reading}", statement, where, reported, setting, reading,
              verb.because(_reason(layer, statement.startswith("PEGR"))) if layer else verb,
              scope=_GUESSED if scope == "as stated" and id in _QUIET else scope,
              flags=_flags(id, reading))
        for id, (statement, where, reported, verb) in _figures(closing).items()
    ]  # fmt: skip


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


CLAIMS: tuple[Claim, ...] = (
    *_section_4_1("literal", "1/m, λ/2", "as stated", "mean"),
    *_section_4_1("no_mean", "no 1/m, λ/2", "reading: no 1/m", "sum"),
    *_section_4_1("working", "1/m, λ = 2m/(σp² d), 30000 steps", "reading: λ = 2m/(σp² d)"),
    Claim("accuracy.no_mean.whole", "PEGR's test accuracy tends to 1 at every noise level.",
          "Figure 4", "→ 1 at σp = 0.1, 0.5, 1, 1.5", "no 1/m, penalty λ instead of λ/2",
          "no_mean", near_one(rule="PEGR with λ"), scope="reading: no 1/m, λ", flags=_SEEDS),
    *THEOREM_CLAIMS,
    *LEMMA_CLAIMS,
    Claim("section-5.1.criterion", "PEGR learns where λ‖ξ‖² > 1, as the linearised rates suggest.",
          "Section 5.1", "not in the paper: worked out here from its rates",
          "no 1/m, grid over (λ, σp), 1500 steps", "phase",
          at_least(computed("share of settings with the predicted outcome", _agreement), 0.9)
          .because("far above the boundary steps overshoot, which the linearisation ignores"),
          scope="beyond"),
    *REAL_CLAIMS,
)  # fmt: skip
