"""Compressed coordinates: path by path and in law the same as R^d, chosen and refused rightly."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import learnscope as ls
from learnscope.data import AbstractData
from learnscope.engine.program import compilations
from learnscope.lab.blocks import Plan
from learnscope.lab.sweep import axes
from learnscope.probes import AbstractProbe, Output
from learnscope.space import Space
from tests import law, small
from tests.small import probes, refused, run


def experiment(rule=small.DESCENT, data=None, steps=40, every=20, probes=None):
    """The paper's setting, small."""
    data = {"dim": 400, "train": 10, "test": 40} | (data or {})
    return small.experiment(rule, steps, every, probes or [ls.probes.Loss()], data)


EVERY = "Loss SignalLearning NoiseMemorisation Decomposition TestAccuracy TestLoss GradientNorm"
MARKS = ("loss", "signal_learning", "noise_memorisation", "gradient_norm", "test_loss")
MARKS += ("gamma", "rho_bar", "rho_underbar", "test_accuracy")
# Path by path: the same draw, in R^d and rotated into a basis of its span.
MOMENTUM = {"optimiser": "sgd", "options": {"momentum": 0.5}}
HARD = {"flip": 0.2, "orthogonal": False, "batch": 4}
UNTIL = {"weight": 0.05, "until": 150}
PATHS = {
    "per_example": (ls.rules.PerExamplePenalty(0.1, **UNTIL, **MOMENTUM), {"flip": 0.2}),
    "full": (ls.rules.FullPenalty(0.3, **UNTIL), {}),
    "descent": (ls.rules.GradientDescent(rate=0.1, **MOMENTUM), HARD),
}


@pytest.mark.parametrize("path", PATHS)
def test_rotated_trajectories_are_the_ambient_ones(path):
    rule, data = PATHS[path]
    setting = experiment(rule, {"dim": 60} | data, steps=300, every=15, probes=probes(EVERY))
    ambient, rotated = (run(setting, None, 2, how, "float64") for how in ("ambient", "rotate"))
    assert rotated.attrs["coordinates_used"] == "rotate"
    assert set(ambient) == {*MARKS, "diverged_at", "noise_floor"}
    for name in ambient:
        np.testing.assert_allclose(rotated[name], ambient[name], rtol=0, atol=1e-10, err_msg=name)
    # Something was learnt: the loss started at log 2.
    assert np.all(ambient.loss.isel(step=-1) < 0.6)


# In law: many seeds, in R^400 and compressed, with other seeds on either side.

SEEDS = 1500


@functools.cache
def recorded(coordinates):
    rule = ls.rules.PerExamplePenalty(rate=0.5, weight=0.02, until=20)
    over = {"data.dim": [400, 500] if coordinates == "compressed" else [400]}
    first = 0 if coordinates == "compressed" else SEEDS
    seeds = range(first, first + SEEDS)
    return run(experiment(rule, probes=probes(EVERY)), over, seeds=seeds, coordinates=coordinates)


def marks(coordinates, dim=400):
    """A number a run for every mark and time. Of coefficients the largest in size: the largest
    rho_underbar is 0 but for rounding; and they are 0 before the first step."""
    result = recorded(coordinates).sel(dim=dim)
    assert not result.diverged_at.notnull().any()
    return {
        (name, step): abs(result[name].sel(step=step)).max(
            [dim for dim in ("filter", "sample") if dim in result[name].dims]
        )
        for name in MARKS
        for step in (0, 20, 40)
        if step or name not in ("gamma", "rho_bar", "rho_underbar")
    }


def test_compressed_runs_have_the_ambient_law():
    law.assert_law(marks("compressed"), marks("ambient"))
    # Chi variables of 500 instead of 400 degrees of freedom.
    law.assert_other_law(marks("compressed", 500), marks("ambient"), by=8)


class _NoiseSquare(AbstractProbe):
    outputs = {"noise_square": Output("mean squared norm of training noise")}  # noqa: RUF012

    def __call__(self, state, problem):
        return jnp.sum(problem.train.vectors["noise"] ** 2, axis=1).mean()


def test_dimensions_share_one_program_unless_ambient():
    setting = experiment(steps=11, probes=[ls.probes.Loss(), _NoiseSquare()])
    before = len(compilations())
    result = run(setting, {"data.dim": [400, 10**9]}, seeds=4)
    first = len(compilations()) - before
    assert result.attrs["coordinates_used"] == "compressed"
    assert first > 0
    run(setting, {"data.dim": [500, 10**6]}, seeds=4)
    assert len(compilations()) - before == first
    # |xi|^2 is noise^2 chi^2(dim - 1); five standard errors of 40 vectors: 1 false alarm in 10^6.
    for dim in (400, 10**9):
        share = result.noise_square.sel(dim=dim).isel(step=0).mean() / (0.3**2 * (dim - 1))
        assert abs(float(share) - 1) < 5 * (2 / (40 * (dim - 1))) ** 0.5 + 1e-5  # rounding
    swept = axes({"data.dim": [30, 40], "data.noise": [0.1, 0.2]})
    plans = [Plan.of(experiment(), swept, 1, how, "float32") for how in ("ambient", "compressed")]
    assert [len(plan.programs) for plan in plans] == [2, 1]


class _Data(AbstractData):
    """Data of any kind of compression, told by what it says of itself."""

    inner: ls.data.SignalNoise
    how: str = eqx.field(static=True, default="rotate")

    @property
    def dim(self):
        return self.inner.dim

    @property
    def space(self):
        return Space(self.inner.span, self.how)

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
    said = refused(lambda: run(setting, over, coordinates=asked), REFUSALS[case])
    assert said.startswith(f"coordinates = '{asked}' is not possible: ")
    assert said.endswith("; use 'ambient' or 'auto'.")


def test_a_function_as_optimiser_is_not_trusted():
    sgd = lambda rate: optax.sgd(rate)  # noqa: E731
    for optimiser, words in ((sgd, "depend on the basis"), (optax.adam, "basis")):
        setting = experiment(ls.rules.GradientDescent(rate=0.1, optimiser=optimiser))
        refused(lambda setting=setting: run(setting, coordinates="compressed"), words)
