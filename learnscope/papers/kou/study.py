"""Kou, Chen, Chen, Gu (2023): the field's standard phase diagram, and its boundary's exponent."""

from learnscope.evidence import Study
from learnscope.papers.kou.claims import CLAIMS
from learnscope.papers.kou.experiments import sweeps
from learnscope.papers.kou.figures import FIGURES
from learnscope.papers.kou.preset import presets

STUDY = Study(
    name="kou", title="Benign and harmful overfitting of two-layer ReLU CNNs",
    paper="kou2023benign", sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("diagram",),
)  # fmt: skip
