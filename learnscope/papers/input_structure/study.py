"""Shi, Wei and Liang (2022): features that emerge from inputs, against fixed ones."""

from learnscope.evidence import Study
from learnscope.papers.input_structure.claims import CLAIMS
from learnscope.papers.input_structure.experiments import sweeps
from learnscope.papers.input_structure.figures import FIGURES
from learnscope.papers.input_structure.preset import presets

STUDY = Study(
    name="input_structure", title="Features that emerge from inputs, against fixed features",
    paper="shi2022theoretical", sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("figure7",),
)  # fmt: skip
