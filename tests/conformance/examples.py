"""One small example, or a few, of every kind of part that the package registers.

A new data model, net, rule or probe adds its examples here; `test_conformance.py` does the rest. An
example should be small (it is compiled several times) and together they should reach every branch.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Key

import learnscope as ls
from learnscope.part import AbstractPart

Table = dict[str, dict[str, list[AbstractPart]]]


def flat_mlp(key: Key[Array, ""]) -> eqx.Module:
    """A user's own model. A function of a module, not a lambda, so that it can be pickled."""
    mlp = eqx.nn.MLP(in_size=60, out_size="scalar", width_size=4, depth=1, key=key)
    return eqx.nn.Sequential([eqx.nn.Lambda(jnp.ravel), mlp])


def flat_mlp_of_classes(key: Key[Array, ""]) -> eqx.Module:
    """The same with one output a class."""
    mlp = eqx.nn.MLP(in_size=62, out_size=3, width_size=4, depth=1, key=key)
    return eqx.nn.Sequential([eqx.nn.Lambda(jnp.ravel), mlp])


# What the other slots of an experiment hold while one kind is looked at: parts for labels +1 and -1
# with one output, and parts for labels 0, 1, ... with one output a class, do not go together.
COMPANIONS: dict[str, dict[str, AbstractPart]] = {
    "signs": {
        "data": ls.data.SignalNoise(dim=30, train=4, test=3, signal=1.0, noise=0.5),
        "net": ls.nets.PatchCNN(width=2, scale=0.1),
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
        "rule": ls.rules.TwoStep(first_rate=0.5, second_rate=0.5, rate=0.1, noise=0.1),
    },
    "tasks": {
        "data": ls.data.TaskFamily(
            dim=30,
            dictionary=7,
            tasks=3,
            samples=4,
            validation=2,
            signal=1.0,
            task_signal=0.3,
            noise=0.3,
            test_tasks=4,
        ),
        "net": ls.nets.PatchCNN(width=2, activation="huberised", scale=0.1, second_layer="sum"),
        "rule": ls.rules.Fomaml(rate=0.1, inner_rate=0.5, inner_steps=2),
    },
    "centroids": {
        "data": ls.data.LinearTasks(
            dim=6, tasks=3, samples=4, validation=2, spread=1.0, test_tasks=3, noise=0.1
        ),
        "net": ls.nets.Linear(scale=0.1),
        "rule": ls.rules.LinearCentroid(weight=0.5),
    },
    "clusters": {
        "data": ls.data.GaussianParity(dim=32, factors=2, train=20, test=12, noise=1.0),
        "net": ls.nets.TwoLayer(width=6, activation="relu", scale=0.3, symmetric=False),
        "rule": ls.rules.GradientDescent(rate=0.1),
    },
}
COMPANIONS["pairs"] = {
    "data": ls.data.StrongWeak(
        dim=30, patches=6, feature_patches=2, strengths=[3, 2], noise=0.5, batch=6, test=8
    ),
    "net": ls.nets.PatchEncoder(width=2),
    "rule": ls.rules.NonContrastive(rate=0.01, head_rate=0.1),
    "probes": (ls.probes.NeuronCorrelation(bins=4),),
}
COMPANIONS["image_tasks"] = {
    "data": ls.data.ImageTasks("digits", tasks=2, ways=3, queries=1, test_tasks=2),
    "net": ls.nets.FullyConnected(width=3, classes=3, activation="huberised"),
    "rule": ls.rules.Fomaml(rate=0.1, inner_rate=0.5, inner_steps=2, batch=3),
}
COMPANIONS["images"] = {
    "data": ls.data.Images("digits", train=6, test=5, classes=(0, 1, 2)),
    "net": ls.nets.FullyConnected(width=3, classes=3),
    "rule": ls.rules.GradientDescent(rate=0.1),
}
COMPANIONS["views"] = {
    "data": ls.data.Images("digits", train=9, test=8, batch=6, views=ls.data.Augment(flip=0.0)),
    "net": ls.nets.Projection(
        ls.nets.FullyConnected(width=4, activation="relu"), width=5, outputs=3, normalise="batch"
    ),
    "rule": ls.rules.NonContrastive(rate=0.01, head_rate=0.1),
    "probes": (ls.probes.NeuronCorrelation(bins=4),),
}
COMPANIONS["taught"] = {
    "data": ls.data.TeacherMixture(
        COMPANIONS["images"]["data"], ls.nets.FullyConnected(width=2, classes=3), teacher_steps=2
    ),
    "net": ls.nets.FullyConnected(width=3, classes=3),
    "rule": ls.rules.GradientDescent(rate=0.1),
}
SIGNS, CLASSES, PATTERNS = COMPANIONS["signs"], COMPANIONS["classes"], COMPANIONS["patterns"]
TASKS = COMPANIONS["tasks"]
META = {"rate": 0.1, "inner_rate": 0.5, "inner_steps": 2}
STEPS = {"first_rate": 0.5, "second_rate": 0.5, "rate": 0.1}


def _shared_and_own() -> list[list[list[float]]]:
    """Three matrices that leave three dimensions of 31 free."""
    return [
        [[float(i == j) * (i >= 3) * (1 + 2 * (i == 3 + k)) for j in range(31)] for i in range(31)]
        for k in range(3)
    ]


EXAMPLES_WITH: dict[str, Table] = {
    "signs": {
        "data": {
            "SignalNoise": [
                SIGNS["data"],
                ls.data.SignalNoise(
                    dim=30, train=4, test=3, signal=2, noise=0.1, flip=0.2, orthogonal=False,
                    batch=2,
                ),
            ],
        },
        "net": {
            "PatchCNN": [
                SIGNS["net"],
                ls.nets.PatchCNN(width=2, activation="relu", scale=0.1, second_layer="sum"),
                ls.nets.PatchCNN(width=2, activation="relu_power", scale=0.1, power=3),
                ls.nets.PatchCNN(width=2, activation="huberised", scale=0.1, threshold=0.2),
                ls.nets.PatchCNN(width=2, activation="truncated", scale=0.1),
                ls.nets.PatchCNN(width=2, activation="cubic", scale=0.1),
                ls.nets.PatchCNN(width=2, initial="torch"),
            ],
            "Model": [ls.nets.Model(flat_mlp)],
        },
        "rule": {
            "GradientDescent": [
                SIGNS["rule"],
                ls.rules.GradientDescent(rate=0.1, loss="hinge", options={"momentum": 0.9}),
                ls.rules.GradientDescent(rate=0.1, loss="squared", optimiser="adam"),
            ],
            "PerExamplePenalty": [
                ls.rules.PerExamplePenalty(rate=0.1, weight=0.1, until=2, half=False)
            ],
            "FullPenalty": [ls.rules.FullPenalty(rate=0.1, weight=0.1)],
        },
        "probes": {
            "Loss": [ls.probes.Loss()],
            "TestLoss": [ls.probes.TestLoss()],
            "TrainAccuracy": [ls.probes.TrainAccuracy()],
            "TestAccuracy": [ls.probes.TestAccuracy()],
            "GradientNorm": [ls.probes.GradientNorm()],
            "LearntResponse": [ls.probes.LearntResponse("signal")],
            "SignalLearning": [ls.probes.SignalLearning()],
            "NoiseMemorisation": [ls.probes.NoiseMemorisation()],
            "Decomposition": [ls.probes.Decomposition()],
        },
    },
    "classes": {
        "data": {
            "ClassNoise": [
                CLASSES["data"],
                ls.data.ClassNoise(
                    dim=31, classes=3, train_per_class=[1, 2, 3], test=12, signal=[0.5, 1, 2],
                    correlation=4, noise="uniform", bulk=0.3, prior=[0.2, 0.3, 0.5], batch=5,
                ),
            ],
            "MatrixNoise": [
                ls.data.MatrixNoise(
                    factors=_shared_and_own(), train_per_class=2, test=12, signal=1.0
                ),
            ],
            "Pruned": [ls.data.Pruned(CLASSES["data"], removed=0.4)],
        },
        "net": {
            "PatchCNN": [
                CLASSES["net"],
                ls.nets.PatchCNN(width=4, activation="relu", classes=3, initial="torch"),
            ],
            "Model": [ls.nets.Model(flat_mlp_of_classes)],
        },
        "rule": {
            "GradientDescent": [
                CLASSES["rule"],
                ls.rules.GradientDescent(rate=0.1, loss="adjusted"),
            ],
        },
        "probes": {
            "ClassAccuracy": [ls.probes.ClassAccuracy()],
            "LongTailAccuracy": [ls.probes.LongTailAccuracy(share=0.5)],
            "ActiveNeurons": [ls.probes.ActiveNeurons()],
            "NoiseSpectrum": [ls.probes.NoiseSpectrum()],
            "Residual": [ls.probes.Residual()],
            "GradientBalance": [ls.probes.GradientBalance()],
            "Contributions": [ls.probes.Contributions()],
            "Activations": [ls.probes.Activations()],
        },
    },
    "patterns": {
        "data": {
            "Patterns": [
                PATTERNS["data"],
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
        },
        "net": {
            "TwoLayer": [
                PATTERNS["net"],
                ls.nets.TwoLayer(
                    width=6, activation="quadratic", scale=0.3, symmetric=False, smoothing=0.1
                ),
                ls.nets.TwoLayer(width=6, activation="relu", scale=0.3, smoothing=0.1),
            ],
        },
        "rule": {
            "TwoStep": [PATTERNS["rule"]],
            "FrozenFeatures": [
                ls.rules.FrozenFeatures(after=1, rescale=2.0, head="zero", **STEPS)
            ],
            "RandomFeatures": [ls.rules.RandomFeatures(rate=0.1)],
            "Linearised": [ls.rules.Linearised(rate=0.1)],
        },
        "probes": {
            "BalancedAccuracy": [ls.probes.BalancedAccuracy()],
            "Alignment": [ls.probes.Alignment(bins=4)],
            "Clusters": [ls.probes.Clusters()],
            "WeightMap": [ls.probes.WeightMap()],
            "PatternComponents": [ls.probes.PatternComponents()],
            "WeightGradients": [ls.probes.WeightGradients()],
            "ReadoutNorm": [ls.probes.ReadoutNorm()],
            "BestReadout": [ls.probes.BestReadout(examples=20)],
            "KernelFit": [ls.probes.KernelFit(examples=20)],
        },
    },
    "tasks": {
        "data": {
            "TaskFamily": [
                TASKS["data"],
                ls.data.TaskFamily(
                    dim=30, dictionary=2, tasks=3, samples=5, validation=2, training=3, signal=0.5,
                    task_signal=1.0, noise=0.1, test_tasks=2, queries=1, balanced=False,
                ),
            ],
            "Grouped": [
                ls.data.Grouped(
                    ls.data.SignalNoise(dim=30, train=13, test=17, signal=1.0, noise=0.5), tasks=3,
                ),
            ],
        },
        "net": {"PatchCNN": [TASKS["net"]], "Model": [ls.nets.Model(flat_mlp)]},
        "rule": {
            "Fomaml": [
                TASKS["rule"], ls.rules.Fomaml(split="train-train", batch=2, penalty=0.1, **META),
            ],
            "Maml": [ls.rules.Maml(**META, options={"momentum": 0.9})],
            "Reptile": [ls.rules.Reptile(**META)],
            "MetaProx": [ls.rules.MetaProx(**META, weight=0.3)],
            "Imaml": [ls.rules.Imaml(**META, weight=0.3, solver_steps=3)],
            "Pooled": [ls.rules.Pooled(rate=0.1)],
        },
        "probes": {
            "MetaLoss": [ls.probes.MetaLoss(inner_rate=0.5, inner_steps=2)],
            "AdaptedTest": [ls.probes.AdaptedTest(inner_rate=0.5, split="train-train")],
            "AdaptedTasks": [ls.probes.AdaptedTasks(inner_rate=0.5, inner_steps=2)],
            "FeatureLearning": [ls.probes.FeatureLearning()],
            "TaskNoise": [ls.probes.TaskNoise()],
            "Amplification": [ls.probes.Amplification(inner_rate=0.5, inner_steps=2)],
        },
    },
    "image_tasks": {
        "data": {
            "ImageTasks": [
                COMPANIONS["image_tasks"]["data"],
                ls.data.ImageTasks(
                    "rainbow", source="digits", tasks=3, ways=3, queries=2, test_tasks=3,
                    fresh=False, images=7, pixels="unit", shrink=2,
                ),
            ],
        },
        "net": {"FullyConnected": [COMPANIONS["image_tasks"]["net"]]},
        "rule": {"Fomaml": [COMPANIONS["image_tasks"]["rule"]]},
        "probes": {"AdaptedTasks": [ls.probes.AdaptedTasks(inner_rate=0.5)]},
    },
    "centroids": {
        "data": {"LinearTasks": [COMPANIONS["centroids"]["data"]]},
        "net": {"Linear": [COMPANIONS["centroids"]["net"]]},
        "rule": {
            "LinearCentroid": [
                COMPANIONS["centroids"]["rule"],
                ls.rules.LinearCentroid(weight=0.1, split="train-train"),
            ],
        },
        "probes": {"CentroidError": [ls.probes.CentroidError()]},
    },
    "clusters": {
        "data": {"GaussianParity": [COMPANIONS["clusters"]["data"]]},
        "net": {"TwoLayer": [COMPANIONS["clusters"]["net"]]},
        "rule": {"GradientDescent": [COMPANIONS["clusters"]["rule"]]},
        "probes": {"CentreCosines": [ls.probes.CentreCosines()]},
    },
    "images": {
        "data": {
            "Images": [
                COMPANIONS["images"]["data"],
                ls.data.Images(
                    "digits", train=6, test=5, classes=[3, 4, 5], batch=4, noise=0.5,
                    pixels="standard",
                ),
            ],
            "Pruned": [
                ls.data.Pruned(COMPANIONS["images"]["data"], removed=0.4),
                ls.data.Pruned(COMPANIONS["images"]["data"], removed=0.3, by="low", apart=False),
                ls.data.Pruned(COMPANIONS["images"]["data"], removed=0.2, by="random"),
            ],
        },
        "net": {
            "LeNet5": [ls.nets.LeNet5(classes=3)],
            "Conv4": [ls.nets.Conv4(width=2, classes=3, activation="huberised")],
            "Conv6": [ls.nets.Conv6(width=2, classes=3, normalise="none", scale=0.3)],
            "ResNet": [ls.nets.ResNet(filters=1, classes=3, normalise="group")],
            "FullyConnected": [COMPANIONS["images"]["net"]],
        },
        "rule": {
            "GradientDescent": [COMPANIONS["images"]["rule"]],
            "PerExamplePenalty": [ls.rules.PerExamplePenalty(rate=0.1, weight=0.1)],
        },
    },
    "views": {
        "data": {"Images": [COMPANIONS["views"]["data"]]},
        "net": {
            "Projection": [
                COMPANIONS["views"]["net"],
                ls.nets.Projection(ls.nets.FullyConnected(width=4), outputs=3, layers=1),
            ],
        },
        "rule": {
            "NonContrastive": [
                ls.rules.NonContrastive(rate=0.01, head_rate=0.1, head="linear", normalise="l2",
                                        optimiser="adamw", options={"cosine_steps": 9.0}),
            ],
        },
        "probes": {
            "FeatureCorrelation": [ls.probes.FeatureCorrelation(bins=4)],
            "LinearProbe": [ls.probes.LinearProbe(examples=6, classes=10)],
            "PreferredImages": [
                ls.probes.PreferredImages(neurons=2, steps=2),
                ls.probes.PreferredImages(neurons=9, of="features", steps=2),
            ],
        },
    },
    "taught": {
        "data": {
            "TeacherMixture": [
                COMPANIONS["taught"]["data"],
                ls.data.TeacherMixture(
                    ls.data.Images("digits", train=6, test=5, classes=(0, 1, 2), batch=3),
                    ls.nets.FullyConnected(width=2, classes=3), ls.data.Images("digits"),
                    share=0.25, teacher_steps=2, teacher_batch=4, weight=0.1, sharpness=0.0,
                ),
            ],
        },
        "net": {"FullyConnected": [COMPANIONS["taught"]["net"]]},
        "rule": {"GradientDescent": [COMPANIONS["taught"]["rule"]]},
        "probes": {
            "PartAccuracy": [ls.probes.PartAccuracy()],
            "FilterCosines": [ls.probes.FilterCosines(["hidden", "dense"])],
            "Filters": [ls.probes.Filters("hidden")],
        },
    },
    "pairs": {
        "data": {
            "StrongWeak": [
                COMPANIONS["pairs"]["data"],
                ls.data.StrongWeak(
                    dim=30, patches=6, feature_patches=2, strengths=[3, 2], noise=0.5, batch=6,
                    frequencies=[1, 3], noise_law="uniform", together=True, test=8,
                ),
            ],
            "Viewed": [
                ls.data.Viewed(
                    ls.data.SignalNoise(dim=30, train=4, test=6, signal=1.0, noise=0.5),
                    ls.data.NoisyViews(0.2),
                ),
            ],
        },
        "net": {
            "PatchEncoder": [
                COMPANIONS["pairs"]["net"],
                ls.nets.PatchEncoder(width=2, activation="relu2", scale=0.3, overlaps=[2, 1, 1, 2]),
            ],
        },
        "rule": {
            "NonContrastive": [
                COMPANIONS["pairs"]["rule"],
                ls.rules.NonContrastive(rate=0.01, head_rate=0.1, head="mlp", hidden=3,
                                        target="ema", both_ways=True),
            ],
            "Contrastive": [ls.rules.Contrastive(rate=0.01)],
            "PopulationFlow": [
                ls.rules.PopulationFlow(rate=1.0, head_rate=0.1, horizon=10.0, points=3,
                                        tolerance=1e-3),
            ],
            "PopulationDescent": [
                ls.rules.PopulationDescent(rate=1.0, head_rate=0.1, head="linear", target="ema"),
            ],
        },
        "probes": {
            "PairLoss": [ls.probes.PairLoss()],
            "LinearProbe": [ls.probes.LinearProbe(classes=2, halves=True)],
            "HeadOffDiagonal": [ls.probes.HeadOffDiagonal()],
            "NeuronCorrelation": [ls.probes.NeuronCorrelation(bins=4)],
            "FeatureStrengths": [ls.probes.FeatureStrengths()],
            "FeatureShares": [ls.probes.FeatureShares()],
            "PopulationMoments": [ls.probes.PopulationMoments()],
            "Phase": [ls.probes.Phase()],
        },
    },
}  # fmt: skip

# Fields for which a list of one number is right, or wrong for another reason than its length.
LISTS_OF_ANY_LENGTH = {("Patterns", name) for name in ("relevant", "counts", "background")}
LISTS_OF_ANY_LENGTH |= {("PatchEncoder", "overlaps")}

# Parts that hold code: they can be run and pickled, but no TOML or JSON can say what they are.
HOLD_CODE = {"Model"}


def examples_of(slot: str) -> list[tuple[str, str, AbstractPart]]:
    """All examples of a slot: whom they go with, their kind's name, and they themselves."""
    return [
        (company, name, part)
        for company, table in EXAMPLES_WITH.items()
        for name, parts in table.get(slot, {}).items()
        for part in parts
    ]


def companions(slot: str, part: AbstractPart) -> dict[str, AbstractPart]:
    """What a part of EXAMPLES_WITH goes with."""
    return next(COMPANIONS[company] for company, _, other in examples_of(slot) if other is part)


def experiment_with(slot: str, part: AbstractPart, **others) -> ls.Experiment:
    """A tiny experiment around one part."""
    value = (part,) if slot == "probes" else part
    parts = {**companions(slot, part), slot: value} | others
    return ls.Experiment(**parts, steps=3)
