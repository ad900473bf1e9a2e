"""How long from a moved slider to the redrawn curve, in a real browser, at d = 400 and 10^9?

The `pegr` preset: 10 seeds, 1500 steps. Needs Chromium and Playwright (extras explorer and
benchmark); limits, on quiet cores: 150 ms and a ratio of 1.2.

    python benchmarks/explorer_latency.py [--moves 25]
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator

from playwright.sync_api import Page, sync_playwright

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_LIMIT_MS, _LIMIT_RATIO = 150, 1.2
# In the page: set the slider as a hand does, and wait until Plotly has drawn the answer.
_MOVE = """([value, path]) => new Promise((done, failed) => {
  setTimeout(() => failed(new Error("no new curve within 20 s")), 20000);
  const bar = document.getElementById("slider-" + path);
  const plot = document.getElementById("curves");
  const shown = () => JSON.stringify(plot.data.map((line) => line.y[line.y.length >> 1]));
  const before = shown(), begun = performance.now();
  const drawn = () => {
    if (shown() === before) return;
    plot.removeListener("plotly_afterplot", drawn);
    requestAnimationFrame(() => done(performance.now() - begun));
  };
  plot.on("plotly_afterplot", drawn);
  bar.value = value;
  bar.dispatchEvent(new Event("input", {bubbles: true}));
})"""


@contextlib.contextmanager
def explorer() -> Iterator[tuple[str, int]]:
    """The address of an explorer in a process of its own, and the number of that process."""
    command = [sys.executable, "-m", "learnscope", "explore", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            sys.exit("the explorer did not start")
        yield found.group(), process.pid
    finally:
        process.terminate()
        process.wait()


def moves(page: Page, count: int, start: float) -> list[float]:
    """Milliseconds of moves of the noise's slider, each to where it has not been."""
    found = []
    for i in range(count):
        found.append(page.evaluate(_MOVE, [str(start + 0.01 * (i + 1)), "data.noise"]))
        page.wait_for_timeout(400)  # the weights' picture is made after the curves
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=25, help="of each kind")
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        sys.exit("Chromium is not installed (Debian: apt-get install chromium).")
    with explorer() as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        pages = []
        for query in ("?preset=pegr", "?preset=pegr&data.dim=1000000000&data.noise=0.0003"):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address + query)
            page.wait_for_function("document.querySelector('#weights .scatterlayer .point')",
                                   timeout=120_000)  # fmt: skip
            pages.append(page)
        small, large = [], []
        for turn in range(5):  # interleaved
            small += moves(pages[0], asked.moves // 5, -0.5 + 0.1 * turn)
            large += moves(pages[1], asked.moves // 5, -3.8 + 0.1 * turn)
        browser.close()
    at_400, at_billion = statistics.median(small), statistics.median(large)
    ratio = at_billion / at_400
    fast, steady = _word(at_400 <= _LIMIT_MS), _word(ratio <= _LIMIT_RATIO)
    print(f"slider to curve, dimension 400:  median {at_400:.0f} ms of {len(small)} moves, "
          f"best {min(small):.0f} ms (limit {_LIMIT_MS} ms: {fast})")  # fmt: skip
    print(f"slider to curve, dimension 10^9: median {at_billion:.0f} ms of {len(large)} moves, "
          f"best {min(large):.0f} ms")  # fmt: skip
    print(f"ratio 10^9 / 400: {ratio:.2f} (limit {_LIMIT_RATIO}: {steady})")
    print(f"load before: {load:.1f} on {os.cpu_count()} cores (the limits are for quiet ones)")


def _word(held: bool) -> str:
    return "held" if held else "exceeded"


if __name__ == "__main__":
    main()
