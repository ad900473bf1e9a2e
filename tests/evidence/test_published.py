"""The ledger in docs/ is one that `learnscope verify` wrote, and it is about today's claims."""

from pathlib import Path

import pytest

from learnscope.errors import MissingData
from learnscope.evidence import Ledger
from learnscope.evidence.artefacts import after_looking
from learnscope.evidence.bundled import read_bundles, taken
from learnscope.evidence.ledger import Entry, read_rows
from learnscope.papers import STUDIES

DOCS = Path(__file__).parents[2] / "docs"


def published():
    return Ledger(Entry.from_dict(row) for row in read_rows(DOCS))


def test_pages_are_made_from_the_published_rows():
    """Copy ledger.json, ledger.md and papers/ of the output folder into docs/."""
    ledger = published()
    about = {name: (study.title, study.reference) for name, study in STUDIES.items()}
    assert (DOCS / "ledger.md").read_text(encoding="utf-8") == ledger.to_markdown(about)
    for name, text in ledger.pages(about).items():
        assert f"{STUDIES[name].link})" in text  # the paper
        assert (DOCS / "papers" / f"{name}.md").read_text(encoding="utf-8") == text, name


def test_the_front_page_is_short_and_counts_as_the_ledger_does():
    readme, ledger = (DOCS.parent / "README.md").read_text(), (DOCS / "ledger.md").read_text()
    assert len(readme.split()) < 600
    counts = [line for line in ledger.splitlines() if line.startswith("| [")]
    assert len(counts) == len(STUDIES)
    assert not [line for line in counts if line.replace("](", "](docs/") not in readme]
    assert f"{after_looking(list(read_rows(DOCS)))} rest on a choice made after looking" in readme


def test_every_claim_has_a_published_row_and_no_row_is_of_a_claim_that_is_gone():
    rows = {(entry.study, entry.claim.id): entry for entry in published()}
    claims = {(study.name, claim.id): claim for study in STUDIES.values() for claim in study.claims}
    assert set(rows) == set(claims)
    for key, claim in claims.items():
        row = rows[key].claim
        assert (row.statement, row.where, row.scope, row.flags) == (
            claim.statement, claim.where, claim.scope, claim.flags
        ), key  # fmt: skip


def test_published_verdicts_keep_the_rules():
    """Everything decided has an interval over 10 draws or more (5 or 3, where that is stated: on
    trained images), or is exact; it says when and where it was measured; and nothing is reproduced
    whose null is."""
    for entry in published():
        found = entry.finding
        if found.verdict in ("reproduced", "differs"):
            name = (entry.study, entry.claim.id)
            assert found.interval and found.draws, name
            assert found.draws == "exact" or int(found.draws) >= entry.claim.draws, name
            assert entry.made["date"] and entry.made["commit"], name
            if found.verdict == "reproduced":
                assert ": reproduced" not in found.null, name


BUNDLES = sorted((DOCS / "bundles").glob("*.zip"))


@pytest.mark.parametrize("file", BUNDLES, ids=lambda file: file.stem)
def test_published_rows_on_images_are_what_the_bundles_say(file):
    """`learnscope verify STUDY --from FILE` writes them, without any training."""
    assert sum(each.stat().st_size for each in BUNDLES) < 20 * 2**20
    study = STUDIES[file.stem.partition("-")[0]]
    asked = {(study.name, name): sweep for name, sweep in study.sweeps("laptop").items()}
    found = taken(read_bundles([str(file)]), asked, "laptop")
    datasets = {name: data for (_, name), data in found.items()}
    rows = {entry.claim.id: entry for entry in published() if entry.study == study.name}
    for entry in study.ledger(datasets):
        if entry.claim.needs and set(entry.claim.needs) <= set(datasets):
            row = rows[entry.claim.id]
            assert row.finding == entry.finding, entry.claim.id
            for name in ("date", "commit", "command", "took"):
                assert row.made[name] == entry.made[name] != "", entry.claim.id


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_the_published_verdicts_are_what_the_laptop_scale_measures(name):
    """Runs the synthetic part of a study (minutes); what bundles hold is not trained again."""
    study, datasets = STUDIES[name], {}
    claims = {e.claim.id: e.finding.verdict for e in published()
              if e.study == name and not e.made["took"]}  # fmt: skip
    sweeps = study.sweeps("laptop")
    for claim in study.claims:
        if claims.get(claim.id, "not run") != "not run":
            for need in claim.needs:
                if need not in datasets:
                    try:
                        datasets[need] = sweeps[need].run(progress=False)
                    except MissingData:  # statistics of images, where they are not at hand
                        claims.pop(claim.id)
                        break
    now = {e.claim.id: e.finding.verdict for e in study.ledger(datasets) if e.claim.id in claims}
    assert now == claims
