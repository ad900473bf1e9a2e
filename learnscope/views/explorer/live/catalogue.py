"""What the explorer starts from: an experiment a study, the rules to compare on it, and what is
watched. Only parts named here can be run from a page: none of them holds code or reads a file."""

import dataclasses
import functools
import itertools
from collections.abc import Mapping
from typing import Any

from learnscope import data, nets, probes, rules
from learnscope.errors import unknown
from learnscope.lab import Experiment, Record
from learnscope.lab.experiment import AbstractProbe
from learnscope.part import AbstractPart
from learnscope.rules.rule import AbstractPenalty
from learnscope.studies.benign import experiments as benign
from learnscope.studies.input_structure import experiments as input_structure
from learnscope.studies.kou import experiments as kou
from learnscope.studies.meta_split import experiments as meta_split
from learnscope.studies.pegr import experiments as pegr
from learnscope.studies.pred_head import experiments as pred_head

SLOTS = ("data", "net", "rule")
DEFAULT = "pegr"
_MOST_RECORDS = 60


@dataclasses.dataclass(frozen=True)
class Preset:
    """A place to start from: an experiment, and rules with numbers that suit it."""

    name: str
    title: str
    experiment: Experiment
    rules: tuple[rules.AbstractRule, ...]


def _pegr() -> Preset:
    penalty: dict[str, Any] = {"rate": pegr.RATE, "weight": 0.02, "until": pegr.CLOSING}
    rule = rules.PerExamplePenalty(**penalty)
    others = (rules.GradientDescent(rate=pegr.RATE), rules.FullPenalty(**penalty))
    title = "Gradient penalties: signal against noise"
    chosen = pegr.section_4_1(rule, "sum").replace("data.test", 500)  # read at every record
    return Preset("pegr", title, chosen, (rule, *others))


def _kou() -> Preset:
    chosen = kou.experiment()
    penalty: dict[str, Any] = {"rate": 0.1, "weight": 0.02}
    others = (rules.PerExamplePenalty(**penalty), rules.FullPenalty(**penalty))
    return Preset("kou", "Benign overfitting of a ReLU CNN", chosen, (chosen.rule, *others))


def _benign() -> Preset:
    # A fifth of the width, at the rate that goes with it: a second of work rather than ten.
    chosen = benign.experiment(train_per_class=20, test=500, steps=100).replace("net.width", 20)
    chosen = chosen.replace("rule.rate", benign.RATE * 20)
    penalty: dict[str, Any] = {"rate": benign.RATE * 20, "weight": 0.001}
    others = (rules.PerExamplePenalty(**penalty), rules.FullPenalty(**penalty))
    title = "Benign overfitting: noise of a class's own"
    return Preset("benign", title, chosen, (chosen.rule, *others))


def _input_structure() -> Preset:
    setting = input_structure.parity(train=2000, test=500, batch=200, width=100)
    setting = dataclasses.replace(setting, steps=200)
    by_name = setting.rules()
    chosen = setting.experiment(by_name[input_structure.NETWORK], (probes.Loss(),), 1)
    listed = (*by_name.values(), rules.GradientDescent(rate=setting.rate))
    title = "Features that emerge from the structure of inputs"
    return Preset("input_structure", title, chosen, listed)


def _clusters() -> Preset:
    chosen = Experiment(
        data=data.GaussianParity(dim=100, factors=2, train=400, test=500, noise=1.0, batch=100),
        net=nets.TwoLayer(
            width=40, activation="relu", scale=0.005, second_scale=0.03, symmetric=False
        ),
        rule=rules.GradientDescent(rate=0.05, options={"momentum": 0.9}),
        steps=400,
    )
    others = (rules.RandomFeatures(rate=0.05), rules.Linearised(rate=0.05))
    return Preset("clusters", "Clusters whose labels are a parity", chosen, (chosen.rule, *others))


def _pred_head() -> Preset:
    rule = pred_head.non_contrastive(pred_head.HEAD)
    chosen = pred_head.trained(
        pred_head.toy(smoke=True, batch=128), rule, (probes.PairLoss(),), steps=1000
    )
    others = (
        rules.Contrastive(rate=0.02),
        rules.PopulationDescent(rate=0.05, head_rate=0.05),
    )
    title = "The prediction head of non-contrastive learning"
    return Preset("pred_head", title, chosen, (rule, *others))


def _meta_split() -> Preset:
    chosen = meta_split.theorem(
        meta_split.method("train-validation"), (probes.TestLoss(),), steps=400, every=1
    )
    meta: dict[str, Any] = {
        "rate": meta_split.RATE,
        "inner_rate": meta_split.INNER_RATE,
        "inner_steps": 2,
    }
    others = (
        rules.Maml(**meta), rules.Reptile(**meta), rules.MetaProx(**meta, weight=0.1),
        rules.Imaml(**meta, weight=1.0), rules.Pooled(rate=meta_split.RATE),
    )  # fmt: skip
    title = "Meta-learning: what the split is for"
    return Preset("meta_split", title, chosen, (chosen.rule, *others))


@functools.cache
def presets() -> Mapping[str, Preset]:
    """All of them, by name."""
    makers = (_pegr, _kou, _benign, _input_structure, _clusters, _pred_head, _meta_split)
    return {preset.name: preset for preset in (make() for make in makers)}


def preset(name: str) -> Preset:
    """The preset of a name."""
    if name not in presets():
        raise unknown("preset", name, presets())
    return presets()[name]


@functools.cache
def exemplars(start: str) -> Mapping[str, Mapping[str, AbstractPart]]:
    """A part of every kind on offer, by slot and kind: the preset's own first, as it has numbers
    that suit."""
    own = preset(start)
    found: dict[str, dict[str, AbstractPart]] = {slot: {} for slot in SLOTS}
    for each in (own, *presets().values()):
        listed = {"data": (each.experiment.data,), "net": (each.experiment.net,),
                  "rule": each.rules}  # fmt: skip
        for slot, parts in listed.items():
            for part in parts:
                found[slot].setdefault(type(part).__name__, part)
    return found


def watched(experiment: Experiment) -> Experiment:
    """The experiment with the probes that suit its data and rule, read every 1, 2, 5, 10, ... steps
    and at most sixty times: reading takes time as well."""
    stops = (m * 10**e for e in itertools.count() for m in (1, 2, 5))
    every = next(stop for stop in stops if stop * _MOST_RECORDS >= experiment.steps)
    return Experiment(
        experiment.data, experiment.net, experiment.rule, experiment.steps,
        _probes(experiment), Record(every=every),
    )  # fmt: skip


def _probes(experiment: Experiment) -> tuple[AbstractProbe, ...]:
    rule, net = experiment.rule, experiment.net
    plain = (probes.Loss(), probes.TrainAccuracy(), probes.TestAccuracy())
    of_pairs = isinstance(rule, rules.AbstractPairRule)
    if of_pairs and not isinstance(experiment.data, data.StrongWeak):
        return _of_pairs(rule)
    # Decompositions are of a patch network that is trained itself, not its linearisation, say.
    trained = isinstance(rule, rules.GradientDescent | AbstractPenalty)
    whole = trained and isinstance(net, nets.PatchCNN)
    match experiment.data:
        case data.SignalNoise():
            watched = (probes.SignalLearning(), probes.NoiseMemorisation()) if trained else ()
            return (*watched, *plain, *([probes.Decomposition()] if whole else []))
        case data.ClassNoise():
            return (*([probes.Contributions()] if whole else []), *plain,
                    *([probes.ActiveNeurons()] if whole else []))  # fmt: skip
        case data.Patterns():
            return (probes.PatternComponents(), *plain, probes.Alignment())
        case data.GaussianParity():
            return (*plain, probes.CentreCosines())
        case data.StrongWeak():
            return (probes.FeatureStrengths(), probes.FeatureShares(), *_of_pairs(rule))
        case data.TaskFamily():
            return (probes.FeatureLearning(), probes.TaskNoise(), probes.TestLoss(),
                    probes.TestAccuracy(), *_of_tasks(rule))  # fmt: skip
    return plain


def _of_pairs(rule: rules.AbstractRule) -> tuple[AbstractProbe, ...]:
    match rule:
        case rules.PopulationFlow() | rules.PopulationDescent():
            return (probes.PopulationMoments(),)
        case rules.NonContrastive(head="mlp"):
            return (probes.NeuronCorrelation(), probes.PairLoss())
        case rules.NonContrastive():
            return (probes.NeuronCorrelation(), probes.PairLoss(), probes.HeadOffDiagonal())
    return (probes.NeuronCorrelation(),)


def _of_tasks(rule: rules.AbstractRule) -> tuple[AbstractProbe, ...]:
    match rule:
        case rules.Fomaml() | rules.Maml() | rules.Reptile() | rules.MetaProx() | rules.Imaml():
            split = getattr(rule, "split", "train-train")
            return (probes.AdaptedTest(rule.inner_rate, rule.inner_steps, split=split),)
    return ()
