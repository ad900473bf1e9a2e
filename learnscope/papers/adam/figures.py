"""Training and test error, feature and noise step by step; the strength of feature noise."""

from learnscope.evidence import every, last
from learnscope.figures import bars, figure, number, over, steps
from learnscope.papers.adam.claims import ERROR
from learnscope.papers.adam.experiments import DECAYS

_TRAIN = (1 - every("train_accuracy", decay=DECAYS[-1])).of("decay")
_TEST = (1 - every("test_accuracy", decay=DECAYS[-1])).of("decay")
_ONE = {"decay": DECAYS[-1]}
FIGURES = {
    "dynamics": figure(
        "Adam and gradient descent from the same start, step by step", "decay",
        [steps(_TRAIN, "rule", ylabel="training error", ylim=(-0.02, 1.02)),
         steps(_TEST, "rule", ylabel="test error", ylim=(-0.02, 1.02)),
         steps("signal_learning", "rule", where=_ONE, ylabel="max |<w, v>|"),
         steps("noise_memorisation", "rule", where=_ONE, ylabel="max <w, ξ>")],
        f"Both fit the training set; Adam by its noise (λ = {number(DECAYS[-1])})",
        size=(8.4, 6.2)),
    "strength": figure(
        "Test error over the strength of feature noise, and weight decay", ("strength", "decay"),
        [over(ERROR.of("strength"), "strength", "rule", ylim=(-0.02, 1.02), ylabel="test error",
              xlabel="feature noise α", levels={"chance": 0.5}),
         bars(ERROR.of("decay"), "decay", "rule", ylabel="test error", xlabel="weight decay λ")],
        "Weight decay does not save Adam", size=(9.0, 4.0)),
    "convex": figure(
        "A linear model with weight decay", "convex",
        [bars(last("loss"), "rule", ylabel="training loss at the end")],
        "In a convex problem both find one solution"),
}  # fmt: skip
