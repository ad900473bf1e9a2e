"""`learnscope collapse`: what it says and writes, the figure, and one sentence for bad input."""

import json
import pickle
import zipfile
from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot as plt

from learnscope.tools import collapse_report, read_representations
from learnscope.views import collapse as views
from learnscope.views.collapse import collapse_figure, order_of_units

NAMES = ["collapse.pdf", "collapse.png", "report.json"]


@pytest.fixture
def call(call):
    return partial(call, "collapse")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def units(count=200, many=6):
    x = np.random.default_rng(0).normal(size=(count, many))
    x[:, 3] = -2 * x[:, 1]
    return x


def test_prints_and_writes_the_figure_and_the_numbers_only_if_asked(call, tmp_path):
    np.save(tmp_path / "z.npy", units())
    code, out, err = call("z.npy")
    assert (code, err) == (0, "")
    assert out.strip() == str(collapse_report(units()))
    assert names_in(tmp_path) == ["z.npy"]
    code, out, err = call("z.npy", "--out", "results/one")
    assert (code, err) == (0, "")
    folder = tmp_path / "results" / "one"
    assert names_in(folder) == NAMES
    for name in NAMES:
        assert f"wrote results/one/{name}" in out
    read = json.loads((folder / "report.json").read_text())
    assert read.pop("source") == "z.npy"
    assert read == json.loads(json.dumps(collapse_report(units()).to_dict()))
    assert (folder / "collapse.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "collapse.pdf").read_bytes().startswith(b"%PDF")
    assert call("z.npy", "--out", "quiet", "--quiet") == (0, "", "")
    assert names_in(tmp_path / "quiet") == NAMES


def test_a_large_matrix_is_not_written(call, tmp_path, monkeypatch):
    monkeypatch.setattr(views, "_MOST_WRITTEN", 5)
    np.save(tmp_path / "wide.npy", units())
    assert call("wide.npy", "--out", "results")[0] == 0
    read = json.loads((tmp_path / "results" / "report.json").read_text())
    assert "correlation" not in read and read["units"] == 6


def test_which_array_of_an_npz(call, refuse, tmp_path):
    x = units()
    np.savez(tmp_path / "one.npz", anything=x)
    np.savez_compressed(tmp_path / "named.npz", labels=np.arange(200), Embeddings=x, other=x[:9])
    np.savez(tmp_path / "several.npz", first=x, second=x[:, :2])
    for name in ("one.npz", "named.npz"):
        np.testing.assert_array_equal(read_representations(tmp_path / name), x)
    assert "200 examples x 2 units" in call("several.npz", "--array", "second")[1]
    words = "has 2 arrays: --array names one; arrays there: first, second."
    refuse("several.npz", said=words)
    refuse("several.npz", "--array", "secnod", said="did you mean 'second'?")


def test_a_npy_is_mapped_and_either_order_is_read(tmp_path):
    x = units()
    np.save(tmp_path / "rows.npy", x)
    np.save(tmp_path / "columns.NPY.npy", np.asfortranarray(x))
    for name in ("rows.npy", "columns.NPY.npy"):
        found = read_representations(tmp_path / name)
        assert isinstance(found, np.memmap)
        np.testing.assert_array_equal(found, x)


def test_thresholds(call, refuse, tmp_path):
    np.save(tmp_path / "z.npy", units())
    assert "1 = -3" in call("z.npy")[1]
    x = np.random.default_rng(0).normal(size=(200, 6))
    x[:, 2] *= 1e-3
    np.save(tmp_path / "z.npy", x)
    assert "dead units        1: 2" in call("z.npy", "--dead", "0.01")[1]
    assert "dimensional collapse" in call("z.npy", "--dimensional", "0.9", "--partial", "0.95")[1]
    refuse("z.npy", "--duplicate", "2", said="duplicate = 2.0 is not allowed")


BAD_CALLS = {
    ("missing.npy",): "missing.npy cannot be read: No such file or directory.",
    ("folder.npy",): "folder.npy cannot be read: Is a directory.",
    ("notes.txt",): "notes.txt is not allowed: it must be a .npy or .npz file.",
    ("empty.npy",): "empty.npy is not a whole .npy file",
    ("pickle.npy",): "pickle.npy is not a whole .npy file",
    ("header.npy",): "header.npy is not a whole .npy file",
    ("short.npy",): "short.npy is damaged: its size is not what its header says.",
    ("objects.npy",): "objects.npy holds Python objects, which are never unpickled",
    ("objects.npz",): "'z' of objects.npz holds Python objects, which are never unpickled",
    ("short.npz",): "short.npz is not a whole .npz file",
    ("none.npz",): "none.npz has 0 arrays: --array names one; arrays there: none.",
    ("nan.npy",): "representations[2, 1] is nan: entries must be finite numbers",
    ("good.npy", "--array", "z"): "--array is for .npz files: good.npy has one array",
}


@pytest.mark.parametrize("words", BAD_CALLS, ids=" ".join)
def test_bad_calls_get_one_sentence(refuse, tmp_path, words):
    good = np.ones((4, 3))
    np.save(tmp_path / "good.npy", good)
    whole = (tmp_path / "good.npy").read_bytes()
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "notes.txt").write_text("1 2\n")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "text.npy").write_text("1 2\n3 4\n")
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(good))
    (tmp_path / "header.npy").write_bytes(whole[:40])
    (tmp_path / "short.npy").write_bytes(whole[:-8])
    (tmp_path / "long.npy").write_bytes(whole + b"more")
    np.save(tmp_path / "objects.npy", np.array([[None, "a"]]), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", z=np.array([[None, "a"]]))
    np.savez(tmp_path / "whole.npz", z=good)
    (tmp_path / "short.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:-60])
    zipfile.ZipFile(tmp_path / "none.npz", "w").close()
    good[2, 1] = np.nan
    np.save(tmp_path / "nan.npy", good)
    refuse(*words, "--out", "results", said=BAD_CALLS[words])


def test_an_output_folder_that_cannot_be_written(refuse, tmp_path):
    np.save(tmp_path / "z.npy", units())
    (tmp_path / "occupied").write_text("a file")
    refuse("z.npy", "--out", "occupied/results", said="cannot be written")
    assert (tmp_path / "occupied").read_text() == "a file"


def test_copies_stand_together():
    source = np.random.default_rng(0)
    which = source.permutation(np.repeat(np.arange(4), 5))
    x = source.normal(size=(300, 4))[:, which] * source.choice([-1, 1], 20)
    x += 0.01 * source.normal(size=x.shape)
    x[:, [7, 12]] = 5
    order = order_of_units(collapse_report(x))
    assert sorted(order) == list(range(20)) and sorted(order[-2:]) == [7, 12]
    assert (np.diff(which[order[:-2]]) != 0).sum() == 3


@pytest.mark.parametrize("shape", [(2, 1), (30, 2), (20, 40), (20, 150)])
def test_any_size_can_be_drawn(shape, tmp_path, monkeypatch):
    monkeypatch.setattr(views, "_SHARPEST", 140)
    x = np.random.default_rng(0).normal(size=shape)
    for given in (x, 0 * x):
        figure = collapse_figure(collapse_report(given), "a $name_ that is no mathematics")
        figure.savefig(tmp_path / "figure.png")
        plt.close(figure)


def test_the_figure_shows_the_report():
    report = collapse_report(units())
    figure = collapse_figure(report, "z")
    correlations, spectrum, matrix = figure.axes[:3]
    np.testing.assert_allclose(np.sum([bar.get_height() for bar in correlations.patches]), 100)
    np.testing.assert_array_equal(spectrum.lines[0].get_ydata(), report.variance_shares[:5])
    order = order_of_units(report)
    shown = matrix.images[0].get_array()
    np.testing.assert_array_equal(shown, report.correlation[np.ix_(order, order)])
    assert figure.get_suptitle() == "z: 200 examples x 6 units, no sign of collapse"
    plt.close(figure)
