"""The words for claims: sweeps of a study, findings, the ledger."""

from learnscope.evidence.boundary_sweep import BoundarySweep
from learnscope.evidence.function_sweep import FunctionSweep
from learnscope.evidence.ledger import (
    VERDICTS,
    Claim,
    Finding,
    Ledger,
    above,
    half_width,
    judged,
    mean,
    share,
    wilson,
)
from learnscope.evidence.output import Output
from learnscope.evidence.preset import PLAIN, Preset
from learnscope.evidence.study import SCALES, Arm, Figure, Study, Sweep, check_scale, experiment_of

__all__ = [
    "PLAIN", "SCALES", "VERDICTS", "Arm", "BoundarySweep", "Claim", "Figure", "Finding",
    "FunctionSweep", "Ledger", "Output", "Preset", "Study", "Sweep", "above", "check_scale",
    "experiment_of", "half_width", "judged", "mean", "share", "wilson",
]  # fmt: skip
