"""The papers: one folder a paper."""

from learnscope.errors import unknown
from learnscope.studies.benign import BENIGN
from learnscope.studies.computed import Computed
from learnscope.studies.input_structure import INPUT_STRUCTURE
from learnscope.studies.kou import KOU
from learnscope.studies.line import Line
from learnscope.studies.meta_split import META_SPLIT
from learnscope.studies.pegr import PEGR
from learnscope.studies.pred_head import PRED_HEAD
from learnscope.studies.study import SCALES, Arm, Figure, Study, Sweep

STUDIES: dict[str, Study] = {
    study.name: study for study in (PEGR, BENIGN, INPUT_STRUCTURE, PRED_HEAD, META_SPLIT, KOU)
}


def get(name: str) -> Study:
    """The study of that name."""
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    return STUDIES[name]


__all__ = ["SCALES", "STUDIES", "Arm", "Computed", "Figure", "Line", "Study", "Sweep", "get"]
