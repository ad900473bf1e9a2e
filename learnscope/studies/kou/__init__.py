"""Kou, Chen, Chen, Gu (2023): the field's standard phase diagram, and its boundary's exponent."""

from learnscope.studies.kou.claims import CLAIMS
from learnscope.studies.kou.experiments import sweeps
from learnscope.studies.kou.figures import FIGURES
from learnscope.studies.study import Study

KOU = Study(
    name="kou",
    title="Benign and harmful overfitting of two-layer ReLU CNNs",
    paper="kou2023benign",
    sweeps=sweeps,
    figures=FIGURES,
    claims=CLAIMS,
)

__all__ = ["KOU"]
