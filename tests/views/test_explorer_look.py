"""How pages look: at every width, in light and dark, while they wait, and to every eye."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from learnscope.views import explorer as package
from tests.views.conftest import CONTRASTS, NAMELESS
from tests.views.test_explorer_live import SHOWN, SMALL, WAIT, answered_without, redrawn

STYLE = (Path(package.__file__).parent / "assets" / "style.css").read_text(encoding="utf-8")
# Wide, narrow, a phone, the phone turned, and back.
WIDTHS = ((1400, 900), (700, 900), (390, 844), (844, 390), (1400, 900))
# What must lie apart on each page: blocks of the page, and everything inside plots.
INSIDE = ".nsewdrag, .over .legend, .xtick text, .g-xtitle text"
BLOCKS = {
    f"/?{SMALL}": "nav.pages, #presets, #about, #verdict, #over, .player, .pinning, "
    "#weights, #theory",
    "/sweeps": "nav.pages, .filters, .sweep-controls, #sweep-map, #sweep-cell, #sweep-curves",
    "/ledger": "nav.pages, header, .filters, #ledger-table",
}
OVERLAPS = """([inside, blocks]) => {
  const beside = (a, b) => a.right <= b.left + 1 || a.bottom <= b.top + 1;
  const apart = (a, b) => beside(a, b) || beside(b, a);
  const name = (e) => `${e.id} ${e.getAttribute("class")} "${e.textContent.slice(0, 20)}"`;
  const found = [];
  for (const selector of [inside, blocks]) {
    const all = [...document.querySelectorAll(selector)];
    const boxes = all.map((e) => [e, e.getBoundingClientRect()]);
    const seen = boxes.filter(([, box]) => box.width > 1 && box.height > 1);
    seen.forEach(([e, a], i) => {
      for (const [f, b] of seen.slice(i + 1))
        if (!apart(a, b)) found.push(name(e) + " on " + name(f));
    });
  }
  const wide = document.documentElement.scrollWidth;
  if (wide > window.innerWidth + 1) found.push(`the page is ${wide} wide`);
  return found;
}"""


def colours(dark):
    """The colours of the style by name."""
    light, *rest = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    text = light + (rest[0] if dark else "")
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text))


def linear(colour):
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """The contrast ratio of WCAG 2.1."""
    light, dark = sorted((linear(c) @ [0.2126, 0.7152, 0.0722] for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_contrasts_hold_wcag_aa(dark):
    c = colours(dark)
    for pair in ("text back", "text soft", "quiet back", "quiet soft", "link back", "link soft",
                 "bad back", "bad badback", "good back", "back link"):  # fmt: skip
        one, other = pair.split()
        assert contrast(c[one], c[other]) >= 4.5, pair
    for k in range(1, 7):
        assert contrast(c[f"curve-{k}"], c["back"]) >= 3, k
    assert contrast(c["mark"], c["back"]) >= 3
    assert contrast("#777777", "#ffffff") < 4.5 < contrast("#767676", "#ffffff")  # the known edge


# Viénot, Brettel, Mollon (1999) for red and green, Brettel's plane for blue, in linear RGB.
SEEN = {
    "all": np.eye(3),
    "no red": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "no green": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
    "no blue": [[1, 0.14461, -0.14461], [0, 0.85924, 0.14076], [0, 0.85924, 0.14076]],
}


def lab(rgb):
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", SEEN)
def test_curves_differ_to_every_eye(dark, eye):
    """A panel seldom has more than four lines; a difference of 10 is seen at a glance."""
    shown = [lab(np.array(SEEN[eye]) @ linear(colours(dark)[f"curve-{k}"])) for k in range(1, 5)]
    least = min(np.linalg.norm(a - b) for a, b in itertools.combinations(shown, 2))
    assert least > 20, least


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overlaps_at_any_width_and_a_phone_has_a_sheet(page, explorer, scheme):
    page.emulate_media(color_scheme=scheme)
    for path, blocks in BLOCKS.items():
        page.set_viewport_size({"width": 1400, "height": 900})
        query = f"?id={explorer.plane}" if path == "/sweeps" else ""
        page.goto(explorer.address + path + query)
        ready = {"/sweeps": "#sweep-curves .main-svg"}.get(path, "table.ledger")
        page.wait_for_selector("#weights .main-svg" if path[1] == "?" else ready, timeout=WAIT)
        # Colours move nothing: in the dark, the widths at which they are looked at.
        for width, height in WIDTHS if scheme == "light" else WIDTHS[2:4] + WIDTHS[:1]:
            page.set_viewport_size({"width": width, "height": height})
            apart(page, blocks, f"{path} at {width}")
            if width in (1400, 390):
                contrasts = page.evaluate(CONTRASTS)
                weak = {name: ratio for name, ratio in contrasts.items() if ratio < 4.5}
                assert len(contrasts) > 10 and not weak, (path, width, weak)
                assert page.evaluate(NAMELESS) == [], (path, width)
        assert page.locator("h1").count() == 1, path
        (marked,) = page.locator("nav.pages a[aria-current=page]").all_inner_texts()
        assert marked == {"sw": "Sweeps", "le": "Ledger"}.get(path[1:3], "Live")
        assert page.locator("html").get_attribute("lang") == "en"
    page.goto(f"{explorer.address}/?{SMALL}")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(SHOWN, timeout=WAIT)
    assert not page.locator("#slider-data\\.noise").is_visible()
    # Cards go on beyond the edge, which says so until the last one is there.
    page.wait_for_selector("#presets.more")
    page.evaluate("document.querySelector('#presets').scrollLeft = 99999")
    page.wait_for_selector("#presets:not(.more)")
    page.click("#sheet-toggle")
    page.locator("#slider-data\\.noise").scroll_into_view_if_needed()
    assert page.locator("#slider-data\\.noise").is_visible()
    sheet, plot = page.locator("#sheet").bounding_box(), page.locator("#over").bounding_box()
    assert sheet["y"] > 844 * 0.4 and plot["y"] < sheet["y"]  # curves stay in sight
    page.click("#sheet-toggle")
    assert page.get_attribute("#sheet-toggle", "aria-expanded") == "false"


def apart(page, blocks, where):
    """Nothing overlaps, at the latest when the page has settled."""
    try:
        page.wait_for_function(f"given => ({OVERLAPS})(given).length === 0",
                               arg=[INSIDE, blocks], timeout=4000)  # fmt: skip
    except Exception:
        found = page.evaluate(OVERLAPS, [INSIDE, blocks])
        raise AssertionError(f"{where}: {found[:5]}") from None


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("preset=online&data.dim=100&steps=20&seeds=2", "lock: keeps σw √d, η d"),
        ("preset=pred_head&data.batch=16&data.test=20&steps=20&seeds=2",
         "lock: keeps σ √d, overlaps / √d"),
    ],
)  # fmt: skip
def test_other_legends_and_locks(page, explorer, query, kept):
    """Of presets with panels of components, whose legends are longer."""
    answered_without(page, "weights", "kinds")
    page.goto(f"{explorer.address}/?{query}")
    page.wait_for_function(SHOWN, timeout=WAIT)
    assert page.inner_text("label.lock") == kept
    for width, height in (WIDTHS[0], WIDTHS[2]):
        page.set_viewport_size({"width": width, "height": height})
        apart(page, BLOCKS[f"/?{SMALL}"], f"{query} at {width}")
    # Words come before the verdict, on a phone too.
    about, verdict = (page.locator(id).bounding_box()["y"] for id in ("#about", "#verdict"))
    assert about < verdict


def test_an_overlap_a_pale_text_and_a_button_without_a_name_would_be_found(page):
    page.set_content(
        "<div class=legend>a</div>" * 2 + "<style>div { position: absolute; top: 9px }</style>"
    )
    assert len(page.evaluate(OVERLAPS, [".legend", "nav"])) == 1
    page.set_content("<p style='color: #777'>pale</p><button></button><button>named</button>")
    assert page.evaluate(CONTRASTS)["P.null"] < 4.5
    assert page.evaluate(NAMELESS) == ["<button></button>"]


def test_a_first_visit_shows_progress_within_a_second(page, explorer):
    """The program of this address is compiled by nothing else: the page must say that it waits,
    from the first second until the curves are there."""
    page.add_init_script("""
      window.silent = 0;
      let since = performance.now();
      setInterval(() => {
        const box = (s) => document.querySelector(s)?.getBoundingClientRect();
        const seen = (s) => box(s)?.height > 0;
        const now = performance.now();
        const signs = ["._dash-loading", "main:empty", "#progress", "#curves .main-svg"];
        if (signs.some(seen)) since = null;
        else window.silent = Math.max(window.silent, now - (since ??= now));
      }, 20);""")
    answered_without(page, "weights", "kinds")
    page.goto(f"{explorer.address}/?{SMALL}&net.width=7&steps=17")
    page.wait_for_selector("#progress:not([hidden])", timeout=WAIT)
    assert re.match(r"Training: [\d.]+ s", page.inner_text("#waited"))
    page.wait_for_function(SHOWN, timeout=WAIT)
    page.wait_for_selector("#progress", state="hidden")
    assert page.evaluate("window.silent") < 1000
    before = page.evaluate(SHOWN)
    # Another program: old curves in grey, a bar and a clock until it is compiled.
    page.fill("#field-net\\.width", "9")
    page.press("#field-net\\.width", "Enter")
    page.wait_for_selector("#results.waiting #progress", timeout=WAIT)
    assert page.evaluate("getComputedStyle(document.getElementById('over')).opacity") < "0.5"
    redrawn(page, before)


def test_controls_answer_before_other_parts_are_tried(explorer, monkeypatch):
    """Trying every other part takes seconds: the first answer must not wait for that."""
    from learnscope.views.explorer.live import catalogue

    def tried(*_, **__):
        raise AssertionError("a part was tried")

    monkeypatch.setattr(catalogue, "check_fit", tried)
    monkeypatch.setattr(catalogue, "run_size", tried)
    for name in catalogue.presets():
        assert explorer.ask(f"/live/controls?preset={name}")[0] == 200
