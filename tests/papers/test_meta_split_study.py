"""The study of the train-validation split: figures and claims on made-up data, and that claims can
fail; all of its sweeps at the smallest scale on request."""

import numpy as np
import pytest
import xarray as xr

from learnscope.papers import get
from learnscope.papers.meta_split import checks, fits, real, real_checks, table_checks
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split.reported import LOSSES
from learnscope.theory import conditions
from tests.papers.test_studies import attributes, check_all, judge, smoke

STUDY = get("meta_split")
# The smallest scale has few settings of the real part.
SWEEPS = {**STUDY.sweeps("smoke"), **real.real_sweeps("laptop")}


def made(sweep, seed=0, **values):
    """A dataset shaped like a sweep's, with given values of some variables and noise elsewhere."""
    rng, arm = np.random.default_rng(seed), sweep.arms[0]
    axes = {axis.dim: next(iter(axis.fields.values())) for axis in arm.axes}
    steps = np.unique([0, arm.experiment.record.every, arm.experiment.steps])
    coords = {sweep.dim: [a.label for a in sweep.arms], **axes, "seed": [0, 1, 2], "step": steps}
    shape = tuple(len(v) for v in coords.values())
    outputs = {n: o for a in sweep.arms for p in a.experiment.probes for n, o in p.outputs.items()}
    data = xr.Dataset(coords=coords, attrs=attributes(sweep))
    for name in sorted(outputs):
        dims = outputs[name].dims
        data[name] = ((*coords, *dims), rng.uniform(0.6, 0.7, (*shape, *(4 for _ in dims))))
    for name, value in values.items():
        data[name] = data[name] * 0 + value + 0.001 * (data[name] - 0.65)
    data["diverged_at"] = data[min(outputs)].isel(step=0, drop=True) * np.nan
    return data


def test_figures_are_drawn_and_claims_found():
    check_all(STUDY, {name: made(sweep) for name, sweep in SWEEPS.items()}, ["'ResNet"])


def test_the_regime_meets_the_conditions():
    assert conditions(SWEEPS["separation"].arms[1].experiment.replace("steps", 2000)).holds
    paper = ex.paper_setting("stated", "5 steps", "train-train", 4000, 100)
    assert not conditions(paper).holds
    assert paper.rule.batch == 16
    assert set(ex.READINGS) == {"stated", "decoded", "other rates"}


def test_budgets_are_equal():
    for name, (_, passes) in ex.budgeted().items():
        assert abs((ex.BUDGET // passes) * passes - ex.BUDGET) <= passes, name
    assert ex.theorem(ex.budgeted()["pooled, train-train"][0], (), 5, 5).data.tasks == 16


def with_values(name, variable, table, dims):
    """A variable from values along some dims, with a little noise over seeds."""
    data = made(SWEEPS[name])
    shaped = xr.DataArray(np.asarray(table, float), dims=dims, coords={d: data[d] for d in dims})
    data[variable] = shaped + 0.001 * (data[variable] - 0.65)
    return data


def test_theorems_and_the_exponent_can_fail():
    def losses(same, apart, plain):
        return with_values("separation", "test_loss", [same, apart, plain], ("rule", "tasks"))

    good = losses([0.69, 0.69], [0.5, 0.05], [0.69, 0.69])
    bad = losses([0.69, 0.3], [0.5, 0.69], [0.4, 0.01])
    for name in ("train-train", "vanilla"):
        judge(lambda d, name=name: checks.stays_constant(d, name), good, bad)
    for check in (checks.test_loss_falls, checks.separation, checks.beats_vanilla):
        judge(check, good, bad)
    judge(lambda d: checks.training_loss(d, "train-train"),
               made(SWEEPS["separation"], meta_loss=0.001), made(SWEEPS["separation"]))  # fmt: skip
    grows = with_values("separation", "shared_feature", [[1, 1], [1, 2], [1, 1]], ("rule", "tasks"))
    flat = with_values("separation", "shared_feature", np.ones((3, 2)), ("rule", "tasks"))
    judge(checks.feature_grows, grows, flat)
    falling = with_values("separation", "test_loss", [0.5, 0.1], ("tasks",))
    judge(checks.exponent, falling, with_values("separation", "test_loss", [0.1, 0.5], ("tasks",)))


def test_lemmas_can_fail():
    base = made(SWEEPS["lemmas"])

    def amplified(feature, noise, held):
        return base.assign(
            feature_amplification=base.seed * 0.001 + feature + 0 * base.feature_amplification,
            training_noise_amplification=noise + 0 * base.feature_amplification,
            validation_noise_amplification=held + 0 * base.feature_amplification,
        )

    for method, tiny, good, bad in (
        ("train-train", False, (2, 14, 14), (14, 2, 2)),
        ("train-validation", False, (2, 14, 1), (1, 14, 5)),
        ("train-train", True, (40, 3.7e5, 3.7e5), (2, 14, 14)),
        ("train-validation", True, (40, 9.8e6, 1), (40, 9.8e6, 5)),
    ):
        check = lambda d, m=method, t=tiny: checks.amplification(d, m, t)  # noqa: E731
        judge(check, amplified(*good), amplified(*bad))
    step = base.step
    feature = base.shared_feature * 0 + xr.where(step > 0, 1.0, 0.01)
    quiet = base.assign(shared_feature=feature, validation_noise=feature * 0 + 0.1)
    judge(checks.noise_at_threshold, quiet, quiet.assign(validation_noise=feature**2))
    assert checks.noise_at_threshold(quiet.assign(shared_feature=feature * 0)).verdict == "differs"
    fast = base.assign(outer_slope=base.outer_slope * 0 + 1 / np.maximum(step, 1))
    judge(checks.slopes_fall, fast, base)


def test_tables_can_fail():
    def table(ratio, accuracy):
        data = made(SWEEPS["tables"])
        for (setting, split), (loss, _) in LOSSES.items():
            for reading in ("stated", "decoded"):
                at = {"setting": f"{reading}: {setting}, {split}"}
                data.test_loss.loc[at] = loss * ratio(setting, split) + 0 * data.test_loss.loc[at]
        wobble = xr.DataArray([-0.01, 0.0, 0.01], dims="seed")
        data["test_loss"] = data.test_loss * (1 + 0 * data.test_loss) + wobble * data.test_loss
        data["test_accuracy"] = data.test_accuracy * 0 + accuracy
        return data

    good = table(lambda setting, split: 1.05, 0.95)
    turned = {"train-train": 0.4, "train-validation": 2.0}
    bad = table(lambda s, split: turned[split] * (1.5 if "ReLU" in s else 1), 0.5)
    for setting in ("5 steps", "1 step", "outer > inner", "5 steps, ReLU"):
        judge(lambda d, s=setting: table_checks.smaller_loss(d, "stated", s), good, bad)
        judge(lambda d, s=setting: table_checks.same_numbers(d, "decoded", s), good, bad)
    for less in ("1 step", "outer > inner"):
        judge(lambda d, x=less: table_checks.gap_grows(d, "stated", x), good, bad)
    judge(lambda d: table_checks.activations_alike(d, "stated"), good, bad)
    judge(lambda d: table_checks.learns_feature(d, "stated"), good, bad)


def test_figure_1_can_fail():
    same, apart = ex.labels("decoded", "5 steps")
    data = made(SWEEPS["tables"])
    down, dip = [3.0, 2.0, 1.0], [3.0, 1.0, 2.0]
    for label, curve in ((same, dip), (apart, down)):
        data.test_loss.loc[{"setting": label}] = np.tile(curve, (3, 1))
    judge(lambda label: table_checks.falls_steadily(data, label), apart, same)
    judge(lambda label: table_checks.falls_then_rises(data, label), same, apart)


def test_comparisons_can_fail():
    names = [str(rule) for rule in made(SWEEPS["rules"]).rule.values]
    low = [0.69 if "train-train" in n else 0.1 for n in names]
    good = with_values("rules", "test_loss", low, ("rule",))
    bad = with_values("rules", "test_loss", [0.1] * len(names), ("rule",))
    bad["test_loss"] = good.test_loss * 0 + 0.1
    judge(lambda d: checks.needs_split(d, "MAML"), good, bad)
    judge(lambda d: checks.at_equal_budget(d, "FOMAML, train-validation",
                                                "Reptile, train-train"), good, bad)  # fmt: skip
    wide = with_values("width", "test_loss", [[0.69, 0.69], [0.69, 0.1]], ("rule", "width"))
    both = with_values("width", "test_loss", [[0.69, 0.69], [0.2, 0.1]], ("rule", "width"))
    wide["test_loss"] = wide.test_loss.where(wide.width > 2, 0.69)
    judge(checks.wide_enough, both, wide)
    apart = with_values("centroid", "centroid_error", [0.1, 0.5], ("rule",))
    turned = with_values("centroid", "centroid_error", [0.5, 0.1], ("rule",))
    judge(lambda d: checks.linear_reversal(d, "centroid_error"), apart, turned)


def test_phases_can_fail():
    data = made(SWEEPS["phase"])
    # The smoke sweep has weak noise, where all learn, and ||xi||^2 = 24 with K = 2 and 4.
    sides = xr.DataArray(
        [[[1, 1], [0, 0]], [[1, 1], [1, 1]], [[1, 1], [0, 0]]],
        dims=("rule", "noise", "tasks"), coords={d: data[d] for d in ("rule", "noise", "tasks")},
    )  # fmt: skip
    fitting = data.assign(test_accuracy=data.test_accuracy * 0 + 0.5 + 0.5 * sides)
    judge(checks.criterion, fitting, data.assign(test_accuracy=0.5 + 0 * data.test_accuracy))
    losses = xr.DataArray([0.69, 0.2, 0.69], dims="rule", coords={"rule": list(ex.METHODS)})
    split_wins = data.assign(test_loss=0.001 * data.test_loss + losses)
    alike = data.assign(test_loss=0.001 * data.test_loss + 0.3)
    judge(checks.vanilla_in_large_noise, split_wins, alike)


def test_claims_on_images_can_fail():
    def table(same, apart, reptile=0.5, **others):
        """Accuracies of every setting: of the two splits, unless others are given."""
        data = made(SWEEPS["real_omniglot"])
        for arm in data.setting.values:
            setting, split = [*arm.split(", "), ""][:2]
            pair = others.get(setting.replace(" ", "_"), (same, apart))
            value = reptile if arm == "Reptile" else pair[split == "train-validation"]
            data.task_accuracy.loc[{"setting": arm}] *= 0.001
            data.task_accuracy.loc[{"setting": arm}] += value * (data.step > 0) + 0.2
            data.task_accuracy.loc[{"setting": arm}] -= 0.2 * (data.step > 0)
        return data

    base, one, outer = real.BASE, real.ONE, real.OUTER
    good, bad = table(0.4, 0.6), table(0.4, 0.3, reptile=0.9)
    judge(lambda d: real_checks.split_helps(d, base), good, bad)
    judge(lambda d: real_checks.split_helps(d, base, 5.0), good, table(0.4, 0.44))
    unmoved = good.assign(task_accuracy=good.task_accuracy.where(good.step > 0, 0.7))
    judge(lambda d: real_checks.split_helps(d, base), good, unmoved)
    judge(real_checks.beats_reptile, good, bad)
    judge(lambda d: real_checks.numbers(d, "omniglot"), table(0.2593, 0.4615), good)
    judge(lambda d: real_checks.alike(d, real.RELU), good, table(0.4, 0.6, ReLU=(0.4, 0.7)))
    judge(lambda d: real_checks.gap_grows(d, one), table(0.4, 0.6, **{"1_step": (0.4, 0.45)}), good)
    lost = table(0.4, 0.6, **{outer.replace(" ", "_"): (0.2, 0.2)})
    judge(real_checks.loses, lost, good)
    judge(lambda d: real_checks.learns_nothing(d, outer, 20.0), lost, good)
    more = table(0.4, 0.6, **{"3_shots": (0.5, 0.7), "5_shots": (0.6, 0.8)})
    shots = (base, real.THREE, real.FIVE)
    judge(lambda d: real_checks.rises(d, shots, real.SPLITS), more, good)
    few = more.sel(setting=[real.label(base, split) for split in real.SPLITS])
    assert real_checks.rises(few, shots, real.SPLITS).verdict == "not run"


def test_fits():
    tasks = np.array([4, 8, 16, 32])
    rising = 2.0 * tasks[:, None] ** 0.5 * np.ones(2)
    table = xr.DataArray(rising, {"tasks": tasks}, ("tasks", "seed"))
    np.testing.assert_allclose(fits.power_exponents(table), 0.5)
    time = np.arange(1, 41)
    falling = xr.DataArray(3.0 / time[None] ** 1.2, {"step": time}, ("seed", "step"))
    np.testing.assert_allclose(fits.decay_exponents(falling), -1.2)
    assert ex.SPLITS == ("train-train", "train-validation")


@pytest.mark.slow
def test_all_sweeps_run():
    check_all(STUDY, smoke(STUDY), ["has no setting"])
