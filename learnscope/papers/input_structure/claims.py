"""The paper's claims on synthetic data, sentence by sentence.

"High" is at least 99 %, "chance" within 2 points of 50 %, "significantly less" at least 5 points.
Weights form clusters around the truth if the median neuron has a cosine of at least 0.9 to it or
to its opposite. Errors "below any ε" are judged at ε = 0.1 (Theorems 26, 34) or 0.05 (Theorem 1),
with probability 1 - δ, δ = 0.1. Unequal classes are judged by balanced accuracy.
"""

import functools
import operator

import numpy as np
import xarray as xr

from learnscope import evidence as ev
from learnscope.data import Patterns
from learnscope.evidence import Quantity, Verb, above, at, at_least, at_most, last, within
from learnscope.papers.input_structure import experiments as ex
from learnscope.papers.input_structure import theory
from learnscope.papers.input_structure.cluster_claims import CLUSTER_CLAIMS
from learnscope.papers.input_structure.exact import INPUTS
from learnscope.papers.input_structure.mixture_claims import MIXTURE_CLAIMS
from learnscope.papers.input_structure.tables import READING, TUNED, entries

HIGH, CHANCE, LESS, NEAR, EPSILON = 0.99, 0.02, 0.05, 0.9, 0.1
SHARE = 0.5  # p_o
_PARITY = "parity, d = 500, D = 100, k = 5, m = 300, T = 600"
_VARIED = "parity, rates chosen for Table 1, d = 500, m = 300 (50 for n = 10000), T = 600"
_INTERVAL = "interval, d = 500, D = 100, k = 30, m = 100, T = 200"
_MAPS = "first two steps, 50000 examples"


def _accuracy(learner: str, setting: str = "parity", name: str = "test_accuracy") -> Quantity:
    return last(name, learner=learner, setting=setting)


def _advantage(setting: str, name: str = "test_accuracy") -> Verb:
    """The network is high, and above both fixed-feature methods."""
    network, ntk, fixed = (_accuracy(each, setting, name) for each in ex.CURVES)
    return at_least(network, HIGH) & above(network, ntk, LESS) & above(network, fixed, LESS)


def _chance(learners: tuple[str, ...]) -> Verb:
    """With structure the network learns, without it none of these methods does. That is news of
    methods that are trained for long enough to learn where there is structure."""
    free = [within(_accuracy(each + ex.FREE), 0.5, by=CHANCE) for each in learners]
    learn = [at_least(_accuracy(each), 0.7) for each in learners]
    verb = functools.reduce(operator.and_, free, at_least(_accuracy(ex.NETWORK), HIGH))
    return verb.given(*learn)


def _similar() -> Verb:
    """Without structure no method's balanced accuracy is lower by more than 5 points."""
    name, verbs = "balanced_accuracy", []
    for each in ex.CURVES:
        lost = _accuracy(each, "interval", name) - _accuracy(each + ex.FREE, "interval", name)
        verbs.append(at_most(lost.named(f"loss of {each} without structure"), LESS))
    return functools.reduce(operator.and_, verbs)


def _claim(id: str, statement: str, where: str, reported: str, setting: str, needs: str | tuple,
           check: Verb, scope: str = READING, **more) -> ev.Claim:  # fmt: skip
    flags = more.pop("flags", TUNED if scope.startswith("reading: rates") else ())
    return ev.Claim(id, statement, where, reported, setting, needs, check, scope=scope,
                    flags=flags, **more)  # fmt: skip


def _map(figure: str, words: str, data: list[str], setting: str = _MAPS) -> ev.Claim:
    """After two steps the median neuron points along the truth, and the nearest one exactly."""
    where = f"Figure{'s' if 'and' in figure else ''} {figure}"
    statement = f"After two steps weights are aligned with the truth or its opposite, {words}"
    verb = at_most(ev.first("cosine_median", data=data), 0.2)
    verb &= at_least(at("cosine_median", 2, data=data), NEAR)
    verb &= above(at("cosine_max", 2, data=data), HIGH)
    return _claim(f"map_{figure.replace(' and ', '_')}", statement, where,
                  "clusters; cosine > 0.99", setting, "maps", verb, "as stated",
                  nulls=(ev.UNTRAINED,))  # fmt: skip


# Theorem 2


def _bound(data: xr.Dataset) -> xr.DataArray:
    """In units of p_o, with the norm B of the record."""
    k = data.relevant.astype(float)
    bound = theory.fixed_feature_bound(1.0, k, data.width, data.readout_norm)
    return bound.isel(step=-1, drop=True)


def _excess(data: xr.Dataset) -> xr.DataArray:
    return data.test_loss.isel(step=-1, drop=True) - SHARE * _bound(data)


def _telling(data: xr.Dataset) -> xr.DataArray:
    bound = _bound(data)
    return ((bound > 0.05) & (bound < 0.95)).mean(["rate", "width"]).max("relevant")


def _explicit(data: xr.Dataset) -> xr.Dataset:
    """Loss 0, with the norm of Lemma 5's 3 (k + 1) features, rescaled to as many as here."""
    norms = []
    for k in map(int, data.relevant.values):
        model = Patterns(dim=999, patterns=16 * k, relevant=k, train=1, test=1)
        _, second = theory.explicit_neurons(theory.exact_law(model))
        norms.append(np.linalg.norm(second) * len(second) ** 0.5)
    norm = xr.DataArray(norms, dims="relevant") / data.width**0.5
    return data.assign(test_loss=0 * data.test_loss, readout_norm=0 * data.readout_norm + norm)


_TELLS = at_least(
    ev.computed("share of settings of the best k with a bound of 5 to 95 % of p_o", _telling), 0.1
)
_LEMMA_5 = ev.Null("features of Lemma 5, which depend on the data", _explicit)
_NARROW = ev.Null("losses of the narrowest net", lambda data: data.assign(
    loss=0 * data.loss + data.loss.isel(width=0, drop=True)))  # fmt: skip
_SWAPPED = ev.Null("structure swapped",
                   lambda data: data.assign(structured_query=data.free_query,
                                            free_query=data.structured_query))  # fmt: skip


# Figure 16


def _random_directions(data: xr.Dataset) -> xr.Dataset:
    """As many directions at random in the span of the axes: they cover every centre, too."""
    random = np.random.default_rng(0)
    changed = data.transpose(..., "neuron").transpose(..., "centre").copy(deep=True)
    for name, (_, k, _) in ex.CLUSTERED.items():
        rows = random.normal(size=(data.sizes["neuron"], k))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        corners = np.array(np.meshgrid(*[[1, -1]] * k)).reshape(k, -1) / k**0.5
        to_centres = rows @ corners
        changed.neuron_cosine.loc[{"experiment": name}] = to_centres.max(1)
        changed.centre_cosine.loc[{"experiment": name, "centre": slice(0, 2**k - 1)}] = (
            to_centres.max(0)
        )
    return changed


_COVERED = last("centre_cosine").map(
    lambda values: values.min("centre"), "least of the centres' largest cosines"
)
_AT_CENTRES = (last("neuron_cosine") > 0.95).mean("neuron").named("share of neurons at a centre")

# Theorems 1 and 26, section 5.1, Lemma 6 and Theorem 4

_LEAST = last("loss").named("least hinge loss")


def _var(name: str, text: str) -> Quantity:
    return ev.computed(text, lambda data: data[name])


def _unrest(learner: str, setting: str) -> Quantity:
    """The spread of an accuracy over the second half of the records."""
    values = ev.every("test_accuracy", learner=learner, setting=setting)
    half = values.map(lambda v: v.isel(step=slice(v.sizes["step"] // 2, None)).std("step"), "{}")
    return half.named(f"spread of {learner}'s accuracy over steps, {setting}")


_FLOW = "infinitely many examples, D = 100, over the time ηT of T = m^(4/3) steps"
_SCALE = "one step fails by its scale: w ~ 1e-10 beside b ~ 0.04, in double precision too"
_SOLVED = [ev.first(f"{name}_test_accuracy").of("kernels") for name in ("kernel", "readout")]
_FIXED = last("test_accuracy", learner=[ex.NTK, ex.RANDOM]).of("table1")
_SLOW, _FAST = (ev.first_passage("test_accuracy", above=0.9, learner=learner, setting="interval")
                for learner in (ex.NTK, ex.NETWORK))  # fmt: skip
_UNSTABLE = [above(_unrest(ex.NTK, ratio).of("varied"), _unrest(ex.NTK, "parity").of("table1"))
             for ratio in ("ratio 0.8", "ratio 0.9")]  # fmt: skip
_INFORMED = {"relevant": 3, "width": slice(1e6, None)}  # where the bound of Theorem 26 is below 1
_BEST = last("test_loss").min("rate")
_ODD = "regime: 3 < k ≤ D/16, k odd"
_FIRST = "regime: m ≥ k¹²/ε^(3/2) for k = 3 (k ≥ log²(D/δγ) fails with constant 1)"
_COSINES = ("Table 3", "0.967, 0.848, 0.560 for d = 100, 500, 2000")
_TOLERANCE = _var("tolerance", "tolerance")

CLAIMS: tuple[ev.Claim, ...] = (
    *entries(),
    _claim("advantage", "The network reaches high accuracy, fixed features significantly less",
           "Figures 1, 5 and 9", "100 against 75 to 86 %", f"{_PARITY}, whose law is that of every "
           "d", "table1", _advantage("parity"), nulls=(ev.UNTRAINED, ev.alike("learner"))),
    _claim("no_structure", "Without input structure all three methods are near random guessing",
           "Figures 1, 5 and 9", "about 50 %", f"{_PARITY}, whose law is that of every d",
           "table1", _chance(ex.CURVES),
           flags=(*TUNED, "added after looking: methods need not fit without structure")),
    _claim("fixed_features", "Fixed features do not learn the parity: they stay at what the "
           "majority of relevant patterns says, trained or solved", "section 5.2", "86.4, 76.0 %",
           f"{_PARITY}; solved: tangent kernel (2000 examples), least squares",
           ("table1", "kernels"),
           at_most(_FIXED, 0.85) & at_most(_SOLVED[0], 0.85) & at_most(_SOLVED[1], 0.85)
           & at_least(_FIXED, 0.7)),
    _map("2 and 6", "parity", ["parity"]),
    _map("8", "interval labels", ["interval"]),
    _map("10", "d = 100 and 2000", ["d = 100", "d = 2000"]),
    _map("12", "80 and 90 % of labels -1", ["ratio 0.8", "ratio 0.9"]),
    _map("14", "n = 25000 and 10000", ["n = 25000", "n = 10000"],
         "first two steps, m = 300 and 50"),
    _map("15", "with 50 hidden codes for each label", ["codes"],
         "D = 250, k = 50; the truth is the difference of the classes' means"),
    _claim("one_step", "A classifier on the features of the first step fails, of the second "
           "succeeds", "section 6", "52 against 100 %", _PARITY, "table1",
           at_most(_accuracy(ex.ONE), 0.55) & at_least(_accuracy(ex.TWO), HIGH),
           nulls=(ev.swapped("learner"),)),
    _claim("one_step_directions", "One step's features fail because their directions have yet to "
           "be improved", "section 6",
           "cosine 0.848, then 0.997", "the same directions, multiplied by η⁽²⁾/η⁽¹⁾", "table1",
           (at_most(_accuracy(ex.RESCALED), 0.9)
            & at_least(_accuracy(ex.TWO), HIGH)).because(_SCALE)),
    _claim("one_step_scale", "One step's features fail by their scale against the biases, not by "
           "rounding", "section 6, scale", "not reported",
           "parity, m = 100, n = 20000, T = 120, float64", "scale",
           ev.rises(last("test_accuracy"), "rescale", by=0.4, slack=0.05)
           & at_least(last("test_accuracy").isel(rescale=-1), HIGH), "beyond"),
    _claim("one_step_cosine", "The cosine after one step falls with the dimension", *_COSINES,
           "(1 - 2ηλ) w - η g in R^d, n = 5000", "rounding",
           ev.falls(last("cosine_max", update=ex.EXACT), "dim", by=0.02).because(
               "the law of the update does not depend on d"), "as stated",
           nulls=(ev.alike("dim"),)),
    _claim("one_step_rounding", "In float32, w - η (g + 2λw) loses more of the cosine in larger d",
           *_COSINES,
           "the first rate of Lemma 23 for m = 300, n = 5000", "rounding",
           ev.rises(last("cosine_max", update=ex.EXACT) - last("cosine_max", update=ex.NAIVE),
                    "dim", by=0.05), "beyond",
           flags=("added after looking: by 0.05",), nulls=(ev.alike("dim"),)),
    _claim("small_background", "For small p_o the neurons of the first step already allow accurate "
           "prediction", "section 5.1, small p_o", "p_o = Õ(k²/D)",
           "parity, p_o = 0.05 and 0.25 = k²/D, weights multiplied by η⁽²⁾/η⁽¹⁾",
           "small_background", at_least(last("test_accuracy", learner=ex.RESCALED,
                                             background=["0.05", "0.25"]), HIGH),
           "reading: one step's weights rescaled", nulls=(ev.swapped("learner"), ev.UNTRAINED)),
    _claim("interval_order", "The network learns fastest, NTK slower but as well, random features "
           "less", "Figure 7", "100, 100, 73.2 %", _INTERVAL, "table2",
           above(_SLOW, _FAST)
           & within(_accuracy(ex.NTK, "interval") - _accuracy(ex.NETWORK, "interval"), 0.0, by=0.02)
           & above(_accuracy(ex.NTK, "interval"), _accuracy(ex.RANDOM, "interval"), LESS)),
    _claim("interval_no_structure", "Without input structure methods do as well, or slightly worse",
           "E.1.2", "similar", f"{_INTERVAL}; balanced: a constant answer has 95.1 % without "
           "structure", "table2", _similar(), "reading: balanced accuracy; rates by training "
           "loss", flags=TUNED),
    *(_claim(f"figure{number}", f"The network is superior to fixed features, {words}",
             f"Figure {number}", reported, setting, sweep, verb)
      for number, words, reported, setting, sweep, verb in (
          ("11", "for unequal classes", "100 against 70 to 83 %", _VARIED, "varied",
           _advantage("ratio 0.8", "balanced_accuracy")
           & _advantage("ratio 0.9", "balanced_accuracy")),
          ("13", "for fewer examples", "100 against 74 to 84 %", _VARIED, "varied",
           _advantage("n = 25000") & _advantage("n = 10000")))),
    _claim("ntk_unstable", "For unequal classes NTK becomes less stable than for equal ones",
           "E.2.2", "less stable", f"{_VARIED}; equal classes: Table 1's",
           ("varied", "table1"), _UNSTABLE[0] & _UNSTABLE[1], nulls=(ev.UNTRAINED,),
           flags=(*TUNED, "added after looking: equal classes are Table 1's")),
    _claim("fewer_examples", "With 25000 examples, and with 10000 and m = 50, results are similar",
           "E.2.3", "100 %", _VARIED, "varied",
           at_least(last("test_accuracy", learner=ex.NETWORK, setting=["n = 25000", "n = 10000"]),
                    HIGH)),
    _claim("overfits", "With 10000 examples and m = 300 test accuracy is much lower than training "
           "accuracy", "E.2.3, overfitting", "over-fitting", "parity, n = 10000, m = 300, T = 600",
           "fewer", above(_accuracy(ex.NETWORK, ex.FEWER, "train_accuracy"),
                          _accuracy(ex.NETWORK, ex.FEWER), LESS)),
    _claim("theorem1", "With properly set hyperparameters the loss, and with it the error, falls "
           "below ε with high probability", "Theorem 1", "loss ≤ ε",
           "parity, m = 10 to 100, n = 20000, T = 120; ε = 0.05", "theorem1",
           ev.most_seeds(last("test_loss").isel(width=-1) <= 0.05)
           & ev.falls((1 - last("test_accuracy")).named("test error"), "width")),
    _claim("theorem26", "At the printed rates and T = m^(4/3) the loss falls below ε once "
           "m ≥ k¹²/ε^(3/2)", "Theorem 26", "≤ ε = 0.1",
           f"k = 3, m = 10⁸ (1.7·10⁷ asked); k = 5, m = 10⁸ (7.7·10⁹ asked); {_FLOW}", "wide",
           at_most(_LEAST.isel(width=-1), EPSILON) & ev.falls(_LEAST, "width", by=0.3),
           _FIRST),
    _claim("theorem26_bound", "The loss is at most k⁸/m^(2/3) + k³T/m² + k²m^(2/3)/T",
           "Theorem 26, eq. (279)", "O(...)", "k = 3, m = 10⁶ to 10⁸, where the bound is 0.66 to "
           f"0.03, with constant 1; {_FLOW}", "wide",
           ev.bounded_by(_LEAST.sel(**_INFORMED), _var("bound", "bound").sel(**_INFORMED)), _FIRST,
           flags=("added after looking: only where the bound is below 1",),
           nulls=(ev.UNTRAINED, _NARROW)),
    _claim("theorem2", "Linear models on fixed features have hinge loss at least "
           "p_o (1 - √(2N) B / 2^k)", "Theorem 2", "bound",
           "random features, k = 5, 9, 17, D = 16 k, N = 32 and 512, two rates",
           "theorem2", at_least(ev.computed("loss - bound", _excess), 0.0).given(_TELLS), _ODD,
           nulls=(_LEMMA_5,),
           survives=("constant prediction: a constant is one of the linear models",)),
    _claim("theorem2_size", "Fixed features do not get nontrivially below p_o unless exponentially "
           "many", "section 4", "N ~ 2^k", "random features, k = 5, 9, 17, "
           "N = 32 and 512", "theorem2",
           at_least(_BEST, SHARE - 0.02).given(
               at_most(_BEST.isel(width=-1).named("loss of 512 trained features"), 0.6)),
           _ODD, nulls=(_LEMMA_5, ev.UNTRAINED), flags=("added after looking: the condition",)),
    _claim("corollary3", "Functions of a shift-invariant kernel have hinge loss at least about p_o",
           "Corollary 3", "p_o (1 - poly/2^k) - 1/poly", "Gaussian kernel, k = 5, 9, 13, D = 16 k, "
           "500 points, ‖α‖ up to 12, ridge and factor by test loss", "corollary3",
           at_least(ev.computed("least hinge loss", lambda data: data.loss.sel(
               kernel=INPUTS, drop=True)), SHARE - 0.02),
           _ODD, nulls=(ev.swapped("kernel"),)),
    _claim("theorem4", "Without input structure the queries of a first gradient step are below "
           "the tolerance 2 / C(D, k)^(1/3); with it, those on relevant patterns are above",
           "Theorem 4", "≥ ½ C(D, k)^(1/3) queries, or 1/τ", "every component of the first "
           "gradient, exactly; k = 5, D = 100 to 1600", "population",
           at_most(_var("free_query", "largest query") / _TOLERANCE, 1.0)
           & at_least(_var("structured_query", "least query with structure") / _TOLERANCE, 1.0),
           "reading: of all queries, those of the first gradient step", nulls=(_SWAPPED,)),
    _claim("lemma5", "A network of 3(k + 1) neurons fits the labels exactly", "Lemma 5",
           "y = g*(x)", "parity, k = 5, every input", "population", at_most(ev.exact(
               "largest |g* - y|", lambda data: data.explicit_error.sel(tents="all")), 1e-6),
           "as stated", nulls=(ev.swapped("tents"),)),
    _claim("lemma6", "The first gradient is βγ/σ̃ along relevant patterns, β = Ω(1), and small "
           "along others, with errors ~ D^(-1/2)", "Lemma 6", "ε_e ~ k / √(p_o (1 - p_o) D)",
           "exact population gradient at 20 neurons, k = 5, D = 100 to 1600", "population",
           at_least(_var("beta", "least β"), 0.1)
           & at_most(_var("relevant_error", "error along relevant patterns / (γ/σ̃)").slope(
               "patterns", log="xy"), -0.5)
           & at_most(_var("background", "background / (γ/σ̃)").slope("patterns", log="xy"), -0.5)
           & at_most(_var("background", "largest background term / (γ/σ̃)"), 0.1),
           "asymptotic: errors fall at least as D^(-1/2)", nulls=(ev.alike("patterns"),)),
    _claim("ratio", "The second step improves the ratio of relevant to background components",
           "section 5.1", "improves", "parity, 50000 examples; and exactly, D = 100 to 1600",
           ("maps", "population"),
           above(at("relevant_share", 2, data="parity").of("maps"),
                 at("relevant_share", 1, data="parity").of("maps"))
           & above(_var("first_ratio", "background/relevant after one step").of("population"),
                   _var("second_ratio", "after two").of("population")), "as stated",
           nulls=(ev.UNTRAINED,)),
    _claim("gaussian", "Some neurons learn the directions of Gaussian centres, and every centre is "
           "covered", "Figure 16 and Table 6", "covered",
           "Table 6, momentum, 20 epochs of 5000; neurons at a centre (cosine > 0.95): three times "
           "as many as of random directions in the centres' span (0.107 for k = 4)", "gaussian",
           at_least(_COVERED, NEAR) & at_least(_AT_CENTRES, 3 * 0.107)
           & at_least(last("test_accuracy"), HIGH), "reading: rate and initial weights",
           flags=("added after looking: three times",),
           nulls=(ev.UNTRAINED, ev.Null("random directions in the span", _random_directions))),
    _claim("theorem34", "So with an incoherent dictionary, noise and unequal classes",
           "Theorem 34", "loss ≤ ε", "D = 100, d = 200, μ = 0.2 √d/D, σ_ζ = 0.05, 70 % of labels "
           "-1, σ_w = σ̃/√(Dm), m = 100, n = 20000, T = 400; ε = 0.1", "theorem34",
           ev.most_seeds(last("test_loss") <= EPSILON),
           flags=("added after looking: μ, σ_ζ and T",)),
    *CLUSTER_CLAIMS,
    *MIXTURE_CLAIMS,
)  # fmt: skip
