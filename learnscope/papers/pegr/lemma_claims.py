"""Claims on the update rules (Lemmas 5.1, 5.3, 5.8, equation 5.2), on what section 5 reads off
them, and on relu^q (section 2).

An equation holds if both sides of every step agree to 10^-6 of the step, in double precision.
Lemma 5.8 supposes orthogonal noise: there the sides must approach each other as inner products of
noise do, as d^(-1/2). A power of the text is met within 0.1, as in `theorem_claims`.
"""

from collections.abc import Callable

import xarray as xr

from learnscope.evidence import (
    UNTRAINED,
    Claim,
    Quantity,
    Verb,
    alike,
    at_least,
    at_most,
    below,
    bounded_by,
    computed,
    exponent,
    first,
    last,
    swapped,
)
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import theory as pegr
from learnscope.papers.pegr.theorem_claims import EPSILON, NEAR_ONE

EQUAL = 1e-6
_WEIGHT = 1 / ex.THEOREM["level"]
_SETTING = "d = 10⁷, 10⁹, 10¹¹, n = m = 26, σp√d = 60, λ = 1/(σp√d), the first five steps, float64"
Form = Callable[[xr.Dataset], tuple[xr.DataArray, xr.DataArray]]


def _update(printed: bool = False, weight: float = _WEIGHT) -> pegr.Update:
    return pegr.Update(ex.THEOREM_RATE, weight, int(ex.THEOREM["width"]), printed=printed)


def _error(form: Form, rule: str, filters: bool = False) -> Quantity:
    """The largest error of a formula for a step, relative to the step it gives: of gamma and rho,
    or of what the filters see of the signal and of the training noise."""

    def error(data: xr.Dataset) -> xr.DataArray:
        arm = data.sel(rule=rule, drop=True)
        before = arm.isel(step=slice(None, -1))
        gamma, rho = form(before)
        found, given = (arm.gamma, arm.rho_bar + arm.rho_underbar), (gamma, rho)
        if filters:
            on_noise = ((rho / pegr.squares(before)) * before.noise_gram).sum("sample")
            sign = pegr.Pieces.of(before, int(ex.THEOREM["width"])).sign
            found, given = (arm.on_signal, arm.on_noise), (sign * gamma, on_noise)
            given = given[0], given[1].rename(other="sample")
        worst = []
        for one, other in zip(found, given, strict=True):
            dims = [dim for dim in one.dims if dim in ("filter", "sample")]
            apart = abs(one.diff("step", label="lower") - other).max(dims, skipna=False)
            worst.append((apart / abs(other).max(dims)).max("step", skipna=False))
        return xr.concat(worst, "part").max("part", skipna=False).reset_coords(drop=True)

    return computed(f"error of a step, {rule}", error)


def _from_start(data: xr.Dataset) -> xr.Dataset:
    """What the filters see, put together from their start and the coefficients, as in (5.2)."""
    start, sign = data.isel(step=0, drop=True), pegr.Pieces.of(data, int(ex.THEOREM["width"])).sign
    shares = (data.rho_bar + data.rho_underbar) / pegr.squares(data)
    moved = (shares * data.noise_gram).sum("sample").rename(other="sample")
    return data.assign(on_signal=start.on_signal + sign * data.gamma,
                       on_noise=start.on_noise + moved)  # fmt: skip


def _equation(id: str, statement: str, where: str, misprint: str, verb: Callable[[bool], Verb],
              scope: str = "as stated") -> list[Claim]:  # fmt: skip
    """An update rule as printed, and with its misprints corrected."""
    nulls = (UNTRAINED, swapped("rule"))
    return [
        Claim(id, statement, where, "an equation", f"{_SETTING}; as printed", "lemmas",
              verb(True).because(f"a misprint: {misprint}"), scope=scope, nulls=nulls),
        Claim(f"{id}.corrected", statement, where, "an equation", f"{_SETTING}; corrected",
              "lemmas", verb(False), scope=f"corrected: {misprint}", nulls=nulls),
    ]  # fmt: skip


def _variance(data: xr.Dataset) -> xr.DataArray:
    """The variance of the gradient between training examples, at every step."""
    width = int(ex.THEOREM["width"])
    at = pegr.Pieces.of(data, width)
    zeta = (at.on_signal**2 + at.on_noise**2 * at.square).sum("filter")  # ||mu|| = 1
    return (4 / width**2 * at.slope**2 * zeta).mean("sample") - data.gradient_norm


def _spread(text: str, step: int, rule: str) -> Quantity:
    """PEGR's variance at the end, over another one."""

    def ratio(data: xr.Dataset) -> xr.DataArray:
        values = _variance(data.sel(dim=ex.LEMMA_DIMS[0]))
        end, other = values.isel(step=-1).sel(rule="PEGR"), values.isel(step=step).sel(rule=rule)
        return (end.reset_coords(drop=True) / other.reset_coords(drop=True)).drop_vars(
            "step", errors="ignore"
        )

    return computed(f"variance of PEGR's gradients over {text}", ratio)


def _taken(rule: str) -> Quantity:
    """How far a penalty moves a step of the signal, over the untrained signal."""
    moved = abs(last("gamma", rule="standard") - last("gamma", rule=rule)).mean("filter")
    start = first("signal_learning", rule="standard")
    return (moved / start).named(f"signal that {rule} takes back in a step")


def _relu_power(tag: str, rule: str, weight: str, reason: str = "", **more) -> Claim:
    """The second parts of Theorems 3.2 and 3.3 for relu^3, where the training loss is small."""
    small = {arm: at_most(last("loss", rule=arm), EPSILON) for arm in (rule, "standard")}
    error = (1 - last("test_accuracy", rule="standard")).named("test error, standard")
    learns = at_least(last("test_accuracy", rule=rule), NEAR_ONE).given(small[rule])
    fails = at_least(error, 1 / 2.01).given(small["standard"])
    return Claim(
        f"relu-q{tag}", "The analysis also applies to ReLU^q with q > 2: the test error converges "
        "to 0 with the penalty first, and is large without.", "Section 2, ReLU^q", "Theorems 3.2 "
        "(2) and 3.3 (2), 'by some additional treatments'", "σ = ReLU³, d = 10⁷, n = m = 23, "
        "‖μ‖ = 0.7, σp√d = 10: Condition 3.1 holds with constants 1; penalty up to step "
        f"{ex.power_closing_time()}, T1 worked out for ReLU³; {weight}", "power",
        (learns & fails).because(reason),
        scope=f"reading: q = 3, {weight}", **more)  # fmt: skip


_ZETA = "4λζ/m² for 4λζ/m"

LEMMA_CLAIMS: tuple[Claim, ...] = (
    *_equation("lemma-5.1", "The filters' update under the per-example penalty.", "Lemma 5.1",
               _ZETA, lambda printed: bounded_by(
                   _error(_update(printed).per_example, "PEGR", filters=True), EQUAL)),
    *_equation("lemma-5.3", "The update of γ and ρ under the per-example penalty.", "Lemma 5.3",
               _ZETA, lambda printed: bounded_by(
                   _error(_update(printed).per_example, "PEGR"), EQUAL)),
    Claim("equation-5.2", "The update of γ and ρ without a penalty.", "Equation (5.2)",
          "an equation", f"{_SETTING}; λ = 0", "lemmas",
          bounded_by(_error(lambda data: _update(weight=0.0).per_example(_from_start(data)),
                            "standard"), EQUAL),
          scope="as stated", nulls=(UNTRAINED, alike("rule"))),
    *_equation("lemma-5.8", "The update under the full penalty, where noise vectors are "
               "orthogonal.", "Lemma 5.8", "2/m before ℓ'', ReLU⟨w, yμ⟩ in the last sum, "
               "1(⟨w, yμ⟩ > 0), ReLU⟨w, ξ⟩ jy on the first line",
               lambda printed: exponent(_error(_update(printed).full, "FGR"), "dim", -0.5, by=0.1),
               "asymptotic: noise vectors are orthogonal as d → ∞"),
    *(Claim(f"section-{where[8:]}.signal", f"{rule} suppresses the signal at a speed proportional "
            "to ‖μ‖⁴.", where, "λΘ(η‖μ‖⁴)", "d = 10⁷, n = m = 26, σp√d = 60, λ = 1/60, ‖μ‖ from "
            "0.25 to 1.4, σ0 = 2·10⁻⁶, the first step, float64", "signals",
            exponent(_taken(rule), "signal", 4.0, by=0.1), scope="regime: small weights",
            nulls=(alike("signal"), UNTRAINED))
      for where, rule in (("Section 5.1", "PEGR"), ("Section 5.4", "FGR"))),
    Claim("section-5.1.variance", "PEGR controls the variance of the gradients of different "
          "training examples.", "Section 5.1", "implicitly controls the variance",
          "d = 10⁷, n = m = 26, σp√d = 60, λ = 1/(σp√d), after five steps, float64", "lemmas",
          below(_spread("standard training's", -1, "standard"), 1.0)
          & below(_spread("that of the untrained network", 0, "PEGR"), 1.0),
          scope="regime: Condition 3.1 holds with constants 1",
          nulls=(UNTRAINED, alike("rule"))),
    _relu_power("", "PEGR", "λ = 1/(σp√d)",
                f"λ‖ξ‖²/m is {ex.POWER['level'] / ex.POWER['width']:.2g}, and the proofs need more "
                "than 1, which Condition 3.1 does not say"),
    _relu_power(".weight", ex.POWER_RULE, "λ = 4m/(q(q-1)σ0(σp√d)³)", flags=(
        "added after looking: λ, since 1/(σp√d) had failed in three seeds",)),
)  # fmt: skip
