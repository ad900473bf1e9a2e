"""Zuo et al. (2023): why meta-learning splits its data."""

from learnscope.studies.meta_split.claims import CLAIMS
from learnscope.studies.meta_split.experiments import sweeps
from learnscope.studies.meta_split.figures import FIGURES
from learnscope.studies.study import Study

META_SPLIT = Study(
    name="meta_split",
    title="Why meta-learning splits its data",
    paper="zuo2023split",
    sweeps=sweeps,
    figures=FIGURES,
    claims=CLAIMS,
    headline=("separation", "lemmas", "centroid"),
)

__all__ = ["META_SPLIT"]
