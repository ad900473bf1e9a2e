"""Parts of this paper's own: what its update rules are written in."""

from learnscope.papers.pegr.parts.training_overlaps import TrainingOverlaps

__all__ = ["TrainingOverlaps"]
