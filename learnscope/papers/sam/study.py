"""Chen et al. (2023): why sharpness-aware minimisation generalises better than SGD."""

from learnscope.evidence import Study
from learnscope.papers.sam.claims import CLAIMS
from learnscope.papers.sam.experiments import sweeps
from learnscope.papers.sam.figures import FIGURES
from learnscope.papers.sam.preset import presets

PAPER = """@inproceedings{chen2023sam,
  title = {Why Does Sharpness-Aware Minimization Generalize Better Than {SGD}?},
  author = {Chen, Zixiang and Zhang, Junkai and Kou, Yiwen and Chen, Xiangning and Hsieh, Cho-Jui
            and Gu, Quanquan},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2023},
  url = {https://arxiv.org/abs/2310.07269}
}"""
STUDY = Study(
    name="sam", title="Why sharpness-aware minimisation generalises better than SGD", paper=PAPER,
    sweeps=sweeps, figures=FIGURES, claims=CLAIMS, presets=presets,
    headline=("diagram",),
)  # fmt: skip
