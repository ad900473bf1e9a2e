"""Meng, Cao, Zou (2023): per-example gradient regularisation learns signal, suppresses noise."""

from learnscope.evidence import Study
from learnscope.papers.pegr.claims import CLAIMS
from learnscope.papers.pegr.experiments import sweeps
from learnscope.papers.pegr.figures import FIGURES
from learnscope.papers.pegr.preset import presets

STUDY = Study(
    name="pegr", title="Per-example gradient regularisation learns signal and suppresses noise",
    paper="meng2023pegr", sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("figure2", "figure3", "figure4", "arithmetic"),
)  # fmt: skip
