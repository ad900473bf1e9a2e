"""Orders of magnitude in Wen and Li's appendices that contradict each other."""

import math

import numpy as np
import pytest

from learnscope.papers.pred_head import theory
from tests.small import strong_weak

DIMS, RATIO = (1e8, 1e12), 0.05


@pytest.fixture(scope="module")
def phases():
    models = [strong_weak(dim, strengths=(4, 2)) for dim in DIMS]
    starts = theory.proof_starts(models[0], 4, math.log(1e4))
    return theory.phase_times(models, starts, [RATIO] * 2)


def exponent(values) -> float:
    low, high = np.log(np.abs(values)).mean("seed").values
    return (high - low) / math.log(DIMS[1] / DIMS[0])


def test_phase_two_is_not_shorter_than_phase_one_by_a_factor_of_d(phases):
    """Appendix C prints T2 - T1 = o(T1/d); its own proof has d^1.5 against d^2."""
    first, second = (phases.elapsed.isel(step=k) for k in (1, 2))
    assert exponent(first) == pytest.approx(2, abs=0.01)
    assert exponent(second) == pytest.approx(1.5, abs=0.01)


def test_the_weak_feature_at_t31_is_the_root_of_the_noise(phases):
    """Lemma D.9 prints d^-1/4 for R2 and for B22, which (D.2) makes the root of R2."""
    at = phases.isel(step=3, neuron=1)
    assert exponent(at.noise) == pytest.approx(-0.25, abs=0.02)
    assert exponent(at.strength.isel(feature=1)) == pytest.approx(-0.125, abs=0.01)


@pytest.mark.parametrize("dim", [1e6, 1e12, 1e100])
def test_the_noise_at_the_printed_t2_is_below_lemma_c8(dim):
    """(C.1) ends phase II at R2 = |E21| / log d, and |E21| is at most sqrt(eta_E / 3 eta): so R2 is
    O(sqrt(eta_E/eta) / log d), not Theta(sqrt(eta_E/eta)) as Lemma C.8 (b) has it."""
    largest = theory.head_bound(1.0, RATIO) / math.log(dim)
    assert largest / math.sqrt(RATIO) < 0.58 / math.log(dim)
