"""Saad and Solla (1995), Goldt et al. (2019), Ben Arous et al. (2021): online learning."""

from learnscope.evidence import Study
from learnscope.papers.online.claims import CLAIMS
from learnscope.papers.online.experiments import sweeps
from learnscope.papers.online.figures import FIGURES
from learnscope.papers.online.preset import presets

STUDY = Study(
    name="online", title="Online learning of a teacher in any dimension",
    paper="goldt2019dynamics", sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("plateau", "exits"),
)  # fmt: skip
