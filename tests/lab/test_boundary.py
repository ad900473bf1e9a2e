"""Boundaries: against a response known in closed form, and what is said of bad input."""

import json
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.engine.program import compilations
from learnscope.probes import AbstractProbe, Output
from tests import small
from tests.small import DESCENT, refused


class Ramp(AbstractProbe):
    """A response known in closed form: rises through 1/2 at signal^2 = dim^(1/2) / 4, with an
    error a seed that all settings share."""

    outputs: ClassVar = {"ramp": Output("a logistic response", low=0, high=1)}

    def __call__(self, state, problem):
        direction = problem.directions["signal"]
        signal = jnp.linalg.norm(direction)
        error = 0.4 * problem.train.vectors["noise"][0] @ direction / signal
        distance = 4 * jnp.log(signal) - jnp.log(problem.frame.dim) + 2 * jnp.log(4.0) + error
        return 1 / (1 + jnp.exp(-distance))


class Wave(AbstractProbe):
    """Rises and falls with the signal."""

    outputs: ClassVar = {"wave": Output("a sine")}

    def __call__(self, state, problem):
        return jnp.sin(3 * jnp.linalg.norm(problem.directions["signal"]))


def experiment(**changes):
    data = {"train": 2, "test": 2, "noise": 1.0, "orthogonal": False} | changes
    probes = [Ramp(), Wave(), ls.probes.TestAccuracy(), ls.probes.Decomposition()]
    return small.experiment(DESCENT, 1, 1, probes, data, {"width": 1})


X, Y = {"data.signal": (0.1, 100.0)}, {"data.dim": [100, 1000, 10_000, 100_000]}


def boundary(x=X, y=Y, at=0.5, of="ramp", seeds=40, **settings):
    return ls.boundary(experiment(), x, y, at, of, seeds, progress=False, **settings)


@pytest.fixture(scope="module")
def found():
    return boundary()


def test_the_boundary_is_where_it_is_and_its_exponent_a_quarter(found):
    truth = np.array(Y["data.dim"]) ** 0.25 / 2
    assert set(found.status.values) == {"crossed"}
    assert (found.low < found.boundary).all() and (found.boundary < found.high).all()
    # The error a seed moves log x by 0.1: with 40 seeds, by 0.016 and a band of +- 0.031.
    np.testing.assert_allclose(found.boundary, truth, rtol=0.06)
    np.testing.assert_allclose(np.log(found.high / found.low), 0.062, rtol=0.4)
    # Seeds are shared, so that the exponent is known better than any point of the line.
    assert found.attrs["exponent"] == pytest.approx(0.25, abs=2e-3)
    assert 0 < found.attrs["exponent_error"] < 2e-3


def test_it_is_labelled_and_survives_netcdf(found, tmp_path):
    assert found.boundary.dims == ("dim",)
    assert found.dim.attrs["field"] == "data.dim"
    assert (found.attrs["x"], found.attrs["of"], found.attrs["at"]) == ("data.signal", "ramp", 0.5)
    assert json.loads(found.attrs["y"]) == ["data.dim"]
    found.to_netcdf(tmp_path / "b.nc", engine="h5netcdf")


def test_what_was_tried_brackets_the_boundary(found):
    for i in range(found.sizes["dim"]):
        tried, means = found.tried[i].dropna("try").values, found["mean"][i].dropna("try").values
        assert (np.diff(tried) > 0).all()
        assert means[tried < found.low[i].item()].max() < 0.5
        assert means[tried > found.high[i].item()].min() > 0.5


def test_all_rounds_share_a_program():
    boundary(seeds=3)
    before = len(compilations())
    boundary(seeds=3, at=0.6)
    assert len(compilations()) == before


def test_a_store_makes_it_a_matter_of_reading(tmp_path):
    few = {"y": {"data.dim": [100, 1000]}, "seeds": 3, "tolerance": 0.3}
    first = boundary(store=tmp_path / "s", **few)
    before = {f: f.stat().st_mtime_ns for f in (tmp_path / "s").rglob("c/**/*") if f.is_file()}
    second = boundary(store=tmp_path / "s", **few)
    assert {f: f.stat().st_mtime_ns for f in before} == before
    assert first.equals(second) and first.equals(boundary(**few))


def test_each_setting_of_an_axis_over_steps_is_read_after_its_own_last_step():
    steps = boundary(y={"steps": [1, 3]}, seeds=3)
    assert steps.status.values.tolist() == ["crossed", "crossed"]
    assert steps.boundary[0] == steps.boundary[1]


def test_one_seed_has_a_boundary_without_a_band():
    one = boundary(y={"data.dim": [100, 1000]}, seeds=1)
    assert np.isfinite(one.boundary).all()
    assert np.isnan([one.low, one.high]).all() and np.isnan(one.attrs["exponent_error"])


def test_never_and_several_crossings_are_reported():
    low = boundary(x={"data.signal": (0.001, 0.01)}, seeds=4)
    assert set(low.status.values) == {"never: always below"}
    assert low.boundary.isnull().all() and np.isnan(low.attrs["exponent"])
    wave = boundary(x={"data.signal": (0.5, 4.0)}, of="wave", at=0.2, seeds=1)
    assert all(status.startswith("crosses") for status in wave.status.values)


def test_fields_that_change_together_names_alone_and_whole_numbers():
    found = boundary(y=ls.zipped({"data.dim": [100, 10_000], "rule.rate": [0.1, 0.001]}), seeds=3)
    assert found["rule.rate"].dims == ("dim",)
    alone = boundary(x="data.signal", y="data.dim", seeds=3, tolerance=0.1)
    assert alone.dim.values.tolist() == [100 * 2**k for k in range(8)]
    # The other way round: at signal 2, the dimension at which the ramp falls through 1/2 is 256.
    found = boundary(x={"data.dim": (20, 5000)}, y={"data.signal": [2.0, 3.0]}, seeds=20)
    tried = found.tried.values[np.isfinite(found.tried.values)]
    assert (tried == tried.round()).all()
    np.testing.assert_allclose(found.boundary, [256, 1296], rtol=0.3)


BAD = [
    ({"at": 1.5}, "at = 1.5 is not allowed: ramp lies between 0 and 1"),
    ({"at": float("nan")}, "at = nan is not allowed"),
    ({"of": "tset_accuracy"}, "the experiment's probes record"),
    ({"of": "gamma"}, "it must be one number per run"),
    ({"x": {"data.signal": (2, 1)}}, "the range of 'data.signal'"),
    ({"x": {"data.sginal": (1, 2)}}, "sginal"),
    ({"x": {"net.width": (1, 2)}}, "it must be a number that can be swept"),
    ({"x": 3}, "x = 3 is not allowed"),
    ({"y": {"data.dim": []}}, "'data.dim' has no values"),
    ({"y": {"data.dim": [100], "data.noise": [1.0]}}, "y must be one field"),
    ({"y": {"data.signal": [1, 2]}}, "cannot be both x and y"),
    ({"tolerance": 0}, "tolerance = 0 is not allowed"),
]


@pytest.mark.parametrize(("change", "words"), BAD)
def test_bad_input_is_one_sentence(change, words):
    refused(lambda: boundary(**change), words)
