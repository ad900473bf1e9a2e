"""Download data sets from their publishers, with the checksums of the authors or torchvision."""

import dataclasses
import os
import tempfile
from pathlib import Path
from typing import Any

from learnscope.errors import BadInput, unknown
from learnscope.images.formats.archives import unpack
from learnscope.images.registry import SETS, VARIABLE, data_folder, find, missing

_TIMEOUT = 60  # seconds


@dataclasses.dataclass(frozen=True)
class Remote:
    """A file, its checksum, and its target folder inside the data folder."""

    url: str
    md5: str
    into: str = "."

    @property
    def name(self) -> str:
        return self.url.rsplit("/", 1)[-1]

    @property
    def packed(self) -> bool:
        """Whether the file is an archive."""
        return self.name.endswith((".zip", ".tar.gz"))


def _idx(base: str, into: str, sums: dict[str, str]) -> tuple[Remote, ...]:
    return tuple(Remote(f"{base}/{name}-ubyte.gz", md5, into) for name, md5 in sums.items())


_KRIZHEVSKY = "https://www.cs.toronto.edu/~kriz"
_CIFAR100 = (Remote(f"{_KRIZHEVSKY}/cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"),)
_LAKE = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"
_SVHN = "http://ufldl.stanford.edu/housenumbers"

REMOTES: dict[str, tuple[Remote, ...]] = {
    "mnist": _idx("https://ossci-datasets.s3.amazonaws.com/mnist", "mnist", {
        "train-images-idx3": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1": "ec29112dd5afa0611ce80d1b7f02629c",
    }),
    "fashion-mnist": _idx(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com", "fashion-mnist", {
        "train-images-idx3": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "train-labels-idx1": "25c81989df183df01b3e8a0aad5dffbe",
        "t10k-images-idx3": "bef4ecab320f06d8554ea6380940ec79",
        "t10k-labels-idx1": "bb300cfdad3c16e7a12a480ee83cd310",
    }),
    "cifar10": (
        Remote(f"{_KRIZHEVSKY}/cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"),
    ),
    "cifar100": _CIFAR100,
    "cifar-fs": _CIFAR100,
    "svhn": (
        Remote(f"{_SVHN}/train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373", "svhn"),
        Remote(f"{_SVHN}/test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3", "svhn"),
    ),
    "stl10": (
        Remote("http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
               "91f7769df0f17e558f3565bffb0c7dfb"),
    ),
    "tiny-imagenet": (
        Remote("http://cs231n.stanford.edu/tiny-imagenet-200.zip",
               "90528d7ca1a48142e341f4ef8d21d0de"),
    ),
    "omniglot": (
        Remote(f"{_LAKE}/images_background.zip", "68d2efa1b9178cc56df9314c21c6e718", "omniglot"),
        Remote(f"{_LAKE}/images_evaluation.zip", "6b91aef0f799c5bb55b94e3f2daec811", "omniglot"),
    ),
}  # fmt: skip


def download(name: str, root: str | Path | None = None, progress: Any = None) -> tuple[Path, bool]:
    """The folder of a data set, and whether it was downloaded now. A file gets its name only when
    it is complete and its checksum is right. `progress` has `total`, `update(bytes)`, `reset()` and
    `close()`, as pooch requires."""
    if name not in SETS:
        raise unknown("data set to download", name, REMOTES)
    base = data_folder(root)
    if base is None:
        raise BadInput(f"there is no data folder: --data DIR or {VARIABLE} must name one.")
    location = find(name, base)
    if location is not None and location[0].is_whole(location[1]):
        return location[1], False
    if name not in REMOTES:
        raise missing(name, base)
    try:
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=base) as folder:
            for remote in REMOTES[name]:
                _fetch(remote, base, Path(folder), progress)
    except BadInput:
        raise
    # A full disk, or a wrong checksum (pooch's ValueError).
    except (OSError, ValueError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise BadInput(f"{name} could not be downloaded: {said}.") from None
    location = find(name, base)
    if location is None:
        raise missing(name, base)
    return location[1], True


def _fetch(remote: Remote, base: Path, folder: Path, progress: Any) -> None:
    import pooch  # slow to import
    import requests

    target = base / remote.into
    if (target / remote.name).is_file() and not remote.packed:
        if pooch.file_hash(str(target / remote.name), "md5") != remote.md5:
            there = f"{target / remote.name} is not the original (its checksum differs)"
            raise BadInput(f"{there}: move it away to download the original.")
        return
    pooch.get_logger().setLevel("WARNING")
    # Any: pooch's types for downloaders contradict each other.
    loader: Any = pooch.HTTPDownloader(progressbar=progress or False, timeout=_TIMEOUT)
    try:
        known = f"md5:{remote.md5}"
        path = Path(pooch.retrieve(remote.url, known, remote.name, folder, downloader=loader))
    except requests.RequestException as error:
        answer = error.response
        if answer is not None:
            answer.close()
        said = f"it answers {answer.status_code}" if answer is not None else "it cannot be reached"
        raise BadInput(f"{remote.url} could not be downloaded: {said}.") from None
    target.mkdir(parents=True, exist_ok=True)
    if not remote.packed:
        os.replace(path, target / remote.name)
        return
    unpacked = folder / f"{remote.name}-files"
    unpack(path, unpacked)
    path.unlink()
    # File by file: other files in these folders are the user's, and stay.
    for each in (path for path in unpacked.rglob("*") if path.is_file()):
        place = target / each.relative_to(unpacked)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(each, place)
