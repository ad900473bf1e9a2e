"""A real browser for pages: the system's Chromium, headless, driven by Playwright; and an explorer
for it to look at."""

import contextlib
import dataclasses
import functools
import http.client
import json
import shutil
import threading
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from learnscope.lab.blocks import Plan
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from learnscope.papers import STUDIES
from tests.small import PENALTY, experiment, probes, run

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# WCAG 2.2, 1.4.3: for every piece of text that is shown, its colour against what is behind it.
CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const add = (style, element, name) => {
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(parse(ink)), light(behind(element))];
    if (style.opacity !== "1") throw new Error(name + " is translucent");
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found[name] = Math.min(ratio, found[name] ?? Infinity);
  };
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    add(getComputedStyle(element), element, element.tagName + "." + element.getAttribute("class"));
  }
  for (const input of document.querySelectorAll("input:placeholder-shown[placeholder]"))
    add(getComputedStyle(input, "::placeholder"), input, "placeholder");
  return found;
}"""
# WCAG 2.2, 4.1.2: whatever can be used has a name.
NAMELESS = """() => Array.from(document.querySelectorAll("input, select, button, a, img, summary"))
  .filter((e) => e.checkVisibility() && !(e.labels?.length || e.textContent.trim() || e.alt
    || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")))
  .map((e) => e.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A running Chromium with one cache on disk, shared by the tests of a worker: only there does
    it keep compiled scripts, which halves the time of a visit."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("chromium"), executable_path=found, accept_downloads=True,
            args=["--no-sandbox", "--disable-gpu"], viewport={"width": 1280, "height": 900},
        )  # fmt: skip
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """An empty page. Whatever it writes to the console as an error fails the test."""
    opened = chromium.new_page()
    # Looking at every frame keeps the browser drawing while it waits for a program.
    opened.wait_for_function = functools.partial(opened.wait_for_function, polling=50)
    said: list[str] = []
    opened.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    opened.close()
    assert not said, f"the browser's console has errors: {said}"


@dataclasses.dataclass(frozen=True)
class Explorer:
    """A running explorer: its address, where it reads from, and the sweeps that are there."""

    address: str
    store: Path
    out: Path
    plane: str  # over signal and dim, where theory has a boundary
    parts: str  # over rules (parts) and noise; one box of it is missing

    def ask(self, path, host=None, body=None):
        """Status and content of a request."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        headers = {"Host": host} if host else {}
        headers |= {"Content-Type": "application/json"} if body else {}
        with contextlib.closing(connection):
            connection.request("POST" if body else "GET", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()


@pytest.fixture(scope="session")
def explorer(tmp_path_factory):
    """The explorer over a small store and an output folder, on a port of its own."""
    from learnscope.views.explorer.server import create
    from learnscope.views.explorer.wsgi import bind

    folder = tmp_path_factory.mktemp("explorer")
    store, out = folder / "store", folder / "out"
    run(EXPERIMENT, PLANE, seeds=2, store=store)
    (plane,) = Folder(store).ids()
    parts = partly(store, PARTS, leave=1)
    write_output(out)
    server = bind(create(store, out).server, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield Explorer(f"http://127.0.0.1:{server.port}", store, out, plane, parts.name)
    server.stop()
    thread.join()


EXPERIMENT = experiment(
    data={"dim": 50, "test": 20, "noise": 1.0},
    net={"width": 2, "activation": "relu"},
    probes=probes("Loss TestAccuracy Decomposition"),
)
PLANE = {"data.signal": [0.5, 1.0, 2.0, 4.0], "data.dim": [50, 100, 200]}
PARTS = {"rule": [EXPERIMENT.rule, PENALTY], "data.noise": [0.1, 0.2, 0.7]}


def partly(store, over, leave, seeds=3):
    """A sweep in a store as it is while it runs: all boxes but the last few are there. Its values
    are drawn, not trained: the `StoredResults` that can `put` the rest (see `drawn`)."""
    results = StoredResults(Folder(store), Plan.of(EXPERIMENT, over, seeds, "auto", "float32"))
    boxes = results.plan.blocks
    for box in boxes[: len(boxes) - leave]:
        results.put(box, drawn(results.plan, box), 1.0)
    return results


def drawn(plan, box):
    """Numbers for a box of a plan."""
    draw = np.random.default_rng(box.number)
    lead = len(plan.shape)
    return {name: draw.normal(size=(*box.shape, *variable.shape[lead:])).astype(variable.dtype)
            for name, variable in plan.variables.items()}  # fmt: skip


def write_output(out):
    """As `learnscope verify pegr` leaves it, with one figure."""
    study = STUDIES["pegr"]
    rows = [entry.to_dict() for entry in study.ledger({})]
    rows[0] |= {"verdict": "differs", "measured": "0.3 ± 0.1", "why": "a <b> & c"}
    rows[1] |= {"verdict": "reproduced"}
    (out / "pegr").mkdir(parents=True, exist_ok=True)
    (out / "ledger.json").write_text(json.dumps(rows), encoding="utf-8")
    note = PngInfo()
    note.add_text("Title", "All losses fall")
    for kind, more in (("png", {"pnginfo": note}), ("pdf", {})):
        Image.new("RGB", (40, 30), "red").save(out / "pegr" / f"figure1.{kind}", **more)
