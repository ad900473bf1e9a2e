"""The paper's claims, as far as its text was found.

- Abstract (arXiv 2108.11371): from "the same random initialization, for a class of data
  distributions (inspired from image data), Adam and gradient descent (GD) can converge to
  different global solutions of the training objective with provably different generalization
  errors, even with weight decay regularization. In contrast, [...] if the training objective is
  convex, and the weight decay regularization is employed, any optimization algorithms including
  Adam and GD will converge to the same solution if the training is successful." The introduction
  calls the convex statement Theorem 4.2.
- The data model, the network (σ(z) = max(z, 0)^q with q ≥ 3, cross-entropy, weight decay in the
  loss) and the outcome of full-batch Adam, "training error zero, test error at least 1/2 - o(1)",
  are those of Tang et al. (2025, Definitions 3.1 and 3.2, Theorem 4.1), which "extends" this paper
  "under the nearly same data model". The same authors sum the paper up: "GD learns the features,
  but full-batch Adam, even with proper regularization, may still fail".

- Its sizes were not found, but those of Tang et al. were, in their full text (a public collection
  of NeurIPS 2025): Condition A.1, "s = Θ(d^(1/2)/n²)", "σ_p² = Θ(1/(s polylog(n)))", "α = Θ(σ_p
  polylog(n))"; Condition A.2, "σ_0² = Θ(1/d^(1/2))"; the synthetic experiments of Appendix D.2:
  d = 1000, n = 200, s = 100, σ_p = 0.1, α = 0.2, σ_0 = 0.01, m = 20, η = 5 × 10⁻⁵ for 10⁴ epochs,
  λ = 10⁻⁵. There Adam with half of the examples per step has the test error 0.9545, "consistent
  with Figure 2 in Zou et al.". `published` are these sizes with the full batch; q = 3, and GD's
  rate is the study's. Claims about them were written before any result of Adam was seen there;
  results of gradient descent had been seen.

The numbers of its tables on images were not found, and are not claimed.
"""

from learnscope.evidence import (
    UNTRAINED,
    Claim,
    above,
    alike,
    at_least,
    at_most,
    change,
    constant,
    last,
    most_seeds,
    swapped,
    within,
)

ERROR = (1 - last("test_accuracy")).named("test error")
GD, ADAM = (ERROR.sel(rule=rule).named(f"test error of {rule}") for rule in ("GD", "Adam"))
ZERO = most_seeds((last("train_accuracy") >= 1.0).named("no training error"))
FITTED = at_least(last("train_accuracy"), 0.95)  # stated for 12 draws of 20 examples
_ARMS = (swapped("rule"), alike("rule"))
_HERE = "d = 1500, n = 20, s = 32, σ_p = 0.15, α = 0.3, q = 3, m = 16, full batch, 1000 steps"
_DECAY = f"{_HERE}; λ = 0, 10⁻⁵, 10⁻⁴"
_REGIME = "reading: the mechanism's inequalities hold, s = d^(1/2)/n² of Tang et al. does not"
_CHOSEN = "fitted: sizes chosen on test errors of other draws"
_SIZES = ("tuned: s, σ_p, α and m, on test errors of both arms for other seeds",)
_PUBLISHED = "d = 1000, n = 200, s = 100, σ_p = 0.1, α = 0.2, m = 20, full batch, λ = 10⁻⁵"


def _ratio(rule: str):
    return last("signal_learning", rule=rule) / last("noise_memorisation", rule=rule)


def _adam_over_gd(variable: str):
    return last(variable, rule="Adam") / last(variable, rule="GD")


_MAIN = (
    ("adam_fails", "Adam's test error is at least 1/2", "theorem on Adam (quoted)",
     "at least 1/2 - o(1)", at_least(ADAM, 0.5).given(FITTED), _ARMS),
    ("gd_learns", "Gradient descent learns the feature", "theorem on GD (quoted)",
     "small test error", at_most(GD, 0.05).given(FITTED), (swapped("rule"), constant())),
    ("differ", "From the same start they find solutions with different test errors", "abstract",
     "different", above(ADAM, GD, by=0.25).given(FITTED), _ARMS),
    ("noise", "Adam memorises noise where GD learns the feature", "feature learning (quoted)",
     "GD learns the features", above(_ratio("GD"), _ratio("Adam")), _ARMS),
)  # fmt: skip
_SEEN = ("added after looking: results of GD at these sizes had been seen, none of Adam",)
_LEVEL = ("added after looking: trained from a training accuracy of 0.95 on",)
CLAIMS = (
    Claim("training", "Adam and GD both reach zero training error", "global solutions (abstract)",
          "zero", _DECAY, "decay", ZERO, scope=_REGIME, nulls=(constant(),),
          flags=("added after looking: in nine tenths of draws, for the mean",)),
    *(Claim(name, f"{text}, with weight decay or not", where, reported, _DECAY, "decay", check,
            scope=_CHOSEN, flags=(*_SIZES, *_LEVEL), nulls=nulls, sentence=name)
      for name, text, where, reported, check, nulls in _MAIN),
    *(Claim(f"published.{name}", f"{text}, with weight decay", where, reported, _PUBLISHED,
            "published", check, scope="reading: the sizes of Tang et al. (2025, D.2)",
            flags=(*_SEEN, *_LEVEL), nulls=nulls, sentence=name)
      for name, text, where, reported, check, nulls in _MAIN),
    Claim("convex", "In a convex problem with weight decay both find the same solution",
          "Theorem 4.2", "the same", f"a linear model; {_HERE}; λ = 0.05", "convex",
          within(last("loss", rule="Adam"), last("loss", rule="GD"), by=1e-3)
          & within(_adam_over_gd("signal_learning"), 1.0, by=0.01)
          & within(_adam_over_gd("noise_memorisation"), 1.0, by=0.01)
          & at_most(change("loss"), -0.05),
          scope="regime: any convex problem with weight decay", nulls=(UNTRAINED, constant()),
          flags=("added after looking: overlaps, for test errors that are 0 in both arms",)),
    Claim("images", "Adam generalises worse on CIFAR-10, even with weight decay", "Table 1",
          "larger test errors", "deep networks on images", scope="as stated",
          reason="the table's numbers were not found, and the networks take days here"),
)  # fmt: skip
