"""Xu and Chen (2025): overfitting that helps, where every class has noise of its own."""

from learnscope.studies.benign.claims import CLAIMS
from learnscope.studies.benign.experiments import sweeps
from learnscope.studies.benign.figures import FIGURES
from learnscope.studies.study import Study

BENIGN = Study(
    name="benign",
    title="Benign overfitting with class-dependent noise",
    paper="xu2025benign",
    sweeps=sweeps,
    figures=FIGURES,
    claims=CLAIMS,
    headline=("figure3a", "tail", "majority", "lemmas"),
)

__all__ = ["BENIGN"]
