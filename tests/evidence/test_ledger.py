"""Claims, findings, and the ledger's formats."""

import dataclasses
import json

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.evidence import Claim, Finding, Ledger, proportion, student
from learnscope.evidence.artefacts import after_looking, head, strongest
from learnscope.evidence.ledger import Entry, read_rows
from tests.small import refused


def claim(**changes):
    fields = {
        "id": "a", "statement": "All | is well.", "where": "Figure 1", "reported": "1",
        "setting": "s", "needs": ("x",), "check": lambda data: Finding("3", "reproduced"),
    }  # fmt: skip
    return Claim(**(fields | changes))


def test_a_claim_is_found_from_the_datasets_it_needs_with_one_of_four_verdicts():
    data = {"x": xr.Dataset()}
    assert claim().find(data) == Finding("3", "reproduced")
    assert claim().find({}).verdict == "not run"
    assert claim(check=None, reason="no GPU").find(data) == Finding("", "not run", "no GPU")
    refused(lambda: Finding("1", "fine"), "reproduced, differs, inconclusive, not run")


def test_formats_agree():
    ledger = Ledger([Entry("pegr", claim(), Finding("2 | 3", "differs", "because"))])
    (row,) = json.loads(ledger.to_json())
    assert row["measured"] == "2 | 3"
    assert row["verdict"] == "differs"
    assert "| [pegr](papers/pegr.md) | 1 |" in ledger.to_markdown()
    page = ledger.pages()["pegr"]
    assert "## Figure 1" in page and "> All | is well." in page
    assert "**differs** (`a`). Because." in page
    assert ledger.summary() == "0 reproduced, 1 differs, 0 inconclusive, 0 not run"


def test_wilson_interval_covers_as_often_as_it_says():
    """Coverage of the 95 % interval at p = 0.7, n = 20 is 0.93 to 0.97 (binomial sums, exact)."""
    from scipy.stats import binom

    covered = 0.0
    for hits in range(21):
        found = proportion([True] * hits + [False] * (20 - hits))
        if found.low <= 0.7 <= found.high:
            covered += binom.pmf(hits, 20, 0.7)
    assert 0.93 < covered < 0.985
    equal = student(np.full(4, 2.0))
    assert (equal.low, equal.high) == (2.0, 2.0)


def row(scope, verdict, statement="a"):
    return {"scope": scope, "verdict": verdict, "statement": statement}


def test_an_artefact_has_the_strongest_verdict_that_all_rows_of_one_scope_deserve():
    good, bad, open_ = "reproduced", "differs", "inconclusive"
    assert strongest([row("as stated", good), row("reading: a", bad)]) == "as stated"
    assert strongest([row("as stated", good), row("as stated", bad)]) == "differs"
    both = [row("as stated", bad), row("reading: a", good), row("reading: b", bad)]
    assert strongest(both) == "reading"
    # A reading that differs refutes nothing while the paper's own setting is open.
    assert strongest([row("as stated", open_), row("reading: a", bad)]) == open_
    assert strongest([row("reading: a", bad), row("reading: b", open_)]) == open_
    assert strongest([row("fitted: the rate", good)]) == "inconclusive"
    assert strongest([row("beyond", good)]) == ""


def test_a_scope_must_cover_every_sentence_of_the_artefact():
    good, open_ = "reproduced", "inconclusive"
    # What is said of probabilities is open in the regime, and a reading does not say it.
    theorem = [row("regime", open_, "likely"), row("reading: two", good, "weights")]
    assert strongest(theorem) == open_
    rows = [row("regime", good, "likely"), row("reading: two", good, "weights")]
    assert strongest(rows) == "reading"  # the theorem's own regime covers the rest
    rows += [row("reading: three", good, "width")]
    assert strongest(rows) == open_  # no reading contradicts another one
    assert strongest([row("as stated", good, "a"), row("asymptotic", good, "b")]) == "asymptotic"
    keyed = [{**row("as stated", good), "sentence": "k"},
             {**row("reading: a", "differs", "in other words"), "sentence": "k"}]  # fmt: skip
    assert strongest(keyed) == "as stated"
    assert strongest([row("as stated", "differs"), row("corrected: 4", good)]) == "differs"


def test_artefacts_that_untrained_networks_pass_are_counted():
    made = [{"study": "pegr", "where": "Lemma 1", **row("regime", "reproduced"), "flags": "",
             "null": "untrained: holds there, as it is a bound"}]  # fmt: skip
    assert head(made).endswith("1 are identities or bounds, which untrained networks pass too.")


def test_artefacts_that_are_reproduced_only_after_looking_are_counted():
    looked = "added after looking: the level"
    rows = [("Figure 1", "as stated", "reproduced", looked), ("Figure 2", "regime", "differs", ""),
            ("Figure 2", "reading: a", "reproduced", looked), ("Figure 3", "as stated",
            "reproduced", ""), ("Figure 3", "reading: b", "reproduced", looked)]  # fmt: skip
    made = [{"study": "pegr", "where": place, **row(scope, verdict), "flags": flags, "null": ""}
            for place, scope, verdict, flags in rows]  # fmt: skip
    assert after_looking(made) == 2
    assert head(made).endswith("2 of the reproduced ones rest on a choice made after looking.")
    assert "looking" not in head([r | {"flags": ""} for r in made])


def test_scopes_and_flags_are_known_words():
    refused(lambda: claim(scope="mostly"), "scope", "as stated")
    refused(lambda: claim(flags=("lucky",)), "flag", "tuned")
    refused(lambda: claim(flags=("tuned: rates; steps",)), "flag", "semicolon")


def test_rows_are_read_back_and_those_of_older_versions_too(tmp_path):
    entry = Entry("pegr", claim(scope="beyond"), Finding("2", "inconclusive", "why", "i", "3", "n"))
    (tmp_path / "ledger.json").write_text(Ledger([entry]).to_json(), encoding="utf-8")
    (back,) = read_rows(tmp_path)
    assert Entry.from_dict(back).to_dict() == back == entry.to_dict()
    old = {
        k: v for k, v in back.items() if k not in ("scope", "flags", "interval", "draws", "null")
    }
    (tmp_path / "ledger.json").write_text(json.dumps([old]), encoding="utf-8")
    assert read_rows(tmp_path)[0]["interval"] == ""


def test_a_verdict_that_changes_with_the_precision_is_inconclusive():
    def entry(verdict, precision):
        return Entry("pegr", claim(), Finding("2", verdict, "why"), {"precision": precision})

    single, double = entry("reproduced", "float32"), entry("differs", "float64")
    both = double.beside(single)
    assert both.finding.verdict == "inconclusive" and "float32: reproduced" in both.finding.why
    assert both.made["precision"] == "float32, float64"
    assert entry("differs", "float32, float64").beside(both).finding.verdict == "differs"
    assert entry("reproduced", "float64").beside(single).finding.verdict == "reproduced"
    assert entry("differs", "float32").beside(both).finding.verdict == "differs"  # judged anew
    other = dataclasses.replace(double, claim=claim(setting="for longer"))
    assert other.beside(single) == other  # another experiment


def test_the_page_of_a_paper_shows_the_row_that_decides_and_names_the_others():
    rows = [("a", "as stated", "differs"), ("b", "reading: r", "reproduced")]
    ledger = Ledger(
        Entry("pegr", claim(id=id, scope=scope), Finding("x: 1", verdict, interval="1 [0, 2]"))
        for id, scope, verdict in rows
    )
    page = ledger.pages()["pegr"]
    assert "**reproduced**, reading: r (`b`)." in page and "Also: `a` differs." in page
    assert "| pegr | 1 |" in page and "x; 1 [0, 2]" in page


def test_a_changed_letter_of_a_ledger_is_found(tmp_path):
    """Wherever it stands: the row is refused, or says what was written."""
    entry = Entry("pegr", claim(scope="beyond"), Finding("2", "inconclusive", "why", "i", "3", "n"))
    file, text = tmp_path / "ledger.json", Ledger([entry, entry]).to_json()
    for place in range(0, len(text), 3):
        changed = text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
        file.write_text(changed, encoding="utf-8")
        try:
            assert read_rows(tmp_path) == (entry.to_dict(), entry.to_dict())
        except BadInput as error:
            assert "remove it to start anew" in str(error)
    file.write_text(text.replace('"why": "why"', '"why": "when"', 1), encoding="utf-8")
    refused(lambda: read_rows(tmp_path), "ledger.json is damaged: its row")
