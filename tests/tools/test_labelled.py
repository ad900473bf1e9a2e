"""Images and labels from files: what is read, and one sentence for what cannot be."""

import gzip
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

import learnscope as ls
from learnscope.images.formats import npz
from learnscope.tools import csv_file
from tests import small

IMAGES = np.arange(4 * 6, dtype=np.uint8).reshape(4, 2, 3)
LABELS = np.array([3, 1, 3, 1])
read = ls.tools.read_labelled


def refused(path, *words, label=None):
    """The one sentence that a file gets."""
    return small.refused(lambda: read(path, label), *words)


@pytest.mark.parametrize(
    ("images", "labels"),
    [
        ("images", "labels"), ("x", "y"), ("X", "Y"), ("x_train", "y_train"), ("data", "target"),
        ("train_images", "train_labels"), ("x", "targets"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_names_of_arrays(tmp_path, save, images, labels):
    save(tmp_path / "set.npz", **{images: IMAGES, labels: LABELS, "more": LABELS})
    found = read(tmp_path / "set.npz")
    np.testing.assert_array_equal(found.images, IMAGES)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert (found.name, found.files, found.images.dtype) == ("set", None, np.uint8)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (LABELS[:, None], [3, 1, 3, 1]),
        (LABELS.astype(float), [3, 1, 3, 1]),
        (LABELS.astype("u1"), [3, 1, 3, 1]),
        (LABELS == 3, [True, False, True, False]),
        (np.array([b"a", b"b", b"a", b"\xff"]), ["a", "b", "a", "\\xff"]),
    ],
)
def test_labels_come_as_plain_numbers_or_text(tmp_path, labels, expected):
    np.savez(tmp_path / "set.npz", x=IMAGES, y=labels)
    assert read(tmp_path / "set.npz").labels.tolist() == expected


def test_arrays_that_do_not_fit(tmp_path):
    path = tmp_path / "set.npz"
    for x, y, words in (
        (IMAGES, LABELS[:3], "4 images and 3 labels"),
        (IMAGES[0, 0, 0], LABELS, "shape ()"),
        (IMAGES[:, 0, 0], LABELS, "shape (4,)"),
        (IMAGES[:0], LABELS[:0], "no images"),
        (IMAGES.astype(str), LABELS, "real numbers"),
        (IMAGES, np.eye(4), "shape (4, 4)"),
        (IMAGES, np.array([1, np.nan, 2, 3]), "image 1 is missing"),
    ):
        np.savez(path, x=x, y=y)
        refused(path, words)


def test_other_arrays_of_labels(tmp_path):
    path = tmp_path / "set.npz"
    np.savez(path, x=IMAGES, y=LABELS, fine=LABELS[::-1])
    assert read(path, "fine").labels.tolist() == [1, 3, 1, 3]
    refused(path, "unknown array", "did you mean 'fine'", label="fnie")
    refused(path, "both images and labels", label="x")
    # And none.
    np.savez(path, pictures=IMAGES, y=LABELS)
    refused(path, "no array of images", "x_train", "arrays there: pictures, y")
    np.savez(path, x=IMAGES, kinds=LABELS)
    refused(path, "no array of labels", "--label", "kinds")
    np.savez(path)
    refused(path, "arrays there: none")


def test_objects_are_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    path = tmp_path / "set.npz"
    trap = np.empty(4, object)
    trap[0] = Trap()
    for name in ("x", "y"):
        np.savez(path, **{"x": IMAGES, "y": LABELS} | {name: trap})
        refused(path, f"'{name}'", "never unpickled")
    # Nor are structured arrays images.
    with pytest.warns(UserWarning, match="format 3.0"):
        np.savez(path, x=np.zeros(4, [("größe", "f8"), ("日", "i4")]), y=LABELS)
    refused(path, "structured")


def test_truncated_or_changed_at_any_byte(tmp_path):
    """Refused, or read with the right numbers of rows: never another exception."""
    path = tmp_path / "cut.npz"
    np.savez_compressed(path, x=np.random.default_rng(0).normal(size=(4, 30)), y=LABELS)
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        refused(path, "cut.npz is not a whole .npz file")
    for at in range(0, len(content), 3):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :])
        try:
            found = read(path)
        except ls.BadInput:
            continue
        assert len(found.images) == 4


def header(shape, kind="|u1"):
    text = str({"descr": kind, "fortran_order": False, "shape": shape}).ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)


def test_sizes_are_checked_before_reading(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    archive(path, x=header((10**6, 10**6)) + b"\0" * 99, y=header((10**6,)))
    refused(path, "'x'", "would take 931 GB", "at most 4 GB")
    # A header that says more than there is, and one that says less.
    for count in (10**8, 3):
        archive(path, x=header((count, 10)) + b"\0" * 40, y=header((4,)) + b"\0" * 4)
        refused(path, "'x'", "not what its header says")
    archive(path, x=header((-4, 10)) + b"\0" * 40, y=header((4,)) + b"\0" * 4)
    refused(path, "bomb.npz")
    # A megabyte of zeros in a kilobyte, with the limit below it.
    monkeypatch.setattr(npz, "LARGEST", 10**5)
    archive(path, x=header((1000, 1000)) + b"\0" * 10**6, y=header((4,)) + b"\0" * 4)
    assert path.stat().st_size < 5000
    refused(path, "would take")


def test_encrypted_and_other_archives(tmp_path):
    path = tmp_path / "set.npz"
    archive(path, x=header((4, 1)) + b"\0" * 4, y=b"hello and more")
    refused(path, "not a whole .npz file")
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02") + 8
    content[at] |= 1  # as if it had a password
    path.write_bytes(content)
    refused(path, "not a whole .npz file", "password")


def csv(path, text, packed=False):
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_csv(tmp_path, packed):
    path = tmp_path / ("set.csv.gz" if packed else "set.csv")
    found = read(csv(path, "a,Label,b\n1, 10 ,2.5\n\n-3e2,9,0\n", packed))
    np.testing.assert_array_equal(found.images, [[1, 2.5], [-300, 0]])
    assert (found.labels.tolist(), found.name) == ([10, 9], "set")


def test_csv_of_other_programs_and_label_columns_by_name(tmp_path):
    text = '\ufeff"pixel, first",class,y\r\n1,"a ""cat"", say",0\r\n2,dog,1'
    found = read(csv(tmp_path / "set.CSV", text))
    assert found.labels.tolist() == ['a "cat", say', "dog"]
    assert found.images.tolist() == [[1, 0], [2, 1]]
    assert read(tmp_path / "set.CSV").name == "set"
    # Labels that look alike stay apart.
    found = read(csv(tmp_path / "set.csv", "y,a\n01,1\n1,2\n1.0,3\n"))
    assert found.labels.tolist() == ["01", "1", "1.0"]
    path = csv(tmp_path / "set.csv", "kind,label,a\n5,1,2\n")
    assert read(path, "kind").labels.tolist() == [5]
    refused(path, "no column 'kinds' for the labels", "kind, label, a", label="kinds")


BAD_CSV = {
    "no label": ("a,b\n1,2\n", ["no column called label or class or target or y", "are a, b"]),
    "empty": ("", ["its columns are none"]),
    "two": ("y,Y,a\n1,1,1\n", ["2 columns 'y'"]),
    "alone": ("y\n1\n", ["no column beside"]),
    "no rows": ("y,a\n", ["no lines after"]),
    "short": ("y,a,b\n1,2,3\n1,2\n", ["line 3, has 2 cells for 3 columns"]),
    "long": ("y,a,b\n1,2,3,4\n", ["line 2, has 4 cells"]),
    "word": ("y,a,b\n1,2,3\n1,2,blue\n", ["line 3, column 'b': 'blue' is not a finite number"]),
    "void": ("y,a,b\n1,,3\n", ["line 2, column 'a': an empty cell"]),
    "infinite": ("y,a,b\n1,2,-inf\n", ["column 'b': '-inf'"]),
    "missing": ("y,a\n0,1\n ,2\n", ["line 3, column 'y': the label is missing"]),
    "quote": ('y,a\n1,"2\n3,4\n', ["not valid CSV"]),
    "latin": ("y,a\nä,1\n".encode("latin-1"), ["not UTF-8"]),
    "after quotes": ('y,a\n"two\nlines",1\nx,?\n', ["line 4, column 'a'"]),
}


@pytest.mark.parametrize("kind", BAD_CSV)
def test_bad_csv(tmp_path, kind):
    text, words = BAD_CSV[kind]
    refused(csv(tmp_path / "set.csv", text), *words)


def test_damaged_gzip(tmp_path):
    path = csv(tmp_path / "set.csv.gz", "y,a\n" + "1,2\n" * 5000, packed=True)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    refused(path, "not a whole gzip file")
    path.write_bytes(content[:20] + bytes([content[20] ^ 1]) + content[21:])
    refused(path, "set.csv.gz")
    path.write_bytes(b"y,a\n1,2\n")
    refused(path, "not a whole gzip file")


def test_packed_endless_text(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "_LONGEST", 10**6)
    path = csv(tmp_path / "set.csv.gz", "y,a\n1," + "0" * 2 * 10**6, packed=True)
    refused(path, "is too large")
    monkeypatch.setattr(csv_file, "LARGEST", 10**5)
    monkeypatch.setattr(csv_file, "most_unpacked", lambda packed: 2**17)
    path = csv(tmp_path / "set.csv.gz", "y,a\n" + "\n" * 10**6, packed=True)
    refused(path, "is too large")
    path = csv(tmp_path / "set.csv.gz", "y,a,b\n" + "1,2,3\n" * 10**4, packed=True)
    refused(path, "line ", "take 0 MB, the most for a file of its size")


def test_a_hundred_thousand_columns(tmp_path):
    """Read line by line and scored through inner products: seconds, and little beside the data."""
    columns = 10**5
    values = np.random.default_rng(0).integers(0, 256, size=(4, columns))
    path = tmp_path / "wide.csv"
    with open(path, "w") as file:
        file.write("label," + ",".join([f"p{i}" for i in range(columns)]) + "\n")
        for row in values:
            file.write("0," + ",".join(map(str, row.tolist())) + "\n")
    start = time.process_time()
    found = read(path)
    np.testing.assert_array_equal(found.images, values)
    tracemalloc.start()
    scores = ls.tools.influence_scores(found.images, found.labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.process_time() - start < 5
    assert peak < 30e6
    # The moment is 10^5 x 10^5; the definition through inner products is not.
    products = (values - values.mean(0)) @ (values - values.mean(0)).T
    rest = values[1:] - values[1:].mean(0)
    exact = (products**2).sum() / 3**2 - ((rest @ rest.T) ** 2).sum() / 2**2
    np.testing.assert_allclose(scores[0], exact, rtol=1e-10)
    refused(path, "p0, p1, ", "... (100001 in all)", label="kind")
