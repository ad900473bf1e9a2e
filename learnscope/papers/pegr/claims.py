"""The paper's claims, sentence by sentence; `checks` has the checks."""

from collections.abc import Callable
from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.pegr import checks
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr.real_claims import REAL_CLAIMS

READINGS = {
    "literal": "literal: 1/m, λ/2",
    "no_mean": "no 1/m, λ/2",
    "working": "1/m, λ = 2m/(σp² d), 30000 steps",
}


def _figure_claims(reading: str) -> list[Claim]:
    setting, need = READINGS[reading], (reading,)
    closing = ex.WORKING_CLOSING if reading == "working" else ex.CLOSING

    def claim(id: str, statement: str, where: str, reported: str, check: Callable) -> Claim:
        explained = partial(checks.explained, check, reading, statement.startswith("PEGR"))
        return Claim(f"{id}.{reading}", statement, where, reported, setting, need, explained)

    return [
        claim("losses", "All training losses converge to 0.", "Figure 1",
              "all three rules, four noise levels", checks.losses_converge),
        claim("signal", "PEGR promotes signal learning, FGR and standard training fail to.",
              "Figure 2", "for σp = 0.5, 1, 1.5", checks.signal_is_learnt),
        claim("weak-signal", "At σp = 0.1 signal learning increases in all cases.", "Figure 2",
              "all three rules", checks.weak_noise_signal_grows),
        claim("noise", "PEGR suppresses noise memorisation while it acts, the others fail to.",
              "Figure 3", "for σp = 0.5, 1, 1.5",
              partial(checks.noise_is_suppressed, closing=closing)),
        claim("noise-end", "PEGR's noise memorisation stays suppressed after the penalty is "
              "switched off.", "Figure 3", "for σp = 0.5, 1, 1.5", checks.noise_is_suppressed),
        claim("weak-noise", "At σp = 0.1 noise memorisation increases in all cases.", "Figure 3",
              "all three rules",
              partial(checks.weak_noise_signal_grows, variable="noise_memorisation")),
        claim("accuracy", "PEGR's test accuracy tends to 1 at every noise level.", "Figure 4",
              "→ 1 at σp = 0.1, 0.5, 1, 1.5", checks.accuracy_near_one),
        claim("others", "FGR and standard training tend to 1 at σp = 0.1 only.", "Figure 4",
              "→ 1 at σp = 0.1 only", checks.others_fail),
    ]  # fmt: skip


_REGIME = "d = 10⁷, n = m = 26, σp√d = 60, λ = 1/(σp√d): Condition 3.1 holds with constants 1"


def _theorem(id: str, statement: str, where: str, reported: str, check: Callable,
             setting: str = _REGIME) -> Claim:  # fmt: skip
    return Claim(id, statement, where, reported, setting, ("theorem",), check)


def _switched_off(tag: str, rule: str, closed: str, share: float) -> list[Claim]:
    """Theorem 3.2, with the penalty switched off at T1 as printed or at twice that."""
    setting = f"{_REGIME}; {closed}"
    return [
        _theorem(f"theorem-3.2.1.{tag}", "Training loss and squared gradient fall below ε.",
                 "Theorem 3.2 (1)", "≤ ε for some t", partial(checks.reaches, rule=rule), setting),
        _theorem(f"theorem-3.2.2.{tag}", "The test error converges to 0.", "Theorem 3.2 (2)",
                 "≤ 1/poly(n)", partial(checks.error_vanishes, rule=rule), setting),
        _theorem(f"proposition-5.6.3.{tag}", "At T1 the signal is large: max γ is above its bound.",
                 "Proposition 5.6 (3)", "≥ 1/(√(2 log(8m/δ)) log n)",
                 partial(checks.gamma_is_large_at, rule=rule, share_of_class=share), setting),
    ]  # fmt: skip


def _closing(tag: str, when: str, rule: str) -> Claim:
    return Claim(f"theorem-3.2.closing{tag}", "With the penalty switched off at T1, PEGR's test "
                 "accuracy tends to 1.", "Theorem 3.2", "test error → 0",
                 f"section 4.1's data, 1/m, λ = 1/(σp√d), closed at {when}", ("closing",),
                 lambda data: checks.accuracy_near_one(data.rename(closing="rule"), rule=rule)
                 )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *(claim for reading in READINGS for claim in _figure_claims(reading)),
    Claim("accuracy.no_mean.whole", "PEGR's test accuracy tends to 1 at every noise level.",
          "Figure 4", "→ 1 at σp = 0.1, 0.5, 1, 1.5", "no 1/m, penalty λ instead of λ/2",
          ("no_mean",), partial(checks.accuracy_near_one, rule="PEGR with λ")),
    *_switched_off("t1", "PEGR, closed at T1", "closed at the printed T1", 1.0),
    *_switched_off("2t1", "PEGR, closed at 2 T1", "closed at 2 T1", 0.5),
    _closing("", "the printed T1", "T1"),
    _closing("-twice", "2 T1", "2 T1"),
    _theorem("theorem-3.3.1", "Without a penalty, loss and squared gradient fall below ε.",
             "Theorem 3.3 (1)", "≤ ε for some t", partial(checks.reaches, rule="standard")),
    _theorem("theorem-3.3.2", "Without a penalty the test error is large.", "Theorem 3.3 (2)",
             "≥ 1/2.01", partial(checks.error_is_large, rule="standard")),
    _theorem("theorems.signal-noise", "PEGR learns signal and no noise, standard training the "
             "reverse.", "Section 3, after Theorem 3.3", "signal ≫ noise; noise ≫ signal",
             checks.theorem_signal_and_noise),
    Claim("lemma-5.5", "The squared gradient is at most 72 σp² d L, all along.", "Lemma 5.5",
          "ratio ≤ 1", "literal, working and theorem settings, every rule",
          ("literal", "working", "theorem"), checks.lemma_5_5),
    _theorem("proposition-5.6.1", "Up to T1 loss derivatives stay near -1/2.",
             "Proposition 5.6 (1)", "O(1/log² n)", checks.derivatives_stay),
    _theorem("proposition-5.6.2", "Up to T1 every γ is at most 5/log n.", "Proposition 5.6 (2)",
             "≤ 5/log n", checks.gamma_stays_small),
    _theorem("proposition-5.6.rho", "At T1 every ρ is non-positive and small.",
             "Proposition 5.6 (3)", "0 ≥ ρ ≥ -8√(log(8mn/δ)) σ0 σp√d", checks.rho_stays_small),
    _theorem("section-5.1.rates", "Early in training the signal grows at a rate of η‖μ‖²/(2m) per "
             "step.", "Section 5.1", "Θ(η‖μ‖²), constants worked out", checks.rates_match),
    Claim("section-5.1.criterion", "Suppression beats noise growth where λ‖ξ‖²/m > 1.",
          "Section 5.1", "PEGR succeeds above the boundary",
          "no 1/m, grid over (λ, σp), 1500 steps", ("phase",), checks.criterion),
    *REAL_CLAIMS,
)  # fmt: skip
