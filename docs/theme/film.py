"""The moving picture of the explorer: docs/images/explorer.webp and .png, from the real page, and
.json: the presets that they show, for a test that they are today's.

Plain training memorises noise; it is pinned; the per-example penalty learns the signal; then the
dimension goes to a billion with the lock on. Needs Chromium and Playwright.

    python docs/theme/film.py
"""

import io
import json
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from explorer_latency import explorer  # noqa: E402

_SIZE, _WIDTH = {"width": 1280, "height": 860}, 960  # of the page, and of the picture
_START = "?preset=pegr&rule=GradientDescent&seeds=5"
_SLIDE = """([path, value]) => { const bar = document.getElementById("slider-" + path);
  bar.value = value; bar.dispatchEvent(new Event("input", {bubbles: true})); }"""
_IDLE = """() =>
  document.getElementById("progress")?.hidden
  && !document.querySelector("#weights.old")
  && document.querySelector("#weights .main-svg")"""

_CARDS = "Array.from(document.querySelectorAll('#presets .card'), (card) => card.id)"


class Film:
    """Screenshots of a page, each with the milliseconds that it is shown."""

    def __init__(self, page: Page):
        self.page = page
        self.frames: list[Image.Image] = []
        self.shown: list[int] = []

    def take(self, milliseconds: int) -> None:
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        size = (_WIDTH, round(image.height * _WIDTH / image.width))
        self.frames.append(image.resize(size, Image.Resampling.LANCZOS))
        self.shown.append(milliseconds)

    def settle(self) -> None:
        self.page.wait_for_function(_IDLE, timeout=120_000)
        self.page.wait_for_timeout(400)

    def save(self, file: Path) -> None:
        first, *rest = self.frames
        first.save(file, save_all=True, append_images=rest, duration=self.shown, loop=0,
                   quality=72, method=6, minimize_size=True)  # fmt: skip


def act(film: Film) -> None:
    page = film.page
    film.settle()
    film.take(2200)
    page.click("#pin")
    page.wait_for_timeout(300)
    film.take(900)
    page.select_option("#kind-rule", "PerExamplePenalty")
    page.wait_for_timeout(900)
    film.take(700)  # old curves in grey, the bar
    page.wait_for_function("document.querySelector('#pinned').textContent.includes('now')",
                           timeout=120_000)  # fmt: skip
    film.settle()
    film.take(2600)
    for power in (3, 4, 5, 6, 7, 8, 9):
        page.evaluate(_SLIDE, ["data.dim", str(power)])
        film.settle()
        film.take(450 if power < 9 else 2600)


def main() -> None:
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if program is None:
        sys.exit("Chromium is not installed (Debian: apt-get install chromium).")
    images = ROOT / "docs" / "images"
    with explorer() as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=_SIZE)  # type: ignore[arg-type]
        page.goto(address + _START)
        film = Film(page)
        act(film)
        page.screenshot(path=images / "explorer.png")
        cards = [card.removeprefix("preset-") for card in page.evaluate(_CARDS)]
        browser.close()
    film.save(images / "explorer.webp")
    (images / "explorer.json").write_text(json.dumps({"cards": cards}) + "\n", encoding="utf-8")
    print(f"{len(film.frames)} frames, {(images / 'explorer.webp').stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
