"""Runs: paired seeds, blocks, compilations, diverged runs, labels, interrupts."""

import functools
import json
import signal

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.engine import size
from learnscope.engine.program import compilations
from learnscope.engine.train import recorded_steps
from learnscope.lab import progress
from learnscope.probes import AbstractProbe, Output
from tests import small
from tests.small import DESCENT, PENALTY, Watched, run

experiment = functools.partial(small.experiment, steps=20)
FULL = ls.rules.FullPenalty(rate=0.3, weight=0.05)


class _Finite(AbstractProbe):
    outputs = {"finite": Output("whether all parameters are finite")}  # noqa: RUF012

    def __call__(self, state, problem):
        return jnp.isfinite(state.params["filters"]).all().astype(float)


def compiled(*given, **more):
    """How many programs a run compiled, and the run."""
    before = len(compilations())
    result = run(*given, **more)
    return len(compilations()) - before, result


def assert_same(left, right):
    """Equal to the last bit."""
    assert set(left) == set(right)
    for name in left:
        np.testing.assert_array_equal(left[name].values, right[name].values, err_msg=name)


def test_a_seed_fixes_the_draw():
    setting = experiment(probes=[Watched()], steps=1)
    rules = run(setting, {"rule": [DESCENT, PENALTY]}, seeds=3).isel(step=0)
    alone = rules.isel(rule=0, seed=2)
    assert_same(rules.isel(rule=1, seed=2), alone)
    # Other axes, another place in the sweep, other seeds beside it.
    levels = ls.zipped({"data.noise": [0.3, 0.6]}, name="level")
    over = [{"rule.rate": [0.1, 0.2], "net.scale": [0.05, 0.1]}, levels]
    swept = run(setting, over, seeds=[5, 2]).isel(step=0, rate=1, seed=1)
    once, twice = swept.isel(level=0, scale=0), swept.isel(level=1, scale=1)
    assert_same(once, alone)
    # Numbers of the data model and the net act on the same draw.
    np.testing.assert_allclose(twice.filters, 2 * once.filters, rtol=1e-6)
    np.testing.assert_allclose(twice.noise, 2 * once.noise, rtol=1e-6)
    # Another seed is another draw, of both.
    for name in ("filters", "noise"):
        first, other = (rules[name].isel(rule=0, seed=seed).values for seed in (0, 1))
        assert np.abs(first - other).max() > 0.01


def test_mini_batches_are_paired_too():
    # Two rules that do the same must see the same batches.
    setting = experiment(data={"batch": 2})
    nothing = ls.rules.PerExamplePenalty(rate=0.3, weight=0.5, until=0)
    result = run(setting, {"rule": [DESCENT, nothing]}, seeds=2)
    left, right = (result.isel(rule=place) for place in (0, 1))
    for name in ("loss", "signal_learning"):
        np.testing.assert_allclose(left[name], right[name], rtol=1e-4)
    assert not np.array_equal(result.loss.isel(seed=0), result.loss.isel(seed=1))


@pytest.mark.parametrize("how", ["compressed float64", "ambient float32"])
def test_results_do_not_depend_on_blocks(how, monkeypatch):
    """To the last bit: in few blocks, in blocks as small as can be, and in smaller sweeps."""
    rule = PENALTY if how.startswith("compressed") else FULL
    setting = experiment(rule, steps=40, probes=small.probes("Loss GradientNorm"))
    how = dict(zip(("coordinates", "precision"), how.split(), strict=True))
    over = {"data.noise": [0.2, 0.3, 0.4, 0.5]}
    whole = run(setting, over, seeds=7, **how)
    with monkeypatch.context() as patch:
        patch.setattr(size, "LIMITS", size.Limits(block_runs=3))
        assert_same(run(setting, over, seeds=7, **how), whole)
    for noise, seeds in (([0.4], [6, 2]), ([0.5, 0.3], [0]), ([0.4], range(1, 4))):
        part = run(setting, {"data.noise": noise}, seeds=seeds, **how)
        assert_same(part, whole.sel(noise=noise, seed=list(seeds)))


def test_blocks_fit_in_memory(monkeypatch):
    small = size.run_size(experiment(), "compressed", "float32")
    assert small.batch == 10 and small.batch * small.bytes <= size.LIMITS.batch_bytes
    for runs in (30, 300):
        limits = size.Limits(block_bytes=runs * small.bytes, block_work=1e30)
        monkeypatch.setattr(size, "LIMITS", limits)
        assert small.block == runs
    # A batch is the least that is computed: its width must not depend on the block.
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_bytes=1))
    assert small.block == small.batch == 10
    # A test set a hundred times as large takes more of it.
    larger = size.run_size(experiment(data={"test": 1000}), "compressed", "float32")
    assert larger.bytes > 10 * small.bytes


def test_the_same_run_again_compiles_nothing():
    setting = experiment(data={"test": 13})
    over = {"rule.rate": [0.1, 0.2], "data.noise": [0.1, 0.2]}
    first, result = compiled(setting, over, seeds=2)
    again, same = compiled(setting, over, seeds=2)
    assert first > again == 0
    assert_same(result, same)
    # Nor do other values on the same axes, or other seeds; of many more, the size of a block does.
    other = {"rule.rate": [0.4, 0.5], "data.noise": [0.7, 0.8]}
    assert compiled(setting, other, seeds=[5, 6])[0] == 0
    many = {"rule.rate": [0.4, 0.5], "data.noise": np.linspace(0.1, 1.0, 200)}
    assert compiled(setting, many)[0] == first
    # What changes the program compiles for each of its values, but for the draw, which all share.
    assert compiled(setting, {"rule": [PENALTY, FULL], **over}, seeds=2)[0] == 2 * (first - 1)


def test_programs_of_other_shapes_leave_blanks():
    setting = experiment(probes=[ls.probes.Loss(), Watched()])
    shapes = ls.zipped({"net.width": [2, 3], "steps": [10, 20]}, name="shape")
    result = run(setting, [{"rule.rate": [0.2, 0.4]}, shapes], seeds=2, coordinates="ambient")
    assert result.filters.dims == ("rate", "shape", "seed", "step", "filter", "coordinate")
    assert result["shape"].values.tolist() == [2, 3]
    assert result["steps"].dims == ("shape",)
    assert result.step.values.tolist() == [0, 5, 10, 15, 20]
    small, large = (result.isel(shape=place) for place in (0, 1))
    assert small.filters.isel(filter=slice(4), step=slice(3)).notnull().all()
    assert small.filters.isel(filter=slice(4, None)).isnull().all()
    assert small.loss.isel(step=slice(3)).notnull().all()
    assert small.loss.isel(step=slice(3, None)).isnull().all()
    assert large.filters.notnull().all()
    assert large.loss.notnull().all()
    # Every program is in its place.
    alone = run(setting, {"rule.rate": [0.4]}, seeds=2, coordinates="ambient")
    assert_same(large.sel(rate=[0.4]), alone)


def test_zipped_fields_change_together():
    pairs = {"data.noise": [0.1, 0.4], "net.scale": [0.02, 0.2]}
    result = run(experiment(), ls.zipped(pairs))
    assert result.loss.dims == ("noise", "seed", "step")
    assert result["net.scale"].dims == ("noise",)
    assert result["net.scale"].values.tolist() == [0.02, 0.2]
    grid = run(experiment(), pairs)
    for place in (0, 1):
        assert_same(result.isel(noise=place), grid.isel(noise=place, scale=place))


def test_recorded_steps_need_not_divide():
    sparse = run(experiment(steps=23, every=10), seeds=2)
    dense = run(experiment(steps=23, every=1), seeds=2)
    assert sparse.step.values.tolist() == [0, 10, 20, 23]
    assert dense.step.values.tolist() == list(range(24))
    for name in ("loss", "signal_learning"):
        np.testing.assert_allclose(sparse[name], dense[name].sel(step=sparse.step), rtol=1e-5)
    assert recorded_steps(experiment(steps=3, every=10)).tolist() == [0, 3]
    assert recorded_steps(experiment(steps=30, every=10)).tolist() == [0, 10, 20, 30]


@pytest.mark.parametrize("coordinates", ["compressed", "ambient"])
def test_diverged_runs_are_flagged_at_their_first_step(coordinates):
    # Labels that contradict each other keep huge rates from a lucky, finite, end.
    probes = [_Finite(), ls.probes.Loss()]
    setting = experiment(steps=12, every=1, probes=probes, data={"flip": 0.5, "noise": 0.1})
    over = {"rule.rate": [0.3, 1e5, 1e12, 1e30]}
    result = run(setting, over, seeds=4, coordinates=coordinates)
    finite = result.finite == 1
    expected = finite.argmin("step").where(~finite.all("step"))
    np.testing.assert_array_equal(result.diverged_at, expected)
    assert len(np.unique(result.diverged_at.values[1:])) >= 4
    # None is dropped, and who shares a block with them is not disturbed.
    assert result.loss.sizes["rate"] == 4
    assert result.diverged_at.sel(rate=0.3).isnull().all()
    assert result.diverged_at.sel(rate=1e30).notnull().all()
    calm = run(setting, {"rule.rate": [0.3]}, seeds=4, coordinates=coordinates)
    assert_same(result.sel(rate=[0.3]), calm)
    # The date does not hang on what is recorded.
    sparse = run(setting.replace("record.every", 12), over, seeds=4, coordinates=coordinates)
    xr.testing.assert_equal(sparse.diverged_at, result.diverged_at)


LABELLED = small.probes("Loss TestAccuracy Decomposition")


@pytest.fixture(scope="module")
def labelled():
    """A dataset with every kind of axis, and runs that diverged."""
    pairs = ls.zipped({"data.noise": [0.1, 0.4], "net.scale": [0.02, 0.2]})
    over = [pairs, {"rule": [DESCENT, PENALTY], "rule.rate": [0.1, 1e30]}]
    return run(experiment(probes=LABELLED), over, seeds=2)


def test_everything_is_labelled(labelled):
    lead = ("noise", "rule", "rate", "seed")
    assert labelled.loss.dims == (*lead, "step")
    assert labelled.rho_bar.dims == (*lead, "step", "filter", "sample")
    assert labelled.diverged_at.dims == lead
    assert labelled.rule.values.tolist() == ["GradientDescent", "PerExamplePenalty"]
    assert labelled.noise.attrs["field"] == "data.noise"
    assert labelled.loss.attrs == {"long_name": "training loss", "units": "nat"}
    # xarray would write "step [step]" and "[1]".
    assert "units" not in {**labelled.step.attrs, **labelled.rho_bar.attrs}
    for name in labelled:
        assert labelled[name].attrs["long_name"], name
    attributes = labelled.attrs
    assert ls.Experiment.from_toml(attributes["experiment"]) == experiment(probes=LABELLED)
    pairs = {"data.noise": [0.1, 0.4], "net.scale": [0.02, 0.2]}
    rules = {"rule": ["GradientDescent", "PerExamplePenalty"], "rule.rate": [0.1, 1e30]}
    assert json.loads(attributes["over"]) == pairs | rules
    assert (attributes["coordinates_used"], attributes["precision"]) == ("compressed", "float32")
    assert attributes["learnscope"] and attributes["jax"]


def test_results_survive_netcdf_and_zarr(labelled, tmp_path):
    labelled.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "run.nc", engine="h5netcdf"), labelled)
    # Format 2: format 3 has no settled way yet to store texts, and zarr warns of it.
    labelled.to_zarr(tmp_path / "run.zarr", zarr_format=2)
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "run.zarr", chunks=None).load(), labelled)


def test_the_start_may_be_left_out():
    """Nothing else changes, to the last bit; also where little is recorded of a long run."""
    setting = experiment(steps=40, every=15)
    whole, part = run(setting, seeds=2), run(setting.replace("record.start", False), seeds=2)
    assert part.step.values.tolist() == [15, 30, 40]
    assert_same(part, whole.isel(step=slice(1, None)))


def blocks(monkeypatch, number):
    """A sweep of so many blocks, of ten runs and six segments each."""
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=10, segment_work=1.0, segments=10))
    return experiment(steps=49, every=5), {"data.noise": np.linspace(0.1, 1, 10 * number)}


# An error: the first segment of each block that was begun; 20 would be all of them. A signal: of 6
# segments per block, the running block is finished at most.
@pytest.mark.parametrize(("how", "most"), [("raised", 3), ("signalled", 12)])
@pytest.mark.parametrize("number", [1, 20])
def test_an_interrupt_ends_a_sweep(monkeypatch, number, how, most):
    setting, over = blocks(monkeypatch, number)
    calls = []

    def interrupt(self, steps):
        calls.append(steps)
        if how == "raised":
            raise KeyboardInterrupt
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(progress.SweepProgress, "advance", interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            run(setting, over)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 1 <= len(calls) <= most


def test_runs_that_diverge_are_announced(capsys):
    """With the values at which they did, if it is not everywhere."""
    setting = experiment(steps=30).replace("rule.rate", 1e30)
    ls.run(setting, {"data.noise": [0.1, 0.2]}, seeds=2)
    assert "learnscope: 4 of 4 runs diverged\n" in capsys.readouterr().err
    ls.run(setting, {"rule.rate": [0.001, 1e30]}, seeds=2)
    assert "learnscope: 2 of 4 runs diverged, at rate 1e+30\n" in capsys.readouterr().err
    ls.run(setting, {"rule.rate": [0.001, 1e30]}, seeds=2, progress=False)
    ls.run(setting, {"rule.rate": [0.001]}, seeds=2)
    assert "diverged" not in capsys.readouterr().err
