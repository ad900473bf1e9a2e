"""How a prediction head prevents collapse (Wen and Li 2022)."""

from learnscope.evidence import Study
from learnscope.papers.pred_head.claims import CLAIMS
from learnscope.papers.pred_head.experiments import sweeps
from learnscope.papers.pred_head.figures import FIGURES
from learnscope.papers.pred_head.preset import presets
from learnscope.papers.pred_head.real import real_sweeps

STUDY = Study(
    name="pred_head", title="How a prediction head prevents collapse", paper="wen2022mechanism",
    sweeps=lambda scale: sweeps(scale) | real_sweeps(scale), figures=FIGURES,
    claims=CLAIMS, presets=presets, headline=("phases", "effects"),
)  # fmt: skip
