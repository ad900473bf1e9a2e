"""The paper's claims, in each reading of its experiments; `checks.py` has the checks."""

from functools import partial
from typing import Any

from learnscope.evidence import Claim
from learnscope.papers.benign import checks
from learnscope.papers.benign.experiments import EPSILON, READINGS
from learnscope.papers.benign.real_claims import REAL_CLAIMS

_SETTING = {
    "literal": "d = 1000, literal: 20 steps, rate 0.05",
    "no 1/m": "d = 1000, 20 steps, no 1/m in the gradient",
}
_UNSCALED = _SETTING["no 1/m"]
_LONG = "d = 1000, 1000 steps, no 1/m"


def _in_readings(setting: dict[str, str], *rows: tuple[Any, ...]) -> list[Claim]:
    """Claims (id, statement, where, reported, sweep, check, more arguments) in both readings."""
    return [
        Claim(f"{id}_{reading}", statement, where, reported, setting[reading], (sweep,),
              partial(check, reading=reading, **more))
        for reading in READINGS
        for id, statement, where, reported, sweep, check, more in rows
    ]  # fmt: skip


def _figure3(name: str) -> list[Claim]:
    where = f"Figure {name[-2:]}"
    return _in_readings(
        _SETTING,
        (f"{name}_fitted", "The networks overfit their training data", where, "training loss ≤ ε",
         name, checks.fitted, {}),
        (f"{name}_signal", "Test accuracy grows with the feature strength", where,
         "increases with ‖u‖", name, checks.increases, {"dim": "signal"}),
        (f"{name}_ratio", "Test accuracy grows with the noise correlation ratio", where,
         "increases with Γ", name, checks.increases, {"dim": "correlation"}),
        (f"{name}_weak", "High ratios give near-optimal accuracy although the feature strength is "
         "nearly zero", where, "near-optimal", name, checks.without_feature, {}),
    )  # fmt: skip


_FIGURE4 = _in_readings(
    _SETTING,
    ("figure4a", "Classified by features, accuracy increases with the size of the data set",
     "Figure 4a", "increases with |S|", "figure4a", checks.increases, {"dim": "size"}),
    ("figure4b", "Classified by covariance, accuracy remains in a constant order with the size of "
     "the data set", "Figure 4b", "constant in |S|", "figure4b", checks.constant_in_size, {}),
)  # fmt: skip
_LEMMAS = _in_readings(
    {reading: f"Γ = 100, ‖u‖ = 1, 40 steps, {reading}" for reading in READINGS},
    ("lemma3", "W_j A_j has rank ≥ 0.9 m and largest singular value O(√m log T)", "Lemma 3",
     "≥ 0.9 m; O(√m log T)", "lemmas", checks.spectrum, {}),
    ("lemma4", "Test noise activates at least 0.1 m neurons of its class", "Lemma 4", "≥ 0.1 m",
     "lemmas", checks.activated, {}),
    ("lemma5", "A class's neurons learn the training noise of that class", "Lemma 5",
     "own ≥ C' × other", "lemmas", checks.own_training_noise, {}),
    ("lemma7", "Loss gradients of all examples stay balanced", "Lemma 7", "ratio ≤ κ", "residuals",
     checks.balanced, {}),
)  # fmt: skip
CLAIMS = (
    Claim("boundary", "Benign and harmful overfitting are divided in the plane of signal and noise "
          "correlation", "Figure 2", "the boundary falls with Γ", _UNSCALED,
          ("by_signal", "by_correlation"), checks.boundary),
    *_figure3("figure3a"),
    *_figure3("figure3b"),
    *_FIGURE4,
    Claim("statement1", "The training loss falls below any ε", "Theorem 1 (1)",
          f"≤ ε (checked: {EPSILON})", _LONG, ("corners",), checks.training_loss),
    Claim("statement2a", "With a strong feature, all data is classified", "Theorem 1 (2a)",
          "error → 0", f"{_LONG}, ‖u‖ = 3.8, Γ = 1", ("corners",), checks.by_features),
    Claim("statement2a_theorem", "The test error falls with the SNR term", "Theorem 1 (2a, 3)",
          "exp(-c₁ SNR) if SNR ≥ C₁", "d = 10⁸, n = 9, m = 100, Γ = 1: all of Condition 1 but one "
          "item holds with constants 1", ("theorem",), checks.theorem_2a),
    Claim("statement2b", "With a large noise correlation ratio, long-tailed data is classified",
          "Theorem 1 (2b)", "error → 0", f"{_LONG}, ‖u‖ = 10⁻⁶, Γ = 1400", ("corners",),
          checks.by_covariance),
    Claim("statement3", "With neither, test error is at least a constant", "Theorem 1 (3)",
          "≥ c₃ (checked: 0.1)", f"{_LONG}, ‖u‖ = 10⁻⁶, Γ = 1", ("corners",), checks.harmful),
    *(
        Claim(f"tail_{s}", "Accuracy on long-tailed data grows with the noise correlation ratio",
              "section 3", "increases with Γ", f"{_UNSCALED}, ‖u‖ = 10⁻⁶, top {100 * float(s):g} %",
              ("tail",), partial(checks.tail_rises, share_of_tail=s))
        for s in ("0.2", "0.05")
    ),
    Claim("selection", "Where all noise is shared, the long tail is no easier than other data",
          "Definition 1, Theorem 1 (3)", "chance", f"{_UNSCALED}, ‖u‖ = 10⁻⁶, Γ = 1", ("tail",),
          checks.selection_effect),
    Claim("majority_plain", "More data of other classes lowers a class's accuracy on long-tailed "
          "data", "section 3", "declines", f"{_UNSCALED}, Γ = 50, plain loss", ("majority",),
          partial(checks.majority_hurts, loss="plain")),
    Claim("majority_cause", "The reason is that memorised majority noise dominates", "section 3",
          "noise, not the label prior", f"{_UNSCALED}, Γ = 50", ("majority",),
          checks.majority_cause),
    *_LEMMAS,
    Claim("lemma6", "Test noise activates its own class's neurons more, by the ratio of "
          "‖AᵀA‖ b(S)", "Lemma 6", "Θ", "Γ = 100, ‖u‖ = 1, 40 steps, no 1/m",
          ("lemmas", "residuals"), checks.own_test_noise),
    *REAL_CLAIMS,
)  # fmt: skip
