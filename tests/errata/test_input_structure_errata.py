"""Shi, Wei, Liang (2022): entries of Tables 2 and 3 and of E.1.2 that the law of inputs decides."""

import numpy as np
import pytest

import learnscope as ls
from learnscope.papers.input_structure import experiments as made
from learnscope.papers.input_structure import theory
from learnscope.papers.input_structure.tables import PAPER


def test_table_3_cannot_depend_on_the_dimension():
    """The same seed gives the same digits for d = 60 and 10^9; Table 3 prints 81.5, 86.4 and 75.4 %
    for the NTK at d = 100, 500 and 2000, with a standard deviation below 0.5."""
    setting = made.parity("smoke")
    probes = (ls.probes.TestAccuracy(), ls.probes.Loss())
    base = setting.experiment(setting.rules()[made.NTK], probes, setting.steps)
    found = ls.run(base, {"data.dim": [60, 10**9]}, seeds=2, progress=False).isel(step=-1)
    assert (found.test_accuracy.isel(dim=0) == found.test_accuracy.isel(dim=1)).all()
    near, far = (found.loss.isel(dim=i) for i in (0, 1))
    np.testing.assert_allclose(near, far, rtol=1e-4)
    printed = [PAPER[key, made.NTK] for key in ("d = 100", "Table 1", "d = 2000")]
    assert np.ptp(printed) > 10


def test_without_structure_a_constant_answer_scores_95_per_cent():
    """E.1.2: all methods "get similar performance", 100 % in Table 2."""
    bare = made.interval().data.replace("structure", "none")
    assert 1 - theory.exact_law(bare).positive == pytest.approx(0.951, abs=5e-4)


def test_one_step_of_table_2_is_the_constant_answer():
    """41.0 % on the test set: the share of the label -1."""
    share = 1 - theory.exact_law(made.interval().data).positive
    assert 100 * share == pytest.approx(PAPER["Table 2", made.ONE], abs=1.0)


def test_one_step_fails_by_its_scale_in_double_precision_too():
    setting = made.parity("smoke", 50, 60)
    rules = [setting.rules()[name] for name in (made.ONE, made.RESCALED)]
    base = setting.experiment(rules[0], (ls.probes.TestAccuracy(),), setting.steps)
    axis = ls.zipped({"rule": rules}, name="scale")
    found = ls.run(base, [axis], seeds=2, precision="float64", progress=False).test_accuracy
    raw, rescaled = found.isel(step=-1).transpose("scale", "seed").values
    assert raw.max() < 0.65 and rescaled.min() > 0.95
