"""Xu and Chen (2025): benign overfitting, where every class has its own noise."""

from learnscope.evidence import Study
from learnscope.papers.benign.claims import CLAIMS
from learnscope.papers.benign.experiments import sweeps
from learnscope.papers.benign.figures import FIGURES
from learnscope.papers.benign.preset import presets

STUDY = Study(
    name="benign", title="Benign overfitting with class-dependent noise", paper="xu2025benign",
    sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("figure2", "tail"),
)  # fmt: skip
