"""The explorer's preset: the toy model of Figure 7."""

from collections.abc import Mapping
from typing import Any

from learnscope.evidence import MAPS, Preset
from learnscope.papers.pred_head.experiments import HEAD, non_contrastive, toy, trained
from learnscope.papers.pred_head.parts import FeatureShares, FeatureStrengths, PopulationDescent
from learnscope.probes import HeadOffDiagonal, NeuronCorrelation, PairLoss
from learnscope.rules import Contrastive


def presets() -> tuple[Preset, ...]:
    return (Preset(
        "pred_head",
        "The prediction head of non-contrastive learning",
        trained(toy(128, 200), non_contrastive(HEAD), 1000, PairLoss()),
        rules=(Contrastive(rate=0.02), PopulationDescent(rate=0.05, head_rate=0.05)),
        probes=(FeatureStrengths(), FeatureShares(), NeuronCorrelation(), PairLoss(),
                HeadOffDiagonal()),
        pictures=(HeadOffDiagonal(), *MAPS),
        about="Two views of an input are to get the same representation, and one feature would do. "
              "With a trained prediction head, weak features are learnt, too; without it, neurons "
              "collapse.",
        sketch=(("feature $\\pm\\alpha_l v_l$", "direction"), ("noise $\\xi_p$", "noise"),
                ("two views", "views")),
        tour=(
            ("With a trained head, both features are learnt.", ""),
            ("Break it: without a head, both neurons learn the strong feature.",
             "rule.head=none"),
            ("Mend it without a head: contrast an input with others.",
             "rule=Contrastive"),
        ),
        outcome=_outcome,
        expected=_expected,
        # The initial overlaps are in units of 1 / sqrt(d).
        scaling={"data.noise": -0.5, "net.overlaps": 0.5},
        sizes=("strength",),
    ),)  # fmt: skip


def _outcome(experiment: Any, last: Mapping[str, Any]) -> str:
    shares = last["share"]  # neuron, feature
    learnt = set(shares.argmax(1).tolist())
    return "all features are learnt" if len(learnt) == shares.shape[1] else "neurons collapse"


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    needed = "a trained head, normalisation and stop-gradient"
    if predicted["outcome"] == "collapse":
        return "neurons collapse", f"it lacks some of {needed}"
    return "all features are learnt", f"it has {needed} (Theorem 4.1)"
