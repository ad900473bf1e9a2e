"""Zuo et al. (2023): why meta-learning splits its data."""

from learnscope.evidence import Study
from learnscope.papers.meta_split.claims import CLAIMS
from learnscope.papers.meta_split.experiments import sweeps
from learnscope.papers.meta_split.figures import FIGURES
from learnscope.papers.meta_split.preset import presets

STUDY = Study(
    name="meta_split", title="Why meta-learning splits its data", paper="zuo2023split",
    sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("separation", "plane"),
)  # fmt: skip
