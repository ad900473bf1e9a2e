"""The ledger page: every claim with what was measured, filters, figures and live ones."""

import json
import re
import tomllib
from pathlib import Path

from learnscope.evidence import Claim, above, arms, at_least, last
from learnscope.evidence.ledger import read_rows
from learnscope.lab.store.folder import Folder
from learnscope.papers import STUDIES
from learnscope.views.explorer.ledger import rows as rows_module
from learnscope.views.explorer.ledger.page import _parse, layout
from learnscope.views.explorer.ledger.rows import _about, contents, live_addresses, table
from learnscope.views.explorer.live.state import State
from learnscope.views.explorer.live.training import Trainer
from learnscope.views.explorer.site import Site
from tests.small import refused
from tests.views.conftest import write_output

ROOT = Path(__file__).parents[2]
CLAIMS = sum(len(study.claims) for study in STUDIES.values())
PEGR = STUDIES["pegr"].claims


def test_claims_with_what_was_measured(tmp_path):
    write_output(tmp_path)
    shown, trouble = contents(tmp_path)
    assert trouble is None and len(shown.rows) == CLAIMS
    every = [(study.name, claim.id) for study in STUDIES.values() for claim in study.claims]
    assert [(row["study"], row["id"]) for row in shown.rows] == every
    first, second, *_ = (row for row in shown.rows if row["study"] == "pegr")
    assert (first["verdict"], first["measured"]) == ("differs", "0.3 ± 0.1")
    assert second["verdict"] == "reproduced"
    others = [r["verdict"] for r in shown.rows if r["study"] != "pegr"]
    unchecked = sum(c.check is None for s in STUDIES.values() for c in s.claims)
    assert others.count("not run") == unchecked - sum(c.check is None for c in PEGR) > 0
    assert others.count("not run here") + others.count("not run") == len(others)
    text = table(shown)
    assert text.count("<tr data-study") == CLAIMS
    assert "a &lt;b&gt; &amp; c" in text and "<b>" not in text
    papers = {study.link for study in STUDIES.values()}
    assert all(link.startswith("https://") for link in papers)
    pages = {f"/ledger/{name}" for name in STUDIES}
    links = set(re.findall(r'href="([^"]*)"', text))
    assert links == {"/figure/pegr/figure1.png"} | papers | pages
    assert re.search(rf'{re.escape(STUDIES["pegr"].link)}"[^>]*>{re.escape(PEGR[0].where)}<', text)


def test_without_a_ledger_and_with_that_of_another_version(tmp_path):
    shown, trouble = contents(tmp_path)
    assert trouble is None and len(shown.rows) == CLAIMS  # as on a first visit
    assert "These are the published verdicts" in str(
        layout(Site(Trainer(), Folder(tmp_path), tmp_path), "")
    )
    ledger = tmp_path / "ledger.json"
    ledger.write_text("[1]")
    assert "is not a ledger" in contents(tmp_path)[1]
    write_output(tmp_path)
    rows = json.loads(ledger.read_text(encoding="utf-8"))
    rows[0]["id"] = "gone"
    ledger.write_text(json.dumps(rows), encoding="utf-8")
    shown, trouble = contents(tmp_path)
    (row,) = (r for r in shown.rows if (r["study"], r["id"]) == ("pegr", PEGR[0].id))
    assert "1 rows" in trouble and row["verdict"] == "not run here"


def test_published_verdicts_stand_beside_those_of_this_machine(tmp_path):
    """The wheel holds the published ledger where the page looks for it."""
    write_output(tmp_path)
    rows = {(row["study"], row["id"]): row for row in contents(tmp_path)[0].rows}
    known = {(row["study"], row["id"]): row["verdict"] for row in read_rows(ROOT / "docs")}
    assert {key: row["published"] for key, row in rows.items()} == known
    own = {key: row for key, row in rows.items() if row["judged"] != row["published"]}
    assert list(own) == [("pegr", PEGR[1].id)]  # reproduced here, and published as differing
    assert rows["pegr", PEGR[0].id]["judged"] == "differs"
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert ROOT / wheel["docs/ledger.json"] == rows_module._PUBLISHED[0] / "ledger.json"


def test_claims_that_were_neither_published_nor_run_do_not_break_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(rows_module, "published", dict)
    page = layout(Site(Trainer(), Folder(tmp_path), tmp_path), "")
    checked = sum(c.check is not None for s in STUDIES.values() for c in s.claims)
    assert f"{checked} not run here" in str(page)


def test_live_experiments_are_the_studies_own():
    sweeps = STUDIES["kou"].sweeps("laptop")
    found, claims = live_addresses("kou"), {claim.id: claim for claim in STUDIES["kou"].claims}
    assert set(found) <= set(claims)
    name = next(id for id in found if claims[id].needs[0] == "diagram")
    state = State.parse(found[name].removeprefix("/?"))
    expected = sweeps["diagram"].arms[0].experiment
    for slot in ("net", "rule", "steps"):
        assert getattr(state.experiment, slot) == getattr(expected, slot)
    alone = {claim.id for claim in STUDIES["benign"].claims if claim.needs == ("map",)}
    assert not alone & set(live_addresses("benign"))  # nothing is trained there


def test_a_claim_leads_to_the_arm_and_the_values_that_its_check_selects():
    base = STUDIES["kou"].sweeps("laptop")["diagram"].arms[0].experiment
    rules = {"plain": base.rule, "plain, slow": base.rule.replace("rate", 0.01)}
    sweep = arms(base, 3, {"data.noise": [0.5, 1.5], "data.dim": [100, 900]}, rule=rules)

    def about(check, statement=""):
        found = _about(Claim("a", statement, "", "", "", "sweep", check), sweep)
        return found.rule.rate, found.data.noise, found.data.dim

    usual = base.rule.rate, base.data.noise, base.data.dim
    accuracy = last("test_accuracy", rule="plain, slow", noise=1.5)
    assert about(at_least(accuracy, 0.9)) == (0.01, 1.5, usual[2])
    assert about(above(last("loss", dim=900, rule="plain"), accuracy)) == (usual[0], 1.5, 900)
    assert about(at_least(last("loss"), 0), "With plain, slow descent.")[0] == 0.01
    assert about(lambda data: None) == usual
    # The studies' own: of PEGR where PEGR is named first.
    pegr = {claim.id: claim for claim in PEGR}
    kinds = {id: State.parse(address[2:]).experiment.rule for id, address in
             live_addresses("pegr").items() if pegr[id].statement.startswith("PEGR")}  # fmt: skip
    assert sum("weight" in vars(rule) for rule in kinds.values()) > len(kinds) / 2


def test_bad_filters():
    for query, words in (
        ("study=none", "unknown study 'none'"),
        ("verdict=good", "unknown verdict 'good'"),
        ("claim=1", "unknown field of an address 'claim'"),
        ("x", "must have the form"),
    ):
        refused(lambda query=query: _parse(query), words)


def test_figures_by_name_only(explorer):
    code, content = explorer.ask("/figure/pegr/figure1.png")
    assert code == 200 and content == (explorer.out / "pegr" / "figure1.png").read_bytes()
    (explorer.out / "secret.png").write_bytes(b"secret")
    (explorer.out / "pegr" / "secret.png").write_bytes(b"secret")
    for path in ("pegr/secret.png", "pegr/..%2fsecret.png", "pegr/%2e%2e/secret.png",
                 "../secret.png", "%2e%2e/secret.png", "./secret.png", "none/figure1.png",
                 "pegr/figure2.png", "pegr/%2fetc%2fpasswd", "pegr/figure1.pdf"):  # fmt: skip
        code, content = explorer.ask("/figure/" + path)
        assert content != b"secret" and b"PNG" not in content, path
        # The page itself answers to what is no figure's address.
        assert code in (400, 404) or b"DashRenderer" in content, path
    assert explorer.ask("/ledger/live/none.json")[0] == 400


def visit(page, explorer, query=""):
    page.goto(explorer.address + "/ledger" + query)
    page.wait_for_selector("table.ledger")


def said(page):
    return page.inner_text("#ledger-shown")


def pick(page, id, text):
    """Choose from a dropdown by its keyboard."""
    page.focus(f"#{id}")
    page.keyboard.press("Enter")
    page.locator(".dash-dropdown-options").get_by_text(text, exact=False).first.click()


def test_filters_and_their_link(page, explorer):
    visit(page, explorer)
    assert said(page) == f"{CLAIMS} of {CLAIMS} shown"
    pick(page, "ledger-study", "pegr:")
    page.wait_for_function("location.search === '?study=pegr'")
    assert said(page) == f"{len(PEGR)} of {CLAIMS} shown"
    pick(page, "ledger-verdict", "differs")
    page.wait_for_function("location.search === '?study=pegr&verdict=differs'")
    differing = page.locator("table.ledger tbody tr:visible")
    assert said(page) == f"{differing.count()} of {CLAIMS} shown"
    row = differing.first
    assert PEGR[0].statement in row.inner_text() and "0.3 ± 0.1" in row.inner_text()
    assert PEGR[0].reported in row.inner_text() and PEGR[0].where in row.inner_text()
    page.fill("#ledger-text", "no such words")
    page.wait_for_function("document.querySelector('#ledger-shown').innerText.startsWith('0 of')")


def test_a_claim_leads_to_its_figure_and_live_experiment(page, explorer):
    visit(page, explorer, "?study=pegr")
    # With a keyboard only: the dialog opens, is focused, and closes.
    page.locator("a.figure:visible").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#ledger-figure img')?.naturalWidth === 40")
    assert STUDIES["pegr"].figures["figure1"].title in page.inner_text("#ledger-figure")
    page.keyboard.press("Escape")
    assert not page.locator("#ledger-figure").is_visible()
    assert page.evaluate("document.activeElement.className") == "figure"
    page.wait_for_selector("tr[data-study=pegr] .live a")
    row = page.locator("tr[data-study=pegr]:has(.live a)").first
    live = row.locator(".live a").get_attribute("href")
    assert live == live_addresses("pegr")[row.get_attribute("data-claim")]
    page.wait_for_function(
        "Array.from(document.querySelectorAll('tr[data-study=pegr] .live'))"
        ".every((e) => e.innerText)"
    )
    assert "not live" in page.inner_text("tr[data-study=pegr][data-needs^=mnist] .live")


def test_a_page_for_each_paper(page, explorer):
    study = STUDIES["pegr"]
    page.goto(explorer.address + "/ledger/pegr?verdict=differs")
    page.wait_for_selector("table.ledger .live a")
    assert page.inner_text("h1") == study.title and "Meng" in page.inner_text("header")
    assert page.get_by_role("link", name="The paper").get_attribute("href") == study.link
    counted = [int(re.sub(r"\D", "", text)) for text in
               page.locator(".verdicts span").all_inner_texts()]  # fmt: skip
    assert sum(counted) == page.locator("table.ledger tbody tr").count() == len(PEGR)
    page.fill("#ledger-text", "noise")
    page.wait_for_function("location.search.includes('text=noise')")
    assert page.url.endswith("/ledger/pegr?verdict=differs&text=noise")
    assert b"unknown study" in explorer.ask("/ledger/live/none.json")[1]


def test_with_a_keyboard_only(page, explorer):
    visit(page, explorer)
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "ledger-text":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.type("memorisation suppressed")
    page.wait_for_function("location.search === '?text=memorisation+suppressed'")
    assert not said(page).startswith((f"{CLAIMS} of", "0 of"))
