"""How a prediction head prevents collapse (Wen and Li 2022)."""

from learnscope.studies.pred_head.claims import CLAIMS
from learnscope.studies.pred_head.experiments import sweeps
from learnscope.studies.pred_head.figures import FIGURES
from learnscope.studies.pred_head.real import real_sweeps
from learnscope.studies.pred_head.real_figures import REAL_FIGURES
from learnscope.studies.study import Study

PRED_HEAD = Study(
    name="pred_head",
    title="How a prediction head prevents collapse",
    paper="wen2022mechanism",
    sweeps=lambda scale: sweeps(scale) | real_sweeps(scale),
    figures=FIGURES | REAL_FIGURES,
    claims=CLAIMS,
    headline=("figure7", "phases", "effects"),
)

__all__ = ["PRED_HEAD"]
