"""The paper's claims about images.

"Extremely correlated" is a mean |correlation| of two outputs above 0.9 at the end; a head is to
keep it below 0.5. "Comparable" linear probes differ by at most 3 points of accuracy, and are better
than those on the untrained network. A norm has fallen if it ends below 0.8 of its highest. Verdicts
count where training is over.
"""

from typing import Any

import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import Claim, Quantity, Verb, above, at_least, computed, most_seeds, scaled
from learnscope.papers.pred_head import settings
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.quantities import while_high
from learnscope.papers.pred_head.real import BATCH, CONSTANT, EMA, L2, PLAIN

APART, TOGETHER, FALLEN, COMPARABLE, MILDER, VARIED = 0.5, 0.9, 0.8, 0.03, 0.1, 0.05
TYPICAL = 2 / 3
_OUTPUTS = "output_probe_accuracy"
_RATES = "as stated: Adam, 0.003 in section 8, for every arm; nothing was tuned"


def claim(id: str, where: str, statement: str, reported: str, needs: str, check: Verb,
          **more: Any) -> Claim:  # fmt: skip
    """A claim on a trained network, by the protocol."""
    over = ev.converged(check, "pair_loss")
    return settings.claim(id, where, statement, reported, needs, over, rates=_RATES, draws=5,
                          **more)  # fmt: skip


def _last(name: str, arm: str) -> Quantity:
    return ev.last(name, method_name=arm)


def _collapsed(way: str = "") -> Verb:
    size = "correlation_size"
    return at_least(_last(size, BARE + way), TOGETHER) & ev.at_most(_last(size, HEAD + way), APART)


def _probe(head: str, way: str = BATCH, name: str = "probe_accuracy") -> Quantity:
    return _last(name, f"{head}, {way}")


def _falls(arm: str) -> Quantity:
    """Hits: the norm rises, and ends below 0.8 of its highest."""
    norm = ev.every("head_norm", method_name=arm)
    return (norm.isel(step=-1) < FALLEN * norm.max("step")).named(f"it has fallen, {arm}")


def _band(data: xr.Dataset) -> xr.DataArray:
    """The largest distance of a run from the mean run, over the mean, after the start."""
    norm = data.head_norm.sel(method_name=HEAD, drop=True).isel(step=slice(1, None))
    return abs(norm / norm.mean("seed") - 1).max("step")


_SETS = "CIFAR-100 and STL-10 are not at hand, and their scale needs a GPU: learnscope run pred_head.{} data.name={} --scale paper --data DIR"  # noqa: E501
_SWAP = (ev.swapped("method_name"), ev.alike("method_name"))
_FALLS = most_seeds(_falls(HEAD), TYPICAL)
# More than the untrained network.
_LEARNT_LONG = above(_last("probe_accuracy", CONSTANT),
                     ev.first("probe_accuracy", method_name=CONSTANT))  # fmt: skip
_FALLS_LONG = most_seeds(_falls(CONSTANT), TYPICAL).given(_LEARNT_LONG)
_LEARNT = above(_probe(HEAD), ev.first("probe_accuracy", method_name=f"{HEAD}, {BATCH}"))


def _both(id: str, *said: str, check: Verb, **more: Any) -> list[Claim]:
    """A sentence about CIFAR-10 and about the digits."""
    names = {"images": id, "digits": f"{id.removesuffix('_real')}_digits"}
    return [claim(name, *said, needs, check, **more) for needs, name in names.items()]  # type: ignore[arg-type]


REAL_CLAIMS = (
    *_both("figure1_real", "Figure 1a", "Without a head, outputs of the projection become "
           "extremely correlated", "|correlation| near 1 without, spread around 0 with a head",
           check=_collapsed(), sentence="correlated"),
    claim("figure1b_real", "Figure 1b", "The impact on the encoder below the projection is milder",
          "milder", "images", ev.below(_last("feature_correlation_size", BARE),
                                    _last("correlation_size", BARE), by=MILDER)
          & at_least(_last("feature_rank", BARE), 2.0), nulls=(scaled(0.1, "correlation_size"),)),
    claim("figure2_real", "Figure 2", "An identity-initialised head is as good as linear and MLP "
          "heads", "comparable accuracies", "heads",
          (ev.within(_probe(HEAD), _probe("linear head"), by=COMPARABLE)
           & ev.within(_probe(HEAD), _probe("MLP head"), by=COMPARABLE)).given(_LEARNT)),
    claim("figure2_no_head", "section 1.1, no head", "A head that stays the identity is "
          "significantly worse", "significantly worse", "heads",
          above(_probe(HEAD), _probe(BARE))
          .given(_LEARNT) & above(_probe(HEAD, name=_OUTPUTS), _probe(BARE, name=_OUTPUTS)),
          nulls=_SWAP),
    claim("figure2_ema", "section 2, EMA", "EMA does not prevent collapse by itself",
          "inessential", "heads", _collapsed(f", {EMA}")),
    claim("figure2_l2", "section 7, l2", "There is a gap between l2 and batch normalisation of "
          "outputs", "batch normalisation is better", "heads",
          above(_probe(HEAD), _probe(HEAD, L2)).given(_LEARNT), nulls=_SWAP),
    claim("figure3_real", "Figure 3a", "The head's off-diagonal rises and falls", "rise and fall",
          "images", _FALLS),
    claim("figure3_digits", "Figure 3a", "The head's off-diagonal rises and falls",
          "rise and fall", "fading", _FALLS_LONG),
    claim("figure3_decider", "beyond the paper, the fall", "What decides the fall is batch "
          "normalisation inside the projection", "not said", "fading",
          _FALLS_LONG & most_seeds(1.0 - _falls(PLAIN), TYPICAL), scope="beyond",
          flags=("added after looking: read off this sweep",), nulls=_SWAP),
    claim("figure3b_real", "Figure 3b", "The head is not symmetric while features are learnt",
          "asymmetry above 0", "images", above(computed(
              "asymmetry while the norm is high",
              lambda data: while_high(data.sel(method_name=HEAD, drop=True))), 0.2),
          nulls=(scaled(0.1, "head_asymmetry"),)),
    claim("figure4_real", "Figure 4", "The rise and fall is consistent over runs",
          "a narrow band that rises and falls", "images", _FALLS
          & ev.bounded_by(computed("distance of a run from the mean run", _band), 0.25, TYPICAL),
          sentence="consistent"),
    *_both("figure5", "Figure 5", "Features look more varied with a head",
           "obviously more variety (Wide-ResNet, BYORL)", check=above(
               _last("preferred_alike", BARE), _last("preferred_alike", HEAD), by=VARIED),
           nulls=_SWAP),
    Claim("figure2_more", "The same on other data", "Figure 2", "comparable accuracies",
          "CIFAR-100, STL-10", reason=_SETS.format("figure2_real", "cifar100"), scope="as stated"),
    Claim("figure3_more", "The same on other data", "Figures 3 and 4, other data", "rise and fall",
          "CIFAR-100, STL-10", reason=_SETS.format("figure3_real", "stl10"), scope="as stated"),
)  # fmt: skip
