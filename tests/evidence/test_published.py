"""The ledger in docs/ is one that `learnscope verify` wrote, and it is about today's claims."""

from pathlib import Path

import pytest

from learnscope.evidence import Ledger
from learnscope.evidence.ledger import Entry, read_rows
from learnscope.papers import STUDIES

DOCS = Path(__file__).parents[2] / "docs"


def published():
    return Ledger(Entry.from_dict(row) for row in read_rows(DOCS))


def test_pages_are_made_from_the_published_rows():
    """Copy ledger.json, ledger.md and papers/ of the output folder into docs/."""
    ledger = published()
    assert (DOCS / "ledger.md").read_text(encoding="utf-8") == ledger.to_markdown()
    for name, text in ledger.pages().items():
        assert (DOCS / "papers" / f"{name}.md").read_text(encoding="utf-8") == text, name


def test_every_claim_has_a_published_row_and_no_row_is_of_a_claim_that_is_gone():
    rows = {(entry.study, entry.claim.id): entry for entry in published()}
    claims = {(study.name, claim.id): claim for study in STUDIES.values() for claim in study.claims}
    assert set(rows) == set(claims)
    for key, claim in claims.items():
        row = rows[key].claim
        assert (row.statement, row.where, row.scope) == (
            claim.statement, claim.where, claim.scope
        ), key  # fmt: skip


def test_published_verdicts_keep_the_rules():
    """Everything decided has an interval over 10 draws or more, or is exact; it says when and
    where it was measured; and nothing is reproduced whose null is."""
    for entry in published():
        found = entry.finding
        if found.verdict in ("reproduced", "differs"):
            name = (entry.study, entry.claim.id)
            assert found.interval and found.draws, name
            assert found.draws == "exact" or int(found.draws) >= 10, name
            assert entry.made["date"] and entry.made["commit"], name
            if found.verdict == "reproduced":
                assert ": reproduced" not in found.null, name


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_the_published_verdicts_are_what_the_laptop_scale_measures(name):
    """Runs the synthetic part of a study (minutes)."""
    study, datasets = STUDIES[name], {}
    claims = {e.claim.id: e.finding.verdict for e in published() if e.study == name}
    sweeps = study.sweeps("laptop")
    for claim in study.claims:
        if claims[claim.id] != "not run":
            for need in claim.needs:
                if need not in datasets:
                    datasets[need] = sweeps[need].run(progress=False)
    now = {entry.claim.id: entry.finding.verdict for entry in study.ledger(datasets)}
    assert now == claims
