"""The paper's claims and their settings; `checks.py` has the checks."""

from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.meta_split import checks
from learnscope.papers.meta_split import table_checks as tables
from learnscope.papers.meta_split.experiments import READINGS, SETTINGS, labels
from learnscope.papers.meta_split.real_claims import REAL_CLAIMS
from learnscope.papers.meta_split.reported import printed

_REGIME = "d = 1000, M = 500, n = 2 + 2, m = 10, ‖ξ‖² = 24, γ = 2, η = 0.1, T = 2000"
_MATCHED = "theorem regime, K = 16, 12 000 gradient passes a task"
_READING = {
    "stated": "section 5.1, γ = 0.001, η = 0.0001, M = 500, 5/5, 16 tasks a step, T = 4000",
    "decoded": "section 5.1, γ = 0.001, η = 0.0001, M = 686 (a fit: above d/2), 5/5, 16 tasks a "
    "step, T = 4000",
    "other rates": "section 5.1, γ = 0.01, η = 0.001, M = 500, 5/5, 16 tasks a step, T = 4000",
}


def _theorems() -> list[Claim]:
    return [
        Claim("theorem44_training", "Train-train: the training loss becomes small",
              "Theorem 4.4 (1)", "≤ O(1/poly(d))", _REGIME, ("separation",),
              partial(checks.training_loss, method="train-train")),
        Claim("theorem44_test", "Train-train: the test loss stays at a constant", "Theorem 4.4 (2)",
              "min_t ≥ Ω(1)", _REGIME, ("separation",),
              partial(checks.stays_constant, method="train-train")),
        Claim("theorem45_training", "Train-validation: the training loss becomes small",
              "Theorem 4.5 (1)", "≤ O(1/poly(d))", _REGIME, ("separation",),
              partial(checks.training_loss, method="train-validation")),
        Claim("theorem45_test", "Train-validation: the test loss falls with the number of tasks",
              "Theorem 4.5 (2)", "O(exp(-K^c))", _REGIME, ("separation",),
              checks.test_loss_falls),
        Claim("theorem45_exponent", "... as exp(-K^c) with some c > 0, at a T that is large enough",
              "Theorem 4.5 (2)", "c > 0", _REGIME.replace("T = 2000", "T up to 2000"),
              ("separation",), checks.exponent),
        Claim("separation", "The split is necessary: train-validation is below train-train",
              "section 4", "O(exp(-K^c)) against Ω(1)", _REGIME, ("separation",),
              checks.separation),
        Claim("remark_vanilla", "Theorem 4.4 holds for J = 0: vanilla training has a constant test "
              "loss", "section 4, remark", "Θ(1)", _REGIME, ("separation",),
              partial(checks.stays_constant, method="vanilla")),
        Claim("remark_outperforms", "Train-validation significantly outperforms vanilla training",
              "section 4, remark", "below", _REGIME, ("separation",), checks.beats_vanilla),
        Claim("remark_large_noise", "... where the noise is so large that vanilla training fails "
              "by its linearised rates", "section 4, remark", "below, vanilla constant",
              "theorem regime, T = 600, ‖ξ‖²/(Kn) > ‖ν‖²", ("phase",),
              checks.vanilla_in_large_noise),
        Claim("criterion", "Linearised growth of feature and noise says who learns the feature",
              "sections 6, C (linearised)", "growth compared", "theorem regime, T = 600, 9 noise "
              "levels x 5 numbers of tasks", ("phase",), checks.criterion),
        Claim("width", "The separation holds at every width", "Condition 4.2", "m = polylog(d)",
              _REGIME.replace("m = 10, ", ""), ("width",), checks.wide_enough),
    ]  # fmt: skip


def _lemmas() -> list[Claim]:
    where = {"train-train": "Lemma 6.1", "train-validation": "Lemma 6.2"}
    words = {
        "train-train": "Inner steps amplify noise more than the feature",
        "train-validation": "Inner steps amplify the feature, and leave validation noise",
    }
    paper = {"train-train": "γ^J against (γ polylog(d))^J", "train-validation": "γ^J against O(1)"}
    amplified = [
        Claim(f"{where[name].lower().replace(' ', '').replace('.', '')}_{kind}", words[name],
              where[name], paper[name], f"theorem regime, K = 16, t = 0, σ₀ = {text}", ("lemmas",),
              partial(checks.amplification, method=name, tiny=kind == "tiny"))
        for name in where
        for kind, text in (("tiny", "10⁻⁹"), ("prescribed", "d^-1/2"))
    ]  # fmt: skip
    setting = "theorem regime, K = 16, σ₀ = d^-1/2"
    return [
        *amplified,
        Claim("lemma63", "When the shared feature has grown, validation noise is as at the start",
              "Lemma 6.3", "Õ(d^-1/2) at T^(2)", setting, ("lemmas",), checks.noise_at_threshold),
        Claim("lemma64", "Sums of -ℓ' fall to 1/(Tη)", "Lemma 6.4", "Õ(1/(Tη))", setting,
              ("lemmas",), checks.slopes_fall),
        Claim("lemma65", "The shared feature grows as a power of K", "Lemma 6.5", "Ω(K^c), c > 0",
              _REGIME, ("separation",), checks.feature_grows),
    ]  # fmt: skip


_TABLE = {
    "5 steps": "Tables 1 to 3",
    "5 steps, ReLU": "Table 1",
    "1 step": "Table 2",
    "outer > inner": "Table 3",
}


def _tables() -> list[Claim]:
    claims = []
    for reading, setting_words in _READING.items():
        settings = SETTINGS if reading != "other rates" else SETTINGS[:1]
        for setting in settings:
            name = f"{reading}_{setting}".replace(" ", "_").replace(",", "").replace(">", "over")
            claims += [
                Claim(f"order_{name}", f"Synthetic, {setting}: train-validation has the smaller "
                      "loss", _TABLE[setting], printed(setting), setting_words, ("tables",),
                      partial(tables.smaller_loss, reading=reading, setting=setting)),
                Claim(f"numbers_{name}", f"Synthetic, {setting}: the losses themselves",
                      _TABLE[setting], printed(setting), setting_words, ("tables",),
                      partial(tables.same_numbers, reading=reading, setting=setting)),
            ]  # fmt: skip
        if reading == "other rates":
            continue
        claims += [
            Claim(f"activation_{reading}", "Huberised ReLU performs similarly to ReLU", "Table 1",
                  "8.50 / 8.22, 4.66 / 4.62", setting_words, ("tables",),
                  partial(tables.activations_alike, reading=reading)),
            Claim(f"steps_{reading}", "The gap is larger with more inner steps", "Table 2",
                  "2.41 (1 step), 3.84 (5 steps)", setting_words, ("tables",),
                  partial(tables.gap_grows, reading=reading, less="1 step")),
            Claim(f"rates_{reading}", "The gap is larger if the outer rate is the smaller one",
                  "Table 3", "0.55 (outer > inner), 3.84", setting_words, ("tables",),
                  partial(tables.gap_grows, reading=reading, less="outer > inner")),
            Claim(f"learnt_{reading}", "Train-validation learns the shared feature: fresh tasks "
                  "are classified", "section 5 (justifies Theorem 4.5)", "not reported",
                  setting_words, ("tables",), partial(tables.learns_feature, reading=reading)),
        ]  # fmt: skip
    return claims


def _figure1() -> list[Claim]:
    claims = []
    cases = [("tables", "decoded", "5 steps"), ("tables", "stated", "5 steps"),
             ("adam", "Adam", "5 steps"), ("adam", "Adam", "1 step")]  # fmt: skip
    for sweep, reading, setting in cases:
        same, apart = labels(reading, setting)
        words = f"{reading} reading, {setting}" if sweep == "tables" else f"Adam outside, {setting}"
        name = f"{reading}_{setting}".replace(" ", "_").lower()
        claims += [
            Claim(f"figure1a_{name}", "Train-validation: the test loss decreases almost "
                  "monotonically", "Figure 1a", "a curve", f"section 5.1, {words}", (sweep,),
                  partial(tables.falls_steadily, label=apart)),
            Claim(f"figure1b_{name}", "Train-train: the test loss first decreases, then increases",
                  "Figure 1b", "a curve", f"section 5.1, {words}", (sweep,),
                  partial(tables.falls_then_rises, label=same)),
        ]  # fmt: skip
    return claims


def _rules() -> list[Claim]:
    return [
        Claim("table4_synthetic", "FOMAML with a split outperforms Reptile by a small margin",
              "Table 4, B.1 (there on images)", "87.5 to 85.0 %, 46.2 to 45.2 %", _MATCHED,
              ("rules",), partial(checks.at_equal_budget, one="FOMAML, train-validation",
                                  other="Reptile, train-train")),
        Claim("bai_algorithms", "With a proximal inner loop, Meta-MiniBatchProx on all data is "
              "better than iMAML with a split", "Appendix A (of Bai et al.)", "train-train better",
              _MATCHED, ("rules",), partial(checks.at_equal_budget, one="MetaProx, train-train",
                                            other="iMAML, train-validation")),
        *(
            Claim(f"split_{rule}", f"{rule}, too, needs the split: train-train stays at a constant",
                  "section 7 (an open question)", "not reported", _MATCHED, ("rules",),
                  partial(checks.needs_split, rule=rule))
            for rule in ("MAML", "iMAML", "Reptile", "MetaProx")
        ),
        Claim("centroid", "In Bai et al.'s linear centroid model without noise train-train is "
              "better", "section 4, comparison", "strictly better MSE",
              "y = ⟨x, w_k⟩, d = 60, 120 tasks of 20, split 10/10, best ridge each", ("centroid",),
              partial(checks.linear_reversal, name="centroid_error")),
        Claim("centroid_family", "... and on this paper's data, with a linear model", "section 4, "
              "comparison", "train-train should outperform", "theorem regime's data, K = 16, "
              "squared loss on fresh tasks, best ridge each", ("centroid_family",),
              partial(checks.linear_reversal, name="test_loss")),
    ]  # fmt: skip


CLAIMS = (*_theorems(), *_lemmas(), *_tables(), *_figure1(), *_rules(), *REAL_CLAIMS)
assert set(_READING) == set(READINGS)
