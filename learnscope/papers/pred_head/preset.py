"""The explorer's preset: the toy model of Figure 7."""

from learnscope.evidence import Preset
from learnscope.papers.pred_head.experiments import HEAD, non_contrastive, toy, trained
from learnscope.papers.pred_head.parts.population import PopulationDescent
from learnscope.papers.pred_head.parts.strong_weak import FeatureShares, FeatureStrengths
from learnscope.probes import FilterCosines, HeadOffDiagonal, NeuronCorrelation, PairLoss
from learnscope.rules import Contrastive


def presets() -> tuple[Preset, ...]:
    toy_model = toy(smoke=True, batch=128)
    return (Preset(
        "pred_head",
        "The prediction head of non-contrastive learning",
        trained(toy_model, non_contrastive(HEAD), (PairLoss(),), steps=1000),
        rules=(Contrastive(rate=0.02), PopulationDescent(rate=0.05, head_rate=0.05)),
        probes=(FeatureStrengths(), FeatureShares(), NeuronCorrelation(), PairLoss(),
                HeadOffDiagonal()),
        pictures=(HeadOffDiagonal(), FilterCosines()),
    ),)  # fmt: skip
