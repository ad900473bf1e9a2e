"""Images as a data model: what a seed draws, labels, scales, and what is refused."""

import jax
import numpy as np

import learnscope as ls
from tests.small import DESCENT, experiment, probes, refuses, run

KEY = jax.random.key(3)


def test_all_of_it():
    problem = ls.data.Images("digits").sample(KEY)
    images, labels, _, test_labels = ls.data.load_images("digits")
    np.testing.assert_allclose(problem.train.x, images.reshape(-1, 64) / 16, atol=1e-7)
    np.testing.assert_array_equal(problem.train.y, labels)
    np.testing.assert_array_equal(problem.test.y, test_labels)
    standard = ls.data.Images("digits", pixels="standard").sample(KEY).train.x
    assert abs(float(standard.mean())) < 0.02 and abs(float(standard.std()) - 1) < 0.02


def test_pixels_are_averaged():
    whole, small = (ls.data.Images("digits", shrink=k).sample(KEY) for k in (1, 2))
    means = np.asarray(whole.train.x).reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, 16)
    assert abs(small.train.x - means).max() <= 0.5 / 16 + 1e-6  # pixels are whole numbers
    assert small.test.x.shape[1] == 16


def test_a_seed_draws_different_images():
    images, labels, *_ = ls.data.load_images("digits")
    known = {tuple(row): label for row, label in zip(images.reshape(-1, 64), labels, strict=True)}
    model = ls.data.Images("digits", train=200, test=50, pixels="bytes")
    one, other = (model.sample(jax.random.key(seed)).train for seed in (0, 1))
    rows = [tuple(np.rint(row * 16 / 255).astype(int)) for row in np.asarray(one.x)]
    assert len(set(rows)) == 200
    assert all(known[row] == label for row, label in zip(rows, one.y.tolist(), strict=True))
    assert not np.array_equal(one.x, other.x)


def test_classes_have_labels_in_their_order_and_noise_is_on_training_images_alone():
    two = ls.data.Images("digits", classes=[7, 3]).sample(KEY)
    _, labels, *_ = ls.data.load_images("digits")
    assert sorted(set(two.train.y.tolist())) == [-1.0, 1.0]
    assert (two.train.y == 1).sum() == (labels == 3).sum()
    three = ls.data.Images("digits", classes=[7, 3, 5]).sample(KEY)
    assert (three.train.y == 2).sum() == (labels == 5).sum()
    clean = ls.data.Images("digits", train=500, test=20).sample(KEY)
    noisy = ls.data.Images("digits", train=500, test=20, noise=3.0).sample(KEY)
    added = np.asarray(noisy.train.x - clean.train.x)
    # 32000 normal numbers: their spread is within 2 % but for once in 10^6 choices of seeds.
    assert abs(added.std() / 3 - 1) < 0.02
    np.testing.assert_array_equal(noisy.test.x, clean.test.x)


def test_what_is_refused():
    make = lambda **given: ls.data.Images(**given).sample(KEY)  # noqa: E731
    refuses(make, {
        "unknown .*digit": {"name": "digit"},
        r"Images.train = 1501 is not allowed: digits has 1500 such images\.": {"train": 1501},
        r"Images.classes = \(0,\)": {"classes": [0]},
        r"Images.classes = \(0, 0\)": {"classes": [0, 0]},
        r"Images.classes = \[0, 11\] is not allowed: digits has no images": {"classes": [0, 11]},
        "Images.classes = '01'": {"classes": "01"},
        "Images.name = 3": {"name": 3},
        "Images.shrink = 9 .* no pixel": {"shrink": 9},
    })  # fmt: skip


def test_a_run_of_deep_nets_is_the_same_in_any_company():
    """Runs go one by one: what stands beside a run does not change a bit of it."""
    data = ls.data.Images("digits", train=30, test=20, batch=10)
    setting = experiment(DESCENT, 4, 2, probes("Loss TestAccuracy"), data, ls.nets.LeNet5())
    many = run(setting, over={"data.noise": [0.0, 0.2]}, seeds=3)
    one = run(setting.replace("data.noise", 0.2), seeds=[2])
    np.testing.assert_array_equal(many.loss.sel(noise=0.2, seed=[2]), one.loss)
    assert many.attrs["coordinates_used"] == "ambient"
