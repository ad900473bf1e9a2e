"""Tools for a practitioner's own data and models."""

from learnscope.images.influence import influence_scores
from learnscope.tools.baselines import distance_to_class_mean, nearest_neighbour_disagreement
from learnscope.tools.collapse import collapse_report
from learnscope.tools.collapse_value import CollapseReport
from learnscope.tools.correlation import noise_correlation, noise_correlation_ratio
from learnscope.tools.labelled import Labelled, read_labelled
from learnscope.tools.representations import read_representations
from learnscope.tools.tsne import tsne

__all__ = [
    "CollapseReport", "Labelled", "collapse_report", "distance_to_class_mean",
    "influence_scores", "nearest_neighbour_disagreement", "noise_correlation",
    "noise_correlation_ratio", "read_labelled", "read_representations", "tsne",
]  # fmt: skip
