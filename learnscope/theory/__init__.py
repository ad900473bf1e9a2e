"""What the papers predict: conditions with margins, rates and times, closed forms."""

from learnscope.theory.condition import Condition, Conditions
from learnscope.theory.papers import boundary, conditions, predict
from learnscope.theory.prediction import Prediction

__all__ = ["Condition", "Conditions", "Prediction", "boundary", "conditions", "predict"]
