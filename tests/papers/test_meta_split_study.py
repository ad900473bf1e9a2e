"""The study of the train-validation split: figures and claims on made-up data with their nulls, and
all of its sweeps at the smallest scale on request."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from learnscope.evidence.bundled import read_bundles, taken
from learnscope.papers import get
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split import forms, quantities, real, tuning
from learnscope.theory import conditions
from tests.papers.test_studies import attributes, check_figures, check_nulls, smoke

ROOT = Path(__file__).parents[2]
STUDY = get("meta_split")
# The smallest scale has few settings of the real part.
SWEEPS = {**STUDY.sweeps("smoke"), **real.real_sweeps("laptop")}
CLAIMS = {claim.id: claim for claim in STUDY.claims}
SEEDS = list(range(24))


def made(sweep, **values):
    """A dataset shaped like a sweep's, with given values of some variables and noise elsewhere."""
    rng, arm = np.random.default_rng(0), sweep.arms[0]
    axes = {axis.dim: axis.labels(next(iter(axis.fields))) for axis in arm.axes}
    steps = np.unique(np.linspace(0, arm.experiment.steps, 5).round().astype(int))
    dims = [sweep.dim] if sweep.dim else []
    shape = [len(sweep.arms)] * len(dims) + [len(v) for v in (*axes.values(), SEEDS, steps)]
    named = [*dims, *axes, "seed", "step"]
    coords = {**{dim: [a.label for a in sweep.arms] for dim in dims}, **axes, "seed": SEEDS}
    data = xr.Dataset(coords={**coords, "step": steps}, attrs=attributes(sweep))
    outputs = {n: o for a in sweep.arms for p in a.experiment.probes for n, o in p.outputs.items()}
    for name in sorted(outputs):
        own = outputs[name].dims
        size = (*shape, *(4 for _ in own))
        data[name] = ((*named, *own), rng.uniform(0.6, 0.7, size))
    for name, value in values.items():
        data[name] = data[name] * 0 + value + 0.001 * (data[name] - 0.65)
    return data


# A ResNet is trained at paper scale only, and some settings of Omniglot.
SMALL = {
    id
    for id, c in CLAIMS.items()
    if id.startswith("real_")
    and c.needs[0] in SWEEPS
    and "not trained at this scale" in c.judge({c.needs[0]: made(SWEEPS[c.needs[0]])}).why
}


def test_figures_are_drawn_and_claims_reject_their_nulls():
    datasets = {name: made(sweep) for name, sweep in SWEEPS.items()}
    check_figures(STUDY, datasets)
    check_nulls(STUDY, datasets, undecided=SMALL)


def test_the_regime_meets_the_conditions():
    assert ex.NOISE_SQUARED / (ex.TASKS * ex.SAMPLES) == 0.75 and 0.75 in ex.RATIOS
    assert set(ex.DIMS) < set(ex.MORE_DIMS)
    for dim in ex.MORE_DIMS:
        found = conditions(ex.theorem(ex.method("train-train"), (), 1000, 1, dim=dim))
        missed = {each.name for each in found if not each.holds}
        assert missed == (set() if dim == ex.DIM else {"4.3, outer rate", "4.3, steps"})
    paper = ex.paper_setting("stated", "5 steps", "train-train", 4000, 100)
    assert not conditions(paper).holds


def test_budgets_are_equal():
    for name, (_, passes) in ex.budgeted().items():
        assert abs((ex.BUDGET // passes) * passes - ex.BUDGET) <= passes, name


def test_the_plane_is_unfolded():
    data = made(SWEEPS["plane"])
    whole = quantities.plane(data)
    assert dict(whole.sizes)["dim"] == len(ex.DIMS) and dict(whole.sizes)["ratio"] == len(ex.RATIOS)
    axis = ex.cells()
    for cell, (dim, noise) in enumerate(
        zip(axis.fields["data.dim"], axis.fields["data.noise"], strict=True)
    ):
        many = axis.fields["data.dictionary"][cell]
        ratio = noise**2 * (dim - many - 1) / (ex.TASKS * ex.SAMPLES)
        nearest = min(ex.RATIOS, key=lambda r, ratio=ratio: abs(r - ratio))
        one = whole.test_loss.sel(dim=dim, ratio=nearest)
        np.testing.assert_array_equal(one, data.test_loss.isel(cell=cell).transpose(*one.dims))


def test_factors_are_read_up_to_the_event():
    sweep = SWEEPS["lemmas"]
    data = made(sweep, feature_amplification=0.5, shared_feature=1e-9)
    arm = "train-train, J = 3"
    right = 12.0**3 * xr.where(data.step < data.step[-1], 1.0, 0.01)
    data["training_noise_amplification"] = right + 0 * data.feature_amplification
    level = quantities.threshold(arm, noise=True)
    noise = xr.where(data.step == data.step[-1], 1.0, 0.5 * level)
    data["training_noise"] = noise + 0 * data.feature_amplification
    read = quantities.before("training_noise", arm, "min").read({"lemmas": data})
    np.testing.assert_allclose(read, 1.0, rtol=1e-6)  # the last record is after T^(1)


def test_forms_tell_each_other_apart():
    tasks = np.array([8.0, 16.0, 32.0, 64.0])
    shapes = {forms.power: np.exp(-0.3 * tasks**0.6), forms.logarithm: 30 * tasks**-2.0,
              forms.iterated: 2 / np.log(tasks)}  # fmt: skip
    for own, values in shapes.items():
        errors = {form: form(tasks, np.log(values)) for form in shapes}
        assert min(errors, key=errors.__getitem__) is own
        assert errors[own] < 0.02 * min(e for f, e in errors.items() if f is not own)


def test_a_feature_that_saturates_does_not_grow_as_log_t():
    data = made(SWEEPS["long"])
    steps = np.geomspace(8000, 320_000, data.sizes["step"] - 1).round().astype(int)
    data = data.assign_coords(step=[0, *steps])
    step = xr.DataArray(np.maximum(data.step, 9), {"step": data.step})
    log = np.log(step)
    curves = ((log, "reproduced"), (2 * np.log(log), "differs"), (0.1 * log / log, "differs"))
    for feature, found in curves:
        curve = feature + 1e-6 * data.shared_feature
        verdict = CLAIMS["lemma65_time"].judge({"long": data.assign(shared_feature=curve)}).verdict
        assert verdict == found
    for loss, found in ((step**-0.8, "reproduced"), (log**-8.0, "differs")):
        curve = loss * np.exp(1e-3 * data.test_loss)
        verdict = CLAIMS["theorem45_time"].judge({"long": data.assign(test_loss=curve)}).verdict
        assert verdict == found


def test_narrow_networks_are_judged_apart():
    data = made(SWEEPS["width"])
    wide = xr.where(data.rule == ex.SPLITS[0], 0.69, 0.01) + 0.001 * data.test_loss
    narrow = xr.where(data.width > 2, wide, 0.1 + 0.001 * data.test_loss)
    judged = {"width": data.assign(test_loss=narrow.transpose(*data.test_loss.dims))}
    assert CLAIMS["width"].judge(judged).verdict == "reproduced"
    assert CLAIMS["width_narrow"].judge(judged).verdict == "differs"


def _split_scaled(data, loss, scaled):
    """Losses of both splits, at the end and (from the start on) at the best scale."""
    falls = xr.DataArray(np.linspace(0.0, 1.0, data.sizes["step"]), {"step": data.step})
    apart = data.setting.str.endswith(ex.SPLITS[1]) * falls
    return data.assign(
        test_loss=data.test_loss - loss * apart,
        scaled_test_loss=data.scaled_test_loss - scaled * apart,
    )


def test_an_order_of_losses_that_is_one_of_scale_differs():
    """Networks that learn nothing and shrink have the order of the printed losses."""
    data = made(SWEEPS["tables"], test_loss=9.0, scaled_test_loss=0.69, test_accuracy=0.5)
    for id in ("order_stated_5_steps", "order_stated_1_step", "figure1a_tables"):
        learnt = CLAIMS[id].find({"tables": _split_scaled(data, 3.0, 0.3)})
        assert learnt.verdict == "reproduced" and "only shrinks" in learnt.null
        shrunk = CLAIMS[id].find({"tables": _split_scaled(data, 3.0, 0.0)})
        assert shrunk.verdict == "differs" and "size only" in shrunk.why
        assert CLAIMS[id].find({"tables": _split_scaled(data, -3.0, 0.3)}).verdict == "differs"


def test_effects_of_the_rates_must_be_beyond_scale():
    data = made(SWEEPS["tables"], test_loss=9.0, scaled_test_loss=0.69)
    outer, apart = data.setting.str.contains("outer"), data.setting.str.endswith(ex.SPLITS[1])
    ends = 1.0 * (data.step == data.step[-1])
    lower = {"rates_train_train": outer & ~apart, "rates_gap": ~outer & apart}
    for id, arms in lower.items():
        for scaled, verdict in ((0.3, "reproduced"), (0.0, "differs")):
            changed = data.assign(
                test_loss=data.test_loss - 2.0 * arms * ends,
                scaled_test_loss=data.scaled_test_loss - scaled * arms * ends,
            )
            assert CLAIMS[id].find({"tables": changed}).verdict == verdict, (id, scaled)


def test_shrinking_is_no_null_of_losses_at_the_best_scale():
    """The nulls do what they say: the losses' order, and nothing else."""
    data = _split_scaled(made(SWEEPS["tables"], test_loss=9.0, scaled_test_loss=0.69), 3.0, 0.3)
    for null in (quantities.SHRUNK, quantities.SHRUNK_EACH):
        shrunk = null.apply(data).isel(step=-1).mean("seed")
        same, apart = (shrunk.sel(setting=s) for s in ex.labels("stated", "5 steps"))
        assert float(same.test_loss - apart.test_loss) > 2.0
        assert abs(float(same.scaled_test_loss - apart.scaled_test_loss)) < 1e-3
    for accuracy, verdict in ((0.5, "differs"), (0.95, "reproduced")):
        learnt = data.assign(test_accuracy=0 * data.test_accuracy + accuracy)
        assert CLAIMS["tables_accuracy"].judge({"tables": learnt}).verdict == verdict


def test_ridges_at_the_grids_edge_are_limits_or_nothing():
    data = made(STUDY.sweeps("smoke")["centroid"], centroid_error=1.0)
    better = xr.DataArray([0.5, 1.0], {"rule": list(ex.SPLITS)}, ("rule",))
    steep = xr.DataArray([1.0, 2.0, 4.0], {"weight": data.weight}, ("weight",))
    rugged = data.assign(centroid_error=data.centroid_error * better * steep)
    assert CLAIMS["centroid"].find({"centroid": rugged}).verdict == "inconclusive"
    level = xr.DataArray([1.0, 1.001, 4.0], {"weight": data.weight}, ("weight",))
    flat = data.assign(centroid_error=data.centroid_error * better * level)
    assert CLAIMS["centroid"].judge({"centroid": flat}).verdict == "reproduced"


def test_untrained_networks_that_rise_with_shots_do_not_pass():
    data = made(SWEEPS["real_omniglot"])
    shots = {real.BASE: 0.4, real.FIVE: 0.6}
    for setting, value in shots.items():
        for split in real.SPLITS:
            at = {"setting": real.label(setting, split)}
            data.task_accuracy.loc[at] = 0.001 * data.task_accuracy.loc[at] + value
    claim = CLAIMS["real_omniglot_more_shots"]
    assert claim.judge({"real_omniglot": data}).verdict != "reproduced"
    lifted = data.assign(task_accuracy=data.task_accuracy + 0.1 * (data.step > 0))
    assert claim.judge({"real_omniglot": lifted}).verdict == "reproduced"


def _accuracies(accuracy, loss=None):
    """RainbowMNIST with accuracies at the end by arm (0.1 at the start), and falls of the loss."""
    data = made(SWEEPS["real_rainbow"], task_loss=1.0)
    for arm in data.setting.values:
        end = accuracy.get(str(arm), 0.5) + 0.001 * data.task_accuracy.sel(setting=arm)
        data.task_accuracy.loc[{"setting": arm}] = xr.where(data.step > 0, end, 0.1)
        fall = (loss or {}).get(str(arm), 0.0) * data.step / data.step.max()
        data.task_loss.loc[{"setting": arm}] = data.task_loss.sel(setting=arm) - fall
    return data


def _judged(id, data):
    return CLAIMS[id].judge({CLAIMS[id].needs[0]: data})


def test_claims_on_images_can_fail_and_ask_of_the_arms_they_read_that_training_is_over():
    same, apart = (real.label(real.BASE, split) for split in real.SPLITS)
    good, bad = {same: 0.4, apart: 0.8, real.REPTILE: 0.7}, {apart: 0.4, real.REPTILE: 0.7}
    for id in ("real_rainbow_split", "real_rainbow_reptile"):
        assert _judged(id, _accuracies(good)).verdict == "reproduced"
        assert _judged(id, _accuracies(bad)).verdict == "differs"
        elsewhere = _accuracies(good, {real.label(real.RELU, real.SPLITS[0]): 0.8})
        assert _judged(id, elsewhere).verdict == "reproduced"
        found = _judged(id, _accuracies(good, {apart: 0.8}))
        assert found.verdict == "inconclusive" and "still falls" in found.why
        assert _judged(id, _accuracies(dict.fromkeys(good, 0.1))).verdict == "inconclusive"


def test_printed_numbers_are_compared_at_the_size_of_the_paper_only():
    same, apart = (real.label(real.BASE, split) for split in real.SPLITS)
    found = _judged("real_rainbow_numbers", _accuracies({same: 0.65, apart: 0.87}))
    assert found.verdict == "inconclusive" and "16 filters" in found.why


def test_rates_are_those_that_tuning_chose():
    there = read_bundles([str(ROOT / "docs" / "bundles" / "meta_split-images.zip")])
    sweeps = {("meta_split", n): s for n, s in tuning.tuning_sweeps("laptop").items()}
    found = taken(there, sweeps, "laptop")
    assert set(found) == set(sweeps)
    for (_, sweep), data in found.items():
        name = tuning.SWEEPS[sweep]
        for rule in [real.REPTILE] if name == "rainbow" else tuning.RULES:
            assert tuning.best(data, rule) == real.RATES[name][rule]
        assert not set(data.seed.values) & set(range(5))  # the seeds of verdicts


@pytest.mark.slow
def test_all_sweeps_run():
    datasets = smoke(STUDY)
    check_figures(STUDY, datasets)
    assert len(STUDY.ledger(datasets)) == len(STUDY.claims)
