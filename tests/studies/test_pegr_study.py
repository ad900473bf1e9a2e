"""The study's ledger says what was measured, and changes when the update is wrong."""

import re

import jax
import matplotlib.pyplot as plt
import pytest

from learnscope.rules import per_example_penalty, way
from learnscope.studies import get
from learnscope.studies.pegr import experiments as ex
from learnscope.studies.pegr.real_figures import REAL_FIGURES

# What three seeds show without the 1/m; ten seeds show the same (docs/ledger.md).
NO_MEAN = {
    "losses.no_mean": "reproduced",
    "signal.no_mean": "reproduced",
    "weak-signal.no_mean": "reproduced",
    "weak-noise.no_mean": "reproduced",
    "accuracy.no_mean": "differs",
    "others.no_mean": "reproduced",
}


def verdicts() -> dict[str, str]:
    """The verdicts of the no-1/m reading at smoke scale, computed anew."""
    jax.clear_caches()
    study = get("pegr")
    datasets = {"no_mean": study.sweeps("smoke")["no_mean"].run(progress=False)}
    found = {e.claim.id: e.finding.verdict for e in study.ledger(datasets)}
    return {name: found[name] for name in NO_MEAN}


def test_the_no_mean_reading_gives_the_ledger_its_verdicts():
    assert verdicts() == NO_MEAN


@pytest.mark.parametrize("factor", [-1.0, 0.5], ids=["sign flipped", "factor 2 dropped"])
def test_a_wrong_update_changes_the_ledger(monkeypatch, factor):
    right = per_example_penalty.penalised_slopes

    def wrong(net, others, seen, batch, loss, weight):
        return right(net, others, seen, batch, loss, factor * weight)

    for user in (per_example_penalty, way):  # steps as the rule says, and in the vectors' span
        monkeypatch.setattr(user, "penalised_slopes", wrong)
    found = verdicts()
    jax.clear_caches()
    assert found != NO_MEAN
    assert found["signal.no_mean"] == "differs"


def test_every_numbered_statement_of_the_paper_is_listed():
    places = " ".join(claim.where for claim in get("pegr").claims)
    for number in range(1, 7):
        assert f"Figure {number}" in places
    for statement in ("Theorem 3.2", "Theorem 3.3", "Lemma 5.5", "Proposition 5.6", "Section 5.1"):
        assert statement in places


def test_claims_are_well_formed():
    study = get("pegr")
    names = set(study.sweeps("smoke"))
    ids = [claim.id for claim in study.claims]
    assert len(set(ids)) == len(ids)
    for claim in study.claims:
        assert set(claim.needs) <= names
        assert (claim.check is None) == bool(claim.reason)
    for entry in study.ledger({}):
        assert entry.finding.verdict == "not run"
        assert entry.finding.why


@pytest.fixture(scope="module")
def tiny():
    """Every sweep but those on images, so short that only its shape is right."""
    changes = {"data.test": [20]}
    sweeps = {n: s for n, s in get("pegr").sweeps("smoke").items() if not n.startswith("mnist")}
    short = {"theorem": 160, "phase": 20}
    return {
        name: sweep.override(
            {
                **changes,
                "steps": [short.get(name, 30)],
                "record.every": [short.get(name, 30) // 10],
            },
            seeds=2,
        ).run(progress=False)
        for name, sweep in sweeps.items()
    }


def test_every_figure_draws_with_labels(tiny):
    for name, figure in get("pegr").figures.items():
        if name in REAL_FIGURES:
            continue
        drawing = figure.draw(*(tiny[need] for need in figure.needs))
        labelled = [axes for axes in drawing.axes if axes.get_xlabel() or axes.get_ylabel()]
        assert labelled
        plt.close(drawing)


def test_scales_agree_on_names_and_paper_has_the_full_grid():
    study = get("pegr")
    assert set(study.sweeps("smoke")) == set(study.sweeps("laptop")) == set(study.sweeps("paper"))
    (arm,) = study.sweeps("paper")["phase"].arms
    assert [axis.size for axis in arm.axes] == [40, 40]
    assert study.sweeps("paper")["phase"].seeds == 20
    assert [axis.size for axis in study.sweeps("laptop")["phase"].arms[0].axes] == [12, 12]


def test_readings_differ_only_where_they_say():
    sweeps = get("pegr").sweeps("laptop")
    literal, no_mean = sweeps["literal"].arms[0], sweeps["no_mean"].arms[0]
    assert literal.experiment.replace("net.second_layer", "sum") == no_mean.experiment
    assert literal.axes == no_mean.axes
    assert literal.experiment.data.dim == ex.DIM == 400
    assert literal.experiment.steps == 1500
    assert literal.experiment.rule.until == 800


def test_overrides_follow_zipped_fields():
    sweep = get("pegr").sweeps("smoke")["working"]
    changed = sweep.override({"data.noise": [0.5, 1.4], "rule.weight": [0.02]})
    for arm in changed.arms:
        fields = arm.axes[0].fields
        assert fields["data.noise"] == [0.5, 1.4]
        assert fields["net.scale"] == [0.01, 0.001]
    assert changed.arms[0].axes[0].fields["rule.weight"] == [0.02, 0.02]
    assert "rule.weight" not in changed.arms[2].axes[0].fields


@pytest.mark.slow
def test_the_committed_ledger_is_what_the_laptop_scale_measures():
    """Runs the whole study (minutes) and compares verdicts with docs/ledger.md."""
    from pathlib import Path

    study = get("pegr")
    datasets = {name: s.run(progress=False) for name, s in study.sweeps("laptop").items()}
    now = [entry.finding.verdict for entry in study.ledger(datasets)]
    text = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(encoding="utf-8")
    assert re.findall(r"\*\*(reproduced|differs|not run)\*\* \|$", text, re.M) == now
