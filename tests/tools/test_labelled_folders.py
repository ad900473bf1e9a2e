"""Images and labels from folders: what is read, and one sentence for what cannot be."""

import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from learnscope.images.formats import folders
from tests.tools.test_labelled import read, refused


def folder(path, mode="L", kinds=("cat", "dog"), size=(3, 2), ending="png"):
    for k, kind in enumerate(kinds):
        (path / kind).mkdir(parents=True)
        for i in range(3):
            image = Image.new(mode, size, 10 * k + i if mode in ("L", "I;16") else None)
            image.save(path / kind / f"{i}.{ending}")
    return path


def test_folders(tmp_path):
    path = folder(tmp_path / "set")
    (path / "README.md").write_text("notes")  # it and hidden files are left out
    (path / ".git").mkdir()
    (path / "cat" / ".DS_Store").write_bytes(b"x")
    found = read(path)
    assert found.images.shape == (6, 2, 3) and found.images.dtype == np.uint8
    assert found.images[:, 0, 0].tolist() == [0, 1, 2, 10, 11, 12]
    assert found.labels.tolist() == ["cat"] * 3 + ["dog"] * 3
    assert found.files == [f"{k}/{i}.png" for k in ("cat", "dog") for i in range(3)]
    assert found.name == "set"
    assert read(folder(tmp_path / "one", kinds=["cat"])).labels.tolist() == ["cat"] * 3
    found = read(folder(tmp_path / "ten", kinds=["10", "9"]))
    assert found.labels.tolist() == [10] * 3 + [9] * 3
    # Grey among colour.
    path = folder(tmp_path / "grey", "RGB", kinds=["a"], ending="jpg")
    Image.new("L", (3, 2), 200).save(path / "a" / "9.JPEG")
    found = read(path)
    assert found.images.shape == (4, 2, 3, 3)
    assert (found.images[3] == 200).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
def test_kinds_of_png(tmp_path, mode):
    path = tmp_path / "set"
    source = np.random.default_rng(0).integers(0, 2, size=(2, 3), dtype=np.uint8) * 255
    (path / "a").mkdir(parents=True)
    image = Image.fromarray(source)
    if mode == "I;16":
        image = Image.fromarray(source.astype(np.uint16) * 200)
    else:
        image = image.convert("RGB").convert(mode)
    image.save(path / "a" / "0.png")
    found = read(path).images[0]
    expected = source.astype(int) * (200 if mode == "I;16" else 1)
    np.testing.assert_array_equal(found.reshape(2, 3, -1)[..., 0], expected)
    assert found.shape == ((2, 3, 3) if mode in ("P", "RGB", "RGBA") else (2, 3))


def truncate(path):
    source = np.random.default_rng(0).integers(0, 255, (2, 3, 3), dtype=np.uint8)
    Image.fromarray(source[..., 0]).save(path / "cat" / "1.png")
    content = (path / "cat" / "1.png").read_bytes()
    (path / "cat" / "1.png").write_bytes(content[: content.index(b"IDAT") + 6])


def png(width, height):
    """A PNG that says what size it has, and has nothing."""

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    size = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    empty = chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + empty


def save(kind, size, name, **how):
    return lambda path: Image.new(kind, size).save(path / name, **how)


def put(name, content=b"not an image at all"):
    return lambda path: (path / name).write_bytes(content)


def transparent(path):
    Image.new("RGBA", (3, 2), (1, 2, 3, 128)).save(path / "dog" / "1.png")


BAD_FOLDERS = [
    (save("L", (4, 2), "dog/1.png"), "dog/1.png has 4 x 2 pixels"),
    (save("I;16", (3, 2), "dog/1.png"), "8 or 16 bits"),
    (save("L", (3, 2), "0.png"), "0.png is in no class"),
    (save("L", (3, 2), "cat/1.png", format="GIF"), "cat/1.png is not a whole PNG"),
    (put("cat/2.png"), "cat/2.png is not a whole PNG or JPEG"),
    (put("cat/notes.txt"), "notes.txt is not allowed"),
    (truncate, "cat/1.png is not a whole PNG"),
    (lambda p: (p / "cat" / "deep").mkdir(), "deep is not allowed"),
    (lambda p: (p / "eel").mkdir(), "eel has no images"),
    (transparent, "dog/1.png has transparent pixels"),
    *((put("cat/0.png", png(n, n)), "cat/0.png is too large") for n in (8200, 10**4, 10**6)),
]  # fmt: skip


def test_bad_folders(tmp_path, monkeypatch):
    for number, (change, words) in enumerate(BAD_FOLDERS):
        path = folder(tmp_path / str(number))
        change(path)
        refused(path, words)
    path = folder(tmp_path / "set")
    refused(path, "labels", "folders", label="y")
    monkeypatch.setattr(folders, "LARGEST", 35)
    refused(path, "more than the 4 GB")


def test_names_that_are_not_text(tmp_path):
    path = folder(tmp_path / "set", kinds=["a"])
    try:
        os.rename(os.fsencode(path / "a"), os.fsencode(path) + b"/a\xff")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    found = read(path)
    assert found.labels[0] == "a\\xff" and found.files[0] == "a\\xff/0.png"
    "".join(found.files).encode()
