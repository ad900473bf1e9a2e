"""The words for claims: quantities, verbs, claims, sweeps of a study, the ledger."""

from learnscope.evidence.arms import arms
from learnscope.evidence.boundary_sweep import BoundarySweep
from learnscope.evidence.claim import FLAGS, SCOPES, Claim
from learnscope.evidence.finding import VERDICTS, Finding, judged
from learnscope.evidence.function_sweep import FunctionSweep
from learnscope.evidence.ledger import Ledger
from learnscope.evidence.nulls import (
    NOISE_ONLY,
    STANDARD,
    TRAINED,
    UNTRAINED,
    Null,
    alike,
    constant,
    scaled,
    shrunk,
    shuffled,
    swapped,
)
from learnscope.evidence.output import Output
from learnscope.evidence.preset import MAPS, PLAIN, Preset, overfitting
from learnscope.evidence.protocol import converged, learnt
from learnscope.evidence.quantity import (
    Quantity,
    Unanswered,
    at,
    boundary_exponent,
    change,
    computed,
    every,
    exact,
    examples_of,
    first,
    first_passage,
    hits_of,
    last,
)
from learnscope.evidence.scale import SCALES, Scale
from learnscope.evidence.statistics import Interval, proportion, student
from learnscope.evidence.study import Arm, Figure, Study, Sweep, check_scale, experiment_of
from learnscope.evidence.verbs import (
    Verb,
    above,
    at_least,
    at_most,
    below,
    bounded_by,
    exponent,
    falls,
    few_seeds,
    flat,
    most_seeds,
    ordered,
    rises,
    within,
)

__all__ = [
    "FLAGS", "MAPS", "NOISE_ONLY", "PLAIN", "SCALES", "SCOPES", "STANDARD", "TRAINED", "UNTRAINED",
    "VERDICTS", "Arm", "BoundarySweep", "Claim", "Figure", "Finding", "FunctionSweep", "Interval",
    "Ledger", "Null", "Output", "Preset", "Quantity", "Scale", "Study", "Sweep", "Unanswered",
    "Verb", "above", "alike", "arms", "at", "at_least", "at_most", "below", "boundary_exponent",
    "bounded_by", "change", "check_scale", "computed", "constant", "converged", "every", "exact",
    "examples_of", "experiment_of", "exponent", "falls", "few_seeds", "first", "first_passage",
    "flat", "hits_of", "judged", "last", "learnt", "most_seeds", "ordered", "overfitting",
    "proportion", "rises", "scaled", "shrunk", "shuffled", "student", "swapped", "within",
]  # fmt: skip
