"""What the paper claims, sentence by sentence; `checks` says how each is checked."""

from collections.abc import Callable
from functools import partial

from learnscope.lab.ledger import Claim
from learnscope.studies.pegr import checks
from learnscope.studies.pegr import experiments as ex
from learnscope.studies.pegr.real_claims import REAL_CLAIMS

READINGS = {
    "literal": "literal: 1/m, λ/2",
    "no_mean": "no 1/m, λ/2",
    "working": "1/m, λ = 2m/(σp² d), 30000 steps",
}


def _figure_claims(reading: str) -> list[Claim]:
    setting, need = READINGS[reading], (reading,)
    closing = ex.WORKING_CLOSING if reading == "working" else ex.CLOSING

    def claim(id: str, statement: str, where: str, reported: str, check: Callable) -> Claim:
        told = partial(checks.explained, check, reading, statement.startswith("PEGR"))
        return Claim(f"{id}.{reading}", statement, where, reported, setting, need, told)

    return [
        claim(
            "losses",
            "All training losses converge to 0.",
            "Figure 1",
            "all three rules, four noise levels",
            checks.losses_converge,
        ),
        claim(
            "signal",
            "PEGR promotes signal learning, FGR and standard training fail to.",
            "Figure 2",
            "for σp = 0.5, 1, 1.5",
            checks.signal_is_learnt,
        ),
        claim(
            "weak-signal",
            "At σp = 0.1 signal learning increases in all cases.",
            "Figure 2",
            "all three rules",
            checks.weak_noise_signal_grows,
        ),
        claim(
            "noise",
            "PEGR suppresses noise memorisation while it acts, the others fail to.",
            "Figure 3",
            "for σp = 0.5, 1, 1.5",
            partial(checks.noise_is_suppressed, closing=closing),
        ),
        claim(
            "noise-end",
            "PEGR's noise memorisation stays suppressed after it is closed.",
            "Figure 3",
            "for σp = 0.5, 1, 1.5",
            checks.noise_is_suppressed,
        ),
        claim(
            "weak-noise",
            "At σp = 0.1 noise memorisation increases in all cases.",
            "Figure 3",
            "all three rules",
            partial(checks.weak_noise_signal_grows, variable="noise_memorisation"),
        ),
        claim(
            "accuracy",
            "PEGR's test accuracy tends to 1 at every noise level.",
            "Figure 4",
            "→ 1 at σp = 0.1, 0.5, 1, 1.5",
            checks.accuracy_near_one,
        ),
        claim(
            "others",
            "FGR and standard training tend to 1 at σp = 0.1 only.",
            "Figure 4",
            "→ 1 at σp = 0.1 only",
            checks.others_fail,
        ),
    ]


_REGIME = "d = 10⁷, n = m = 26, σp√d = 60, λ = 1/(σp√d): Condition 3.1 holds with constants 1"
_CLOSED = {
    "PEGR, closed at T1": "closed at the printed T1",
    "PEGR, closed at 2 T1": "closed at 2 T1",
}


def _theorem_claims() -> list[Claim]:
    claims = []
    for rule, closed in _CLOSED.items():
        tag = "t1" if rule.endswith(" T1") and "2" not in rule else "2t1"
        setting = f"{_REGIME}; {closed}"
        claims += [
            Claim(
                f"theorem-3.2.1.{tag}",
                "Training loss and squared gradient fall below ε.",
                "Theorem 3.2 (1)",
                "≤ ε for some t",
                setting,
                ("theorem",),
                partial(checks.reaches, rule=rule),
            ),
            Claim(
                f"theorem-3.2.2.{tag}",
                "The test error converges to 0.",
                "Theorem 3.2 (2)",
                "≤ 1/poly(n)",
                setting,
                ("theorem",),
                partial(checks.error_vanishes, rule=rule),
            ),
            Claim(
                f"proposition-5.6.3.{tag}",
                "At T1 the signal is large: max γ is above its bound.",
                "Proposition 5.6 (3)",
                "≥ 1/(√(2 log(8m/δ)) log n)",
                setting,
                ("theorem",),
                partial(
                    checks.gamma_is_large_at, rule=rule, share_of_class=1.0 if tag == "t1" else 0.5
                ),
            ),
        ]
    return claims


CLAIMS: tuple[Claim, ...] = (
    *(claim for reading in READINGS for claim in _figure_claims(reading)),
    Claim(
        "accuracy.no_mean.whole",
        "PEGR's test accuracy tends to 1 at every noise level.",
        "Figure 4",
        "→ 1 at σp = 0.1, 0.5, 1, 1.5",
        "no 1/m, penalty λ instead of λ/2",
        ("no_mean",),
        partial(checks.accuracy_near_one, rule="PEGR with λ"),
    ),
    *_theorem_claims(),
    Claim(
        "theorem-3.2.closing",
        "Closed at T1, PEGR's test accuracy tends to 1.",
        "Theorem 3.2",
        "test error → 0",
        "section 4.1's data, 1/m, λ = 1/(σp√d), closed at the printed T1",
        ("closing",),
        lambda data: checks.accuracy_near_one(data.rename(closing="rule"), rule="T1"),
    ),
    Claim(
        "theorem-3.2.closing-twice",
        "Closed at T1, PEGR's test accuracy tends to 1.",
        "Theorem 3.2",
        "test error → 0",
        "section 4.1's data, 1/m, λ = 1/(σp√d), closed at 2 T1",
        ("closing",),
        lambda data: checks.accuracy_near_one(data.rename(closing="rule"), rule="2 T1"),
    ),
    Claim(
        "theorem-3.3.1",
        "Without a penalty, loss and squared gradient fall below ε.",
        "Theorem 3.3 (1)",
        "≤ ε for some t",
        _REGIME,
        ("theorem",),
        partial(checks.reaches, rule="standard"),
    ),
    Claim(
        "theorem-3.3.2",
        "Without a penalty the test error is large.",
        "Theorem 3.3 (2)",
        "≥ 1/2.01",
        _REGIME,
        ("theorem",),
        partial(checks.error_is_large, rule="standard"),
    ),
    Claim(
        "theorems.signal-noise",
        "PEGR learns signal and no noise, standard training the reverse.",
        "Section 3, after Theorem 3.3",
        "signal ≫ noise; noise ≫ signal",
        _REGIME,
        ("theorem",),
        checks.theorem_signal_and_noise,
    ),
    Claim(
        "lemma-5.5",
        "The squared gradient is at most 72 σp² d L, all along.",
        "Lemma 5.5",
        "ratio ≤ 1",
        "literal, working and theorem settings, every rule",
        ("literal", "working", "theorem"),
        checks.lemma_5_5,
    ),
    Claim(
        "proposition-5.6.1",
        "Up to T1 loss derivatives stay near -1/2.",
        "Proposition 5.6 (1)",
        "O(1/log² n)",
        _REGIME,
        ("theorem",),
        checks.derivatives_stay,
    ),
    Claim(
        "proposition-5.6.2",
        "Up to T1 every γ is at most 5/log n.",
        "Proposition 5.6 (2)",
        "≤ 5/log n",
        _REGIME,
        ("theorem",),
        checks.gamma_stays_small,
    ),
    Claim(
        "proposition-5.6.rho",
        "At T1 every ρ is non-positive and small.",
        "Proposition 5.6 (3)",
        "0 ≥ ρ ≥ -8√(log(8mn/δ)) σ0 σp√d",
        _REGIME,
        ("theorem",),
        checks.rho_stays_small,
    ),
    Claim(
        "section-5.1.rates",
        "Early in training the signal grows at a rate of η‖μ‖²/(2m) a step.",
        "Section 5.1",
        "Θ(η‖μ‖²), constants worked out",
        _REGIME,
        ("theorem",),
        checks.rates_match,
    ),
    Claim(
        "section-5.1.criterion",
        "Suppression beats noise growth where λ‖ξ‖²/m > 1.",
        "Section 5.1",
        "PEGR succeeds above the boundary",
        "no 1/m, grid over (λ, σp), 1500 steps",
        ("phase",),
        checks.criterion,
    ),
    *REAL_CLAIMS,
)
