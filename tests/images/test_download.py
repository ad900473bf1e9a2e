"""Downloads from a server on this machine, and the commands `learnscope data`."""

import functools
import hashlib
import http.server
import os
import threading

import pytest

import learnscope as ls
from learnscope.images import download as module
from learnscope.images.download import REMOTES, Remote, download
from learnscope.images.registry import SETS
from tests.images.formats.files import assert_loaded, cifar_bytes, pictures, write_idx
from tests.images.formats.test_archives import tar
from tests.small import refused


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def server(tmp_path):
    """The folder that is served, and its address."""
    folder = tmp_path / "server"
    folder.mkdir()
    handler = functools.partial(Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        yield folder, f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()
        thread.join()


@pytest.fixture
def mnist(server, monkeypatch):
    """MNIST as the server has it; returns the arrays and the files."""
    folder, address = server
    arrays = write_idx(folder, packed=True)
    files = sorted(folder.iterdir())
    remotes = [Remote(f"{address}/{file.name}", md5(file), "mnist") for file in files]
    monkeypatch.setitem(module.REMOTES, "mnist", tuple(remotes))
    return arrays, files


def md5(file):
    return hashlib.md5(file.read_bytes()).hexdigest()


def everything(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


class Bar:
    total, done, closed = None, 0, 0

    def update(self, count):
        self.done += count

    def reset(self):
        self.done = 0

    def close(self):
        self.closed += 1


def test_files(mnist, tmp_path):
    arrays, files = mnist
    bar = Bar()
    folder, new = download("mnist", tmp_path / "data", bar)
    assert (folder, new, bar.closed) == (tmp_path / "data" / "mnist", True, 4)
    assert bar.done == bar.total == files[-1].stat().st_size
    assert_loaded(ls.data.load_images("mnist", tmp_path / "data"), arrays)
    assert everything(tmp_path / "data") == ["mnist", *(f"mnist/{file.name}" for file in files)]
    assert download("mnist", tmp_path / "data") == (folder, False)


def test_a_wrong_checksum_leaves_nothing_behind(mnist, tmp_path):
    mnist[1][0].write_bytes(b"something else")
    refused(lambda: download("mnist", tmp_path / "data"), "mnist could not be downloaded", "hash")
    assert everything(tmp_path / "data") == []


def test_what_was_whole_is_kept_and_not_fetched_again(mnist, tmp_path):
    first, *_, last = mnist[1]
    whole = last.read_bytes()
    last.write_bytes(whole[:-1])
    refused(lambda: download("mnist", tmp_path / "data"), "could not be downloaded")
    assert last.name not in " ".join(everything(tmp_path / "data"))
    last.write_bytes(whole)
    first.unlink()  # it would be an error to ask for it
    assert download("mnist", tmp_path / "data")[1]


def test_a_file_of_that_name_that_is_not_the_original(mnist, tmp_path):
    path = tmp_path / "data" / "mnist" / mnist[1][0].name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mine")
    refused(lambda: download("mnist", tmp_path / "data"), path.name, "is not the original")
    assert path.read_bytes() == b"mine"


def test_an_archive_is_unpacked(server, tmp_path, monkeypatch):
    folder, address = server
    batch = cifar_bytes(pictures(2, 32, 32, 3), [1, 2])
    names = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]
    files = {f"cifar-10-batches-bin/{name}": batch for name in names}
    archive = tar(folder / "cifar-10-binary.tar.gz", files)
    remote = Remote(f"{address}/{archive.name}", md5(archive))
    monkeypatch.setitem(module.REMOTES, "cifar10", (remote,))
    found, _ = download("cifar10", tmp_path / "data")
    assert found == tmp_path / "data" / "cifar-10-batches-bin"
    assert sorted(os.listdir(tmp_path / "data")) == ["cifar-10-batches-bin"]
    assert len(ls.data.load_images("cifar10", tmp_path / "data")[0]) == 10
    # A partial set is made whole, and what else is there stays.
    (found / "data_batch_3.bin").unlink()
    (found / "notes.txt").write_text("mine")
    assert download("cifar10", tmp_path / "data") == (found, True)
    assert len(ls.data.load_images("cifar10", tmp_path / "data")[0]) == 10
    assert (found / "notes.txt").exists()


def test_an_archive_that_does_not_hold_the_set(server, tmp_path, monkeypatch):
    folder, address = server
    archive = tar(folder / "other.tar.gz", {"readme": b"nothing"})
    remote = Remote(f"{address}/{archive.name}", md5(archive))
    monkeypatch.setitem(module.REMOTES, "cifar100", (remote,))
    refused(lambda: download("cifar100", tmp_path), "cifar100 is not in", kind=ls.MissingData)


def test_no_server(tmp_path, monkeypatch, refuse):
    monkeypatch.setitem(module.REMOTES, "mnist", (Remote("http://127.0.0.1:9/x.gz", "0" * 32),))
    said = "learnscope: http://127.0.0.1:9/x.gz could not be downloaded: it cannot be reached.\n"
    refuse("data", "get", "mnist", "--data", tmp_path, said=said)
    assert everything(tmp_path) == []


def test_a_file_that_the_server_has_not(mnist, tmp_path):
    mnist[1][0].unlink()
    refused(lambda: download("mnist", tmp_path), "could not be downloaded: it answers 404")
    assert "mnist" not in everything(tmp_path)


def test_every_public_set_has_an_address_and_checksums():
    assert set(REMOTES) == {name for name, each in SETS.items() if each.public}
    for remote in (remote for remotes in REMOTES.values() for remote in remotes):
        assert len(remote.md5) == 32 and remote.url.startswith("http")


def test_get_command(mnist, tmp_path, call, monkeypatch):
    monkeypatch.setenv("LEARNSCOPE_DATA", str(tmp_path / "data"))
    code, out, _ = call("data", "get", "mnist")
    assert (code, out.split()[:3]) == (0, ["mnist", "is", "now"])
    assert call("data", "get", "mnist")[1].split()[:3] == ["mnist", "is", "already"]
    assert call("data", "get", "mnist", "--quiet") == (0, "", "")
    assert call("data", "get", "digits")[0] == 0


def test_get_what_cannot_be_got(tmp_path, refuse, monkeypatch):
    monkeypatch.delenv("LEARNSCOPE_DATA", raising=False)
    for words, said in (
        (("mnits", "--data", tmp_path), "did you mean 'mnist'"),
        (("mini-imagenet", "--data", tmp_path), "no public download"),
        (("mnist",), "--data DIR"),
    ):
        refuse("data", "get", *words, said=said)


def test_list_command(tmp_path, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LEARNSCOPE_DATA", str(tmp_path / "elsewhere"))
    write_idx(tmp_path / "data" / "MNIST" / "raw")
    code, out, _ = call("data", "list", "--data", tmp_path / "data")
    assert code == 0
    rows = {line.split()[1]: line for line in out.splitlines() if line.startswith("│ ")}
    del rows["│"]
    assert rows.keys() == {"digits", *SETS}
    assert "MNIST/raw" in rows["mnist"] and "missing" not in rows["mnist"]
    assert "missing" in rows["svhn"] and "learnscope data get svhn" in rows["svhn"]


@pytest.mark.parametrize("command", ["run", "verify", "sweep", "boundary"])
def test_data_option(command, refuse, tmp_path):
    words = ["x.toml"] if command in ("sweep", "boundary") else []
    refuse(command, *words, "--data", tmp_path / "absent", said="no such folder")
