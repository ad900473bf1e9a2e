"""The live page as an instrument: pin and compare, the lock, the verdict, help, refusals."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from learnscope.theory import conditions
from learnscope.views import explorer as package
from learnscope.views.explorer.live.catalogue import presets
from learnscope.views.explorer.live.controls import controls
from learnscope.views.explorer.live.state import State
from learnscope.views.explorer.live.theory import Theory
from learnscope.views.explorer.live.training import Trainer, check_affordable
from tests.small import refused as refuses
from tests.views.test_explorer_live import (
    SHOWN,
    SMALL,
    WAIT,
    address_has,
    answered_without,
    drawn,
    live,
    redrawn,
    slide,
)

__all__ = ["live"]  # a fixture
ASSETS = Path(package.__file__).parent / "assets"
FINITE = (
    f"{SMALL}&net.activation=relu2&net.second_layer=sum&data.noise=0.5&rule=PerExamplePenalty"
    "&rule.weight=0.02&rule.rate=0.02&probes=Loss"
)


def fields(query):
    return {
        f["path"]: f for group in controls(State.parse(query))["groups"] for f in group["fields"]
    }


def verdict(query):
    """The verdict, and the dataset that it is about."""
    state = State.parse(query)
    data = Trainer().run(state.watched, state.seeds)
    return Theory.of(state.experiment).verdict(presets()[state.start], data), data


def test_the_verdict_is_read_from_the_run_and_compared_with_theory():
    strong = "preset=kou&data.train=8&data.test=400&net.width=3&data.signal=8&seeds=3"
    strong += "&probes=TestAccuracy"
    said, data = verdict(strong)
    accuracy = float(data.test_accuracy.isel(step=-1).median())
    assert said.startswith(f"Overfitting is benign: test accuracy {accuracy:.2f}, as theory says: ")
    assert "is 82, and 1 is the boundary." in said  # 8 * 8^4 / 400
    # A run that comes out otherwise than theory says is not reported as theory has it.
    said, _ = verdict(f"{strong}&steps=1&rule.rate=1e-9&net.scale=0")
    assert (
        said.startswith("Overfitting is harmful: ") and "Theory says overfitting is benign" in said
    )
    # Without a theory, or without the probes that decide, only what was measured.
    said, _ = verdict(
        "preset=kou&rule=SharpnessAware&data.train=8&data.test=40&net.width=3&seeds=2"
    )
    assert re.fullmatch(r"Overfitting is \w+: test accuracy [\d.]+\.", said)
    said, _ = verdict(f"{SMALL}&probes=Loss")
    assert re.fullmatch(r"Training loss [\d.]+\.", said)
    said, _ = verdict(
        SMALL + "&net.activation=relu2&rule=PerExamplePenalty&rule.weight=100&rule.rate=100"
    )
    assert said == "Every run diverged."


@pytest.mark.parametrize("name", presets())
def test_conditions_are_in_groups_and_each_preset_introduces_itself(name):
    preset = presets()[name]
    theory = Theory.of(preset.experiment)
    tables = theory.tables()
    if theory.conditions:
        counted = [t for t in tables if t["verdict"]]
        assert sum(len(t["rows"]) for t in counted) == len(conditions(preset.experiment))
        for table in counted:
            held = sum(row[-1] == "holds" for row in table["rows"])
            assert f"{held} of {len(table['rows'])}" in table["title"]
            assert (table["verdict"] == "holds") == (held == len(table["rows"]))
        assert any(each.of for each in theory.conditions)  # the paper's own
    if theory.prediction is not None and preset.expected is not None:
        expected, why, *_ = preset.expected(preset.experiment, theory.prediction)
        assert why and isinstance(expected, str)
    card = next(c for c in controls(State.parse(f"preset={name}"))["presets"] if c["name"] == name)
    assert card["sketch"] and card["about"].count(". ") + card["about"].count(": ") >= 1
    assert card["links"][0]["href"].startswith("https://")
    assert all(field["tip"] for field in fields(f"preset={name}").values())
    assert set(preset.scaling) <= set(fields(f"preset={name}"))


def test_a_dimension_goes_far_only_where_a_lock_keeps_the_problem_alike():
    for name, preset in presets().items():
        shape = next(field for field in fields(f"preset={name}").values() if field["shape"])
        decades = shape["range"]["high"] - np.log10(float(shape["first"]))
        assert shape["range"]["high"] == 9 if preset.scaling else decades <= 2, name
    # The rule is the data's: another net or rule keeps it, other data do not have it.
    assert fields("preset=clusters&data=SignalNoise")["data.noise"]["power"] == -0.5
    assert fields("preset=kou&data=GaussianParity")["data.dim"]["range"]["high"] < 6


def test_a_page_knows_the_dimension_that_it_can_afford():
    def most(query):
        state = State.parse(f"preset={query}&steps=20&data.test=50&probes=Loss")
        return check_affordable(state.watched, 2).most_dim

    largest = most("adam")  # in all coordinates
    assert 1500 < largest < 1e6 and most(f"adam&data.dim={int(largest)}")
    refuses(lambda: most(f"adam&data.dim={2 * int(largest)}"), "GB")
    assert most("kou") is None  # compressed


def test_the_film_shows_the_presets_of_today():
    """`python docs/theme/film.py` makes it anew."""
    shown = json.loads((Path(__file__).parents[2] / "docs/images/explorer.json").read_text())
    assert shown == {"cards": list(presets())}


def test_words_of_rates_and_who_says_so():
    preset = presets()["pegr"]
    given = {"side": "signal", "critical_noise": 0.1, "signal_rate": 0.0098, "noise_rate": -0.1}
    expected, why, who = preset.expected(preset.experiment, given)
    assert why == "signal grows by 0.0098 per step, noise shrinks by 0.1 per step"
    data = xr.Dataset({"signal_learning": (("seed", "step"), [[1.0]]),
                       "noise_memorisation": (("seed", "step"), [[0.1]]),
                       "diverged_at": (("seed",), [np.nan])})  # fmt: skip
    said = Theory(preset.experiment, given, None).verdict(preset, data)
    assert said == f"Signal wins: trained, as {who}: {why}." or f", as {who}: {why}." in said
    assert expected == "signal wins" and who == "the linearised rates say"


def test_sketches_tell_presets_apart_and_no_mathematics_is_dropped():
    script = (ASSETS / "live_controls.js").read_text(encoding="utf-8")
    listed = script.partition("const SKETCHES = {")[2].partition("\n  };")[0]
    drawn = set(re.findall(r"^    (\w+): ", listed, re.MULTILINE))
    cards = {name: (each.sketch[0][1], each.sketch[-1][1]) for name, each in presets().items()}
    assert {kind for pair in cards.values() for kind in pair} <= drawn
    assert len(set(cards.values())) == len(cards), cards
    known = set(re.findall(r"(\w+): \"", (ASSETS / "frame.js").read_text(encoding="utf-8")))
    said = [text for each in presets().values() for text in
            (each.about, *dict(each.sketch), *dict(each.tour))]  # fmt: skip
    symbols = [f["symbol"] for name in presets() for f in fields(f"preset={name}").values()]
    used = {word for text in (*said, *symbols) for word in re.findall(r"\\([A-Za-z]+)", text)}
    assert used and used <= known, used - known


def test_symbols_are_those_of_the_docstrings():
    found = fields("preset=pegr")
    assert (
        found["data.noise"]["symbol"] == r"\sigma_p"
        and found["rule.weight"]["symbol"] == r"\lambda"
    )
    assert "mini-batch size" in found["data.batch"]["tip"]
    assert "at least 0" in found["data.noise"]["tip"]
    assert found["data.noise"]["power"] == -0.5 and found["data.dim"]["shape"]


def test_numbers_and_formulas_are_typeset(live, page):
    live()
    said = "learnscope.typeset(words).map((node) => node.textContent || node).join('')"
    formula = page.evaluate(f"words => {said}", "eta 1 max(m, <w, mu>) >= 2.4e+05")
    assert formula == "η max(m, ⟨w, μ⟩) ≥ 2.4·105"  # 5 is raised
    lowered = "learnscope.typeset(words).filter((node) => node.tagName === 'SUB').length"
    assert page.evaluate(f"words => {lowered}", "P0 <= alpha1 x2") == 2  # not of x
    assert page.evaluate(f"words => {said}", "max_{k != j}") == "maxk≠j"
    assert page.evaluate(f"words => {said}", "d^(-(k - 2) / 2), so") == "d-(k - 2) / 2, so"
    assert page.evaluate("['1000000000', '0.5', 'Maml'].map(learnscope.short)") == [
        "10⁹", "0.5", "Maml"
    ]  # fmt: skip


def test_a_pinned_run_stays_beside_another_and_in_the_address(live, page):
    live()
    before = drawn(page)
    page.click("#pin")
    assert page.inner_text("#pin") == "Unpin"
    page.select_option("#kind-rule", "PerExamplePenalty")
    after = redrawn(page, before)
    page.wait_for_function("document.getElementById('pinned').textContent.includes('PerExample')")
    said = page.inner_text("#pinned")
    assert said == "Dashed, pinned: rule GradientDescent (now PerExamplePenalty)"
    dashed = (
        "document.getElementById('curves').data"
        ".filter((l) => l.line.dash === 'dash').map((l) => l.y)"
    )
    np.testing.assert_allclose(page.evaluate(dashed)[0], before, rtol=1e-9)
    assert page.evaluate(dashed)[0] != after
    slide(page, "data.noise", 0.5)
    page.wait_for_function(
        "document.getElementById('pinned').textContent.includes('noise 1 (now 3.16)')"
    )
    address_has(page, "pin=preset%3Dkou")
    # A link restores both.
    page.goto(page.url)
    page.wait_for_function(SHOWN, timeout=WAIT)
    page.wait_for_function(f"() => ({dashed}).length > 0", timeout=WAIT)
    np.testing.assert_allclose(page.evaluate(dashed)[0], before, rtol=1e-9)
    page.click("#pin")
    page.wait_for_function(f"() => ({dashed}).length === 0")
    assert "pin=" not in page.url and page.inner_text("#pinned") == ""


def test_an_address_with_a_bad_pin_is_refused():
    refuses(lambda: State.parse("preset=kou&pin=preset%3Dnone"), "unknown preset 'none'")
    refuses(
        lambda: State.parse("preset=kou&pin=preset%3Dkou%26pin%3Dpreset%253Dkou"), "no pinned run"
    )
    state = State.parse("preset=kou&pin=preset%3Dkou%26data.noise%3D2")
    assert State.parse(state.query()) == state


def test_with_the_lock_the_dimension_moves_and_runs_stay_finite(live, page):
    live(FINITE)
    before = drawn(page)
    slide(page, "data.dim", 8)
    redrawn(page, before)
    address_has(page, "data.dim=100000000")
    assert page.input_value("#field-data\\.noise") == "0.001"  # 0.5 * sqrt(400 / 10^8)
    assert page.inner_text("#warning") == ""
    ends = (page.get_attribute("#slider-data\\.noise", end) for end in ("min", "max"))
    low, high = map(float, ends)
    assert low < np.log10(0.001) < high
    # Back where it was, all is as it was.
    page.fill("#field-data\\.dim", "400")
    page.press("#field-data\\.dim", "Enter")
    page.wait_for_function("location.search.includes('dim') === false", timeout=WAIT)
    assert page.input_value("#field-data\\.noise") == "0.5"
    # Without the lock, noise keeps its standard deviation, and its norm explodes.
    page.uncheck("#lock")
    slide(page, "data.dim", 8)
    page.wait_for_function(
        "document.getElementById('warning').textContent.includes('diverged')", timeout=WAIT
    )
    assert page.input_value("#field-data\\.noise") == "0.5"
    assert "diverged" in page.inner_text("#verdict")


def test_a_refusal_stands_below_its_control_and_help_beside_what_is_focused(live, page):
    live()
    box = page.locator("#field-data\\.noise")
    box.focus()
    assert "at least 0" in page.inner_text("#help") and "SignalNoise.noise" in page.inner_text(
        "#help"
    )
    box.fill("-1")
    box.press("Enter")
    page.wait_for_selector("#row-data\\.noise + #refusal.message", timeout=WAIT)
    assert box.get_attribute("aria-invalid") == "true"
    box.fill("2")
    box.press("Enter")
    page.wait_for_function("document.getElementById('refusal').textContent === ''", timeout=WAIT)
    assert box.get_attribute("aria-invalid") is None
    page.click("#preset-pegr")
    page.wait_for_function(
        "document.getElementById('about').textContent.includes('penalty')", timeout=WAIT
    )
    assert (
        page.locator("#about a").first.get_attribute("href") == "https://arxiv.org/abs/2303.17940"
    )
    assert page.locator("#row-data\\.noise .symbol").inner_text() == "σp"


@pytest.mark.parametrize("name", presets())
def test_every_stop_of_a_tour_is_an_address_that_changes_something(name):
    (card,) = [c for c in controls(State.parse("")).get("presets") if c["name"] == name]
    stops = [State.parse(query) for _, query in card["tour"]]
    assert len(stops) >= 3 and stops[0] == State.parse(f"preset={name}")
    assert len({state.query() for state in stops}) == len(stops)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, each in presets().items() if each.outcome])
def test_a_tour_breaks_and_mends(name):
    """What comes out changes at the second stop, or at the third."""
    trainer, preset = Trainer(), presets()[name]
    found = []
    for _, query in preset.tour:
        state = State.parse(f"preset={name}&{query}".rstrip("&"))
        data = trainer.run(state.watched, state.seeds)
        found.append(Theory.of(state.experiment).verdict(preset, data).partition(":")[0].strip("."))
    assert len(set(found)) == 2, found


def test_a_tour_goes_from_stop_to_stop_with_the_last_one_pinned(live, page):
    live("preset=kou")
    before = drawn(page)
    page.click("#tour")
    assert page.inner_text("#guide") == presets()["kou"].tour[0][0]
    assert page.inner_text("#tour") == "Next (1 of 3)"
    page.click("#tour")
    redrawn(page, before)
    address_has(page, "data.signal=4")
    assert page.inner_text("#pinned") == "Dashed, pinned: signal 2 (now 4)"
    page.click("#tour")
    assert page.inner_text("#tour") == "End the tour"
    address_has(page, "data.dim=40000")
    page.click("#tour")
    assert page.inner_text("#guide") == "" and page.inner_text("#tour").startswith("Tour")


def test_the_last_step_is_looked_at_when_a_tour_begins_where_one_is(page, explorer):
    """Its first stop needs no training; the weights' picture comes later, for that step."""
    held = []
    answered_without(page, "kinds")
    page.route("**/live/weights*", lambda route: held.append(route))
    page.goto(f"{explorer.address}/?preset=kou")
    page.wait_for_function(SHOWN, timeout=WAIT)
    with page.expect_response("**/live/controls*"):  # of the preset, which is rebuilt
        page.evaluate("document.getElementById('tour').click()")
    while not held:
        page.wait_for_timeout(50)
    page.wait_for_timeout(200)
    assert page.inner_text("#at-text") != "step undefined"
    assert "undefined" not in page.url
    for route in held:
        route.fulfill(json={"refusal": "It is not looked at."})
    page.wait_for_timeout(200)
    assert re.fullmatch(r"step \d+", page.inner_text("#at-text"))
    page.wait_for_load_state("networkidle")
