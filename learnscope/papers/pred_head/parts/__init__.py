"""Parts of this paper's own: population dynamics of non-contrastive learning."""

from learnscope.papers.pred_head.parts.population import PopulationDescent
from learnscope.papers.pred_head.parts.population_flow import PopulationFlow
from learnscope.papers.pred_head.parts.strong_weak import (
    Constancy,
    FeatureShares,
    FeatureStrengths,
    Phase,
    PopulationMoments,
)

__all__ = [
    "Constancy", "FeatureShares", "FeatureStrengths", "Phase", "PopulationDescent",
    "PopulationFlow", "PopulationMoments",
]  # fmt: skip
