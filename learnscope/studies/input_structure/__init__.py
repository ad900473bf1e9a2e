"""Shi, Wei and Liang (2022): features that emerge from inputs, against fixed ones."""

from learnscope.studies.input_structure.claims import CLAIMS
from learnscope.studies.input_structure.experiments import sweeps
from learnscope.studies.input_structure.figures import FIGURES
from learnscope.studies.study import Study

INPUT_STRUCTURE = Study(
    name="input_structure",
    title="Features that emerge from inputs, against fixed features",
    paper="shi2022theoretical",
    sweeps=sweeps,
    figures=FIGURES,
    claims=CLAIMS,
    headline=("figure5", "figure6", "emergence"),
)

__all__ = ["INPUT_STRUCTURE"]
