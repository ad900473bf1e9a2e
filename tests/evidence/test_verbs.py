"""Verbs over quantities: what is reproduced, what differs, and what nobody can tell."""

import numpy as np
import pytest
import xarray as xr

from learnscope.evidence import (
    NOISE_ONLY,
    TRAINED,
    UNTRAINED,
    Claim,
    above,
    alike,
    at,
    at_least,
    at_most,
    below,
    bounded_by,
    change,
    computed,
    constant,
    every,
    exact,
    exponent,
    falls,
    few_seeds,
    first,
    first_passage,
    flat,
    last,
    most_seeds,
    ordered,
    rises,
    scaled,
    shrunk,
    shuffled,
    swapped,
    within,
)  # fmt: skip
from learnscope.evidence.artefacts import details
from learnscope.evidence.ledger import Entry
from tests.small import refused

SEEDS = 40


def sweep(seeds=SEEDS, spread=0.05, arms=(0.9, 0.5), sizes=(1.0, 10.0, 100.0)):
    """Accuracy rises from 0.1 to that of an arm, in 10 steps; a size grows as its axis squared."""
    random = np.random.default_rng(0)
    noise = spread * random.normal(size=(1, seeds, 1)) + 0.1 * spread * random.normal(
        size=(len(arms), seeds, 1)
    )
    time = np.linspace(0, 1, 11)
    accuracy = 0.1 + (np.array(arms)[:, None, None] - 0.1) * time + noise
    size = np.array(sizes)[:, None] ** 2 * np.exp(spread * random.normal(size=(len(sizes), seeds)))
    variables = {
        "accuracy": (("rule", "seed", "step"), accuracy),
        "loss": (("rule", "seed", "step"), 1 - accuracy),
        "size": (("scale", "seed"), size),
    }
    coords = {"rule": list("ab")[: len(arms)], "scale": list(sizes), "step": np.arange(11)}
    return xr.Dataset(variables, coords | {"seed": np.arange(seeds)})


def verdict(verb, data=None):
    return verb.judge({"x": sweep() if data is None else data}).verdict


A, B = last("accuracy", rule="a"), last("accuracy", rule="b")
SIZE = computed("size", lambda data: data["size"])
FLAT = computed("size / scale^2", lambda data: data["size"] / data.scale**2)


@pytest.mark.parametrize("good, bad, open_", [
    (at_least(A, 0.8), at_least(A, 0.99), at_least(A, 0.9)),
    (at_most(B, 0.6), at_most(B, 0.4), at_most(B, 0.5)),
    (above(A, B), above(B, A), above(A, A)),
    (above(A, 0.8), above(A, 0.99), above(A, 0.9)),
    (below(B, A, by=0.3), below(B, A, by=0.45), below(B, A, by=0.4)),
    (within(A, 0.9, by=0.05), within(A, 0.7, by=0.05), within(A, 0.9, by=0.001)),
    (within(A, B, by=0.5), within(A, B, by=0.3), within(A, B, by=0.4)),
    (rises(SIZE, "scale"), falls(SIZE, "scale"), rises(FLAT, "scale")),
    (flat(FLAT, "scale", by=0.1), flat(SIZE, "scale", by=0.1), flat(FLAT, "scale", by=0.001)),
    (exponent(SIZE, "scale", 2.0, by=0.1), exponent(SIZE, "scale", 1.0, by=0.1),
     exponent(SIZE, "scale", 2.0, by=1e-4)),
    (most_seeds(A > 0.5), most_seeds(A > 0.95), most_seeds(A > 0.83)),
    (few_seeds(A > 1.3), few_seeds(A > 0.5), few_seeds(A > 0.97)),
    (bounded_by(every("accuracy"), 2.0), bounded_by(every("accuracy"), 0.5),
     bounded_by(every("accuracy"), 0.97)),
    (ordered(A, B, first("accuracy", rule="a")), ordered(B, A), ordered(A, B, B)),
    (at_least(exact("one", lambda data: 1.0), 0.5), at_least(exact("one", lambda data: 1.0), 2.0),
     at_least(A, 0.9) & at_least(exact("one", lambda data: 1.0), 0.5)),
])  # fmt: skip
def test_every_verb_can_hold_fail_and_leave_it_open(good, bad, open_):
    assert [verdict(verb) for verb in (good, bad, open_)] == [
        "reproduced", "differs", "inconclusive"
    ], good.text  # fmt: skip


def test_ten_of_ten_draws_are_no_nine_tenths_and_few_draws_are_no_verdict():
    found = most_seeds(A > 0.5).judge({"x": sweep(seeds=10)})
    assert found.verdict == "inconclusive" and "[0.7225, 1]" in found.interval
    assert verdict(most_seeds(A > 0.5), sweep(seeds=35)) == "reproduced"
    few = at_least(A, 0.8).judge({"x": sweep(seeds=9)})
    assert few.verdict == "inconclusive" and "9 independent draws" in few.why
    assert verdict(at_least(A, 0.8), sweep(seeds=1)) == "inconclusive"


def test_what_diverged_or_is_missing_is_never_dropped():
    data = sweep()
    data["accuracy"][0, 3, 5:] = np.nan
    lost = at_least(A, 0.8).judge({"x": data})
    assert lost.verdict == "inconclusive" and "1 of 40 draws" in lost.why
    failed = at_least(A, 0.8, diverged="fails").judge({"x": data})
    assert failed.verdict == "differs" and "of draws finite" in failed.interval
    assert verdict(most_seeds(A > 0.5), data) == "inconclusive"
    hit = most_seeds(A > 0.5, diverged="fails").judge({"x": data})
    assert hit.interval.startswith("0.975 ")
    assert verdict(above(A, B), data) == "inconclusive"
    for empty in (last("accuracy", rule="c"), every("accuracy", until=-1), last("speed"),
                  SIZE.sel(scale=slice(200, 300)), SIZE.sel(scale=3.0)):  # fmt: skip
        found = at_least(empty, 0.0).judge({"x": sweep()})
        assert found.verdict == "inconclusive" and found.why, empty.text


def test_a_condition_that_is_not_met_leaves_it_open():
    fitted, unfitted = at_most(last("loss", rule="a"), 0.2), at_most(last("loss", rule="b"), 0.2)
    assert verdict(at_least(A, 0.8).given(fitted)) == "reproduced"
    found = at_least(A, 0.8).given(unfitted).judge({"x": sweep()})
    assert found.verdict == "inconclusive" and "not given that" in found.why
    assert "too fast" in at_least(A, 0.99).because("too fast").judge({"x": sweep()}).why
    twice = at_least(A, 0.99) & at_least(A, 0.98).because("too fast")
    assert twice.judge({"x": sweep()}).why == "outside what is claimed; too fast"


def test_quantities_are_paired_by_seed_and_lose_neither_seeds_nor_digits():
    data = sweep(spread=0.5)
    assert verdict(above(A, B, by=0.3), data) == "reproduced"  # the spread is shared
    assert verdict(above(A, 0.89), data) == "inconclusive"
    other = sweep(seeds=39)
    with pytest.raises(ValueError, match="exact"):
        above(A.of("x"), B.of("y")).judge({"x": sweep(), "y": other})
    refused(lambda: A.mean("seed"), "seeds are the draws")
    refused(lambda: verdict(at_least(A.map(lambda v: v.mean("seed"), "{}"), 0)), "lost its seeds")
    refused(lambda: at_least(A, 0).judge({"x": data, "y": data}), "say which of x, y")
    close = A - A.map(lambda v: v * (1 + 1e-6), "{}")
    assert not close.read({"x": sweep()}).values.any()  # within 100 ulps: nothing


def test_events_lie_between_records_and_never_is_no_number():
    data = {"x": sweep(spread=0.0)}
    np.testing.assert_allclose(first_passage("accuracy", above=0.5, rule="a").read(data), 5.0)
    np.testing.assert_allclose(first_passage("loss", below=0.46, rule="a").read(data), 5.5)
    assert np.isinf(first_passage("accuracy", above=2.0, rule="a").read(data)).all()
    assert verdict(at_most(first_passage("accuracy", above=2.0, rule="a"), 1e9)) == "inconclusive"
    along = every("accuracy", rule="a")
    np.testing.assert_allclose(along.passage("step", 0.5).read(data), 5.0)
    assert np.isinf(along.passage("step", -1.0, -1.0).read(data)).all()
    np.testing.assert_allclose(change("accuracy", rule="a").read(data), 0.8)
    np.testing.assert_allclose(at("accuracy", 5.9, rule="a").read(data), 0.5)


def test_draws_that_a_sentence_is_not_about_neither_pass_nor_fail():
    data = sweep(spread=0.5)
    learnt = A > 0.9
    found = most_seeds((A > 0.9).among(learnt)).judge({"x": data})
    many = int(learnt.read({"x": data}).sum())
    assert 10 < many < SEEDS and found.draws == str(many)
    assert most_seeds((A < 0.9).among(learnt)).judge({"x": data}).verdict == "differs"
    none = most_seeds((A > 0.9).among(A > 9.0)).judge({"x": data})
    assert none.verdict == "inconclusive" and "0 independent draws" in none.why
    with np.errstate(divide="ignore"):  # the logarithm of 0 is not left out
        nothing = at_least((0.0 * A).log(), 0.0).judge({"x": data})
    assert nothing.verdict == "inconclusive" and "40 of 40 draws are not finite" in nothing.why
    kept = at_least((0.0 * A).log().among(learnt), 0.0).judge({"x": data})
    assert kept.verdict == "inconclusive" and f"{many} of {many} draws are not" in kept.why
    for hits in (A.among(learnt) > 0.9, A.among(learnt) < 9.0):  # what is left out is no hit
        assert most_seeds(hits).judge({"x": data}).draws == str(many)
    assert most_seeds(A.among(learnt) < 0.9).judge({"x": data}).verdict == "differs"
    data["accuracy"][0, 3, 5:] = np.nan
    lost = most_seeds((B > -9.0).among(learnt)).judge({"x": data})
    assert lost.verdict == "inconclusive" and "1 of" in lost.why


def test_equal_accuracies_are_as_wide_as_the_examples_they_are_counted_over():
    """Student's interval of ten accuracies of 1 has no width; Wilson's over 10 x 50 examples has,
    and over 10 draws, where the number of examples is not known."""
    ones = xr.Dataset({"test_accuracy": (("seed", "step"), np.ones((10, 2)))}, {"step": [0, 1]})
    found = at_least(last("test_accuracy"), 0.99)
    assert found.judge({"x": ones}).interval == "1 [0.7225, 1], claimed ≥ 0.99"
    known = ones.assign_attrs(experiment='{"": "[data]\\ntest = 50\\n"}')
    assert found.judge({"x": known}).interval == "1 [0.9924, 1], claimed ≥ 0.99"
    assert verdict(at_least(last("test_accuracy"), 1.0), known) == "inconclusive"
    assert verdict(above(last("test_accuracy") > 0.5, 0.9), known) == "inconclusive"  # 10 hits
    none = last("test_accuracy") - first("test_accuracy")
    assert within(none, 0.0, by=0.1).judge({"x": known}).interval.startswith("0 [-0.00762")
    assert verdict(within(last("loss"), 0.0, by=1e-9), sweep() * 0) == "reproduced"  # no share


def test_what_is_open_says_how_many_draws_would_decide():
    few = most_seeds(A > 0.5).judge({"x": sweep(seeds=10)})
    assert few.why == "the interval holds the bound; 35 draws like these would decide"
    spread = above(B, 0.49).judge({"x": sweep()})
    assert spread.verdict == "inconclusive" and "draws like these would decide" in spread.why
    needed = int(spread.why.split("; ")[1].split()[0])
    assert verdict(above(B, 0.49), sweep(seeds=4 * needed)) != "inconclusive"


def test_among_many_cells_one_is_outside_by_chance():
    """Of 200 cells with mean 0, 95 % intervals leave about ten out: widened ones none (5 %)."""
    values = np.random.default_rng(1).normal(size=(200, SEEDS))
    data = xr.Dataset({"size": (("scale", "seed"), values)}, {"scale": np.arange(200.0)})
    found = within(SIZE, 0.0, by=0.1).judge({"x": data})
    assert found.verdict == "inconclusive" and "of 200 cells inside" in found.measured


def test_nulls():
    data, start = sweep(), first("accuracy").read({"x": sweep()})
    end = last("accuracy")
    xr.testing.assert_allclose(end.read({"x": UNTRAINED.apply(data)}), start)
    xr.testing.assert_allclose(first("accuracy").read({"x": TRAINED.apply(data)}),
                               end.read({"x": data}))  # fmt: skip
    assert verdict(above(A, B), alike("rule").apply(data)) == "inconclusive"
    assert verdict(above(A, B), swapped("rule").apply(data)) == "differs"
    assert verdict(above(A, B), constant().apply(data)) == "inconclusive"
    assert verdict(above(A, B), shuffled("rule").apply(data)) != "reproduced"
    assert verdict(rises(SIZE, "scale"), NOISE_ONLY.apply(data)) != "reproduced"
    assert verdict(at_most(A, 0.1), shrunk("accuracy").apply(data)) == "reproduced"
    assert verdict(at_most(A, 0.5), scaled(0.5, "accuracy").apply(data)) == "reproduced"
    assert UNTRAINED.apply(data.isel(step=[-1])) is None


def test_a_claim_whose_null_passes_is_inconclusive():
    def claim(verb, **more):
        return Claim("a", "s", "Figure 1", "1", "s", "x", verb, **more)

    good = claim(at_least(A, 0.8)).find({"x": sweep()})
    assert good.verdict == "reproduced" and "untrained: differs" in good.null
    weak = claim(at_least(A, 0.05)).find({"x": sweep()})
    assert weak.verdict == "inconclusive" and "null passes too: untrained" in weak.why
    own = claim(at_least(A, 0.05), nulls=(alike("rule"),)).find({"x": sweep()})
    assert "null passes too: untrained" in own.why  # a claim's own nulls come on top
    bound = claim(at_least(A, 0.05), survives=("untrained: a bound on any network",))
    found = bound.find({"x": sweep()})
    assert found.verdict == "inconclusive" and "passes too: constant prediction" in found.why
    names = ("untrained", "constant prediction", "noise only")
    survives = tuple(f"{name}: it is a bound" for name in names)
    found = claim(at_least(A, 0.05), survives=survives).find({"x": sweep()})
    assert found.verdict == "reproduced" and "noise only: holds there, as it is a" in found.null
    refused(lambda: claim(at_least(A, 0.05), survives=("untrained",)), "say why")
    among = claim(at_least(A, 0.8)).under_nulls({"x": sweep(), "other": sweep()})
    assert among == claim(at_least(A, 0.8)).under_nulls({"x": sweep()})  # it reads what it needs


def test_a_claim_on_trained_images_states_that_five_draws_are_enough():
    verb = at_least(last("accuracy", rule="a"), 0.5)

    def found(draws, seeds):
        claim = Claim("a", "A.", "Figure 1", "", "", "s", verb, nulls=(), draws=draws)
        return Entry("study", claim, claim.find({"s": sweep(seeds=seeds)})).to_dict()

    assert [found(5, seeds)["verdict"] for seeds in (4, 5)] == ["inconclusive", "reproduced"]
    assert found(5, 4)["why"] == "4 independent draws, and a verdict needs 5"
    assert found(10, 5)["verdict"] == "inconclusive" and found(10, 10)["verdict"] == "reproduced"
    row = found(5, 5)
    assert row["needed"] == "5" and "5 draws (a verdict here needs 5); would have" in details(row)
    assert Entry.from_dict(row).to_dict() == row
    refused(lambda: found(2, 5), match="draws = 2 of a must be one of")
