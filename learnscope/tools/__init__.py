"""What a practitioner takes home: tools for data and models of their own."""

from learnscope.tools.baselines import distance_to_class_mean, nearest_neighbour_disagreement
from learnscope.tools.correlation import noise_correlation, noise_correlation_ratio
from learnscope.tools.influence import influence_scores
from learnscope.tools.labelled import Labelled, read_labelled

__all__ = [
    "Labelled",
    "distance_to_class_mean",
    "influence_scores",
    "nearest_neighbour_disagreement",
    "noise_correlation",
    "noise_correlation_ratio",
    "read_labelled",
]
