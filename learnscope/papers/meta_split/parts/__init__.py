"""Parts of this paper's own: linear tasks, their centroid in closed form, losses beyond scale."""

from learnscope.papers.meta_split.parts.centroid import CentroidError
from learnscope.papers.meta_split.parts.linear_centroid import LinearCentroid
from learnscope.papers.meta_split.parts.linear_tasks import LinearTasks
from learnscope.papers.meta_split.parts.scaled_loss import ScaledLoss

__all__ = ["CentroidError", "LinearCentroid", "LinearTasks", "ScaledLoss"]
