"""The paper's claims, sentence by sentence.

A neuron has learnt a feature that accounts for at least 90 % of its output's variance; a run with a
neuron that has learnt none is unsettled, which counts neither as success nor as collapse. A figure
shows one run, so its sentence must hold in two thirds of the draws; "with probability 1 - o(1)" is
19 in 20 of them. "O(1/sqrt d)" is at most 10/sqrt d, 1/poly(d) at most 0.001.
"""

import dataclasses
import functools
import operator
from typing import Any

import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import Claim, Quantity, Verb, above, at_least, computed, last, most_seeds
from learnscope.papers.pred_head import experiments as ex
from learnscope.papers.pred_head import quantities as q
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.phase_claims import PHASE_CLAIMS, SMALL
from learnscope.papers.pred_head.quantities import ALL, ALL_STRONG
from learnscope.papers.pred_head.real_claims import REAL_CLAIMS
from learnscope.papers.pred_head.settings import claim

TYPICAL, LIKELY, BIG = 2 / 3, 0.95, 10.0
LARGE: dict[str, Any] = {"dim": slice(1e3, None)}
LARGEST: dict[str, Any] = {"dim": slice(1e12, None)}


def typical(hits: Quantity) -> Verb:
    return most_seeds(hits, TYPICAL, diverged="fails")


def likely(hits: Quantity) -> Verb:
    return most_seeds(hits, LIKELY, diverged="fails")


# The toy


def _arm(id: str, where: str, statement: str, word: str, *arms: str, **more: Any) -> Claim:
    """Arms of the toy come to an outcome, which is what the paper reports unless `reported`."""
    reported = more.pop("reported", word)
    check = typical(q.ends(word, "share", method_name=list(arms)))
    return claim(id, where, statement, reported, "toy", check, **more)


def _rise_and_fall(**where: Any) -> Quantity:
    norm = ev.every("head_norm", **where)
    top, end = norm.max("step"), norm.isel(step=-1)
    hits = (top > SMALL) & (end < 0.1 * top)
    return hits.named("the norm rises, and falls to a tenth")


def _collapses(normalisation: str) -> Quantity:
    """Hits: outputs have one direction."""
    hits = last("constancy", normalisation=normalisation) > LIKELY
    return hits.named(f"complete collapse, {normalisation}")


def _moved(values: xr.DataArray) -> xr.DataArray:
    return abs(values.isel(step=-1, drop=True) - values.isel(step=-2, drop=True))


_MOVED = ev.every("constancy").map(_moved, "its change in the last quarter")


def _uncorrelated(name: str, text: str) -> Verb:
    moment = computed(text, lambda data: data[name].sel(angle="orthogonal", drop=True))
    return ev.within(moment, 0.0, by=0.02)


TOY_CLAIMS = (
    claim("figure1_toy", "Figure 1a", "Without a head neurons become extremely correlated",
          "correlations near ±1", "toy",
          at_least(q.pairs("correlation", method_name=BARE), 0.95)
          & ev.at_most(q.pairs("correlation", method_name=HEAD), 0.3), sentence="correlated"),
    _arm("figure2_toy", "Figure 2", "In the toy, too, an identity-initialised head is as good as "
         "linear and MLP heads, with or without EMA", ALL, HEAD, "linear head", "MLP head",
         "EMA target", reported="comparable accuracies of ResNets on images", scope="beyond",
         because="with two neurons these heads mix features instead of borrowing one"),
    claim("figure3a", "Figure 3a", "The head's off-diagonal rises and falls", "rise and fall",
          "trajectories", typical(_rise_and_fall())),
    claim("figure3b", "Figure 3b", "The head is not symmetric while features are learnt",
          "asymmetry above 0", "trajectories",
          above(computed("asymmetry while the norm is high", q.while_high), 0.2),
          nulls=(ev.scaled(0.1, "head_asymmetry"),)),
    claim("figure4", "Figure 4", "The rise and fall is consistent over runs: four in five",
          "a consistent rise and fall, in 3 runs", "trajectories",
          most_seeds(_rise_and_fall(variant="by strength"), 0.8, diverged="fails"),
          sentence="consistent"),
    claim("figure7a", "Figure 7a", "With a head, the strong feature is learnt by the faster neuron "
          "and the weak one by the slower", "the weak feature in the slower neuron", "toy",
          typical(q.in_turn(method_name=HEAD)), nulls=(ev.UNTRAINED, ev.shuffled("neuron"))),
    _arm("figure7b", "Figure 7b", "Without a head both neurons learn the strong feature",
         ALL_STRONG, BARE),
    _arm("stop_gradient", "section 5.3, stop-gradient", "Without stop-gradient all neurons learn "
         "the strongest feature", ALL_STRONG, "no stop-gradient"),
    _arm("normalisation", "section 5.3, normalisation", "Without normalisation all neurons learn "
         "the strongest feature", ALL_STRONG, "no normalisation",
         scope="reading: the squared distance (3.3) of outputs that are not normalised",
         because="no feature is learnt: all outputs shrink, and still do after the last step"),
    _arm("l2", "section 7, l2", "l2 instead of batch normalisation shares the mechanism", ALL,
         "l2"),
    _arm("l2_no_head", "section 7, l2", "With l2 all features are learnt even without a head",
         ALL, "l2, no head", reported="open", scope="beyond"),
    _arm("ema", "section 2, EMA", "EMA does not prevent collapse by itself", ALL_STRONG,
         "EMA, no head"),
    _arm("symmetric", "section 1.1, symmetric heads", "A symmetric head (1.1) collapses to the "
         "strongest feature for cubic neurons and normalised outputs, too", ALL_STRONG,
         "symmetric head", reported="likely, of a linear network without normalisation",
         scope="beyond"),
    _arm("contrastive", "section 2, negative pairs", "Negative pairs make the network learn all "
         "features", ALL, ex.CONTRASTIVE),
    claim("remark4.5", "Remark 4.5", "Complete collapse without a head is easier to obtain with l2 "
          "normalisation and a feature of low variance; batch normalisation avoids it",
          "easier with l2, none with batch normalisation", "steady",
          (above(_collapses("l2"), _collapses("batch"))
           & ev.few_seeds(_collapses("batch"), 1 - TYPICAL))
          .given(ev.at_most(_MOVED, 0.05)), nulls=(ev.swapped("normalisation"), ev.UNTRAINED)),
    claim("remark3.4", "Remark 3.4", "For spherical Gaussian noise cubes along orthogonal "
          "directions are uncorrelated (Assumption 3.3b)", "ϱ = 0", "noise",
          _uncorrelated("cubes", "E[⟨u₁,ξ⟩³⟨u₂,ξ⟩³] / E[⟨u,ξ⟩⁶]")
          & _uncorrelated("fifth", "E[⟨u₁,ξ⟩⁵⟨u₂,ξ⟩] / E[⟨u,ξ⟩⁶]"), nulls=(ev.swapped("angle"),)),
)  # fmt: skip


# The theorems


def _gap(kind: str) -> Verb:
    loss = last("population_loss", head_kind=kind) - theory.optimum(ex.model(), 2)
    return likely((abs(loss) < SMALL).named(f"|L - OPT| < {SMALL:g}, {kind}").sel(**LARGE))


def _corr(kind: str, far: float, **where) -> Quantity:
    """sqrt(d) times the distance of |Corr| from 0 or 1."""
    size = last("population_correlation", head_kind=kind, **where).isel(neuron=0, other_neuron=1)
    return abs(abs(size) - far).map(lambda v: v * v["dim"] ** 0.5, "its distance times √d")


def _arctan(data: xr.Dataset) -> xr.DataArray:
    hits = q.ends(ALL_STRONG).read({"no_head": data})
    return hits - xr.DataArray([q.chance(s) for s in data.alpha.values], dims="alpha")


def _covered(kind: str) -> Quantity:
    """The share of features learnt, on average over numbers of neurons and features."""
    each = [q.covered(setting=ex.size_name(kind, *size)) for size in ex.WIDTHS]
    total = functools.reduce(operator.add, each) / len(each)
    return total.named(f"share of features learnt, {kind}")


_WITH, _WITHOUT = (
    q.ends(word, head_kind=kind, **LARGE) for word, kind in ((ALL, HEAD), (ALL_STRONG, BARE))
)
_FORM = (q.beyond(head_kind=HEAD, **LARGE) <= BIG) & (q.least_beta(head_kind=HEAD, **LARGE) >= 0.5)
_MOSTLY = at_least(_WITH, 0.9)
_SLOW = q.ends(ALL, ratio=ex.RATIO, ablation=HEAD)  # a head that is trained slowly
_INSIDE = q.ends(ALL, ratio=slice(0.01, 0.3)).mean("ratio", "alpha").named("success in between")
_SLOWEST = q.ends(ALL).isel(ratio=0).mean("alpha").named("at the lowest rate of the head")
THEOREM_CLAIMS = (
    claim("theorem4.1_growing", "Theorem 4.1", "With a head both features are learnt, the more "
          "surely the larger d", "probability 1 - o(1)", "growing",
          ev.rises(q.ends(ALL, head_kind=HEAD), "dim")
          & likely(q.ends(ALL, head_kind=HEAD, dim=slice(1e9, None)))),
    claim("theorem4.1_weights", "Theorem 4.1", "w_j = β_j v + ε_j with |β_j| = Θ(1), ‖ε_j‖ = "
          "Õ(1/√d)", "Õ(1/√d)", "dimensions",
          likely(_FORM.among(_WITH).named(
              f"‖ε‖√d ≤ {BIG:g} and |β| ≥ 0.5, of the runs that end with {ALL}")).given(_MOSTLY)),
    claim("theorem4.1_loss", "Theorem 4.1", "The objective converges to OPT", "OPT + 1/poly(d)",
          "dimensions", _gap(HEAD)),
    claim("corollary4.2", "Corollary 4.2", "With a head neurons do not correlate",
          "|Corr| ≤ O(1/√d)", "dimensions", likely(
              (_corr(HEAD, 0.0, **LARGE) <= BIG).among(_WITH).named(
                  f"|Corr|√d ≤ {BIG:g}, of the runs that end with {ALL}")).given(_MOSTLY)),
    claim("theorem4.3_growing", "Theorem 4.3", "Without a head all neurons learn the strong "
          "feature", "probability 1 - o(1)", "growing",
          ev.rises(q.ends(ALL_STRONG, head_kind=BARE), "dim")
          & likely(q.ends(ALL_STRONG, head_kind=BARE, **LARGEST)), sentence="all strong"),
    claim("theorem4.3_formula", "a law of conservation (not in the paper)", "How likely that is at "
          "finite strengths", "((2/π) arctan((α₁/α₂)^1.5))²", "no_head",
          ev.within(computed("share of starts minus the formula", _arctan), 0.0, by=0.05)),
    claim("theorem4.3_width", "Theorem 4.3", "More neurons do not change that: of 16, the share on "
          "the strong feature is that of one neuron, (2/π) arctan((α₁/α₂)^1.5)", "any m", "many",
          ev.within(q.on_strong(setting=ex.size_name(BARE, 16, 2)), q.chance(ex.STRONG) ** 0.5,
                    by=0.1), setting="16 neurons, 2 features, population descent, d = 50",
          scope="reading: α₁/α₂ = 2, d = 50", sentence="all strong"),
    claim("theorem4.3_weights", "Theorem 4.3", "w_j = β_j v₁ + ε_j with ‖ε_j‖ = Õ(1/√d)",
          "Õ(1/√d)", "dimensions", likely(
              (q.beyond(head_kind=BARE, **LARGE) <= BIG).among(_WITHOUT).named(
                  f"‖ε‖√d ≤ {BIG:g}, of the runs that end with {ALL_STRONG}"))
          .given(at_least(_WITHOUT, 0.3))),
    claim("theorem4.3_loss", "Theorem 4.3", "The collapsed solution reaches the global minimum as "
          "well", "OPT + 1/poly(d)", "dimensions", _gap(BARE)),
    claim("corollary4.4", "Corollary 4.4", "Without a head neurons are copies",
          "|Corr| ≥ 1 - O(1/√d)", "growing", likely(_corr(BARE, 1.0, **LARGEST) <= BIG)),
    *(claim(f"remark3.2_{i}", f"Remark 3.2 ({i})", f"The same holds for features imbalanced {name}",
            "both features with a head, the strong one without", "imbalance",
            most_seeds(q.ends(ALL, variant=f"{name}, {HEAD}"), 0.9)
            & above(q.ends(ALL_STRONG, variant=f"{name}, {BARE}"), 0.5),
            scope=f"reading: as unequal as α = (4, 2), {name}")
      for i, name in enumerate(ex.IMBALANCES, start=1)),
    claim("rates", "Theorem 4.1, rates", "The head is to be trained more slowly than the encoder",
          "η_E ≤ η/polylog(d)", "rates", most_seeds(_SLOW, 0.9)
          & above(_SLOW, q.ends(ALL, ratio=10.0, ablation=HEAD))),
    claim("diagram", "Theorem 4.1, rates", "The head may not be trained too slowly either",
          "η_E ≥ η/α₁^O(1)", "diagram", above(_INSIDE, _SLOWEST, by=0.1)),
    claim("stop_gradient_random", "section 5.3, stop-gradient", "Stop-gradient is necessary",
          "no acceleration", "rates", ev.few_seeds(q.ends(ALL, ablation="no stop-gradient"), 0.5)
          & most_seeds(_SLOW, 0.9), sentence="stop-gradient"),
    claim("lemma5.3_effect", "Lemma 5.3", "It is the head that does it", "with a head only",
          "dimensions", above(_WITH, q.ends(ALL, head_kind=BARE, **LARGE), by=0.3),
          nulls=(ev.swapped("head_kind"), ev.alike("head_kind"))),
    claim("many", "beyond the paper", "With a head more features are learnt, for more neurons and "
          "features", "more with a head", "many", above(_covered(HEAD), _covered(BARE))),
)  # fmt: skip
# The number of draws of these sweeps was raised after a first look, sizes and criteria of those on
# CIFAR-10 were chosen at a seed that they do not use, and the criteria of these claims rewritten.
_RAISED = {"toy", "trajectories", "steady", "dimensions", "growing", "imbalance", "rates",
           "no_head", "diagram", "digits", "fading"}  # fmt: skip
_REWRITTEN = {"theorem4.1_growing", "theorem4.1_weights", "corollary4.2", "theorem4.3_weights",
              "theorem4.3_width", "remark3.2_1", "remark3.2_2", "remark3.4", "remark4.5", "many",
              "rates", "diagram", "figure4", "figure7a", "l2_no_head",
              "figure3_digits", "figure3_decider"}  # fmt: skip


def _flagged(one: Claim) -> Claim:
    looked = ["the number of draws"] * bool(_RAISED & set(one.needs))
    looked += ["sizes and criteria, at seed 1000"] * ("images" in one.needs)
    looked += ["the criterion"] * (one.id in _REWRITTEN)
    added = tuple(f"added after looking: {what}" for what in looked)
    return dataclasses.replace(one, flags=one.flags + added)


CLAIMS = tuple(map(_flagged, (*TOY_CLAIMS, *THEOREM_CLAIMS, *PHASE_CLAIMS, *REAL_CLAIMS)))
