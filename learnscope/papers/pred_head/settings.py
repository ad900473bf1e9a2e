"""The setting, the scope and the nulls that claims on a sweep have unless they say otherwise."""

from typing import Any

from learnscope.evidence import Claim, Verb, alike, shuffled

_TOY = ("d = 20, P = 16, P₀ = 4, α = (3, 2), N = 256, η = η_E = 0.05, 1500 steps, from "
        "|⟨w_j, v_l⟩| √d = (2, 1; 1, 1.3) with random signs")  # fmt: skip
_FLOW = "population flow, random starts, α = (4, 2), η_E/η = 0.05"
_GROWING = "population flow, random starts, α₂ = 2, α₁/α₂ = log d, η_E/η = 1/log d"
_PHASES = ("population flow, α = (4, 2), η_E/η = 0.05, d to 10¹²; random starts as in Lemma B.1, "
           "of those from which both neurons would learn the strong feature without a head, as "
           "nearly all do if α₁/α₂ is large")  # fmt: skip
_CIFAR = ("CIFAR-10 at 16 x 16, Conv4 of 32 filters, projection 128-32, Adam 0.003, 3,000 steps of "
          "64 of 20,000 images, ridge probe on 2,000 (smoke: digits; paper: 32 x 32, ResNet-18, "
          "projection 512-64, 200 epochs)")  # fmt: skip
_DIGITS = "bundled digits, 128 hidden neurons, projection 128-32, Adam 0.003, {:,} steps of 128"
_D1000 = "population flow, d = 1000"
_DESIGNED = "reading: a toy of our sizes, from the proof's start"
_FIXED = "reading: α₁/α₂ = 2 in every dimension"
_SMALLER = "reading: a smaller network, for less time"
_BY_DIM = (alike("dim"), shuffled("dim"))
_WINDOW = (alike("ratio"), shuffled("ratio"))
_SWEEPS: dict[str, tuple[Any, ...]] = {
    "toy": (_TOY, _DESIGNED), "trajectories": (_TOY, _DESIGNED),
    "steady": (f"{_TOY}, random start, with a co-occurring feature of strength 3 whose sign never "
               "changes", "reading: a feature of constant sign"),
    "noise": ("directions in the noise's space; in R^d the features' span must be left out",
              "as stated"),
    "many": ("population descent, d = 50", "beyond"),
    "dimensions": (_FLOW, _FIXED), "growing": (_GROWING, "regime: α₁/α₂ = log d"),
    "no_head": (_D1000, "beyond"), "imbalance": ("population flow, random starts, d = 1000", ""),
    "rates": (_D1000, "reading: d = 1000"),
    "diagram": (f"{_D1000}, η_E/η = 0.03 to 0.22 against 10⁻⁴, mean over α₁/α₂ from 1.05 to "
                "4", "reading: d = 1000", _WINDOW),
    "phases": (_PHASES, "asymptotic", _BY_DIM),
    "printed": (_PHASES, "asymptotic: rises with d", _BY_DIM),
    "images": (_CIFAR, _SMALLER),
    "digits": (_DIGITS.format(2000), _SMALLER), "fading": (_DIGITS.format(12_000), _SMALLER),
}  # fmt: skip


def claim(id: str, where: str, statement: str, reported: str, needs: str, check: Verb,
          because: str = "", **more: Any) -> Claim:  # fmt: skip
    """A claim on a sweep; `because` is the known reason if it differs."""
    given = dict(zip(("setting", "scope", "nulls"), _SWEEPS[needs], strict=False)) | more
    verb = check.because(because) if because else check
    return Claim(id, statement, where, reported, needs=needs, check=verb, **given)
