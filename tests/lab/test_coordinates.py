"""Compressed coordinates: path by path and in law the same as R^d, chosen and refused rightly."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

import learnscope as ls
from learnscope.data import AbstractData
from learnscope.lab.compilation import compilations
from learnscope.lab.plan import Plan
from learnscope.lab.sweep import axes
from learnscope.probes import AbstractProbe, Output
from tests.lab.small import run

TRAIN, WIDTH = 10, 3
RANK = 1 + TRAIN + 2 * WIDTH


def experiment(rule=None, data=None, steps=40, every=20, probes=None):
    """The paper's setting, small."""
    setting = {"dim": 400, "train": TRAIN, "test": 40, "signal": 1.0, "noise": 0.3} | (data or {})
    return ls.Experiment(
        data=ls.data.SignalNoise(**setting),
        net=ls.nets.PatchCNN(width=WIDTH, scale=0.05),
        rule=ls.rules.GradientDescent(rate=0.3) if rule is None else rule,
        steps=steps,
        probes=[ls.probes.Loss()] if probes is None else probes,
        record=ls.Record(every=every),
    )


def every_probe():
    names = ("Loss", "SignalLearning", "NoiseMemorisation", "Decomposition")
    names += ("TestAccuracy", "TestLoss", "GradientNorm")
    return [getattr(ls.probes, name)() for name in names]


MARKS = ("loss", "signal_learning", "noise_memorisation", "gradient_norm", "test_loss")
MARKS += ("gamma", "rho_bar", "rho_underbar", "test_accuracy")


# Path by path: the same draw, in R^d and rotated into a basis of its span.

MOMENTUM = {"optimiser": "sgd", "options": {"momentum": 0.5}}
HARD = {"flip": 0.2, "orthogonal": False, "batch": 4}
PATHS = {
    "descent": (ls.rules.GradientDescent(rate=0.3), {}),
    "per_example": (
        ls.rules.PerExamplePenalty(rate=0.1, weight=0.05, until=150, **MOMENTUM),
        {"flip": 0.2},
    ),
    "full": (ls.rules.FullPenalty(rate=0.3, weight=0.05, until=150), {}),
    "descent_hard": (ls.rules.GradientDescent(rate=0.1, **MOMENTUM), HARD),
}


@pytest.mark.parametrize("path", PATHS)
def test_rotated_trajectories_are_the_ambient_ones(path):
    rule, data = PATHS[path]
    setting = experiment(rule, {"dim": 60} | data, steps=300, every=15, probes=every_probe())
    ambient, rotated = (
        run(setting, seeds=2, coordinates=how, precision="float64") for how in ("ambient", "rotate")
    )
    assert rotated.attrs["coordinates_used"] == "rotate"
    assert set(ambient) == {*MARKS, "diverged_at"}
    for name in ambient:
        np.testing.assert_allclose(rotated[name], ambient[name], rtol=0, atol=1e-10, err_msg=name)
    # Something was learnt: the loss started at log 2.
    assert np.all(ambient.loss.isel(step=-1) < 0.6)


# In law: many seeds, in R^400 and compressed, with other seeds on either side.

SEEDS, ALARMS = 1500, 1e-3


@functools.cache
def law(coordinates):
    """Numbers a run at three times, by name; compressed also at a wrong dimension."""
    rule = ls.rules.PerExamplePenalty(rate=0.5, weight=0.02, until=20)
    setting = experiment(rule, probes=every_probe())
    over = {"data.dim": [400, 500]} if coordinates == "compressed" else {"data.dim": [400]}
    first = 0 if coordinates == "compressed" else SEEDS
    result = run(setting, over, seeds=range(first, first + SEEDS), coordinates=coordinates)
    assert not result.diverged_at.notnull().any()
    # Of coefficients the largest in size: the largest rho_underbar is 0 but for rounding.
    return result[list(MARKS)].map(
        lambda v: abs(v).max([dim for dim in ("filter", "sample") if dim in v.dims])
    )


def p_values(dim):
    compressed, ambient = law("compressed").sel(dim=dim), law("ambient").sel(dim=400)
    return {
        (name, step): stats.ks_2samp(
            compressed[name].sel(step=step), ambient[name].sel(step=step)
        ).pvalue
        for name in MARKS
        for step in (0, 20, 40)
        # The coefficients are 0 before the first step.
        if step or name not in ("gamma", "rho_bar", "rho_underbar")
    }


def test_compressed_runs_have_the_ambient_law():
    # 24 two-sample Kolmogorov-Smirnov tests: one false alarm in 1000 choices of seeds for all of
    # them together (Bonferroni; for accuracies, which are discrete, even fewer).
    found = p_values(400)
    assert len(found) == 24
    assert min(found.values()) > ALARMS / len(found), found


def test_a_dimension_off_by_a_quarter_is_told_apart():
    # The power of the test above: chi variables of 500 instead of 400 degrees of freedom.
    found = p_values(500)
    assert sum(p < ALARMS / len(found) for p in found.values()) >= 8, found


# Any dimension, one program.


class _NoiseSquare(AbstractProbe):
    outputs = {"noise_square": Output("mean squared norm of training noise")}  # noqa: RUF012

    def __call__(self, state, problem):
        return jnp.sum(problem.train.vectors["noise"] ** 2, axis=1).mean()


def test_dimensions_share_one_program():
    setting = experiment(steps=11, probes=[ls.probes.Loss(), _NoiseSquare()])
    before = compilations()
    result = run(setting, {"data.dim": [400, 10**9]}, seeds=4)
    first = compilations().since(before).count
    assert result.attrs["coordinates_used"] == "compressed"
    assert first > 0
    run(setting, {"data.dim": [500, 10**6]}, seeds=4)
    assert compilations().since(before).count == first
    # |xi|^2 is noise^2 chi^2(dim - 1); five standard errors of 40 vectors: 1 false alarm in 10^6.
    for dim in (400, 10**9):
        share = result.noise_square.sel(dim=dim).isel(step=0).mean() / (0.3**2 * (dim - 1))
        rounding = 1e-5
        assert abs(float(share) - 1) < 5 * (2 / (40 * (dim - 1))) ** 0.5 + rounding


def test_ambient_dimensions_are_programs_of_their_own():
    swept = axes({"data.dim": [30, 40], "data.noise": [0.1, 0.2]})
    plans = [Plan.of(experiment(), swept, 1, how, "float32") for how in ("ambient", "compressed")]
    assert [len(plan.groups) for plan in plans] == [2, 1]


# The choice.


class _Data(AbstractData):
    """Data of any kind of compression, told by what it says of itself."""

    inner: ls.data.SignalNoise
    compression: str = eqx.field(static=True, default="rotate")

    @property
    def dim(self):
        return self.inner.dim

    @property
    def span(self):
        return self.inner.span

    def sample(self, key, frame=None):
        assert frame is None, "data that cannot be drawn compressed must not be asked to"
        return self.inner.sample(key)

    def example(self, key, problem):
        return self.inner.example(key, problem)


class _Linear(eqx.Module):
    weights: jax.Array

    def __call__(self, x):
        return jnp.sum(self.weights * x)


def model(dim):
    return ls.nets.Model(lambda key: _Linear(0.01 * jax.random.normal(key, (2, dim))))


def with_data(compression, dim=400):
    return experiment().replace("data", _Data(experiment(data={"dim": dim}).data, compression))


ADAM = {"optimiser": "adam"}
SPAN = experiment().data.span
CHOICES = {
    "plenty": (experiment(), None, "compressed"),
    "just enough": (experiment(data={"dim": SPAN - 1}), None, "compressed"),
    "too few": (experiment(data={"dim": SPAN // 2}), None, "ambient"),
    "one of the sweep too few": (experiment(), {"data.dim": [400, SPAN // 2]}, "ambient"),
    "adam": (experiment(ls.rules.GradientDescent(rate=0.01, **ADAM)), None, "ambient"),
    "one rule of the sweep adam": (
        experiment(steps=2),
        {"rule": [ls.rules.GradientDescent(rate=0.1), ls.rules.FullPenalty(0.1, 0.1, **ADAM)]},
        "ambient",
    ),
    "momentum": (experiment(ls.rules.GradientDescent(rate=0.1, **MOMENTUM)), None, "compressed"),
    "any module": (experiment(steps=2).replace("net", model(400)), None, "ambient"),
    "rotatable data": (with_data("rotate"), None, "rotate"),
    "rotatable data in few dimensions": (with_data("rotate", SPAN // 2), None, "ambient"),
    "other data": (with_data("none"), None, "ambient"),
}


@pytest.mark.parametrize("case", CHOICES)
def test_coordinates_are_chosen(case):
    setting, over, expected = CHOICES[case]
    assert Plan.of(setting, over, 1, "auto", "float32").coordinates == expected


@pytest.mark.parametrize("case", ["any module", "rotatable data"])
def test_chosen_coordinates_are_used(case):
    setting, over, expected = CHOICES[case]
    result = run(setting, over)
    assert result.attrs["coordinates_used"] == expected
    assert result.loss.notnull().all()


REFUSALS = {
    "adam": "the optimiser adam treats coordinates one by one, so its steps depend on the basis",
    "too few": f"directions and training vectors take {SPAN} coordinates and the dimension is only "
    f"{SPAN // 2}",
    "one of the sweep too few": f"directions and training vectors take {SPAN} coordinates",
    "one rule of the sweep adam": "the optimiser adam treats coordinates one by one",
    "any module": "Model sees more of its inputs than inner products",
    "other data": "_Data draws vectors that leave any fixed span",
}


@pytest.mark.parametrize("asked", ["compressed", "rotate"])
@pytest.mark.parametrize("case", REFUSALS)
def test_wrong_coordinates_are_refused(case, asked):
    setting, over, _ = CHOICES[case]
    with pytest.raises(ls.BadInput, match=REFUSALS[case]) as caught:
        run(setting, over, coordinates=asked)
    message = str(caught.value)
    assert message.startswith(f"coordinates = '{asked}' is not possible: ")
    assert message.endswith("; use 'ambient' or 'auto'.")


def test_a_function_as_optimiser_is_not_trusted():
    setting = experiment(ls.rules.GradientDescent(rate=0.1, optimiser=lambda rate: optax.sgd(rate)))
    with pytest.raises(ls.BadInput, match="depend on the basis"):
        run(setting, coordinates="compressed")


def test_unknown_coordinates_are_refused():
    with pytest.raises(
        ls.BadInput, match="'polar' is not allowed: it must be one of auto, ambient"
    ):
        run(experiment(), coordinates="polar")
