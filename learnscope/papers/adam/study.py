"""Zou, Cao, Li, Gu (2021): why Adam generalises worse than gradient descent."""

from learnscope.evidence import Study
from learnscope.papers.adam.claims import CLAIMS
from learnscope.papers.adam.experiments import sweeps
from learnscope.papers.adam.figures import FIGURES
from learnscope.papers.adam.preset import presets

PAPER = """@inproceedings{zou2021adam,
  title = {Understanding the Generalization of {Adam} in Learning Neural Networks with Proper
           Regularization},
  author = {Zou, Difan and Cao, Yuan and Li, Yuanzhi and Gu, Quanquan},
  booktitle = {International Conference on Learning Representations},
  year = {2023},
  note = {arXiv:2108.11371, 2021},
  url = {https://arxiv.org/abs/2108.11371}
}"""
STUDY = Study(
    name="adam", title="Why Adam generalises worse than gradient descent", paper=PAPER,
    sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("dynamics",),
)  # fmt: skip
