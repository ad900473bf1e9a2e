"""`learnscope influence`: what it writes and says, and one sentence for bad input."""

import csv
from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot as plt
from PIL import Image

import learnscope as ls
from learnscope.tools import Labelled
from learnscope.views import influence as views
from learnscope.views.scores import score_table, summary

NAMES = ["correlation.pdf", "correlation.png", "influence.csv", "influence.pdf", "influence.png"]


@pytest.fixture
def call(call):
    return partial(call, "influence")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def written(path):
    with open(path, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def samples(count=30, shape=(4, 4), classes=3):
    return np.random.default_rng(0).normal(size=(count, *shape)), np.arange(count) % classes


def test_bundled_digits(call, tmp_path):
    code, out, err = call("--baselines")
    assert (code, err) == (0, "")
    folder = tmp_path / "learnscope-out"
    assert names_in(folder) == [f"digits-{name}" for name in NAMES]
    rows = written(folder / "digits-influence.csv")
    images, labels, more_images, more_labels = ls.data.load_images()
    images, labels = np.concatenate([images, more_images]), np.concatenate([labels, more_labels])
    assert [int(row["index"]) for row in rows] == list(range(1797))
    assert [int(row["label"]) for row in rows] == labels.tolist()
    # Written so that reading gives the same bits.
    scores = np.array([float(row["influence"]) for row in rows])
    np.testing.assert_array_equal(scores, ls.tools.influence_scores(images, labels))
    distances = [float(row["distance_to_class_mean"]) for row in rows]
    np.testing.assert_array_equal(distances, ls.tools.distance_to_class_mean(images, labels))
    assert 0 < np.array([float(row["nearest_neighbour_disagreement"]) for row in rows]).mean() < 0.1
    ranks = np.array([int(row["rank"]) for row in rows])
    for k in range(10):
        order = np.argsort(ranks[labels == k])
        assert sorted(ranks[labels == k]) == list(range(1, (labels == k).sum() + 1))
        assert (np.diff(scores[labels == k][order]) <= 0).all()
    best = np.flatnonzero((labels == 1) & (ranks == 1))[0]
    line = next(line.split() for line in out.splitlines() if line.split()[:1] == ["1"])
    assert line[1] == "182" and line[-1] == str(best)
    for name in NAMES:
        assert f"digits-{name}" in out


def test_npz_csv_and_folder_give_the_same(call, tmp_path):
    images = np.random.default_rng(0).integers(0, 256, size=(12, 5, 5), dtype=np.uint8)
    labels = np.repeat([0, 1], 6)
    np.savez(tmp_path / "one.npz", x=images, y=labels)
    with open(tmp_path / "two.csv", "w", encoding="utf-8") as file:
        print("target", *(f"p{i}" for i in range(25)), sep=",", file=file)
        for label, image in zip(labels, images, strict=True):
            print(label, *image.flat, sep=",", file=file)
    for i, (label, image) in enumerate(zip(labels, images, strict=True)):
        (tmp_path / "three" / str(label)).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "three" / str(label) / f"{i:02}.png")
    code, out, err = call("three", "--top", 2, "--out", "results")
    assert (code, err) == (0, "")
    assert names_in(tmp_path / "results") == [f"three-{name}" for name in NAMES]
    rows = written(tmp_path / "results" / "three-influence.csv")
    assert [row.pop("file") for row in rows] == [f"{k}/{i:02}.png" for i, k in enumerate(labels)]
    assert ".png" in out  # the most influential by its file
    for name in ("one.npz", "two.csv"):
        data = ls.tools.read_labelled(tmp_path / name)
        table = score_table(data, ls.tools.influence_scores(data.images, data.labels))
        assert list(csv.DictReader(table.splitlines())) == rows


def test_few_images_are_told(call, tmp_path):
    images, _ = samples()
    np.savez(tmp_path / "set.npz", x=images[:7], y=["a"] * 4 + ["b", "b", "c"])
    code, out, _ = call("set.npz")
    assert code == 0
    assert "warning: 2 classes have fewer than three images (3 images)" in out
    rows = written(tmp_path / "learnscope-out" / "set-influence.csv")
    assert [row["influence"] == "" for row in rows] == [False] * 4 + [True] * 3
    assert [row["rank"] == "" for row in rows] == [False] * 4 + [True] * 3


@pytest.mark.parametrize("count", [1, 4])
def test_no_class_has_scores(call, tmp_path, count):
    images, _ = samples()
    np.savez(tmp_path / "set.npz", x=images[:count], y=np.arange(count) // 2)
    code, out, err = call("set.npz", "--baselines")
    assert (code, err) == (0, "")
    assert "warning" in out
    names = names_in(tmp_path / "learnscope-out")
    assert "set-influence.csv" in names and "set-influence.png" not in names
    assert ("set-correlation.png" in names) == (count > 1)
    assert ("noise correlations are not drawn" in out) == (count == 1)


def test_rows_that_are_no_images_a_named_label_and_quiet(call, tmp_path):
    rows = "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(10))
    (tmp_path / "set.csv").write_text("a,b,kind\n" + rows)
    code, _, err = call("set.csv")
    assert code == 2 and "its columns are a, b, kind" in err
    assert call("set.csv", "--label", "kind", "--quiet") == (0, "", "")
    assert names_in(tmp_path / "learnscope-out") == [f"set-{name}" for name in NAMES]


BAD_CALLS = {
    ("missing.npz",): "missing.npz cannot be read",
    ("notes.txt",): "must be .npz, .csv or .csv.gz, or a folder",
    ("broken.npz",): "not a whole .npz file",
    ("--label", "y"): "the bundled digits have their labels",
    ("--top", "0"): "--top",
    ("--top", "21"): "--top",
}


@pytest.mark.parametrize("words", BAD_CALLS, ids=" ".join)
def test_bad_calls_get_one_sentence(refuse, tmp_path, words):
    (tmp_path / "notes.txt").write_text("y,a\n")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04")
    refuse(*words, "--out", "results", said=BAD_CALLS[words])


def test_an_output_folder_that_cannot_be_written(refuse, tmp_path):
    (tmp_path / "occupied").write_text("a file")
    refuse("--out", "occupied/results", said="cannot be written")
    assert (tmp_path / "occupied").read_text() == "a file"


@pytest.mark.parametrize(
    "shape", [(4, 4), (16,), (6, 9), (4, 4, 1), (1, 4, 4), (5, 4, 3), (3, 4, 5), (300, 200)]
)
@pytest.mark.parametrize("kind", ["u1", "f4", "?"])
def test_pictures_of_any_shape(shape, kind):
    images = (np.random.default_rng(0).uniform(size=(9, *shape)) * 2).astype(kind)
    data = Labelled(images, np.repeat([0, 1, 2], 3), "set")
    figure = views.contact_sheet(data, ls.tools.influence_scores(images, data.labels), top=2)
    left, right = figure.axes
    # Of three images none is shown twice: two at the upper end, one at the lower.
    assert (len(left.images), len(right.images)) == (6, 3)
    assert all(np.isfinite(image.get_array()).all() for image in left.images)
    plt.close(figure)


def test_the_sheet_shows_the_right_images():
    images = np.zeros((10, 2, 2))
    images[:, 0, 0] = np.arange(10.0)
    images[9] = 40
    scores = np.array([5.0, 4, 3, 2, 1, 0, -1, -2, -3, 99])
    figure = views.contact_sheet(Labelled(images, np.zeros(10, int), "set"), scores, top=3)
    left, right = figure.axes
    for panel, shown in ((left, [40, 0, 1]), (right, [8, 7, 6])):
        assert [round(40 * float(i.get_array()[0, 0])) for i in panel.images] == shown
    assert [text.get_text() for text in left.texts] == ["99", "5", "4"]
    plt.close(figure)


def drawn(folder, data):
    """Draw both figures; the summary."""
    scores = ls.tools.influence_scores(data.images, data.labels)
    matrix = ls.tools.noise_correlation(data.images, data.labels)
    for figure in (views.contact_sheet(data, scores), views.correlation_map(matrix)):
        assert max(figure.get_size_inches()) < 30
        figure.savefig(folder / "figure.png")
        plt.close(figure)
    return summary(data, scores)


def test_names_are_not_mathematics_and_constant_classes_can_be_drawn(tmp_path):
    labels = np.repeat(["$x_", "a$b$c", "a class with a very long name"], 3)
    told = drawn(tmp_path, Labelled(samples(9)[0], labels, "$\\set$"))
    assert "a class with a very l..." in told
    drawn(tmp_path, Labelled(np.ones((6, 4)), np.repeat([0, 1], 3), "set"))
