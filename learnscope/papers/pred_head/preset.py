"""The explorer's preset: the toy model of Figure 7."""

from learnscope.evidence import Preset
from learnscope.papers.pred_head.experiments import HEAD, non_contrastive, toy, trained
from learnscope.papers.pred_head.parts import FeatureShares, FeatureStrengths, PopulationDescent
from learnscope.probes import FilterCosines, HeadOffDiagonal, NeuronCorrelation, PairLoss
from learnscope.rules import Contrastive


def presets() -> tuple[Preset, ...]:
    return (Preset(
        "pred_head",
        "The prediction head of non-contrastive learning",
        trained(toy(128, 200), non_contrastive(HEAD), 1000, PairLoss()),
        rules=(Contrastive(rate=0.02), PopulationDescent(rate=0.05, head_rate=0.05)),
        probes=(FeatureStrengths(), FeatureShares(), NeuronCorrelation(), PairLoss(),
                HeadOffDiagonal()),
        pictures=(HeadOffDiagonal(), FilterCosines()),
    ),)  # fmt: skip
