"""The paper's claims on synthetic data: section 5.1 in both readings, and the theorem's lemmas.

A network has fitted its data from a training accuracy of 0.99 on (0.95 in the theorem's setting,
where a sweep has 90 training examples to show it); "near-optimal" is 0.95. What the paper calls a
constant has a value here: ε = 0.1, c3 = 0.3, κ = 3, C' = 2, 0.1 in Lemma 1. The level of a settled
loss, the level of Lemma 6 and the sweep of Remark 4 were chosen after a first run, and their claims
say so. Statements that hold with probability 1 - δ must hold in nine tenths of the draws.
"""

from typing import Any

import numpy as np

from learnscope import evidence as ev
from learnscope.evidence import STANDARD, UNTRAINED, Verb, above, at_least, at_most, last, swapped
from learnscope.papers.benign import quantities as of
from learnscope.papers.benign.experiments import CLASSES, READINGS, SNRS
from learnscope.papers.benign.real_claims import REAL_CLAIMS

NEAR_ONE, FITTED, SLACK = 0.95, 0.99, 0.02
ACCURACY, TRAINED = last("test_accuracy"), last("train_accuracy")
GUESS = ev.constant(1 / CLASSES)
_NULLS = (UNTRAINED, GUESS, STANDARD[2])

# Section 5.1


def _increases(dim: str, other: str):
    """Rising along one axis, on average over the other; no neighbours fall by more than 0.02."""
    return ev.rises(ACCURACY.mean(other), dim, by=0.05, slack=SLACK)


_HIGH = ACCURACY.isel(signal=0, correlation=-1).named("accuracy at ‖u‖ = 0.001, Γ = 1400")
_SIZE = "remains in a constant order with the size of the data set"
_WORKS = at_least(ACCURACY.isel(correlation=-1), 2.5 / CLASSES)  # far above chance
_LEVELS = ("added after looking: the level 0.5",)
_ROWS: dict[str, tuple[str, str, str, Any, tuple[str, ...]]] = {
    "fitted": ("Over the plane, networks fit their training data on average", "3",
               "overfitting: training loss ≤ ε",
               at_least(TRAINED.mean("signal", "correlation"), FITTED),
               ("added after looking: on average",)),
    "signal": ("Test accuracy grows with the feature strength", "3", "increases with ‖u‖",
               _increases("signal", "correlation"), ()),
    "ratio": ("Test accuracy grows with the noise correlation ratio", "3", "increases with Γ",
              _increases("correlation", "signal"), ()),
    "weak": ("High ratios give near-optimal accuracy although the feature strength is nearly zero",
             "3", "near-optimal", at_least(_HIGH, NEAR_ONE), ()),
    "size": ("Classified by features, accuracy increases with the size of the data set", "4a",
             "increases with |S|", _increases("size", "signal"), ()),
    "constant": (f"Classified by covariance, accuracy {_SIZE}", "4b", "constant in |S|",
                 ev.flat(ACCURACY, "size", by=0.1) & _WORKS, _LEVELS),
    "constant_high": (f"Classified by covariance at Γ ≥ 400, accuracy {_SIZE}", "4b",
                      "constant in |S|",
                      ev.flat(ACCURACY.sel(correlation=slice(400, None)), "size", by=0.1) & _WORKS,
                      (*_LEVELS, "added after looking: the range Γ ≥ 400")),
}  # fmt: skip
_SETTING = {
    "literal": ("d = 1000, 20 steps, rate 0.05", "as stated"),
    "no 1/m": ("d = 1000, 20 steps, no 1/m in the gradient", "reading: no 1/m in the gradient"),
}
_UNSCALED, _SCOPE = _SETTING["no 1/m"]


def _only(verb: Verb, reading: str) -> Verb:
    """A verb on the runs of one reading."""

    def judge(data: Any) -> ev.Finding:
        return verb.judge({name: each.sel(reading=reading) for name, each in data.items()})

    return Verb(verb.text, judge)


def _section_5_1(figure: str) -> list[ev.Claim]:
    """Figures say nothing of the fit; read literally, 4b needs no range of Γ."""
    return [
        ev.Claim(f"figure{figure}_{id}_{reading}", statement,
              "section 5.1, overfitting" if id == "fitted" else f"Figure {figure}", reported,
              _SETTING[reading][0], f"figure{figure}", _only(verb, reading),
              scope=_SETTING[reading][1], flags=flags, nulls=_NULLS,
              sentence="constant" if id.startswith("constant") else "")
        for reading in READINGS
        for id, (statement, kind, reported, verb, flags) in _ROWS.items()
        if figure.startswith(kind) and (id, reading) != ("constant_high", "literal")
    ]  # fmt: skip


_EDGE = ACCURACY.passage("signal", 0.6).named("‖u‖ at accuracy 0.6")
_TAIL = last("long_tail_accuracy").mean("class").named("accuracy on the long tail")
_CONTROL = last("long_tail_untrained").mean("class").named("the untrained network's on its own")
_MINORITY = last("long_tail_accuracy").isel(**{"class": 0}).named("long-tailed accuracy of class 0")
_DROP = (_MINORITY.isel(others=0) - _MINORITY.isel(others=-1)).named("its drop as others grow")
_WEAK = f"{_UNSCALED}, ‖u‖ = 10⁻⁶"
_TAIL_NULLS = (of.UNTRAINED_TAIL, GUESS, STANDARD[2])
_LARGE = {"correlation": slice(4.0, None)}


def _claim(id: str, statement: str, where: str, reported: str, setting: str, needs: Any,
           check: Any, scope: str = _SCOPE, **more: Any) -> ev.Claim:  # fmt: skip
    return ev.Claim(id, statement, where, reported, setting, needs, check, scope=scope, **more)


_EXPERIMENTS = (
    _claim("boundary", "Benign and harmful overfitting are divided in the plane of signal and "
           "noise correlation", "Figure 2", "the boundary falls with Γ", _UNSCALED, "edge",
           ev.falls(_EDGE, "correlation", by=0.5, slack=0.05)
           & ev.rises(ACCURACY.isel(signal=0), "correlation", by=0.4, slack=SLACK),
           nulls=(*_NULLS, swapped("correlation"))),
    *(c for figure in ("3a", "3b", "4a", "4b") for c in _section_5_1(figure)),
    _claim("noises", "Noise may be any sub-Gaussian one", "Remark 1", "general",
           f"{_UNSCALED}; (‖u‖, Γ) = (3.8, 1), (0, 100), (0.8, 1); uniform, ±1, triangular",
           "noises", ev.within(of.BESIDE_GAUSSIAN, 0.0, by=0.03)
           & at_least(ACCURACY.isel(signal=0), NEAR_ONE),
           flags=("added after looking: the number of draws",), nulls=_NULLS),
    *(_claim(f"tail_{share}", "Where the noise correlation ratio is large, accuracy on long-tailed "
             "data grows with it", "section 3, long tail", "increases with Γ ≥ C₂",
             f"{_WEAK}, top {100 * float(share):g} %, C₂ = 4", "tail",
             ev.rises(_TAIL.sel(share=share, **_LARGE), "correlation", slack=SLACK)
             & above((_TAIL - _CONTROL).sel(share=share, **_LARGE).across("correlation"), 0.0),
             flags=("added after looking: Γ ≥ 4",), nulls=_TAIL_NULLS)
      for share in ("0.2", "0.05")),
    _claim("selection", "Where all noise is shared, the long tail is classified far above chance, "
           "and other data is not: active neurons of the own class select what is classified right",
           "Definition 1, selection", "not said", f"{_WEAK}, Γ = 1", "tail",
           at_least(_TAIL.isel(correlation=0), 2.5 / CLASSES)
           & at_most(ACCURACY.isel(correlation=0), 1.5 / CLASSES),
           "beyond: of untrained networks, too", nulls=(GUESS,),
           flags=("added after looking: the claim",),
           survives=("untrained: selection needs no training",)),
    _claim("majority_plain", "More data of other classes lowers a class's accuracy on long-tailed "
           "data", "section 3, majority", "declines", f"{_WEAK}, Γ = 50, plain loss", "majority",
           above(_DROP.sel(loss="plain"), 0.0), nulls=(*_NULLS, swapped("others"))),
    _claim("majority_cause", "The reason is that memorised majority noise dominates: the drop "
           "remains if the label prior is corrected", "section 3, majority", "noise",
           f"{_WEAK}, Γ = 50, logit-adjusted loss", "majority",
           above(_DROP.sel(loss="logit-adjusted"), 0.0), nulls=(*_NULLS, swapped("others"))),
)  # fmt: skip

# The theorem, where Condition 1 holds but for one item


def min_per_class(data) -> float:
    """The examples per class of a sweep's first arm."""
    model: Any = ev.experiment_of(data, "0.1").data
    return float(np.min(model.train_per_class))


def _error(start: str, *snrs: float):
    error = (1 - last("test_accuracy", start=start)).isel(signal=[SNRS.index(s) for s in snrs])
    return error.named(f"test error at SNR {', '.join(f'{s:g}' for s in snrs)}, {start} σ0")


_THEOREM = "K = 3, n = 9, m = 100, Γ = 1"
_FAR = f"{_THEOREM}, d = 10⁶, 10¹²"
_BLOCKS = "K = 3, n = 30, m = 100, d = 3·10⁵, 128 spikes per class, Γ = 1, 4, 16, 64, SNR = 10⁻⁴"
_STRONG = f"{_THEOREM}, d = 10⁶, ‖u‖² = 150 tr(AᵀA)"
_REGIME = "regime: Condition 1 with constants 1, but for the Ω of (b)"
# Where the bound (b) on m does not hold, a difference refutes nothing.
_WITHOUT = "reading: Condition 1 without the Ω of (b), at the largest σ0 that (c) allows"
_SMALL = "reading: σ0 so small that (124) holds; else Condition 1, but for the Ω of (b)"
_WIDER = "reading: σ0 so small that (124) holds; width and third item of (a) not met"
_SETTLED = at_most(last("loss"), 0.4)
_LEVEL = ("added after looking: the level of a settled loss",)
_FIT = ("added after looking: the levels of a settled loss and of a fit",)
_WHY = ("initial weights that (c) allows outweigh the learnt noise, more so the larger d, and "
        "(124) drops them; with smaller ones the statement holds")  # fmt: skip
# With 3 examples per class an eighth of the neurons may never learn, and Definition 1 would rank
# highest what only those see: nothing follows before this is excluded.
_TEN = ("added after looking: 10 examples per class",)
_ENOUGH = at_least(ev.exact("examples per class", min_per_class), 10.0)
_OWN = of.OWN_OVER_THEORY.log().named("log of own activation over theory's")
# The arms of `blocks` are the same runs, read with other shares.
_OWN_OTHER = (of.OWN_TEST / of.OTHER_TEST).sel(share="0.5")
_OWN_OTHER = _OWN_OTHER.named("own over other activation by test noise")
_FALL = {share: of.log_error(share, 0) - of.log_error(share, 1) for share in ("0.5", "0.1")}
_OMEGA = at_least(ev.exact("m over what (b) asks of it", of.initial_margin), 1.0)


def _lemma(number: int, statement: str, reported: str, check: Any, start: str = "", **more: Any):
    scope = more.pop("scope", _SMALL if start == "small" else _REGIME)
    return _claim(f"lemma{number}{f'_{start}' if start else ''}", statement, f"Lemma {number}",
                  reported, _FAR, "lemmas", check, scope, **more)  # fmt: skip


_THEORY = (
    _claim("statement1", "The training loss falls below any ε", "Theorem 1 (1)", "≤ ε = 0.1",
           _STRONG, "strong", at_most(last("loss"), 0.1), _REGIME),
    _claim("statement2a_condition", "With a large SNR term, all data is classified, whatever d",
           "Theorem 1 (2a)", "error → 0", f"{_FAR}, SNR = 16", "theorem",
           at_most(_error("condition", 16.0), 1 - NEAR_ONE).because(_WHY).given(
               _SETTLED, at_least(TRAINED, NEAR_ONE)), _WITHOUT, flags=_FIT),
    _claim("statement2a_small", "With a large SNR term, all data is classified, whatever d",
           "Theorem 1 (2a)", "error → 0", f"{_FAR}, SNR = 16", "theorem",
           at_most(_error("small", 16.0), 1 - NEAR_ONE), _SMALL),
    _claim("snr_exponent", "The error is at most exp(-c SNR): its normal deviate grows as "
           "SNR^(1/2) or faster", "Theorem 1 (2a)", "≥ 1/2 (exp(-c √SNR): 1/4)",
           f"{_FAR}, SNR = 1 to 4", "theorem", at_least(of.DEVIATE_EXPONENT, 0.5), _SMALL,
           nulls=(*STANDARD, of.SLOWER)),
    _claim("statement2b", "With a large noise correlation ratio, long-tailed data is classified",
           "Theorem 1 (2b)", "error → 0", f"{_BLOCKS}, top 10 %", "blocks",
           (at_least(_TAIL.sel(share="0.1").isel(correlation=-1), NEAR_ONE)
            & above((_TAIL - _CONTROL).sel(share="0.1").isel(correlation=-1), 0.05)
            ).given(_ENOUGH), _WIDER,
           flags=_TEN, nulls=(of.UNTRAINED_TAIL, STANDARD[2])),
    _claim("ratio_form", "The error on long-tailed data falls as a power of Γ, more slowly than "
           "the exponential of the bound", "Theorem 1 (2b)", "≤ exp(-c L²Γ)",
           f"{_BLOCKS}, top 50 %", "blocks",
           ev.below(of.misfit(np.log), of.misfit(lambda ratio: ratio)).given(_ENOUGH), "beyond",
           flags=_TEN, nulls=(*STANDARD, of.EXPONENTIAL)),
    _claim("statement3", "With neither, the test error is at least a constant, although the "
           "feature patch shows the label without noise", "Theorem 1 (3)", "≥ c3 = 0.3",
           f"{_FAR}, SNR = 0.1", "theorem",
           (at_least(_error("condition", 0.1), 0.3) & at_least(_error("small", 0.1), 0.3)
            ).given(_SETTLED, at_least(TRAINED, NEAR_ONE)), _REGIME, flags=_FIT,
           nulls=(UNTRAINED, swapped("signal"))),
    _claim("tail_length", "Longer-tailed data benefits more: Γ = 4 in place of 1 lowers log error, "
           "beside the untrained network's, more on the top 10 % than on 50 %", "Remark 3",
           "exp(-c L²Γ): larger L, more",
           _BLOCKS, "blocks", ev.ordered(_FALL["0.1"], _FALL["0.5"]).given(_ENOUGH), _WIDER,
           flags=(*_TEN, "added after looking: logarithms, beside the untrained network's"),
           nulls=_TAIL_NULLS),
    _claim("sharp", "Overfitting turns from harmful to benign in either dimension: from error ≥ "
           "0.3 at SNR = 0.1 to ≤ 0.05 at 16, at every d; and in Γ, from chance on (how sharply "
           "is not said)", "Remark 4", "a phase transition", f"{_FAR}; in Γ: {_WEAK}",
           ("theorem", "edge"),
           at_least(_error("small", 0.1).of("theorem"), 0.3)
           & at_most(_error("small", 16.0).of("theorem"), 0.05)
           & ev.rises(ACCURACY.of("edge").isel(signal=0), "correlation", by=0.4, slack=SLACK),
           _SMALL, flags=("added after looking: the sweep in Γ",),
           nulls=(*STANDARD, swapped("signal"))),
    _claim("dim_exponent", "Statement 2a has the order of Kou et al.: |u| ~ d^(1/4), for 3 classes",
           "Remark 5", "0.25", f"{_FAR}, ‖u‖/b at accuracy 0.7", "theorem",
           ev.exponent(of.EDGE_OVER_NOISE, "dim", 0.25, by=0.01), _SMALL,
           nulls=(*STANDARD, of.SHIFTED)),
    _claim("lemma1", "In stage 1 every example's loss falls by a factor 1 - Θ(η |S| ‖u‖² / (m n)) "
           "in each step", "Lemma 1", "Θ ≥ 0.1", f"{_STRONG}, t ≤ 2 m n / (η |S| ‖u‖²)", "strong",
           at_least(of.STAGE_1, 0.1), _REGIME),
    _claim("lemma2", "The mean loss is at most ‖W(T0) - W*‖² / (η t) + ε/2", "Lemma 2",
           "at every t (ε = 0.1, T0 = 0)", _STRONG, "strong", at_most(of.STAGE_2, 1.0), _REGIME,
           flags=("added after looking: which nulls",), nulls=(UNTRAINED,)),
    _lemma(3, "W A has rank ≥ 0.9 m, λ₁ ≤ √m log T, and λ_(m-n) ≥ 0.1 √m σ0", "all three",
           ev.most_seeds(of.LEMMA_3).given(_SETTLED), nulls=(of.ONE_NEURON,)),
    _lemma(4, "Test noise activates at least 0.1 m neurons of its class", "≥ 0.1 m",
           ev.most_seeds(last("active_share_least", start="condition") >= 0.1).given(_OMEGA),
           scope=f"{_REGIME}, which asks for m > 10¹²",
           flags=("added after looking: given the Ω of (b), on which it rests",),
           nulls=(ev.scaled(0.1, "active_share_least"),)),
    _lemma(4, "The same where σ0 is so small that (124) holds", "≥ 0.1 m",
           ev.most_seeds(last("active_share_least", start="small") >= 0.1).because(
               "then all neurons see the few training vectors alike, and switch off together"),
           "small", scope="beyond", nulls=(ev.scaled(0.1, "active_share_least"),)),
    _lemma(5, "A class's neurons learn any training noise of that class more than any other",
           "own ≥ C' × other, C' = 2", ev.most_seeds(of.OWN_TO_OTHER >= 2.0),
           nulls=(UNTRAINED, ev.shuffled("noise_of"))),
    _lemma(6, "Test noise activates its own class's neurons in the order η ‖AᵀA‖ b(S) / n", "Θ",
           ev.flat(_OWN, "dim", by=0.2) & ev.within(_OWN, 0.0, by=np.log(10.0)), "small",
           flags=("added after looking: the level",), nulls=(UNTRAINED, swapped("dim"))),
    _claim("lemma6_ratio", "Own over other activation grows as ‖A_yᵀA_y‖ / ‖A_yᵀA_j‖ = Γ^(1/2)",
           "Lemma 6", "1/2", _BLOCKS, "blocks", ev.exponent(_OWN_OTHER, "correlation", 0.5, by=0.1),
           _WIDER, flags=_TEN),
    _lemma(7, "Loss gradients of all examples stay balanced", "ratio ≤ κ = 3",
           ev.bounded_by(of.BALANCE, 3.0).given(_SETTLED, above(ev.change("train_accuracy"), 0.1)),
           flags=_LEVEL, nulls=(UNTRAINED, ev.scaled(3.0, "gradient_balance"))),
)  # fmt: skip

CLAIMS: tuple[ev.Claim, ...] = (*_EXPERIMENTS, *_THEORY, *REAL_CLAIMS)
