"""The paper's claims; `checks` has the checks."""

from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.input_structure import checks, reported
from learnscope.papers.input_structure.real_claims import REAL_CLAIMS

_PARITY = "parity, d = 500, D = 100, k = 5, m = 300, T = 600"
_INTERVAL = "interval, d = 500, D = 100, k = 30, m = 100, T = 200"
_SETTINGS = {
    "table1": _PARITY,
    "table2": _INTERVAL,
    "table3": "parity, other d",
    "table4": "parity, other share of label −1",
    "table5": "parity, fewer examples (m = 50 for 10000)",
}


def _printed(row: reported.Row) -> str:
    cosine = "not given" if row.cosine is None else f"{row.cosine:.3f}"
    return f"train {row.train:.1f}, test {row.test:.1f}, cosine {cosine}"


def _id(row: reported.Row) -> str:
    value = "" if row.value is None else f"_{row.value:g}"
    return f"{row.table}{value}_{row.method.replace(', ', '_').replace(' ', '_')}"


_ENTRIES = [
    Claim(_id(row), f"{row.method}: accuracies (%) and largest cosine to the truth", row.where,
          _printed(row), _SETTINGS[table], (table,), partial(checks.entry, row=row))
    for table, rows in reported.TABLES.items()
    for row in rows
]  # fmt: skip

CLAIMS = (
    *_ENTRIES,
    Claim("advantage", "The network reaches high accuracy, fixed features significantly less",
          "Figures 1 and 5", "100 against 86.4 and 76.0 %", _PARITY, ("table1",), checks.advantage),
    Claim("fixed_features", "Fixed features do not learn the parity: they stay at what the "
          "majority of relevant patterns says", "section 5.2, Table 1", "86.4, 76.0 %", _PARITY,
          ("table1", "kernels"), checks.majority),
    Claim("no_structure", "Without input structure every method is near random guessing",
          "Theorem 4, Figure 5", "about 50 %", _PARITY, ("table1",), checks.without_structure),
    Claim("two_steps_aligned", "After the second step weights are well-aligned with the truth",
          "Figures 2 and 6", "cosine > 0.99", _PARITY, ("table1",), checks.aligned),
    Claim("one_step", "Features of the first step need improvement for accurate prediction",
          "section 6, Table 1", "52 against 100 %", _PARITY, ("table1",),
          checks.improvement_needed),
    Claim("interval_order", "The network learns fastest, NTK reaches similar accuracy, random "
          "features lower", "Figure 7, Table 2", "100, 100, 73.2 %", _INTERVAL, ("table2",),
          checks.interval_order),
    Claim("interval_no_structure", "Without input structure methods do as well, or slightly worse",
          "E.1.2", "similar", _INTERVAL, ("table2",), checks.interval_free),
    Claim("theorem1", "With properly set hyperparameters the error falls below any ε", "Theorem 1",
          "error ≤ ε", "parity, m = 10 to 1000, T = 600", ("theorem1",), checks.small_error),
    Claim("theorem26_rates", "Rates of eqs. (276) to (278) do so", "Theorem 26", "error ≤ ε",
          "parity, m = 1000, T = 600 (Ω(k¹²) neurons are asked)", ("theorem1",),
          checks.theorem_rates),
    Claim("theorem2", "Linear models on fixed features have hinge loss at least "
          "p_o (1 − √(2N) B / 2^k) for some A", "Theorem 2", "bound",
          "random features, k = 3 to 9, D = 160, N = 16 to 4096, 300 steps", ("theorem2",),
          checks.bound_respected),
    Claim("theorem2_size", "Fixed features need exponentially many to be nontrivially better than "
          "p_o", "section 4", "N ~ 2^k", "random features, k = 3 to 9, D = 160", ("theorem2",),
          checks.exponential),
    Claim("lemma5", "A network of 3(k + 1) neurons fits the labels exactly", "Lemma 5", "y = g*(x)",
          "parity, D = 100, k = 5", (), checks.lemma_5),
    Claim("lemma6", "The first gradient is βγ/σ̃ along relevant patterns and small along others",
          "Lemma 6", "βγ/σ̃ up to a small error; small",
          "exact population gradient, D = 100, k = 5", (), checks.lemma_6),
    Claim("ratio", "The second step improves the ratio of relevant to background components",
          "section 5.1", "improves", _PARITY, ("steps",), checks.ratio_improves),
    Claim("codes", "With hidden codes weights form clusters", "Figure 15", "clusters",
          "50 codes a label, D = 250, k = 50", ("maps",), checks.codes_cluster),
    Claim("gaussian", "Every Gaussian centre is covered by some neurons", "Figure 16", "covered",
          "Table 6; momentum, 20 epochs of 10000", ("gaussian",), checks.centres_covered),
    Claim("one_step_scale", "One Step fails although its directions are those of the truth",
          "Table 1", "52.2 %, cosine 0.848", "weights multiplied by 1 to η⁽²⁾/η⁽¹⁾, float32",
          ("scale",), checks.scale_artefact),
    Claim("one_step_cosine", "The cosine after one step falls with the dimension", "Tables 1 and 3",
          "0.967, 0.848, 0.560 for d = 100, 500, 2000", "both ways to compute the update, in R^d",
          ("rounding",), checks.rounding),
    *REAL_CLAIMS,
)  # fmt: skip
