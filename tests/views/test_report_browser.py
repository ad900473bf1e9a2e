"""The report in a real browser: filters, links, light and dark, keyboard, print, no network."""

import itertools
import json

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from learnscope.papers import STUDIES
from learnscope.views.report.contents import read_contents
from learnscope.views.report.page import page as report_page
from tests.papers.test_studies import attributes
from tests.views.conftest import CONTRASTS, NAMELESS


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A report of two studies, with a figure each and the experiments of a sweep."""
    folder = tmp_path_factory.mktemp("out")
    rows = []
    for name, figure, sweep in (("pegr", "figure1", "literal"), ("kou", "diagram", "diagram")):
        study = STUDIES[name]
        (folder / name).mkdir()
        noise = np.random.default_rng(0).integers(0, 255, (600, 1000, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / name / f"{figure}.png")
        attrs = attributes(study.sweeps("laptop")[sweep])
        data = xr.Dataset(coords={"seed": range(10)}, attrs=attrs)
        data.to_netcdf(folder / name / f"{sweep}.nc", engine="h5netcdf")
        rows += [entry.to_dict() for entry in study.ledger({})]
    for row, verdict in zip(rows, ("differs", "reproduced", "reproduced"), strict=False):
        row |= {"verdict": verdict, "measured": "0.813 ± 0.066 (10 seeds)", "why": "a reason"}
    (folder / "ledger.json").write_text(json.dumps(rows), encoding="utf-8")
    file = folder / "report.html"
    file.write_text(report_page(read_contents(folder)), encoding="utf-8")
    return file.as_uri()


def shown(page):
    """How many claims are on the screen, which the page tells in words, too."""
    rows = page.locator("#rows tr:visible").count()
    assert page.locator("#shown").inner_text() == f"{rows} claim" + "s" * (rows != 1)
    return rows


def test_nothing_is_fetched_and_all_is_there_with_a_name(page, url):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    widths = "Array.from(document.images, (image) => image.complete && image.naturalWidth)"
    mark, *figures = page.evaluate(widths)
    assert mark and figures == [1000, 1000]
    assert asked[0] == url and all(one.startswith("data:image/") for one in asked[1:])
    assert page.locator("html").get_attribute("lang") == "en"
    levels = [int(h.evaluate("h => h.tagName[1]")) for h in page.locator("h1,h2,h3,h4").all()]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert page.evaluate(NAMELESS) == []


def test_filters(page, url):
    page.goto(url)
    claims = {name: len(STUDIES[name].claims) for name in ("pegr", "kou")}
    assert shown(page) == sum(claims.values())
    page.get_by_label("Study").select_option("kou")
    assert shown(page) == claims["kou"]
    page.get_by_label("Study").select_option("")
    page.get_by_role("button", name="not run").click()
    assert shown(page) == 3
    page.get_by_label("Find").fill("0.813 REASON")
    assert shown(page) == 3
    page.get_by_role("button", name="reproduced").click()
    assert shown(page) == 1
    page.get_by_label("Find").fill("no such words")
    assert shown(page) == 0


def test_a_claim_leads_to_its_figure_and_experiments(page, url):
    page.goto(url)
    row = page.locator("#pegr-claim-losses\\.literal")
    row.get_by_role("link", name="figure1").click()
    assert page.url.endswith("#pegr-figure1")
    top = page.locator("#pegr-figure1 img").bounding_box()["y"]
    assert 0 <= top < 100, "the figure is where the link goes"
    page.go_back()
    row.get_by_role("link", name="literal").click()
    defined = page.locator("#pegr-runs-literal details")
    assert defined.count() == 4, "three rules, and PEGR with λ"
    opened = "document.querySelectorAll('#pegr-runs-literal details[open]').length"
    page.wait_for_function(f"{opened} == 4")  # the page hears of the link after the click
    assert defined.first.get_by_text('kind = "PerExamplePenalty"').is_visible()
    table = defined.first.locator("table")
    assert table.locator("th").all_inner_texts()[-2:] == ["margin", "holds"]
    assert table.locator("tbody tr").count() > 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page, url, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto(url)
    page.get_by_role("button", name="not run").click()  # a button that is not pressed, too
    page.get_by_role("button", name="Open all").first.click()
    found = page.evaluate(CONTRASTS)
    assert len(found) > 15
    assert min(found.values()) >= 4.5, found
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_keyboard_only(page, url):
    page.goto(url)

    def tab():
        page.keyboard.press("Tab")
        return page.evaluate("document.activeElement.id || document.activeElement.textContent")

    assert tab() == "Skip to the ledger"
    assert tab() == "pegr" and tab() == "kou"
    assert tab() == "find"
    page.keyboard.type("0.813")
    assert shown(page) == 3
    assert tab() == "study"
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("Study").input_value() == "pegr"
    assert "reproduced" in tab()
    page.keyboard.press("Space")
    assert shown(page) == 1
    page.keyboard.press("Enter")
    assert shown(page) == 3
    page.locator("#pegr summary").first.focus()
    page.keyboard.press("Enter")
    assert page.get_by_text("@article{meng2023pegr").is_visible()


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_cut_off(page, url, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(url)
    # Without opened definitions: they scroll in boxes of their own.
    wide = """Array.from(document.querySelectorAll("body *")).filter((e) => e.checkVisibility()
        && !e.closest(".skip, #table thead") && e.getBoundingClientRect().right > innerWidth + 1)
        .map((e) => e.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []


def test_print(page, url):
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 690, "height": 900})  # of A4, at 96 dots an inch, in margins
    page.goto(url)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".controls").is_visible()
    cut = """Array.from(document.querySelectorAll("#table td > div"))
        .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).length"""
    assert page.evaluate(cut) == 0
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.get_by_text("@article{meng2023pegr").is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not page.get_by_text("@article{meng2023pegr").is_visible()
