"""Meng, Zou, Cao (2024): benign overfitting of ReLU CNNs on XOR data."""

from learnscope.evidence import Study
from learnscope.papers.xor.claims import CLAIMS
from learnscope.papers.xor.experiments import sweeps
from learnscope.papers.xor.figures import FIGURES
from learnscope.papers.xor.preset import presets

STUDY = Study(
    name="xor", title="Benign overfitting of ReLU CNNs on XOR data", paper="meng2023xor",
    sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("diagram",),
)  # fmt: skip
