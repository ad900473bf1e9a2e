"""Probes of features that emerge and of what they are good for, against NumPy formulas."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.data import Problem, Samples
from learnscope.engine import size
from learnscope.probes import chunk_alignment
from learnscope.space import Columns, Frame
from tests.reference import input_structure as reference
from tests.small import experiment, quick, refused, run

DIM, WIDTH, TRAIN, TEST, FIRST = 6, 5, 40, 30, 15
NET = ls.nets.TwoLayer(width=WIDTH, symmetric=False)
RULE = ls.rules.TwoStep(first_rate=1.0, second_rate=1.0, rate=1.0)
PROBES = [
    ls.probes.Alignment(bins=5), ls.probes.Clusters(above=0.3), ls.probes.WeightMap(),
    ls.probes.PatternComponents(), ls.probes.CentreCosines(),
    ls.probes.ReadoutNorm(), ls.probes.BestReadout(examples=FIRST + 5, ridge=1e-12),
    ls.probes.KernelFit(examples=FIRST, ridge=1e-3), ls.probes.BalancedAccuracy(),
    ls.probes.TestAccuracy(), ls.probes.TrainAccuracy(examples=FIRST),
]  # fmt: skip
LINEAR = {"readout_norm": PROBES[5], "kernel_test_accuracy": PROBES[7]}


@functools.cache
def arrays():
    """Any weights, patterns that are not orthogonal, and examples of which most have label -1."""
    draw = np.random.default_rng(0)
    unit = lambda rows: rows / np.linalg.norm(rows, axis=-1, keepdims=True)  # noqa: E731
    directions = {
        "relevant": unit(draw.normal(size=(2, DIM))),
        "background": unit(draw.normal(size=(3, DIM))),
        "centres": 2 * draw.normal(size=(4, DIM)),
        "truth": unit(draw.normal(size=DIM)),
    }
    params = {
        "filters": draw.normal(size=(WIDTH, DIM)), "bias": 0.3 * draw.normal(size=WIDTH),
        "second": draw.normal(size=WIDTH),
    }  # fmt: skip
    x, test_x = draw.normal(size=(2, TRAIN, DIM)) * 0.5
    x[:, 4:] = 0.0  # so that training inputs can be cut
    label = lambda x: np.where(x[:, 0] + x[:, 1] ** 2 > 0.6, 1.0, -1.0)  # noqa: E731
    return params, directions, (x, label(x)), (test_x[:TEST], label(test_x[:TEST]))


def problem_of(directions, train, test, compressed):
    """In R^6; or with training inputs cut, and test inputs by columns, as the engine has them."""
    (x, y), (test_x, test_y) = train, test
    if compressed:
        x, test_x = (x[:, :4],), (Columns.of(test_x),)
    frame = Frame(jnp.asarray(float(DIM)), DIM, ambient=not compressed)
    return Problem(Samples(x, y), Samples(test_x, test_y), directions, frame)


@quick
def read(params, directions, train, test, compressed=False):
    problem = problem_of(directions, train, test, compressed)
    state = RULE.init(NET, problem, jax.random.key(0), params)
    found = {}
    for probe in PROBES:
        value = probe(state, problem)
        found |= value if isinstance(value, dict) else dict.fromkeys(probe.outputs, value)
    first = ls.probes.KernelFit._parts(NET, state, problem.train.x)
    gradients = jax.jacobian(lambda p: NET(p, problem.train.x))(params)
    linear = ls.rules.Linearised(rate=1.0).init(NET, problem, jax.random.key(0), params)
    by_linear = {name: probe(linear, problem) for name, probe in LINEAR.items()}
    return found, ls.probes.KernelFit._kernel(first, first), gradients, by_linear


def values(precision="float64", compressed=False, **changed):
    """All outputs, with some parameters changed."""
    params, directions, train, test = arrays()
    with jax.enable_x64(precision == "float64"):
        given = jax.tree.map(np.dtype(precision).type, (params | changed, directions, train, test))
        return jax.tree.map(np.asarray, read(*given, compressed))


@functools.cache
def usual():
    return values()


def cosines(rows, to):
    return (rows @ to.T) / np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(to, axis=1))


def same(name, right, **how):
    np.testing.assert_allclose(usual()[0][name], right, rtol=0, atol=1e-12, err_msg=name, **how)


def test_cosines_to_the_truth():
    params, directions, _, _ = arrays()
    right = cosines(params["filters"], directions["truth"][None])[:, 0]
    same("cosine_max", right.max())
    same("cosine_mean", np.abs(right).mean())
    same("cosine_median", np.median(np.abs(right)))
    same("cosine_share", np.histogram(right, bins=5, range=(-1, 1))[0] / WIDTH)
    same("near_truth", np.mean(right > 0.3))
    same("near_opposite", np.mean(right < -0.3))
    assert 0 < np.mean(right > 0.3) < 1
    pairs = np.abs(cosines(params["filters"], params["filters"]))[np.triu_indices(WIDTH, 1)]
    same("pair_cosine", pairs.mean())


def test_the_ends_of_the_histogram_are_in_it():
    truth = arrays()[1]["truth"]
    found = values(filters=np.stack([truth, -truth, 3 * truth, np.zeros(DIM), 2 * truth]))[0]
    np.testing.assert_allclose(found["cosine_share"], [0.2, 0, 0.2, 0, 0.6], atol=1e-12)
    np.testing.assert_allclose([found["near_truth"], found["near_opposite"]], [0.6, 0.2])


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_tiny_and_huge_weights_have_directions_too(scale):
    """In single precision, where their squares are 0 or infinite."""
    filters = arrays()[0]["filters"]
    one, other = (values("float32", filters=s * filters)[0] for s in (1.0, scale))
    for name in ("cosine_max", "cosine_mean", "cosine_median", "cosine_share", "near_truth",
                 "pair_cosine", "truth_cosine", "relevant_share", "centre_cosine",
                 "relevant_component", "background_component"):  # fmt: skip
        factor = scale if name.endswith("_component") else 1.0
        np.testing.assert_allclose(other[name] / factor, one[name], rtol=1e-5, err_msg=name)
    np.testing.assert_allclose(apart(other["map_position"]), apart(one["map_position"]), atol=1e-5)


def test_components_along_patterns_centres_and_gradients():
    params, directions, *_ = arrays()
    inside, outside = (params["filters"] @ directions[k].T for k in ("relevant", "background"))
    same("relevant_component", inside.mean(1))
    same("background_component", np.sqrt((outside**2).mean(1)))
    parts = (inside**2).sum(1), (outside**2).sum(1)
    same("relevant_share", np.mean(parts[0] / (parts[0] + parts[1])))
    to_centres = cosines(params["filters"], directions["centres"])
    same("centre_cosine", to_centres.max(0))
    same("neuron_cosine", to_centres.max(1))


def apart(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def test_a_map_of_points_in_a_plane_keeps_their_distances():
    truth = arrays()[1]["truth"]
    across = np.linalg.svd(truth[None])[2][1]
    angles = np.array([0.1, 0.5, 1.0, 2.0, -0.7])
    rows = np.cos(angles)[:, None] * truth + np.sin(angles)[:, None] * across
    found = values(filters=rows * np.array([1e-9, 1.0, 2.0, 3.0, 4e9])[:, None])[0]
    every = np.concatenate([angles, [0, np.pi]])
    right = 2 * np.abs(np.sin((every[:, None] - every[None]) / 2))  # chords
    np.testing.assert_allclose(apart(found["map_position"]), right, atol=1e-12)
    np.testing.assert_allclose(found["truth_cosine"], np.cos(every), atol=1e-12)


def test_any_map_is_the_best_of_its_kind_with_the_truth_to_the_right():
    params, directions, _, _ = arrays()
    rows = params["filters"] / np.linalg.norm(params["filters"], axis=1, keepdims=True)
    points = np.concatenate([rows, [directions["truth"], -directions["truth"]]])
    u, s, _ = np.linalg.svd(points - points.mean(0))
    found = usual()[0]["map_position"]
    np.testing.assert_allclose(apart(found), apart(u[:, :2] * s[:2]), atol=1e-12)
    assert found[-2, 0] > 0 and abs(found[-2, 1]) < 1e-12


def test_chunks_of_steps_agree_as_much_as_their_means():
    values = np.random.default_rng(1).normal(size=(2, 8, 3, 4)) + 0.5
    found = chunk_alignment(xr.DataArray(values, dims=("seed", "step", "neuron", "coordinate")))
    means = [values[:, a : a + 2].mean(1) for a in (0, 2, 4)]  # what is left over is left out
    total = np.mean(means, axis=0)
    cosine = lambda a, b: (a * b).sum(-1) / np.sqrt((a**2).sum(-1) * (b**2).sum(-1))  # noqa: E731
    for i, one in enumerate(means):
        np.testing.assert_allclose(found.to_mean.sel(chunk=i + 1), cosine(one, total), rtol=1e-12)
        for j, other in enumerate(means):
            pair = found.pairs.sel(chunk=i + 1, other_chunk=j + 1).transpose("seed", "neuron")
            np.testing.assert_allclose(pair, cosine(one, other), rtol=1e-12)
    one = xr.DataArray(values[0], dims=("step", "neuron", "coordinate"))
    refused(lambda: chunk_alignment(one, 9), "9 chunks need")


def accuracy(outputs, labels):
    return np.mean((1 + np.sign(outputs * labels)) / 2)


def test_accuracies():
    params, _, train, (test_x, test_y) = arrays()
    right = (1 + np.sign(reference.outputs(params, test_x) * test_y)) / 2
    assert 0.5 in right  # an output of exactly 0
    same("test_accuracy", right.mean())
    same("balanced_accuracy", (right[test_y > 0].mean() + right[test_y < 0].mean()) / 2)
    assert abs(usual()[0]["balanced_accuracy"] - right.mean()) > 0.01
    same("train_accuracy", accuracy(reference.outputs(params, train[0])[:FIRST], train[1][:FIRST]))
    assert accuracy(reference.outputs(params, train[0]), train[1]) != usual()[0]["train_accuracy"]
    same("readout_norm", np.sqrt((params["second"] ** 2).sum()))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_constant_prediction_has_a_balanced_accuracy_of_a_half(sign):
    found = values(filters=np.zeros((WIDTH, DIM)), bias=np.ones(WIDTH), second=np.full(WIDTH, sign))
    assert found[0]["balanced_accuracy"] == 0.5
    assert found[0]["test_accuracy"] == pytest.approx(np.mean(arrays()[3][1] == sign)) != 0.5


def test_the_best_readout_is_that_of_least_squares():
    params, _, (x, y), (test_x, test_y) = arrays()
    x, y = x[: FIRST + 5], y[: FIRST + 5]
    rows = lambda x: np.column_stack(  # noqa: E731
        [np.clip(x @ params["filters"].T + params["bias"], 0, 1), np.ones(len(x))]
    )
    weights = np.linalg.lstsq(rows(x), y)[0]
    same("readout_train_accuracy", accuracy(rows(x) @ weights, y))
    same("readout_test_accuracy", accuracy(rows(test_x) @ weights, test_y))
    assert 0.5 < usual()[0]["readout_test_accuracy"] < 1


def test_the_kernel_is_that_of_the_gradients():
    """Of all parameters, in the network's own derivatives, and by hand."""
    params, _, (x, y), (test_x, test_y) = arrays()
    found, kernel, gradients, _ = usual()
    phi = np.concatenate([gradients[k].reshape(TRAIN, -1) for k in sorted(gradients)], axis=1)
    np.testing.assert_allclose(kernel, phi @ phi.T, rtol=0, atol=1e-12)

    def features(x):
        value, slope = reference.neuron(x @ params["filters"].T + params["bias"], None)
        gate = slope * params["second"]
        by_weights = np.einsum("nm,nd->nmd", gate, x).reshape(len(x), -1)
        return np.concatenate([value, gate, by_weights], 1)

    one, other = features(x[:FIRST]), features(test_x)
    gram = one @ one.T
    np.testing.assert_allclose(kernel[:FIRST, :FIRST], gram, rtol=0, atol=1e-12)
    level = 1e-3 * np.trace(gram) / FIRST
    weights = np.linalg.solve(gram + level * np.eye(FIRST), y[:FIRST])
    same("kernel_test_accuracy", accuracy(other @ one.T @ weights, test_y))
    assert 0.5 < found["kernel_test_accuracy"] < 1


def test_inputs_that_are_cut_or_by_columns_and_linearised_nets_are_read_alike():
    for name, value in (values(compressed=True)[0] | usual()[3]).items():
        same(name, value)


DIRECTION = "the data model's '{}'; the model has signal"
WRONG = [
    *((getattr(ls.probes, name), DIRECTION.format(direction)) for name, direction in (
        ("Alignment", "truth"), ("Clusters", "truth"), ("WeightMap", "truth"),
        ("PatternComponents", "relevant"), ("CentreCosines", "centres"))),
    *((getattr(ls.probes, name), "the net TwoLayer, not PatchCNN")
      for name in ("ReadoutNorm", "BestReadout", "KernelFit")),
    (ls.probes.KernelFit, "inputs of one patch"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "words"), WRONG)
def test_wrong_parts_are_told_by_the_probe_that_minds(kind, words):
    net = {"width": 2} if "TwoLayer" in words else ls.nets.TwoLayer(width=2)
    setting = experiment(steps=1, probes=[kind()], net=net)
    refused(lambda: run(setting), match=rf"the probe {kind.__name__} needs {words}\.")


def test_clusters_can_be_compressed():
    """Their training inputs are cut, their test inputs are not."""
    data = ls.data.GaussianParity(dim=50, factors=2, train=5, test=4, noise=0.5)
    setting = ls.Experiment(data, NET, RULE, steps=1, probes=PROBES[4:10])
    shapes = size.run_size(setting, "compressed", "float32").outputs
    assert shapes["kernel_test_accuracy"] == () and shapes["centre_cosine"] == (4,)
