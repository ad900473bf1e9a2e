"""The sweeps page: its numbers against xarray's, what it refuses, and its use in a browser."""

import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.engine import size
from learnscope.lab.blocks import Plan
from learnscope.lab.boundary import BOUNDARY
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from learnscope.papers import STUDIES
from learnscope.views.explorer.live.state import State, fields
from learnscope.views.explorer.live.training import Trainer
from learnscope.views.explorer.site import Site
from learnscope.views.explorer.sweeps import reading
from learnscope.views.explorer.sweeps.listing import listing
from learnscope.views.explorer.sweeps.names import differences, study_names
from learnscope.views.explorer.sweeps.plots import picture
from learnscope.views.explorer.sweeps.reading import Opened
from learnscope.views.explorer.sweeps.side import Side
from learnscope.views.explorer.sweeps.state import Chosen
from tests.lab.stored import tree
from tests.small import probes, refused
from tests.views.conftest import EXPERIMENT, PARTS, drawn, partly


def opened(explorer, name):
    return Opened.of(Folder(explorer.store), name, check=True)


def shown(explorer, name, query=""):
    """The picture of an address, its counts, and all that is stored."""
    return *drawn_from(explorer.store, name, query), ls.load(name, explorer.store).load()


def drawn_from(store, name, query):
    sweep = Opened.of(Folder(store), name)
    return picture(sweep, Chosen.parse(fields(query), sweep), dark=False)


def heat(figure):
    return np.array(figure["data"][0]["z"], float)


def test_a_map_is_the_mean_over_seeds_after_a_step(explorer):
    loss = ls.load(explorer.plane, explorer.store).loss.load()
    for query, expected in {
        "step=5": loss.sel(step=5).mean("seed").transpose("signal", "dim"),
        "x=signal&y=dim&at.seed=2": loss.isel(step=-1, seed=1).transpose("dim", "signal"),
        "x=seed&y=signal&at.dim=mean": loss.isel(step=-1).mean("dim").transpose("signal", "seed"),
    }.items():
        figure, counted, _ = shown(explorer, explorer.plane, f"of=loss&{query}")
        np.testing.assert_allclose(heat(figure), expected, rtol=1e-5)
        assert (counted.cells, counted.blank, counted.infinite) == (expected.size, 0, 0)


def test_components_by_largest_or_one_by_one(explorer):
    figure, _, data = shown(explorer, explorer.plane, "of=rho_bar&part=2,3&at.seed=1")
    values = data.rho_bar.isel(step=-1, seed=0).transpose("signal", "dim", ...)
    np.testing.assert_allclose(heat(figure), values[:, :, 1, 2], rtol=1e-5)
    figure, _, _ = shown(explorer, explorer.plane, "of=rho_underbar&at.seed=1")
    flat = data.rho_underbar.isel(step=-1, seed=0).transpose("signal", "dim", ...).values
    flat = flat.reshape(4, 3, -1)
    np.testing.assert_allclose(heat(figure), flat.min(-1), rtol=1e-5)  # they are negative
    assert heat(figure).max() < 0


def test_cells_that_were_not_run_are_blank_and_counted(explorer):
    figure, counted, data = shown(explorer, explorer.parts, "x=noise&y=rule&of=loss")
    expected = data.loss.isel(step=-1).mean("seed").transpose("rule", "noise")
    blank = np.isnan(expected.values)
    assert counted.blank == blank.sum() > 0
    np.testing.assert_array_equal(np.isnan(heat(figure)), blank)
    np.testing.assert_allclose(heat(figure)[~blank], expected.values[~blank], rtol=1e-5)
    said = np.array(figure["data"][0]["text"])
    assert all("not run yet" in text for text in said[blank])
    assert not any("not run yet" in text for text in said[~blank])


def test_a_curve_over_one_axis_and_trajectories_of_a_cell(explorer):
    figure, _, data = shown(explorer, explorer.plane, "of=loss&x=signal&y=none&at.dim=2")
    expected = data.loss.isel(step=-1, dim=1).median("seed")
    assert figure["data"][-1]["x"] == [0.5, 1.0, 2.0, 4.0]
    np.testing.assert_allclose(figure["data"][-1]["y"], expected, rtol=1e-4)
    found, too_large = opened(explorer, explorer.plane).trajectories({"signal": 3, "dim": 1})
    assert not too_large and found.step.values.tolist() == [0, 5, 10]
    for name in ("loss", "rho_bar"):
        np.testing.assert_array_equal(found[name], data[name].isel(signal=3, dim=1))


def test_the_theory_is_that_of_the_plane_and_of_single_values(explorer, tmp_path):
    over = {"data.noise": [0.5, 2.0], "data.signal": [1.0, 2.0], "data.dim": [50, 100]}
    name = partly(tmp_path, over, leave=0).name
    for place, noise in enumerate([0.5, 2.0]):
        figure, _ = drawn_from(tmp_path, name, f"at.noise={place + 1}")
        line = figure["data"][-1]
        assert line["name"] == "theory, constant 1"
        expected = (np.array(line["x"]) / 6) ** 0.25 * noise  # n |mu|^4 = d sigma^4
        np.testing.assert_allclose(line["y"], expected, rtol=1e-5)
    # None where an axis of the theory is averaged over, nor of gradient penalties.
    for query in ("at.noise=mean", "x=seed&y=signal"):
        assert len(drawn_from(tmp_path, name, query)[0]["data"]) == 1
    assert len(shown(explorer, explorer.parts, "x=noise&y=rule")[0]["data"]) == 1


def test_runs_that_are_not_wholly_there_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=2))
    results = partly(tmp_path, {"data.noise": [0.1, 0.2], "rule.rate": [0.1, 0.2]}, 3, seeds=4)
    box = results.plan.blocks[-3]  # the second half of a cell's seeds
    assert box.shape == (1, 1, 2)
    results._arrays["loss"][box.region] = drawn(results.plan, box)["loss"]  # without its mark
    figure, counted = drawn_from(tmp_path, results.name, "of=loss")
    assert (counted.blank, counted.infinite) == (1, 0)
    data = ls.load(results.name, tmp_path).loss.isel(step=-1)
    assert np.isnan(heat(figure)[1, 1])
    half = float(data.isel(noise=1, rate=0, seed=[0, 1]).mean())
    np.testing.assert_allclose(heat(figure)[1, 0], half, rtol=1e-5)
    assert "mean of 2 of 4 runs" in figure["data"][0]["text"][1][0]


def test_axes_by_their_values():
    data = xr.Dataset(coords={"signal": [1.0, 10.0, 100.0], "noise": [3.0, 1.0, 2.0]})
    side = Side.of(data, "signal")
    assert side.kind == "log"
    np.testing.assert_allclose(side.edges, 10.0 ** np.array([-0.5, 0.5, 1.5, 2.5]))
    assert Side.of(data, "noise").kind == "place"  # in no order
    assert Side.of(data, "noise").texts == ["3", "1", "2"]
    assert Side.of(data.sortby("noise"), "noise").kind == "linear"


def test_a_cell_s_experiment(explorer):
    sweep = opened(explorer, explorer.plane)
    expected = EXPERIMENT.replace("data.signal", 2.0).replace("data.dim", 200)
    assert sweep.experiment({"signal": 2, "dim": 2, "seed": 1}) == expected
    sweep = opened(explorer, explorer.parts)
    expected = EXPERIMENT.replace("rule", PARTS["rule"][1]).replace("data.noise", 0.7)
    assert sweep.experiment({"rule": 1, "noise": 2}) == expected


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("of=nothing", "unknown variable of this sweep 'nothing'"),
        ("x=width", "unknown axis of this sweep 'width'"),
        ("x=dim&y=dim", "both 'dim'"),
        ("step=7", "step 7 was not recorded; the nearest that was is 5"),
        ("step=1e12", "step = 1e12 is not allowed"),
        ("part=1", "this variable has no component"),
        ("of=rho_bar&part=1", "one number for each of filter, sample"),
        ("cell=9,1", "cell, dim = 9 is not allowed"),
        ("cell=1", "it must have 2 numbers"),
        ("at.seed=3", "at.seed = 3 is not allowed"),
        ("at.width=1", "unknown field of an address 'at.width'"),
        ("of=loss&of=loss", "more than once"),
    ],
)
def test_bad_states(explorer, query, words):
    sweep = opened(explorer, explorer.plane)
    refused(lambda: Chosen.parse(fields(query), sweep), words)


def test_too_large_a_selection_is_told(explorer, monkeypatch):
    monkeypatch.setattr(reading, "_MOST_HELD", 500)
    sweep = opened(explorer, explorer.plane)
    refused(lambda: sweep.read("rho_bar", {"step": 0}), "too much for a page")
    sweep.read("rho_bar", {"step": 0, "filter": 0, "sample": 0})
    # 2 seeds x 3 steps x 4 bytes for each component
    found, too_large = sweep.trajectories({"signal": 0, "dim": 0})
    assert list(found) == ["loss", "test_accuracy", "gamma"] and "rho_bar" in too_large
    # A box is read as a whole, here of one rule.
    sweep = opened(explorer, explorer.parts)
    monkeypatch.setattr(reading, "_MOST_READ", sweep.data.loss.nbytes // 2)
    sweep.read("loss", {"step": 0, "rule": 1})
    refused(lambda: sweep.read("loss", {"step": 0}), "too much for a page")


def test_only_what_the_folder_lists_is_opened(explorer):
    for name in ("../store", "/etc", "539ae7e6-4d95576b", "..", "a" * 5000):
        refused(lambda name=name: Opened.of(Folder(explorer.store), name), "there is no sweep")


def cell_is(page, words):
    told = "words => document.querySelector('#sweep-cell h2').innerText.includes(words)"
    page.wait_for_function(told, arg=words)


def visit(page, explorer, address):
    page.goto(f"{explorer.address}/sweeps{address}")
    page.wait_for_selector("#sweep-cell h2")


def drawn_curves(page):
    """The title of the cell, when its curves are there."""
    plot = "document.querySelector('#sweep-curves .js-plotly-plot')"
    page.wait_for_function(f"{plot}?.data?.length > 0")
    return page.inner_text("#sweep-cell h2")


def test_a_click_shows_the_runs_of_a_cell(page, explorer):
    before = tree(explorer.store)
    visit(page, explorer, f"?id={explorer.plane}")
    assert drawn_curves(page) == "The cell at data.signal = 0.5, data.dim = 50"
    assert "theory, constant 1" in page.text_content("#sweep-map svg .legend")
    # The last dim and the second lowest signal, in a plot of 3 x 4 cells.
    plot = page.locator("#sweep-map .nsewdrag").first
    size = plot.bounding_box()
    plot.click(position={"x": size["width"] * 5 / 6, "y": size["height"] * 5 / 8})
    cell_is(page, "signal = 1, data.dim = 200")
    page.wait_for_function("location.search.includes('cell=3,2')")
    drawn = page.evaluate("document.querySelector('#sweep-curves .js-plotly-plot').data")
    data = ls.load(explorer.plane, explorer.store).sel(signal=1.0, dim=200)
    (loss,) = [trace for trace in drawn if trace.get("name") == "training loss"]
    np.testing.assert_allclose(loss["y"], data.loss.median("seed"), rtol=1e-4)
    frame = page.evaluate("document.querySelector('#sweep-map .js-plotly-plot').layout.shapes[0]")
    assert frame["x0"] < 200 < frame["x1"] and frame["y0"] < 1 < frame["y1"]
    # The way to the live page runs the same.
    query = page.get_attribute("#cell-live", "href").removeprefix("/?")
    live = State.parse(query)
    assert (live.experiment.data.signal, live.experiment.data.dim, live.seeds) == (1.0, 200, 2)
    assert tree(explorer.store) == before


def test_a_link_restores_what_was_seen(page, explorer):
    query = f"?id={explorer.plane}&of=rho_bar&x=signal&y=seed&step=5&part=2,3&at.dim=mean&cell=4,2"
    visit(page, explorer, query)
    assert drawn_curves(page) == "The cell at data.signal = 4, seed = 1"
    assert "component 2, 3 after step 5, mean over dim" in page.inner_text("#sweep-status")
    assert page.inner_text("#step-text") == "step 5"
    assert page.url.endswith(query)
    shape = page.evaluate(
        "(({data}) => [data[0].z.length, data[0].z[0].length])"
        "(document.querySelector('#sweep-map .js-plotly-plot'))"
    )
    assert shape == [2, 4]


def test_bad_links_are_told(page, explorer):
    for query, words in (
        ("?id=../../etc", "there is no sweep"),
        (f"?id={explorer.plane}&of=nothing&cell=99,99", "unknown variable"),
    ):
        page.goto(explorer.address + "/sweeps" + query)
        page.wait_for_selector(".message")
        assert words in page.inner_text(".message")
        # The rest of the page works.
        page.click(f"text={explorer.plane}")
        page.wait_for_selector("#sweep-cell h2")
        assert drawn_curves(page).startswith("The cell at")


def test_a_running_sweep_fills_in(page, explorer, monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=3))
    results = partly(explorer.store, {"data.noise": [0.3, 0.4, 0.6], "rule.rate": [0.1, 0.2]}, 2)
    last, second = results.plan.blocks[-1], results.plan.blocks[-2]
    visit(page, explorer, f"?id={results.name}&of=loss&cell=2,3")
    page.wait_for_function("document.querySelector('#sweep-status').innerText.length > 0")
    runs = results.plan.runs
    assert f"{runs - second.runs - last.runs} of {runs} runs" in page.inner_text("#sweep-status")
    assert "blank: not run yet" in page.inner_text("#sweep-status")
    assert "Not run yet." in page.inner_text("#sweep-cell")
    for box in (second, last):
        results.put(box, drawn(results.plan, box), 1.0)
    page.wait_for_function("document.querySelector('#sweep-status').innerText.includes('All')")
    assert "blank" not in page.inner_text("#sweep-status")
    assert drawn_curves(page) == "The cell at data.noise = 0.6, rule.rate = 0.2"
    assert f"all {runs}" in page.inner_text("table.listing")
    # And is left alone once it is whole.
    page.wait_for_function("dash_component_api.getLayout('sweep-poll').props.disabled")


def test_damaged_and_foreign_folders_are_told(page, explorer):
    made = {"deadbeef-00000001": "{", "deadbeef-00000002": '{"attributes": {"a": 1}}',
            "deadbeef-00000003": '{"attributes": {"manifest": {"format": 1}}}',
            "deadbeef-00000004": '{"attributes": {"manifest": {"format": 9}}}'}  # fmt: skip
    for name, text in made.items():
        (explorer.store / name).mkdir(exist_ok=True)
        (explorer.store / name / "zarr.json").write_text(text)
    try:
        visit(page, explorer, f"?id={explorer.plane}")
        said = page.inner_text("details:has(table.listing)")
        for name in made:
            assert name in said
        assert drawn_curves(page).startswith("The cell at")
        page.goto(f"{explorer.address}/sweeps?id=deadbeef-00000003")
        page.wait_for_selector("#sweep .message")
    finally:
        for name in made:
            (explorer.store / name / "zarr.json").unlink()
            (explorer.store / name).rmdir()


def test_with_a_keyboard_only(page, explorer):
    visit(page, explorer, f"?id={explorer.plane}")
    drawn_curves(page)
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('label')?.innerText || ''"))
        if page.evaluate("document.activeElement.id").find("cell-y") > 0:
            break
    assert {"Variable", "x", "y"} <= {text.split("\n")[0] for text in reached}
    page.keyboard.press("ArrowRight")
    cell_is(page, "signal = 1, data.dim = 50")
    page.wait_for_function("location.search.includes('cell=1,2')")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_sweeps_have_names_say_what_differs_and_are_searched(page, explorer, tmp_path):
    over = {"data.noise": [0.5, 2.0]}
    one = partly(tmp_path, over, leave=0)
    changed = EXPERIMENT.replace("data.signal", 3.0)
    other = StoredResults(Folder(tmp_path), Plan.of(changed, over, 3, "auto", "float32"))
    listed = [Folder(tmp_path).stored(each.name) for each in (one, other)]
    assert differences(listed) == {one.name: "signal 1.0", other.name: "signal 3.0"}
    watched = changed.replace("probes", probes("Loss"))
    third = StoredResults(Folder(tmp_path), Plan.of(watched, over, 3, "auto", "float32"))
    listed.append(Folder(tmp_path).stored(third.name))
    found = differences(listed)
    assert found[one.name] == "signal 1.0, probes Loss TestAccuracy Decomposition"
    assert found[third.name] == "signal 3.0, probes Loss"
    arm = STUDIES["kou"].sweeps("smoke")["diagram"].arms[0]
    assert study_names()[arm.experiment.to_toml()].startswith("kou: diagram")
    # A name in lists is no part of the identity; a boundary's sweeps share a line.
    called = StoredResults(Folder(tmp_path / "called"), one.plan, "mine")
    assert called.name == one.name and called.stored.manifest["called"] == "mine"
    site = Site(Trainer(), Folder(tmp_path / "called"), tmp_path)
    assert "'mine'" in str(listing(site)[0]) and "Details" not in str(listing(site)[0])
    StoredResults(Folder(tmp_path / "called"), other.plan, f"{BOUNDARY} loss = 0.1")
    assert str(listing(site)[0]).count("Details") == 1
    page.goto(f"{explorer.address}/sweeps")
    page.wait_for_selector("table.listing")
    page.fill("#sweep-search", "PerExamplePenalty nothing-like-this")
    page.wait_for_function("document.querySelector('#sweep-listed').innerText.startsWith('0 of')")
    page.fill("#sweep-search", explorer.plane)
    page.wait_for_function("document.querySelector('#sweep-listed').innerText.startsWith('1 of')")
