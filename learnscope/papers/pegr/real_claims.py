"""The claims of section 4.2, in each reading of its pixels.

A rule trains if its loss ends below what guessing gives, log 10, by a hundredth of it. Accuracies
are compared where a network is better than before training, by 0.05, and where training is over
(`converged`). A rule that diverges neither trains nor is better than another.
"""

import math

from learnscope.evidence import (
    NOISE_ONLY,
    UNTRAINED,
    Claim,
    Quantity,
    Verb,
    above,
    at_least,
    at_most,
    below,
    constant,
    converged,
    falls,
    first,
    last,
)

TRAINED, LEARNT, SLACK = 0.99 * math.log(10), 0.05, 0.02
BOTH, NOISY = ["PEGR", "standard"], slice(0.001, None)


def _accuracy(rule: str | list[str], noise: float | slice) -> Quantity:
    return last("test_accuracy", rule=rule, noise=noise)


def _learnt(rules: list[str], noise: float | slice) -> Verb:
    """The better of some rules is above the untrained control."""
    control = first("test_accuracy", rule=rules, noise=noise).max("rule")
    return above(_accuracy(rules, noise).max("rule"), control, by=LEARNT)


def _compared(verb: Verb, other: str, noise: float | slice) -> Verb:
    """A comparison, where something is learnt, training is over and PEGR does not diverge."""
    learnt = converged(verb.given(_learnt(["PEGR", other], noise)))
    return learnt & at_least(_accuracy("PEGR", noise), 0.0, diverged="fails")


def _is_better(other: str) -> Verb:
    verb = above(_accuracy("PEGR", NOISY), _accuracy(other, NOISY))
    return _compared(verb, other, NOISY)


_QUIET = at_least(_accuracy("PEGR", 0.0) - _accuracy("standard", 0.0), -SLACK)
_SENTENCES = {
    "figure-5": ("On noisy MNIST the training loss of PEGR and of standard training decreases.",
                 "Figure 5", "at σp = 0, 5, 10, 15",
                 below(last("loss", rule=BOTH), first("loss", rule=BOTH), diverged="fails")
                 & at_most(last("loss", rule=BOTH), TRAINED, diverged="fails")),
    "figure-6": ("On noisy MNIST PEGR's test accuracy is above standard training's.", "Figure 6",
                 "higher at σp = 5, 10, 15", _is_better("standard")),
    "figure-6-full": ("The same against the penalty on the full gradient (not in the paper).",
                      "Figure 6", "not reported", _is_better("FGR")),
    "figure-6-quiet": ("Without noise PEGR does not prevent learning.", "Figure 6 (a)",
                       "as high as standard training", _compared(_QUIET, "standard", 0.0)),
    "figure-6-falls": ("Test accuracy falls as noise grows, for both.", "Figure 6", "decreases",
                       converged(falls(last("test_accuracy", rule=BOTH), "noise").given(
                           _learnt(BOTH, 0.0)))),
}  # fmt: skip
_LAPTOP = (
    "laptop: all 60,000 images of MNIST, 5 seeds, 4688 steps (5 epochs; 50: `learnscope verify "
    "pegr --scale paper --data DIR --budget 6h`, again and again)"
)
_RATES = "as stated: 0.01 in section 4.2, for every rule; nothing was tuned"
_READINGS = {
    "unit": ("pixels 0 to 1", "σp = 0, 5, λ = 0.1 in the first eighth"),
    "bytes": ("pixels 0 to 255", "σp = 0, 15, λ = 0.1 in the first eighth"),
    "standard": ("pixels of mean 0 and variance 1", "σp = 0, 5, λ = 0.1 in the first eighth"),
    "scaled": ("noise added to bytes, then pixels 0 to 1",
               "σp = (0, 15)/255, λ = 0.1 in the first eighth"),
    "working": ("pixels 0 to 1, λ = 1/E‖x‖²", "σp = 0, 2, λ in the first half"),
}  # fmt: skip
REAL_CLAIMS: tuple[Claim, ...] = tuple(
    Claim(f"{id}.{tag}", statement, where, reported, f"LeNet5, {words}, {more}; {_LAPTOP}",
          "mnist_full" if id == "figure-6-full" else f"mnist_{tag}", verb,
          scope="beyond" if id == "figure-6-full" else f"reading: {words}",
          nulls=(UNTRAINED, constant(0.1), NOISE_ONLY), rates=_RATES, draws=5)
    for tag, (words, more) in _READINGS.items()
    for id, (statement, where, reported, verb) in _SENTENCES.items()
    if tag == "working" or id != "figure-6-full"
)  # fmt: skip
