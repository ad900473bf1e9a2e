"""How large is the report of a full `learnscope verify`, and how soon is it open in a browser?

Without a folder, one of the same size is made up: every claim of every study with a sentence as
measured, every figure (curves of noise) and every experiment. Each opening is in a new context of
headless Chromium: until the `load` event, and until the page stands at its first figure and that is
painted; the median of several.

    python benchmarks/report_open.py [FOLDER] [--repeats 5]
"""

import argparse
import dataclasses
import io
import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from PIL import Image, ImageChops

from learnscope.evidence.ledger import VERDICTS, Finding, Ledger
from learnscope.evidence.output import Output
from learnscope.papers import STUDIES
from learnscope.views.report.contents import read_contents
from learnscope.views.report.page import page

MOST_BYTES, MOST_SECONDS = 15e6, 2.0
PAINTED = """async () => {
    const image = document.querySelector("img");
    image.scrollIntoView();
    await image.decode();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def made_up(folder: Path) -> None:
    """An output folder no smaller than that of all studies (200 kB of ledger, 11 MB of PNGs)."""
    output, ledger = Output(folder), Ledger()
    drawn = _curves()
    for study in STUDIES.values():
        for name, sweep in study.sweeps("laptop").items():
            told = {arm.label: arm.experiment.to_toml() for arm in getattr(sweep, "arms", ())}
            attributes = {"experiment": json.dumps(told)} if told else {}
            seeds = xr.Dataset(coords={"seed": np.arange(10)}, attrs=attributes)
            output.dataset(f"{study.name}/{name}", seeds)
        for position, name in enumerate(study.figures):
            different = ImageChops.offset(drawn, 13 * position, 7 * position)
            different.save(folder / study.name / f"{name}.png")
        for position, entry in enumerate(study.ledger({})):
            finding = Finding(
                "train-train 0.813 ± 0.066 against 0.810 ± 0.072, difference +0.003 ± 0.019, "
                "2/3 [21-94 %] of seeds (600 steps, 3 seeds)",
                VERDICTS[position % len(VERDICTS)],
                "not at the larger values; neither has fitted its examples by the last step",
            )
            ledger.append(dataclasses.replace(entry, finding=finding))
    output.ledger(ledger)


def _curves() -> Image.Image:
    """Three panels of noisy curves with bands, as figures of studies are."""
    draws = 0.5 * np.random.default_rng(0).normal(size=(3, 3, 60)).cumsum(axis=-1)
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.6), layout="constrained")
    for panel, curves in zip(axes, draws, strict=True):
        for curve in curves:
            panel.plot(curve)
            panel.fill_between(np.arange(60), curve - 2, curve + 2, alpha=0.2)
        panel.set(title="curves", xlabel="step", ylabel="loss (nat)")
    held = io.BytesIO()
    figure.savefig(held, dpi=160)
    plt.close(figure)
    return Image.open(held).convert("RGB")


def opened(browser, url: str) -> tuple[float, float]:
    """Seconds until the page has loaded, and until its first figure is painted."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    started = time.perf_counter()
    tab.goto(url, wait_until="load")
    loaded = time.perf_counter() - started
    tab.evaluate(PAINTED)
    painted = time.perf_counter() - started
    context.close()
    return loaded, painted


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        print("not measured: needs Chromium (Debian: apt-get install chromium)")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as temporary:
        if arguments.folder is None:
            made_up(Path(temporary))
        started = time.perf_counter()
        contents = read_contents(arguments.folder or temporary)
        file = Path(temporary) / "report.html"
        file.write_text(page(contents), encoding="utf-8")
        wrote = time.perf_counter() - started
        size = file.stat().st_size
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            times = [opened(browser, file.as_uri()) for _ in range(arguments.repeats)]
            browser.close()
    loaded, painted = map(statistics.median, zip(*times, strict=True))
    figures = sum(len(part.pictures) for part in contents.parts)
    experiments = sum(len(part.experiments) for part in contents.parts)
    print(
        f"{len(contents.rows)} claims, {figures} figures, {experiments} experiments: "
        f"{size / 1e6:.1f} MB, written in {wrote:.0f} s\n"
        f"loaded in {loaded:.2f} s, first figure painted after {painted:.2f} s"
    )
    print(f"ratio, size / limit of 15 MB: {size / MOST_BYTES:.2f} (below 1 wanted)")
    print(f"ratio, time to the first figure / limit of 2 s: {painted / MOST_SECONDS:.2f} (below 1)")


if __name__ == "__main__":
    main()
