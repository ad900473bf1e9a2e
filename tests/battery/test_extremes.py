"""Valid input at its extremes: an answer, or one sentence; nothing large is allocated."""

import gzip

import numpy as np
import pytest

import learnscope as ls
from learnscope.figures.curves import probe_curves
from learnscope.tools import read_labelled
from tests.battery.test_fuzz import TOML
from tests.small import NOISE, experiment, refused, run, strong_weak


@pytest.mark.parametrize("noise", ["1e300", "1e-300", "0.5"])
@pytest.mark.parametrize("signal", ["1e300", "1e-300", "0.5"])
def test_conditions_of_extreme_numbers(call, tmp_path, noise, signal):
    (tmp_path / "a.toml").write_text(TOML)
    code, out, err = call("conditions", "a.toml", f"data.noise={noise}", f"data.signal={signal}")
    assert code == 0 or (code == 2 and out.count("\n") == 0 and err.count("\n") == 1), err


def test_a_probe_that_does_not_fit_the_net(tmp_path):
    one = experiment(data=strong_weak(30, batch=6), probes=[ls.probes.FeatureShares()])
    refused(lambda: run(one), "the probe FeatureShares does not fit: with this net and data")


def test_numbers_beyond_the_precision():
    large = experiment(data={"noise": 1e300})
    refused(lambda: run(large), "1e+300 is too large a number for float32")
    refused(lambda: run(experiment(), {"data.noise": [0.1, 1e39]}), "1e+39 is too large")
    run(large, precision="float64")


def test_a_sweep_of_which_nothing_is_finite_can_be_drawn():
    data = run(experiment(ls.rules.GradientDescent(rate=1e30)), NOISE, seeds=2)
    data = data.isel(step=slice(1, None))
    assert data.loss.isnull().all()
    probe_curves(data)


def test_a_packed_file_of_zeros_is_not_unpacked_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("learnscope.images.formats.safe._FREELY", 2**16)
    path = tmp_path / "zeros.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("a,b,c,label\n" + "0,0,0,0\n" * 10**5)
    assert path.stat().st_size < 10**4
    refused(lambda: read_labelled(path), "the numbers up to here take", "for a file of its size")
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros((10**4, 10**3)), y=np.zeros(10**4))
    refused(lambda: read_labelled(path), "would unpack to", "times its size")
