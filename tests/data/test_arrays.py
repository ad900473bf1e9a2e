"""A user's own arrays: labels, splits, files, batches in epochs."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Arrays, Epochs, Frame, Problem, Samples
from tests.small import refused

X = np.random.default_rng(0).normal(size=(40, 6))
NAMES = np.where(X[:, 0] > 0, "cat", "dog")


def setting(data: Arrays, **changes) -> ls.Experiment:
    usual = {"net": ls.nets.PatchCNN(width=3, scale=0.1), "rule": ls.rules.GradientDescent(0.1)}
    probes = [ls.probes.Loss(), ls.probes.TestAccuracy()]
    return ls.Experiment(data, steps=6, probes=probes, **(usual | changes))


@pytest.mark.parametrize(
    ("labels", "names", "values"),
    [
        (NAMES, ("cat", "dog"), {-1.0, 1.0}),
        (np.where(X[:, 0] > 0, 7, 3), (3, 7), {-1.0, 1.0}),
        (np.sign(X[:, 0]), (-1.0, 1.0), {-1.0, 1.0}),
        (np.digitize(X[:, 0], [-0.5, 0.5]), (0, 1, 2), {0, 1, 2}),
        (np.where(X[:, 0] > 0, 1.0, 0.0), (0.0, 1.0), {-1.0, 1.0}),
        (NAMES.astype(object), ("cat", "dog"), {-1.0, 1.0}),
        (X[:, 0], None, set(X[:, 0].astype(np.float32))),
    ],
)
def test_labels(labels, names, values):
    data = Arrays(X, labels, X, labels)
    problem = data.sample(jax.random.key(0))
    assert data.names == names
    assert data.labels == (3 if names == (0, 1, 2) else None)
    assert set(np.asarray(problem.train.y).tolist()) == {
        type(next(iter(values)))(v) for v in values
    }
    np.testing.assert_array_equal(problem.test.y, problem.train.y)


def test_numbers_are_no_classes():
    """A logistic loss of numbers would train on -y f, whatever the numbers mean."""
    for labels in (X[:, 0], np.digitize(X[:, 0], [0.0, 1.0]).astype(float)):
        squared = setting(Arrays(X, labels), rule=ls.rules.GradientDescent(0.1, loss="squared"))
        for loss in ("logistic", "hinge"):
            words = f"Arrays has numbers as labels, and the loss {loss} needs classes"
            refused(partial(squared.replace, "rule.loss", loss), words)


def test_every_seed_holds_out_other_examples():
    data = Arrays(X, NAMES, held_out=0.25)
    problems = [data.sample(jax.random.key(seed)) for seed in (0, 0, 1)]
    assert problems[0].train.size == 30 and problems[0].test.size == 10
    rows = [{tuple(row) for row in np.asarray(p.test.x).round(5).tolist()} for p in problems]
    assert rows[0] == rows[1] != rows[2]
    train = {tuple(row) for row in np.asarray(problems[0].train.x).round(5).tolist()}
    assert not train & rows[0] and len(train | rows[0]) == 40


def test_files_are_the_arrays_they_hold(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "more.npz", labels=NAMES)
    place = f"{tmp_path / 'more.npz'}:labels"
    by_file = setting(Arrays(str(tmp_path / "x.npy"), place))
    again = ls.Experiment.from_toml(by_file.to_toml())
    one, two, three = (ls.run(e, seeds=2) for e in (setting(Arrays(X, NAMES)), by_file, again))
    for other in (two, three):
        np.testing.assert_array_equal(one.loss, other.loss)
    # A changed file is other data: nothing of the store is used for it.
    computed = []
    for shift in (0, 0, 1):
        np.save(tmp_path / "x.npy", X + shift)
        result = ls.run(by_file, seeds=2, store=tmp_path / "store")
        computed.append(ls.lab.report_of(result).computed)
    assert computed == [2, 0, 2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"x": X[:, 0]}, "Arrays.x = an array (40,) is not allowed: it must be an"),
        ({"x": np.full_like(X, np.nan)}, "it has NaN or infinite values"),
        ({"y": NAMES[:-1]}, "one number or name for each of 40 examples"),
        ({"y": np.full(40, "cat")}, "at least two classes"),
        ({"x_test": X}, "x_test and y_test must be given together"),
        ({"x_test": X[:, :3], "y_test": NAMES}, "must have the shape (6,) of x"),
        ({"x_test": X, "y_test": np.full(40, "cow")}, "['cow'] are new"),
        ({"held_out": 2.0}, "between 0 and 1"),
        ({"batch": 31}, "it must be at most 30"),
        ({"x": "nowhere.npy"}, "there is no such file"),
    ],
)
def test_what_is_refused(given: dict, words: str):
    refused(lambda: Arrays(**({"x": X, "y": NAMES} | given)), words)


def test_a_damaged_or_executable_file_is_one_sentence(tmp_path):
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY\x01")
    np.save(tmp_path / "objects.npy", np.array([print], dtype=object))
    np.savez(tmp_path / "more.npz", a=X)
    for name, words in (
        ("cut.npy", "cannot be read"),
        ("objects.npy", "cannot be read"),
        ("more.npz:b", "must name an entry of more.npz: a"),
    ):
        refused(lambda name=name: Arrays(str(tmp_path / name), NAMES), words)


def test_an_epoch_passes_over_all_examples_once():
    samples = Samples(jnp.arange(12.0)[:, None], jnp.ones(12))
    problem = Problem(samples, samples, {}, Frame.of_dimension(1), Epochs(4))
    key = jax.random.key(5)

    def batch(step: int) -> list[float]:
        by_step = Epochs(4).at(jnp.asarray(step), key)
        return by_step(problem, jax.random.key(99)).x[:, 0].tolist()

    epochs = [[batch(3 * epoch + step) for step in range(3)] for epoch in range(2)]
    for epoch in epochs:
        assert sorted(value for batch in epoch for value in batch) == list(range(12))
    assert epochs[0] != epochs[1]


def test_epochs_run_and_differ_from_draws_with_chance():
    ways = [Arrays(X, NAMES, batch=10, epochs=epochs) for epochs in (True, False)]
    results = [ls.run(setting(data), seeds=2) for data in ways]
    assert not np.array_equal(results[0].loss, results[1].loss)
    rarer = setting(Arrays(X, NAMES, batch=10, epochs=True)).replace("record", ls.Record(2))
    again = ls.run(rarer, seeds=2)
    np.testing.assert_array_equal(again.loss, results[0].loss.sel(step=again.step))
