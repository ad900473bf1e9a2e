"""`ls.theory.nearest`: which paper's setting an experiment is, and what differs."""

import pytest

import learnscope as ls

PRESETS = [(s.name, p) for s in ls.papers.studies().values() for p in s.presets()]


@pytest.mark.parametrize("study, preset", PRESETS, ids=[p.name for _, p in PRESETS])
def test_a_preset_is_its_own_nearest_and_a_change_is_the_difference(study, preset):
    found = ls.theory.nearest(preset.experiment)
    assert (found.study, found.distance, found.differences) == (study, 0, {})
    assert "This is its preset." in str(found)
    steps = preset.experiment.steps
    found = ls.theory.nearest(preset.experiment.replace("steps", 2 * steps))
    assert found.study == study and found.differences == {"steps": (2 * steps, steps)}
    assert found.link.startswith("https://") and str(2 * steps) in str(found)


def test_another_rule_is_further_than_other_numbers():
    (base,) = (p.experiment for _, p in PRESETS if p.name == "pegr")
    other = base.replace("rule", ls.rules.GradientDescent(rate=0.02))
    found = ls.theory.nearest(other)
    gaps = [ls.theory.nearest(base.replace("data.dim", dim)).distance for dim in (500, 5000)]
    assert 0 < gaps[0] < gaps[1] <= 1 < 10
    assert found.distance < 20 and found.study in ("pegr", "kou", "sam")
