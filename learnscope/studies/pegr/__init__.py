"""Meng, Cao, Zou (2023): per-example gradient regularisation learns signal, suppresses noise."""

from learnscope.studies.pegr.claims import CLAIMS
from learnscope.studies.pegr.experiments import sweeps
from learnscope.studies.pegr.figures import FIGURES
from learnscope.studies.study import Study

PEGR = Study(
    name="pegr",
    title="Per-example gradient regularisation learns signal and suppresses noise",
    paper="meng2023pegr",
    sweeps=sweeps,
    figures=FIGURES,
    claims=CLAIMS,
)

__all__ = ["PEGR"]
