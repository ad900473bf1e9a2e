"""Parts of this paper's own: linear tasks and their centroid in closed form."""

from learnscope.papers.meta_split.parts.centroid import CentroidError
from learnscope.papers.meta_split.parts.linear_centroid import LinearCentroid
from learnscope.papers.meta_split.parts.linear_tasks import LinearTasks

__all__ = ["CentroidError", "LinearCentroid", "LinearTasks"]
