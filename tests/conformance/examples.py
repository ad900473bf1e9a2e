"""One small example, or a few, of every kind of part that is registered.

A new data model, net, rule or probe adds its examples here, or gives one itself
(`learnscope.part.example_of`); `test_conformance.py` does the rest. An example should be small (it
is compiled several times) and together they should reach every branch.
"""

import contextlib
import functools
import sys
from pathlib import Path

import learnscope as ls
from learnscope.engine.size import check_fit
from learnscope.part import AbstractPart, example_of, kinds
from tests import small
from tests.conformance.own import flat_mlp, flat_mlp_of_classes, own_link, shared_and_own
from tests.small import probes

Table = dict[str, list[AbstractPart]]
signals = functools.partial(small.signals, dim=30, train=4, test=3, noise=0.5)
strong_weak = functools.partial(
    small.strong_weak, 30, patches=6, feature_patches=2, noise=0.5, batch=6, test=8
)
META = {"rate": 0.1, "inner_rate": 0.5, "inner_steps": 2}
PAIRS = {"rate": 0.01, "head_rate": 0.1}
FIRST = {"first_rate": 0.5, "second_rate": 0.5, "rate": 0.1}
TEACHER = ls.nets.FullyConnected(width=2, classes=3)
# What the other slots of an experiment hold while one kind is looked at: parts for labels +1 and -1
# with one output, and parts for labels 0, 1, ... with one output a class, do not go together.
THREE = ls.data.Images("digits", train=6, test=5, classes=(0, 1, 2))
COMPANIONS: dict[str, dict] = {
    "signs": {
        "data": signals(), "net": ls.nets.PatchCNN(width=2, scale=0.1),
        "rule": ls.rules.GradientDescent(rate=0.1),
    },
    "classes": {
        "data": ls.data.ClassNoise(dim=31, classes=3, train_per_class=2, test=40, signal=1.0),
        "net": ls.nets.PatchCNN(width=4, activation="relu", scale=0.1, classes=3),
        "rule": ls.rules.GradientDescent(rate=0.1, loss="balanced"),
    },
    "patterns": {
        "data": ls.data.Patterns(dim=32, patterns=10, relevant=3, train=24, test=12),
        "net": ls.nets.TwoLayer(width=6, scale=0.3, bias_scale=0.1),
        "rule": ls.rules.TwoStep(**FIRST, noise=0.1),
    },
    "tasks": {
        "data": ls.data.TaskFamily(
            dim=30, dictionary=7, tasks=3, samples=4, validation=2, signal=1.0, task_signal=0.3,
            noise=0.3, test_tasks=4,
        ),
        "net": ls.nets.PatchCNN(width=2, activation="huberised", scale=0.1, second_layer="sum"),
        "rule": ls.rules.Fomaml(**META),
    },
    "centroids": {
        "data": ls.data.LinearTasks(
            dim=6, tasks=3, samples=4, validation=2, spread=1.0, test_tasks=3, noise=0.1
        ),
        "net": ls.nets.Linear(scale=0.1), "rule": ls.rules.LinearCentroid(weight=0.5),
    },
    "clusters": {
        "data": ls.data.GaussianParity(dim=32, factors=2, train=20, test=12, noise=1.0),
        "net": ls.nets.TwoLayer(width=6, activation="relu", scale=0.3, symmetric=False),
        "rule": ls.rules.GradientDescent(rate=0.1),
    },
    "teacher": {
        "data": ls.data.MultiIndex(dim=30, directions=2, link="erf", batch=3, test=8),
        "net": ls.nets.TwoLayer(2, "erf", bias=False, symmetric=False, second_layer="sum"),
        "rule": ls.rules.SphericalDescent(rate=0.1),
    },
    "perceptron": {
        "data": ls.data.MultiIndex(dim=30, directions=1, batch=3, test=8, signs=True),
        "net": ls.nets.TwoLayer(2, "erf", bias=False, symmetric=False, second_layer="sum"),
        "rule": ls.rules.SphericalDescent(rate=0.1),
    },
    "pairs": {
        "data": strong_weak(strengths=[3, 2]), "net": ls.nets.PatchEncoder(width=2),
        "rule": ls.rules.NonContrastive(**PAIRS),
        "probes": (ls.probes.NeuronCorrelation(bins=4),),
    },
    "image_tasks": {
        "data": ls.data.ImageTasks("digits", tasks=2, ways=3, queries=1, test_tasks=2),
        "net": ls.nets.FullyConnected(width=3, classes=3, activation="huberised"),
        "rule": ls.rules.Fomaml(rate=0.1, inner_rate=0.5, inner_steps=2, batch=3),
    },
    "images": {
        "data": THREE, "net": ls.nets.FullyConnected(width=3, classes=3),
        "rule": ls.rules.GradientDescent(rate=0.1),
    },
    "views": {
        "data": ls.data.Images("digits", train=9, test=8, batch=6, views=ls.data.Augment(flip=0.0)),
        "net": ls.nets.Projection(
            ls.nets.FullyConnected(width=4, activation="relu"), 5, outputs=3, normalise="batch",
        ),
        "rule": ls.rules.NonContrastive(**PAIRS), "probes": (ls.probes.NeuronCorrelation(bins=4),),
    },
    "taught": {
        "data": ls.data.TeacherMixture(THREE, TEACHER, teacher_steps=2),
        "net": ls.nets.FullyConnected(width=3, classes=3),
        "rule": ls.rules.GradientDescent(rate=0.1),
    },
}  # fmt: skip
# Beside the companions themselves, which are examples too.
MORE: dict[str, Table] = {
    "signs": {
        "data": [
            signals(signal=2, noise=0.1, flip=0.2, orthogonal=False, batch=2),
            ls.data.XorClusters(dim=30, train=4, test=3, signal=1, noise=0.5, flip=0.2, ratio=0.5),
        ],
        "net": [
            ls.nets.PatchCNN(width=2, activation="relu", scale=0.1, second_layer="sum"),
            ls.nets.PatchCNN(width=2, activation="relu_power", scale=0.1, power=3),
            ls.nets.PatchCNN(width=2, activation="huberised", scale=0.1, threshold=0.2),
            ls.nets.PatchCNN(width=2, activation="truncated", scale=0.1),
            ls.nets.PatchCNN(width=2, activation="cubic", scale=0.1),
            ls.nets.PatchCNN(width=2, initial="torch"),
            ls.nets.Model(flat_mlp),
        ],
        "rule": [
            ls.rules.GradientDescent(rate=0.1, loss="hinge", options={"momentum": 0.9}),
            ls.rules.GradientDescent(rate=0.1, loss="squared", optimiser="adam"),
            ls.rules.PerExamplePenalty(rate=0.1, weight=0.1, until=2, half=False),
            ls.rules.FullPenalty(rate=0.1, weight=0.1),
        ],
        "probes": [
            *probes("Loss TestLoss TrainAccuracy TestAccuracy GradientNorm SignalLearning"),
            *probes("NoiseMemorisation Decomposition TrainingOverlaps"),
            ls.probes.LearntResponse("signal"),
        ],
    },
    "classes": {
        "data": [
            ls.data.ClassNoise(
                dim=31, classes=3, train_per_class=[1, 2, 3], test=12, signal=[0.5, 1, 2],
                correlation=4, noise="uniform", bulk=0.3, prior=[0.2, 0.3, 0.5], batch=5,
            ),
            ls.data.MatrixNoise(shared_and_own(), train_per_class=2, test=12, signal=1.0),
            ls.data.Pruned(COMPANIONS["classes"]["data"], removed=0.4),
        ],
        "net": [ls.nets.PatchCNN(width=4, activation="relu", classes=3, initial="torch"),
                ls.nets.Model(flat_mlp_of_classes)],
        "rule": [ls.rules.GradientDescent(rate=0.1, loss="adjusted")],
        "probes": [
            *probes("ClassAccuracy ActiveNeurons NoiseSpectrum Residual GradientBalance"),
            *probes("Contributions Activations"), ls.probes.LongTailAccuracy(share=0.5),
        ],
    },
    "patterns": {
        "data": [
            ls.data.Patterns(
                dim=32, patterns=10, relevant=[1, 4, 7], train=24, test=12, label="interval",
                counts=[1, 2], structure="independent", background=0.3, chance=0.6,
                negative=0.7, dictionary="equiangular", incoherence=1.0, batch=4,
            ),
            ls.data.Patterns(
                dim=32, patterns=10, relevant=5, train=24, test=12, label="codes", codes=4,
                structure="independent", dictionary="random", noise=0.1,
            ),
        ],
        "net": [
            ls.nets.TwoLayer(6, "quadratic", scale=0.3, symmetric=False, smoothing=0.1),
            ls.nets.TwoLayer(6, "relu", scale=0.3, smoothing=0.1),
        ],
        "rule": [
            ls.rules.FrozenFeatures(after=1, rescale=2.0, head="zero", **FIRST),
            ls.rules.RandomFeatures(rate=0.1), ls.rules.Linearised(rate=0.1),
        ],
        "probes": [
            *probes("BalancedAccuracy Clusters WeightMap PatternComponents"),
            ls.probes.ReadoutNorm(), ls.probes.Alignment(bins=4),
            ls.probes.BestReadout(examples=20), ls.probes.KernelFit(examples=20),
        ],
    },
    "tasks": {
        "data": [
            ls.data.TaskFamily(
                dim=30, dictionary=2, tasks=3, samples=5, validation=2, training=3, signal=0.5,
                task_signal=1.0, noise=0.1, test_tasks=2, queries=1, balanced=False,
            ),
            ls.data.Grouped(signals(train=13, test=17), tasks=3),
        ],
        "net": [ls.nets.Model(flat_mlp)],
        "rule": [
            ls.rules.Fomaml(split="train-train", batch=2, penalty=0.1, **META),
            ls.rules.Maml(**META, options={"momentum": 0.9}), ls.rules.Reptile(**META),
            ls.rules.MetaProx(**META, weight=0.3),
            ls.rules.Imaml(**META, weight=0.3, solver_steps=3), ls.rules.Pooled(rate=0.1),
        ],
        "probes": [
            ls.probes.MetaLoss(inner_rate=0.5, inner_steps=2),
            ls.probes.AdaptedTest(inner_rate=0.5, split="train-train"),
            ls.probes.AdaptedTasks(inner_rate=0.5, inner_steps=2),
            *probes("FeatureLearning TaskNoise"),
            ls.probes.Amplification(inner_rate=0.5, inner_steps=2),
        ],
    },
    "image_tasks": {
        "data": [
            ls.data.ImageTasks(
                "rainbow", source="digits", tasks=3, ways=3, queries=2, test_tasks=3,
                fresh=False, images=7, pixels="unit", shrink=2,
            ),
        ],
        "probes": [ls.probes.AdaptedTasks(inner_rate=0.5)],
    },
    "centroids": {
        "rule": [ls.rules.LinearCentroid(weight=0.1, split="train-train")],
        "probes": probes("CentroidError"),
    },
    "clusters": {"probes": probes("CentreCosines")},
    "teacher": {
        "data": [
            ls.data.MultiIndex(30, 2, "staircase", noise=0.1, batch=1, test=8, signs=True),
            ls.data.MultiIndex(30, 1, own_link, train=6, batch=None, test=8),
        ],
        "net": [ls.nets.TwoLayer(2, name, bias=False, symmetric=False, second_layer="mean")
                for name in ("he2", "he3", "he4")],
        "rule": [ls.rules.GradientDescent(rate=0.1, loss=name)
                 for name in ("squared", "correlation")],
        "probes": probes("Overlaps GeneralisationError SecondLayer"),
    },
    "perceptron": {"probes": probes("Misclassification")},
    "images": {
        "data": [
            ls.data.Images("digits", train=6, test=5, classes=[3, 4, 5], batch=4, noise=0.5,
                           pixels="standard"),
            ls.data.Pruned(THREE, removed=0.4),
            ls.data.Pruned(THREE, removed=0.3, by="low", apart=False),
            ls.data.Pruned(THREE, removed=0.2, by="random"),
            ls.data.RandomLabels(THREE),
        ],
        "net": [
            ls.nets.LeNet5(classes=3), ls.nets.Conv4(width=2, classes=3, activation="huberised"),
            ls.nets.Conv6(width=2, classes=3, normalise="none", scale=0.3),
            ls.nets.ResNet(filters=1, classes=3, normalise="group"),
        ],
        "rule": [ls.rules.PerExamplePenalty(rate=0.1, weight=0.1)],
    },
    "views": {
        "net": [ls.nets.Projection(ls.nets.FullyConnected(width=4), outputs=3, layers=1)],
        "rule": [
            ls.rules.NonContrastive(**PAIRS, head="linear", normalise="l2", optimiser="adamw",
                                    options={"cosine_steps": 9.0}),
        ],
        "probes": [
            ls.probes.FeatureCorrelation(bins=4), ls.probes.LinearProbe(examples=6, classes=10),
            ls.probes.PreferredImages(neurons=2, steps=2),
            ls.probes.PreferredImages(neurons=9, of="features", steps=2),
        ],
    },
    "taught": {
        "data": [
            ls.data.TeacherMixture(
                THREE.replace("batch", 3), TEACHER, ls.data.Images("digits"), share=0.25,
                teacher_steps=2, teacher_batch=4, weight=0.1, sharpness=0.0,
            ),
        ],
        "probes": [ls.probes.PartAccuracy(), ls.probes.FilterCosines(["hidden", "dense"]),
                   ls.probes.Filters("hidden"), ls.probes.InputDirections(3)],
    },
    "pairs": {
        "data": [
            strong_weak(frequencies=[1, 3], noise_law="uniform", together=True),
            ls.data.Viewed(signals(test=6), ls.data.NoisyViews(0.2)),
            ls.data.Redrawn(signals(test=6), "signal"),
        ],
        "net": [ls.nets.PatchEncoder(2, activation="relu2", scale=0.3, overlaps=[2, 1, 1, 2])],
        "rule": [
            ls.rules.NonContrastive(**PAIRS, head="mlp", hidden=3, target="ema", both_ways=True),
            ls.rules.Contrastive(rate=0.01),
            ls.rules.PopulationFlow(rate=1.0, head_rate=0.1, horizon=10.0, points=3,
                                    tolerance=1e-3),
            ls.rules.PopulationDescent(rate=1.0, head_rate=0.1, head="linear", target="ema"),
        ],
        "probes": [
            ls.probes.LinearProbe(classes=2, halves=True), ls.probes.NeuronCorrelation(bins=4),
            *probes("PairLoss HeadOffDiagonal FeatureStrengths FeatureShares PopulationMoments"),
            ls.probes.Phase(),
        ],
    },
}  # fmt: skip
EXAMPLES_WITH: dict[str, Table] = {
    company: {
        slot: ([] if slot == "probes" else [usual[slot]]) + MORE[company].get(slot, [])
        for slot in ("data", "net", "rule", "probes")
    }
    for company, usual in COMPANIONS.items()
}


def kinds_of(slot: str) -> dict[str, type[AbstractPart]]:
    """Every kind of a slot that is defined in a file, but for those of tests."""

    def counts(kind: type) -> bool:
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        return file is not None and Path(__file__).parents[1] not in Path(file).parents

    return {name: kind for name, kind in kinds(ls.Experiment.slots[slot]).items() if counts(kind)}


def found(slot: str, kind: type[AbstractPart]) -> tuple[str, str, AbstractPart]:
    """The example that a kind gives itself, with the first companions that it fits."""
    part, said = example_of(kind), {}
    for company, others in COMPANIONS.items():
        parts = {**others, slot: (part,) if slot == "probes" else part}
        try:
            check_fit(ls.Experiment(**parts, steps=3))
            return company, kind.__name__, part
        except Exception as error:
            said[company] = str(error)
    raise ls.BadInput(
        f"{kind.__name__} goes with none of COMPANIONS in tests/conformance/examples.py as "
        f"{part}: add an example to EXAMPLES_WITH there. {said}"
    )


def _listed(slot: str) -> list[tuple[str, str, AbstractPart]]:
    return [
        (company, type(part).__name__, part)
        for company, table in EXAMPLES_WITH.items()
        for part in table[slot]
    ]


# Of kinds without one above; at once, as tests define kinds of their own.
FOUND: dict[str, list[tuple[str, str, AbstractPart]]] = {slot: [] for slot in ls.Experiment.slots}
for _slot in ("data", "net", "rule", "probes"):
    for _name, _kind in kinds_of(_slot).items():
        if all(_name != name for _, name, _ in _listed(_slot)):
            with contextlib.suppress(ls.BadInput):  # said by test_every_kind_has_an_example
                FOUND[_slot].append(found(_slot, _kind))


def examples_of(slot: str) -> list[tuple[str, str, AbstractPart]]:
    """All examples of a slot: whom they go with, their kind's name, and they themselves."""
    return _listed(slot) + FOUND[slot]


def companions(slot: str, part: AbstractPart) -> dict[str, AbstractPart]:
    """What an example goes with."""
    return next(COMPANIONS[company] for company, _, other in examples_of(slot) if other is part)


def experiment_with(slot: str, part: AbstractPart, **others) -> ls.Experiment:
    """A tiny experiment around one part."""
    parts = {**companions(slot, part), slot: ((part,) if slot == "probes" else part)} | others
    return ls.Experiment(**parts, steps=3)
