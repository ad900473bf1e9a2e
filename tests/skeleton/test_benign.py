"""The nouns fit `benign`: class-dependent noise, a K-class net and cross-entropy.

Xu and Chen: with hardly any feature, a network that fits its training data is at chance if all
classes share one noise covariance, and classifies new data if each has a direction of its own.
"""

import itertools
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from jaxtyping import Array, Key
from scipy import stats

import learnscope as ls
from learnscope.data import AbstractData, Frame, Problem, Samples
from learnscope.part import Number, count, number
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import State

BULK = 0.5


class TinyClassNoise(AbstractData):
    r"""Patches $u_y$ and $A_y \zeta$, with $A_k = \frac12 (P - v_k v_k^T) + s v_k v_k^T$.

    $P$ projects off the orthogonal features $u_1, \dots, u_K$; the spikes $v_k$ are orthonormal and
    orthogonal to the features. $s$ = 1/2 makes the noise the same for all classes.
    """

    dim: Number = number(low=2, whole=True, shape=True)
    classes: int = count(low=2)
    train_per_class: int = count()
    test: int = count()
    signal: Number = number(low=0)
    spike: Number = number(low=0)

    @property
    def compression(self) -> str:
        return "gaussian_rows"

    @property
    def span(self) -> int:
        return 2 * self.classes + self.classes * self.train_per_class

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(self.dim) if frame is None else frame
        train_key, test_key, label_key = jax.random.split(key, 3)
        features, frame = frame.axes(self.classes)
        spikes, frame = frame.axes(self.classes)
        rows, frame = frame.gaussian_rows(train_key, self.classes * self.train_per_class)
        directions = {"features": features, "spikes": spikes}
        train_labels = jnp.repeat(jnp.arange(self.classes), self.train_per_class)
        test_labels = jax.random.randint(label_key, (self.test,), 0, self.classes)
        points = frame.gaussian_points(test_key, self.test)
        widths = (self.classes, self.span), (self.classes, frame.rank)
        return Problem(
            train=self._samples(rows, train_labels, directions, frame, *widths[0]),
            test=self._samples(points, test_labels, directions, frame, *widths[1]),
            directions=directions,
            frame=frame,
        )

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        point_key, label_key = jax.random.split(key)
        frame, rank = problem.frame, problem.frame.rank
        points = frame.gaussian_points(point_key, 1)
        labels = jax.random.randint(label_key, (1,), 0, self.classes)
        made = self._samples(points, labels, problem.directions, frame, rank, rank)
        return made.take(jnp.asarray(0))

    def _samples(
        self,
        normal: Array,
        labels: Array,
        directions: dict[str, Array],
        frame: Frame,
        feature_width: int,
        noise_width: int,
    ) -> Samples:
        """Written with the directions, not with the axes that they happen to be drawn along."""
        features, spikes = directions["features"], directions["spikes"]
        own = spikes[labels]
        along = jnp.sum(normal * own, axis=1, keepdims=True)
        flat = normal - (normal @ features.T) @ features
        noise = BULK * flat + (self.spike - BULK) * along * own
        feature = self.signal * features[labels]
        if frame.ambient:
            x = jnp.stack([feature, noise], axis=1)
        else:
            x = (feature[:, :feature_width], noise[:, :noise_width])
        return Samples(x=x, y=labels, vectors={"noise": noise})


class ClassSignal(AbstractProbe):
    """<w, u_k / ||u_k||> at best, for every class k over the filters of its own."""

    outputs: ClassVar = {"class_signal": Output("feature learnt", dims=("class",))}

    def __call__(self, state: State, problem: Problem) -> Array:
        features = problem.directions["features"]
        filters = state.params["filters"].reshape(features.shape[0], -1, features.shape[1])
        return jnp.einsum("kmd,kd->km", filters, features).max(1)


EXPERIMENT = ls.Experiment(
    data=TinyClassNoise(dim=200, classes=4, train_per_class=10, test=200, signal=0.1, spike=0.5),
    net=ls.nets.PatchCNN(width=8, activation="relu", scale=0.01, classes=4),
    rule=ls.rules.GradientDescent(rate=1.0),
    steps=40,
    probes=[ls.probes.Loss(), ls.probes.TrainAccuracy(), ls.probes.TestAccuracy(), ClassSignal()],
    record=ls.Record(every=10),
)
OVER = {"data.spike": [0.5, 10.0], "data.signal": [0.1, 10.0]}


def run(coordinates: str, seeds: int) -> xr.Dataset:
    return ls.run(EXPERIMENT, OVER, seeds, coordinates, precision="float64", progress=False)


@pytest.fixture(scope="module")
def compressed() -> xr.Dataset:
    return run("compressed", 100)


@pytest.fixture(scope="module")
def ambient() -> xr.Dataset:
    return run("ambient", 100)


def test_noise_of_its_own_makes_overfitting_benign(compressed):
    last = compressed.isel(step=-1)
    assert (last.train_accuracy.mean("seed") > 0.99).all()
    test = last.test_accuracy.mean("seed")
    assert abs(test.sel(spike=0.5, signal=0.1) - 0.25) < 0.03  # chance
    assert test.sel(spike=10.0, signal=0.1) > 0.8
    assert test.sel(spike=0.5, signal=10.0) > 0.95
    assert last.class_signal.dims == ("spike", "signal", "seed", "class")
    learnt = last.class_signal.median("seed")
    assert (learnt.sel(signal=10.0) > 5 * learnt.sel(signal=0.1)).all()


def test_rotated_equals_ambient_path_by_path(ambient):
    rotated, first = run("rotate", 2), ambient.isel(seed=slice(2))
    for name in ("loss", "class_signal", "test_accuracy"):
        np.testing.assert_allclose(rotated[name], first[name], atol=1e-10, rtol=1e-10)


def test_compressed_equals_ambient_in_law(compressed, ambient):
    """Two-sample Kolmogorov-Smirnov tests; false alarms: 12 tests at 1e-4 each."""
    for spike, signal in itertools.product(*OVER.values()):
        at = {"spike": spike, "signal": signal, "step": EXPERIMENT.steps}
        for name in ("loss", "test_accuracy", "class_signal"):
            one, other = (
                data[name].sel(at).values.reshape(data.sizes["seed"], -1).max(1)
                for data in (compressed, ambient)
            )
            assert stats.ks_2samp(one, other, method="asymp").pvalue > 1e-4, (name, at)


def test_fresh_examples_follow_the_directions_in_any_coordinates():
    data = TinyClassNoise(dim=60, classes=4, train_per_class=2, test=1, signal=2.0, spike=50.0)

    @jax.jit
    def draw(key):
        problem = data.sample(key)
        turned = problem.project(ls.data.turn(*problem.span()))
        keys = jax.random.split(key, 100)
        return turned.directions, jax.vmap(lambda k: data.example(k, turned))(keys)

    directions, drawn = draw(jax.random.key(0))
    feature, noise = drawn.x
    np.testing.assert_allclose(feature, 2.0 * directions["features"][drawn.y], atol=1e-5)
    np.testing.assert_allclose(noise @ directions["features"].T, 0.0, atol=1e-4)
    size = jnp.abs(noise @ directions["spikes"].T)
    own = jnp.arange(4)[None] == drawn.y[:, None]
    assert 35 < size[own].mean() < 45  # E|50 z| = 39.9
    assert size[~own].mean() < 0.5  # E|z / 2| = 0.40


def test_the_experiment_can_be_stored():
    assert ls.Experiment.from_toml(EXPERIMENT.to_toml()) == EXPERIMENT
    assert ls.Experiment.from_json(EXPERIMENT.to_json()) == EXPERIMENT
