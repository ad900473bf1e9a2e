"""Claims on section 5.1's setting (Tables 1 to 3, Figure 1), on other rules and linear models.

Losses agree with printed ones within 15 %. Losses of large outputs on noise fall when weights
shrink, which is no learning. So claims that compare losses must hold beyond scale, too: for the
losses at the best scale of the outputs (`ScaledLoss`), by more than 0.01.
"""

import functools
import operator

from learnscope import evidence as ev
from learnscope.evidence import NOISE_ONLY, UNTRAINED, Claim, Quantity, Verb, above, below, within
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split.quantities import LEARNT, SHRUNK, SHRUNK_EACH, best, edge, ended
from learnscope.papers.meta_split.reported import SYNTHETIC, printed

CONSTANT, HALFWAY, NEAR, LESS = 0.5, 0.75, 0.15, 0.01
SAME, SPLIT = ex.SPLITS

_WORDS = {
    "stated": "γ = 0.001, η = 0.0001, M = 500", "fitted": "γ = 0.001, η = 0.0001, M = 686",
    "other rates": "γ = 0.01, η = 0.001, M = 500",
}  # fmt: skip
_SCOPES = {name: f"reading: {words}, T = 600" for name, words in _WORDS.items()} | {
    "fitted": "fitted: M, to the printed losses"
}
_TABLE = {"5 steps": "Table 1, synthetic", "5 steps, ReLU": "Table 1, synthetic",
          "1 step": "Table 2, synthetic", "outer > inner": "Table 3, synthetic"}  # fmt: skip
_CHANCE = "accuracy is at chance: the losses are the size of the outputs on noise, which a split "
_CHANCE += "shrinks"
_SIZES = "the losses differ in size only: at the best scale all are log 2, within 0.01"
SCALED = "scaled_test_loss"
_BEYOND = ("added after looking: beyond scale",)


def _of(variable: str, reading: str, setting: str) -> list[Quantity]:
    """A variable at the end with either split."""
    return [ev.last(variable, setting=label) for label in ex.labels(reading, setting)]


def _gap(setting: str, variable: str = "test_loss") -> Quantity:
    same, apart = _of(variable, "stated", setting)
    words = ", best scale" if variable == SCALED else ""
    return (same - apart).named(f"train-train - train-validation, {setting}{words}")


def _beyond_scale(literal: Verb, scaled: Verb) -> Verb:
    """A statement on losses, of which scale alone is no reason."""
    return literal & scaled.because(_SIZES)


def _ratios(reading: str, setting: str) -> Verb:
    """Both losses over those printed."""
    pairs = zip(_of("test_loss", reading, setting), SYNTHETIC[setting], strict=True)
    one, other = (within(q / value, 1.0, by=NEAR) for q, (value, _) in pairs)
    return one & other


def _section(id: str, statement: str, where: str, reported: str, check: Verb, reading="stated",
             **more) -> Claim:  # fmt: skip
    setting = f"section 5.1, {_WORDS[reading]}, 5/5, 16 tasks a step, T = 600"
    nulls = more.pop("nulls", (UNTRAINED, NOISE_ONLY, SHRUNK))
    return Claim(id, statement, where, reported, setting, "tables", check, scope=_SCOPES[reading],
                 nulls=nulls, **more)  # fmt: skip


def _table_rows(reading: str, setting: str) -> list[Claim]:
    name = f"{reading}_{setting}".replace(" ", "_").replace(",", "").replace(">", "over")
    same, apart = _of("test_loss", reading, setting)
    paper = printed(SYNTHETIC, setting)
    return [
        _section(f"order_{name}", f"{setting}: train-validation performs better: its loss is "
                 "smaller, not by scale alone.", _TABLE[setting], paper,
                 _beyond_scale(below(apart, same),
                               below(*_of(SCALED, reading, setting)[::-1], by=LESS)),
                 reading, flags=_BEYOND),
        _section(f"numbers_{name}", f"{setting}: the losses themselves, within 15 %.",
                 _TABLE[setting], paper, _ratios(reading, setting), reading),
    ]  # fmt: skip


def _classifies() -> Verb:
    """Train-validation is above three quarters on fresh tasks, in every setting."""
    each = (ev.at_least(_of("test_accuracy", "stated", s)[1], HALFWAY) for s in ex.SETTINGS)
    return functools.reduce(operator.and_, each).because(_CHANCE)


def _alike() -> Verb:
    """Huberised over plain ReLU, and that train-validation's losses moved."""
    huber, relu = (_of("test_loss", "stated", setting) for setting in ex.SETTINGS[:2])
    moved = [ev.first("test_loss", setting=ex.labels("stated", s)[1]) for s in ex.SETTINGS[:2]]
    return (
        within(huber[0] / relu[0], 1.0, by=NEAR)
        & within(huber[1] / relu[1], 1.0, by=NEAR)
        & below(huber[1], moved[0], by=1.0)
        & below(relu[1], moved[1], by=1.0)
    )


def _dips(setting: str) -> Quantity:
    """The test loss falls, and then rises by more than a tenth of its fall."""
    curve = ev.every("test_loss", setting=setting)
    start, least, end = curve.isel(step=0), curve.min("step"), curve.isel(step=-1)
    hits = (start - least > 0.0) & (end - least > 0.1 * (start - least))
    return hits.named(f"falls, then rises, {setting}")


def _figure1(needs: str, cases: list[tuple[str, str]], scope: str, words: str) -> list[Claim]:
    same, apart = zip(*(ex.labels(*case) for case in cases), strict=True)
    rising = [ev.most_seeds(_dips(label)) for label in same]
    curves, scaled = (ev.every(name, setting=list(apart)) for name in ("test_loss", SCALED))
    return [
        Claim(f"figure1a_{needs}", "Train-validation: the test loss decreases almost "
              "monotonically, not by scale alone.", "Figure 1a", "a curve", words, needs,
              _beyond_scale(ev.falls(curves, "step", by=1.0, slack=0.3),
                            ev.falls(scaled, "step", by=LESS, slack=LESS)),
              scope=scope, nulls=(UNTRAINED, NOISE_ONLY, SHRUNK), flags=_BEYOND),
        Claim(f"figure1b_{needs}", "Train-train: the test loss first decreases, then increases.",
              "Figure 1b", "a curve", words, needs, rising[0] & rising[1], scope=scope,
              nulls=(UNTRAINED,)),
    ]  # fmt: skip


_MARGIN = ("added after looking: the margin of 0.5, and no null of noise only",)
_BY_RATES = ("5 steps", "outer > inner")
_ROW = ("added after looking: the row, since both losses were in the ledger",)
_PAPER = [
    *(row for setting in ex.SETTINGS for row in _table_rows("stated", setting)),
    *_table_rows("fitted", "5 steps"),
    *_table_rows("other rates", "5 steps"),
    _section("activation", "Huberised ReLU performs similarly to ReLU: losses within 15 %.",
             "Table 1, synthetic", "8.50 / 8.22, 4.66 / 4.62", _alike(),
             nulls=(UNTRAINED, NOISE_ONLY)),
    _section("steps_gap", "The gap is larger with more inner steps, by more than 0.5.",
             "Table 2, synthetic", "2.41 (1 step), 3.84 (5 steps)",
             above(_gap("5 steps"), _gap("1 step"), by=0.5),
             nulls=(UNTRAINED, SHRUNK, SHRUNK_EACH), flags=_MARGIN,
             sentence="the gap with more steps"),
    _section("rates_gap", "The gap is larger if the outer rate is the smaller one, by more than "
             "0.5, not by scale alone.", "Table 3, synthetic", "0.55 (outer > inner), 3.84",
             _beyond_scale(above(*map(_gap, _BY_RATES), by=0.5),
                           above(*(_gap(each, SCALED) for each in _BY_RATES), by=LESS)),
             nulls=(UNTRAINED, SHRUNK, SHRUNK_EACH), flags=(*_MARGIN, *_BEYOND)),
    _section("rates_train_train", "Train-train's loss is smaller if the outer rate is the larger "
             "one, by more than 0.5, not by scale alone.", "Table 3, synthetic",
             "5.76 (outer > inner), 8.50",
             _beyond_scale(*(
                 above(*(_of(name, "stated", each)[0] for each in _BY_RATES), by=least)
                 for name, least in (("test_loss", 0.5), (SCALED, LESS)))),
             nulls=(UNTRAINED, SHRUNK_EACH, ev.alike("setting")), flags=(*_ROW, *_BEYOND)),
    Claim("tables_accuracy", "Train-validation classifies fresh tasks.", "Tables 1 to 3, accuracy",
          "not in the paper", "section 5.1, γ = 0.001, η = 0.0001, M = 500, T = 600", "tables",
          _classifies(), scope="beyond: the tables have losses",
          flags=("added after looking: a row of its own",)),
    *_figure1("tables", [("stated", "5 steps"), ("fitted", "5 steps")],
              "reading: SGD, M = 500 and 686", "section 5.1, SGD outside, T = 600"),
    *_figure1("adam", [("Adam", "5 steps"), ("Adam", "1 step")], "reading: Adam, J = 5 and 1",
              "section 5.1, Adam outside, T = 250"),
]  # fmt: skip


# Other rules, and the linear centroid model

_BUDGET = "d = 10¹², K = 8, theorem regime, 12 000 gradient passes a task"


def _compared(id: str, statement: str, where: str, reported: str, one: str, other: str) -> Claim:
    """At equal budgets the test loss of one rule is below another's, by more than 0.1."""
    check = below(ended("test_loss", one), ended("test_loss", other), by=0.1)
    return Claim(id, statement, where, reported, _BUDGET, "rules", check, scope="beyond")


def _needs_split(rule: str) -> Claim:
    same, apart = (ended("test_loss", f"{rule}, {split}") for split in ex.SPLITS)
    check = ev.at_least(same, CONSTANT) & ev.at_most(apart, LEARNT)
    return Claim(f"split_{rule}", f"{rule}, too, needs the split: train-train stays at a constant.",
                 "Section 7", "an open question", _BUDGET, "rules", check,
                 scope="beyond")  # fmt: skip


def _reversed(id: str, statement: str, setting: str, variable: str) -> Claim:
    """Train-train is better than train-validation, each at its best ridge."""
    flat = [ev.at_most(edge(variable, split), 0.01) for split in ex.SPLITS]
    check = below(best(variable, SAME), best(variable, SPLIT)).given(*flat)
    return Claim(id, statement, "Section 4, comparison with Bai et al.", "strictly better MSE",
                 f"{setting}; ridges of 10⁻⁶ to 10⁶, the best on other draws", id, check,
                 scope="regime: linear, realisable, noiseless",
                 nulls=(UNTRAINED, ev.swapped("rule"), ev.alike("rule")))  # fmt: skip


_RULES = [
    _compared("table4_synthetic", "FOMAML with a split outperforms Reptile.", "Table 4",
              "87.5 to 85.0 %, 46.2 to 45.2 % on images", f"FOMAML, {SPLIT}", f"Reptile, {SAME}"),
    _compared("bai_algorithms", "With a proximal inner loop, Meta-MiniBatchProx on all data is "
              "better than iMAML with a split.", "Appendix A.2, of Bai et al.",
              "train-train better", f"MetaProx, {SAME}", f"iMAML, {SPLIT}"),
    *map(_needs_split, ("MAML", "iMAML", "Reptile", "MetaProx")),
    _reversed("centroid", "In Bai et al.'s linear centroid model without noise train-train is "
              "better.", "y = ⟨x, w_k⟩, d = 60, 120 tasks of 20, split 10/10", "centroid_error"),
    _reversed("centroid_family", "On this paper's data train-train is better with a linear model.",
              "the regime's data, d = 10³, K = 16, squared loss on fresh tasks", "test_loss"),
]  # fmt: skip

TABLE_CLAIMS = (*_PAPER, *_RULES)
