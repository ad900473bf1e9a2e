"""Unpacking: bounded, below the folder, plain files only."""

import io
import tarfile
import zipfile

import pytest

from learnscope.images.formats.archives import unpack
from tests.small import refused


def tar(path, files, **kinds):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for field, value in kinds.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(data))
    return path


def zip_(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def all_files(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


FILES = {"set/a.bin": b"abc", "set/deep/b.bin": b"", "c": b"x" * 5000}


@pytest.mark.parametrize(("make", "name"), [(tar, "set.tar.gz"), (zip_, "set.zip")])
def test_both_kinds(tmp_path, make, name):
    archive = make(tmp_path / name, FILES)
    unpack(archive, tmp_path / "out")
    assert all_files(tmp_path / "out") == FILES
    whole = archive.read_bytes()
    for data in (whole[: len(whole) // 2], b"", b"garbage" * 500):
        archive.write_bytes(data)
        refused(lambda: unpack(archive, tmp_path / "out2"), name)


@pytest.mark.parametrize(("make", "name"), [(tar, "bomb.tar.gz"), (zip_, "bomb.zip")])
def test_bombs(tmp_path, make, name):
    """20 MB in 20 kB, of which at most 1 MB may be written."""
    archive = make(tmp_path / name, {"small": b"x", "large": bytes(20 * 2**20)})
    assert archive.stat().st_size < 2**16
    refused(lambda: unpack(archive, tmp_path / "out", 2**20), "more than 1,048,576 bytes")
    assert set(all_files(tmp_path / "out")) == {"small"}


def test_a_zip_that_states_less_than_it_holds(tmp_path):
    archive = zip_(tmp_path / "lie.zip", {"large": bytes(20 * 2**20)})
    data = archive.read_bytes()
    size = (20 * 2**20).to_bytes(4, "little")
    assert data.count(size) == 2
    archive.write_bytes(data.replace(size, (1000).to_bytes(4, "little")))
    refused(lambda: unpack(archive, tmp_path / "out", 2**20), "lie.zip")
    assert sum(map(len, all_files(tmp_path / "out").values())) <= 1000


@pytest.mark.parametrize(("make", "name"), [(tar, "set.tar.gz"), (zip_, "set.zip")])
@pytest.mark.parametrize("inside", ["../out", "/learnscope-out", "a/../../out", "..\\out"])
def test_paths_that_lead_elsewhere(tmp_path, make, name, inside):
    archive = make(tmp_path / name, {inside: b"x"})
    refused(lambda: unpack(archive, tmp_path / "below"), "leads elsewhere")
    assert not all_files(tmp_path).keys() - {name}


def test_links_are_left_out(tmp_path):
    archive = tar(tmp_path / "set.tar.gz", {"a": b""}, type=tarfile.SYMTYPE, linkname="/etc/passwd")
    unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out" / "a").is_symlink()
