"""The live page in a real browser: sliders, links, playing, refusals, the keyboard."""

import re

import numpy as np
import pytest

from learnscope.views.explorer.live.catalogue import presets
from learnscope.views.explorer.live.state import State
from tests.small import run

SMALL = "preset=kou&data.train=8&data.test=40&net.width=3&steps=20&seeds=3"
WAIT = 60_000  # ms: a program is compiled first
SHOWN = "() => document.getElementById('curves')?.data?.[1].y"


@pytest.fixture
def live(page, explorer):
    """A page with a small experiment, drawn; with a picture of the weights, a program of its own,
    only where a test looks at it."""

    def open_at(query=SMALL, weights=False):
        if not weights:
            answered_without(page, "weights")
        page.goto(f"{explorer.address}/?{query}")
        page.wait_for_function(SHOWN, timeout=WAIT)
        if weights:
            page.wait_for_selector("#weights .main-svg", timeout=WAIT)
        return page

    return open_at


def answered_without(page, *questions):
    """Spare the server questions that take seconds of a page's life, and are not looked at."""
    refusal = {"refusal": "It is not looked at."}
    for question in questions:
        page.route(f"**/live/{question}*", lambda route: route.fulfill(json=refusal))


def slide(page, path, value):
    """Move a slider as a hand does."""
    page.evaluate(
        """([id, value]) => { const bar = document.getElementById(id); bar.value = value;
           bar.dispatchEvent(new Event("input", {bubbles: true})); }""",
        [f"slider-{path}", str(value)],
    )


def drawn(page):
    return page.evaluate(SHOWN)


def redrawn(page, before):
    """What is drawn as soon as it is something else."""
    page.wait_for_function(
        "before => JSON.stringify(document.getElementById('curves').data[1].y) !== before",
        arg=str(before).replace(" ", ""),
        timeout=WAIT,
    )
    return drawn(page)


def refused(page, words):
    """What was asked for last is refused in these words; none: it is not."""
    page.wait_for_function(
        "words => { const said = document.getElementById('refusal').textContent;"
        " return words ? said.includes(words) : said === '' }",
        arg=words,
        timeout=WAIT,
    )


def address_has(page, words):
    page.wait_for_function("words => location.search.includes(words)", arg=words, timeout=WAIT)


def test_a_slider_changes_the_curves_and_the_address_and_a_link_restores_both(live, page):
    live()
    before = drawn(page)
    assert len(before) == 21
    slide(page, "data.noise", 0.5)
    after = redrawn(page, before)
    address_has(page, "data.noise=3.16")
    assert page.input_value("#field-data\\.noise") == "3.16"
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_function(SHOWN, timeout=WAIT)
    assert drawn(page) == after
    assert page.input_value("#field-data\\.noise") == "3.16"
    assert "3 seeds, 20 steps, compressed coordinates" in page.inner_text("#status")


def test_what_is_drawn_is_what_the_library_computes(live, page):
    live()
    data = run(State.parse(SMALL).watched, seeds=3)
    shown = page.evaluate("document.getElementById('curves').data.map(line => line.y)")
    medians = [line for line in shown if len(line) == 21]
    np.testing.assert_allclose(medians[0], data.signal_learning.median("seed").values, rtol=1e-4)
    accuracy = data.test_accuracy.median("seed").values
    assert any(np.allclose(line, accuracy, rtol=1e-4) for line in medians)


def test_a_bad_link_gives_a_message_and_a_page_that_works(live, page):
    live("preset=kou&data.niose=1")
    said = page.inner_text("#trouble")
    assert "unknown field of SignalNoise 'niose'; did you mean 'noise'?" in said
    first = next(iter(presets()))  # is shown instead
    assert page.get_attribute(f"#preset-{first}", "aria-pressed") == "true"


def test_bad_values_are_refused_in_words_and_sliders_stop(live, page):
    live()
    box = page.locator("#field-data\\.noise")
    for text, words in (
        ("-1", "SignalNoise.noise = -1.0 is not allowed: it must be a finite number at least 0"),
        ("nan", "SignalNoise.noise = nan is not allowed"),
        ("", "must be a finite number"),
    ):
        box.fill(text)
        box.press("Enter")
        refused(page, words)
    box.fill("0.5")
    box.press("Enter")
    refused(page, "")
    # A box shows a few digits, and all of them while it is edited.
    box.fill("0.123456789")
    box.press("Enter")
    address_has(page, "data.noise=0.123456789")
    page.focus("#slider-steps")
    assert box.input_value() == "0.1235"
    box.focus()
    assert box.input_value() == "0.123456789"
    # Sliders of counts stop at round numbers, up to their end.
    page.focus("#slider-steps")
    page.keyboard.press("End")
    assert page.input_value("#field-steps") == "1000"
    page.keyboard.press("Home")
    assert page.input_value("#field-steps") == "1"
    slide(page, "net.width", 1.31)
    assert page.input_value("#field-net\\.width") == "20"


def test_what_is_refused_is_not_shown_as_if_it_were_run(live, page):
    live(weights=True)
    before, address = drawn(page), page.url
    page.fill("#field-net\\.width", "1000000")
    page.press("#field-net\\.width", "Enter")
    page.wait_for_function("document.getElementById('refusal').textContent !== ''", timeout=WAIT)
    assert drawn(page) == before and page.url == address
    assert "shown before" in page.inner_text("#status")
    assert page.evaluate("getComputedStyle(document.getElementById('over')).opacity") < "0.5"
    assert "1000000" not in page.get_attribute("#export-nc", "href")


def test_runs_that_diverge_are_told_and_back_undoes_another_rule(live, page):
    live(SMALL + "&net.activation=relu2&rule=PerExamplePenalty&rule.weight=100&rule.rate=100")
    page.wait_for_function("document.getElementById('warning').textContent.includes('3 of 3 runs')")
    live()
    before = drawn(page)
    page.select_option("#kind-rule", "FullPenalty")
    redrawn(page, before)
    address_has(page, "rule=FullPenalty")
    page.go_back()
    page.wait_for_function("document.getElementById('kind-rule').value === 'GradientDescent'")
    page.click("#to-live")  # the page that is open: its address keeps the state
    assert "preset=kou" in page.url


def test_the_step_plays_and_pauses_and_is_in_the_address(live, page):
    live(weights=True)
    place = page.locator("#at")
    assert place.input_value() == "20"
    place.focus()
    page.keyboard.press("ArrowLeft")
    address_has(page, "step=19")
    assert page.inner_text("#at-text") == "step 19"
    points = "() => JSON.stringify(document.getElementById('weights').data[0].x)"
    star = page.evaluate("document.getElementById('weights').data[1]")
    assert star["text"] == ["μ"] and len(star["x"]) == 1
    # Names stand apart; those without room are seen when their stars are pointed at.
    beside = "([stars, names]) => learnscope.beside(stars, names)"
    near = [[0, 0]] * 9, [f"feature {i}" for i in range(9)]
    assert page.evaluate(beside, near) == ["top center", "bottom center", *[""] * 7]
    apart = page.evaluate(beside, ([[0, 0], [0.2, 0], [1, 0]], ["task 1", "task 2", "task 3"]))
    assert apart == ["top center", "bottom center", "top center"]
    before = page.evaluate(points)
    page.click("#play")
    page.wait_for_function("Number(document.getElementById('at').value) > 2 && "
                           "Number(document.getElementById('at').value) < 19")  # fmt: skip
    page.click("#play")
    assert page.inner_text("#play") == "Play"
    stopped = place.input_value()
    page.wait_for_timeout(300)
    assert place.input_value() == stopped
    assert page.evaluate(points) != before
    assert str(page.evaluate("document.getElementById('curves').layout.shapes[0].x0")) == stopped
    page.reload()
    page.wait_for_function(SHOWN, timeout=WAIT)
    page.wait_for_function("n => document.getElementById('at').value === n", arg=stopped)


def test_another_rule_keeps_the_data_and_a_pair_that_does_not_fit_is_not_offered(live, page):
    live(SMALL + "&data.noise=2")
    before = drawn(page)
    page.select_option("#kind-rule", "PerExamplePenalty")
    redrawn(page, before)
    address_has(page, "rule=PerExamplePenalty")
    assert "data.noise=2" in page.url
    assert page.input_value("#field-data\\.noise") == "2"
    assert page.locator("#slider-rule\\.weight").is_visible()
    # All that fit are offered as soon as they were tried.
    page.wait_for_function(
        "document.querySelectorAll('#kind-rule option').length > 3", timeout=WAIT
    )
    offered = page.locator("#kind-rule option").all_text_contents()
    assert page.input_value("#kind-rule") == "PerExamplePenalty"
    assert "GradientDescent" in offered and "NonContrastive" not in offered


def test_a_probe_that_is_ticked_is_drawn_and_kept_in_the_address(live, page):
    live()
    assert page.is_checked("#probe-Loss") and not page.is_checked("#probe-GradientNorm")
    page.click("summary:text-is('probes')")
    page.check("#probe-GradientNorm")
    address_has(page, "GradientNorm")
    assert "squared norm of the training gradient" in page.inner_text("#legends")
    page.check("#probe-PairLoss")  # another data model's
    refused(page, "no positive pairs")


def test_everything_can_be_done_from_the_keyboard(live, page):
    live()
    before = drawn(page)
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
        if page.evaluate("document.activeElement.id") == "slider-data.noise":
            page.keyboard.press("ArrowRight")
    wanted = {"to-live", "to-sweeps", "to-ledger", "preset-kou", "kind-data", "kind-net",
              "kind-rule", "slider-data.noise", "field-data.noise", "slider-steps", "export-py",
              "export-nc", "copy", "play", "pin", "lock", "at", "skip"}  # fmt: skip
    assert wanted <= reached, wanted - reached
    redrawn(page, before)
    names = page.evaluate(
        """() => [...document.querySelectorAll('#controls input, #controls select, #at')]
             .filter(e => !(e.labels && e.labels[0] && e.labels[0].textContent.trim())).length"""
    )
    assert names == 0  # every control has a label


@pytest.mark.slow
def test_a_picture_of_the_head_and_theory_beside_it(live, page):
    live("preset=pred_head&data.batch=16&data.test=20&steps=20&seeds=2&data.dim=30", weights=True)
    assert page.evaluate("document.getElementById('weights').data[0].type") == "heatmap"
    assert "off-diagonal" in page.inner_text("#weights-text")
    assert "What theory predicts" in page.inner_text("#theory")
    assert re.search(r"Theorem 4\.1 (holds|fails): \d+ of \d+", page.inner_text("#theory"))


def test_exports_are_those_of_what_is_shown(live, page):
    live()
    slide(page, "data.noise", 0.5)
    address_has(page, "data.noise=3.16")
    found = {}
    for kind in ("py", "toml", "pdf", "nc"):
        with page.expect_download() as waiting:
            page.click(f"#export-{kind}")
        found[kind] = waiting.value.path().read_bytes()
    assert found["py"].startswith(b"import learnscope as ls")
    assert b"noise=3.16" in found["py"]
    assert b"seeds = 3" in found["toml"]
    assert b"noise = 3.16" in found["toml"]
    assert found["pdf"].startswith(b"%PDF")
    assert found["nc"][1:4] == b"HDF"
