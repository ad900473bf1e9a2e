"""Fuzzed command lines, TOML files, addresses and data files: one sentence, or a valid answer."""

import contextlib
import gzip
import io
import json
import random
import re
import sys
import time
from pathlib import Path
from urllib.parse import quote

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import learnscope as ls
from learnscope import tools
from learnscope.cli import main
from learnscope.cli.sweep_file import SweepFile
from learnscope.evidence.output import Output
from tests.battery import fuzz
from tests.battery.conftest import sizes
from tests.battery.sweeps import RUN
from tests.images.formats.files import idx_bytes

TOML = """steps = 5
seeds = 2
precision = "float32"
probes = [{kind = "Loss"}, {kind = "TestAccuracy"}]
record = {every = 5}
data = {kind = "SignalNoise", dim = 50, train = 4, test = 9, signal = 1, noise = 1}
net = {kind = "PatchCNN", width = 3, activation = "relu"}
rule = {kind = "GradientDescent", rate = 0.1}
over = {"data.noise" = [0.1, 0.5]}
[[zipped]]
"data.signal" = [1, 2]
"net.scale" = [0.1, 0.2]
"""
SLOWEST = 20.0  # seconds for any one input


@pytest.fixture
def nothing_is_computed(monkeypatch, tmp_path):
    """Sweeps are planned and stored, but not trained or drawn."""
    monkeypatch.setattr(RUN._Filling, "run", lambda *given: None)
    monkeypatch.setattr(Output, "figure", lambda self, name, figure: plt.close(figure) or [])
    monkeypatch.setattr("learnscope.evidence.verify.run_studies", lambda *given, **more: None)
    monkeypatch.setattr("learnscope.grid.run.run_grid", None)
    monkeypatch.setattr("learnscope.views.explorer.server.serve", lambda *given: None)
    monkeypatch.setattr("learnscope.tools.check.check", lambda part: "fine")
    monkeypatch.setattr("learnscope.cli.cost._slower", lambda plan: 1.0)
    monkeypatch.setattr("learnscope.images.download.download", None)
    monkeypatch.chdir(tmp_path)


def sentence(error):
    """A refusal is one line of words."""
    assert "Traceback" not in error and error.count("\n") <= 1 and error.strip(), error


def command(words):
    """The exit code of a command line, and what it says."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["learnscope", *words])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as end:
                return end.code, out.getvalue(), err.getvalue()
    raise AssertionError("it did not exit")


COMMANDS = (
    "conditions a.toml data.noise=0.5", "sweep a.toml data.noise=0.1,0.2 --store none",
    "sweep a.toml steps=3 --seeds 2 --precision float64 --store kept", "runs", "runs show abc",
    "runs remove abc", "runs repair abc", "runs export abc file.nc", "runs list --all",
    "report out --out page.html", "influence images.csv --label y --top 3", "influence set.npz",
    "collapse array.npy --dead 0.1", "collapse set.npz --array x", "data list", "check a.toml",
    "boundary a.toml", "run pegr.figure2 data.noise=0.5 --scale smoke", "run kou --seeds 3",
    "verify benign --scale smoke", "list", "sweep a.toml rule=GradientDescent --coordinates rotate",
    "sweep a.toml data.dim=1000000 --store none", "runs remove kept --store kept",
)  # fmt: skip


@pytest.mark.usefixtures("nothing_is_computed")
@sizes(30, 3000)
def test_command_lines(tmp_path, count, found):
    Path("a.toml").write_text(TOML)
    Path("images.csv").write_text("y,a,b\n0,1,2\n1,3,4\n0,5,6\n1,7,8\n")
    values = np.arange(24.0).reshape(8, 3)
    np.save("array.npy", values)
    np.savez("set.npz", x=values, y=np.arange(8) % 2)
    chance, codes, slowest = random.Random(0), {}, 0.0
    # What these would do is done by other tests; here they would take minutes.
    left_out = {"explore", "demo", "new", "grid", "get"}
    for _ in range(count):
        words = chance.choice(COMMANDS).split()
        for _ in range(chance.choice([0, 1, 1, 2])):
            at = chance.randrange(len(words) + 1)
            kind = chance.randrange(4)
            if kind == 0:
                words.insert(at, chance.choice(fuzz.HOSTILE))
            elif kind == 1 and at < len(words):
                words[at] = fuzz.text(chance, words[at])
            elif kind == 2 and words:
                del words[min(at, len(words) - 1)]
            elif at < len(words) and "=" in words[at]:
                words[at] = words[at].partition("=")[0] + "=" + chance.choice(fuzz.HOSTILE)
        words = [word.replace("\0", "") for word in words]
        if left_out & set(words):
            continue
        start = time.perf_counter()
        code, out, err = command(words)
        slowest = max(slowest, time.perf_counter() - start)
        codes[code] = codes.get(code, 0) + 1
        assert code in (0, 2), (words, code, err)
        assert "\x1b" not in out + err, words
        if code == 2 and "Usage" not in out:  # which is shown where a command is missing
            sentence(err)
    assert slowest < SLOWEST
    kept = {str(path) for path in tmp_path.parent.rglob("passwd")}
    assert not kept
    found(f"{sum(codes.values())} command lines: {codes[2]} refused in a sentence, 0 tracebacks")


@pytest.mark.usefixtures("nothing_is_computed")
@sizes(30, 3000)
def test_toml(count, found):
    chance, refused, slowest = random.Random(1), 0, 0.0
    SweepFile.parse(TOML).plans()
    numbers = list(re.finditer(r"(?<== )[0-9.]+|\"[A-Za-z0-9]+\"", TOML))
    for _ in range(count):
        if chance.random() < 0.5:
            at = chance.choice(numbers)
            value = chance.choice((*fuzz.HOSTILE, json.dumps(chance.choice(fuzz.HOSTILE))))
            text = TOML[: at.start()] + value + TOML[at.end() :]
        else:
            text = fuzz.text(chance, TOML)
        start = time.perf_counter()
        try:
            described = SweepFile.parse(text)
            described.plans()
            ls.Experiment.from_toml(described.experiment.to_toml())
        except ls.BadInput as error:
            refused += 1
            assert str(error).strip(), text
        slowest = max(slowest, time.perf_counter() - start)
        assert slowest < SLOWEST, text
    found(f"{count} TOML files: {refused} refused in a sentence, 0 tracebacks")


ADDRESSES = (
    "/live/controls?preset=kou&data.noise=0.5&seeds=3", "/live/weights?preset=pegr&step=3",
    "/live/controls?preset=input_structure&data.relevant=3&data.patterns=20",
    "/live/answer?preset=kou&data.train=8&net.width=3&steps=20&seeds=3&probes=Loss",
    "/live/controls?preset=benign&data=ClassNoise&data.classes=10&rule=GradientDescent",
    "/export/toml?preset=kou&data.dim=100", "/export/py?preset=kou&rule.rate=0.1",
    "/?preset=kou", "/sweeps?id=abc&x=noise&y=seed", "/ledger?study=pegr&verdict=differs",
    "/_dash-layout", "/_dash-dependencies", "/figures/pegr/figure1.png", "/nothing",
    "/assets/live.js", "/live/controls?preset=pred_head&data.strengths=3,2&data.batch=4",
)  # fmt: skip
HEADERS = ("Host", "Origin", "Sec-Fetch-Site", "X-Page", "Cookie", "Content-Type", "Range",
           "Accept")  # fmt: skip


@sizes(30, 2000)
def test_addresses(tmp_path, monkeypatch, count, found):
    pytest.importorskip("dash")
    from learnscope.views.explorer.live.training import Trainer, check_affordable
    from learnscope.views.explorer.server import create

    def refused(self, experiment, seeds):
        check_affordable(experiment, seeds)
        raise ls.BadInput("nothing is trained here.")

    monkeypatch.setattr(Trainer, "run", refused)
    visitor = create(tmp_path, tmp_path).server.test_client()
    chance, codes, slowest = random.Random(2), {}, 0.0
    for _ in range(count):
        address = chance.choice(ADDRESSES)
        path, _, query = address.partition("?")
        kind = chance.randrange(4)
        if kind == 0:
            pairs = query.split("&")
            at = chance.randrange(len(pairs))
            value = quote(chance.choice(fuzz.HOSTILE), errors="replace")
            pairs[at] = pairs[at].partition("=")[0] + "=" + value
            address = f"{path}?{'&'.join(pairs)}"
        elif kind == 1:
            address = "/" + quote(fuzz.text(chance, address)[1:], safe="/?&=.,%", errors="replace")
        headers = {"Host": "localhost"}
        if kind == 2:
            value = chance.choice(fuzz.HOSTILE).encode("ascii", "ignore").decode()
            headers[chance.choice(HEADERS)] = re.sub(r"[\r\n]", "", value)
        start = time.perf_counter()
        if kind == 3 and chance.random() < 0.5:
            body = {"output": "page.children", "inputs": [chance.choice(fuzz.HOSTILE)]}
            text = fuzz.text(chance, json.dumps(body))
            answer = visitor.post("/_dash-update-component", data=text.encode("utf-8", "replace"),
                                  headers=headers, content_type="application/json")  # fmt: skip
        else:
            answer = visitor.get(address, headers=headers)
        slowest = max(slowest, time.perf_counter() - start)
        assert slowest < SLOWEST, address
        assert answer.status_code < 500, (address, headers, answer.data[:200])
        assert b"Traceback" not in answer.data
        answer.close()
        codes[answer.status_code] = codes.get(answer.status_code, 0) + 1
    found(f"{count} requests to the explorer, by status: {dict(sorted(codes.items()))}; 0 failed")


def files(folder):
    """A data file of every kind, and what reads it."""
    draw = np.random.default_rng(0)
    images, labels = draw.integers(0, 256, (8, 6, 5), np.uint8), np.arange(8) % 2
    held = io.BytesIO()
    np.savez_compressed(held, images=images, labels=labels)
    yield "set.npz", held.getvalue(), tools.read_labelled
    held = io.BytesIO()
    np.savez(held, x=images.reshape(8, -1), y=labels.astype(str))
    yield "plain.npz", held.getvalue(), tools.read_labelled
    lines = "label,a,b\n" + "".join(f"{i % 2},{i},{i / 3}\n" for i in range(8))
    yield "set.csv", lines.encode(), tools.read_labelled
    yield "set.csv.gz", gzip.compress(lines.encode()), tools.read_labelled
    held = io.BytesIO()
    np.save(held, images.reshape(8, -1).astype(float))
    yield "array.npy", held.getvalue(), tools.read_representations
    for name in ("0/a.png", "1/b.jpg"):
        held = io.BytesIO()
        Image.fromarray(images[0]).save(held, "PNG" if name.endswith("png") else "JPEG")
        yield f"folder/{name}", held.getvalue(), lambda file: tools.read_labelled(file.parents[1])
    few = labels.astype(np.uint8)
    mnist = {"train-images-idx3": images, "t10k-images-idx3": images,
             "train-labels-idx1": few, "t10k-labels-idx1": few}  # fmt: skip
    for name, array in mnist.items():
        yield (f"root/mnist/{name}-ubyte.gz", gzip.compress(idx_bytes(array)),
               lambda file: ls.data.load_images("mnist", root=file.parents[1]))  # fmt: skip


@sizes(30, 2000)
def test_data_files(tmp_path, monkeypatch, count, found):
    monkeypatch.setenv("LEARNSCOPE_CACHE", "off")
    kinds = list(files(tmp_path))
    for name, content, _ in kinds:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    for name, _, read in kinds:
        read(tmp_path / name)
    chance, refused, slowest = random.Random(3), 0, 0.0
    for number in range(count):
        name, content, read = kinds[number % len(kinds)]
        (tmp_path / name).write_bytes(fuzz.content(chance, content))
        start = time.perf_counter()
        try:
            read(tmp_path / name)
        except ls.BadInput as error:
            refused += 1
            assert "\n" not in str(error)
        slowest = max(slowest, time.perf_counter() - start)
        (tmp_path / name).write_bytes(content)
    assert slowest < SLOWEST
    found(f"{count} data files: {refused} refused in a sentence, 0 tracebacks")


def test_names_from_a_store_do_not_steer_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = command(["runs", "show", "\x1b]0;title\x07\x1b[2J", "--store", "\x1b[31mred"])
    assert code == 2 and "\x1b" not in err and "\\x1b]0;title\\x07" in err
