"""The sweeps: Adam and gradient descent from the same start, with and without weight decay.

The theorem asks for s of the order d^(1/2)/n² (`claims`). Its mechanism needs three (`theory`):
supports that rarely overlap, n s ≪ d; a sign step that moves noise further than the feature,
s σ_p ≫ 1; a gradient that moves it less, s σ_p² ≪ n. Here d = 1500, n = 20, s = 32, σ_p = 0.15:
n s/d = 0.4, s σ_p = 4.8, s σ_p²/n = 0.04. These sizes were chosen on the seeds 0 to 11 (with s = 16
and m = 8 Adam fails in half of them, and GD in one); claims are about seeds from 100 on.

`published` are the sizes of Tang et al. (2025; see `claims`), at which nothing was chosen here but
the rate of GD. Runs of Adam use all coordinates, since its steps depend on the basis.
"""

from learnscope.evidence import Scale, Sweep, arms
from learnscope.lab import Experiment, Record
from learnscope.nets import Linear, PatchCNN
from learnscope.papers.adam.parts import SparseNoise, WeightDecay
from learnscope.probes import Loss, NoiseMemorisation, SignalLearning, TestAccuracy, TrainAccuracy

RULES = {"GD": WeightDecay(rate=0.5), "Adam": WeightDecay(rate=0.002, optimiser="adam")}
DECAYS = [0.0, 1e-5, 1e-4]
STRENGTHS = [0.0, 0.1, 0.2, 0.3]
SIZES = Scale(
    seeds=(3, 35, 50), steps=(60, 1000, 4000), dim=(200, 1500, 4000),
    published_steps=(60, 10_000, 10_000), fewer=(3, 10, 50),
)  # fmt: skip


def experiment(steps: int = 1000, dim: int = 1500) -> Experiment:
    """Gradient descent on a feature beside sparse noise, with σ(z) = max(z, 0)³."""
    return Experiment(
        data=SparseNoise(dim=dim, train=20, test=500, sparsity=32, noise=0.15, strength=0.3),
        net=PatchCNN(
            width=16, activation="relu_power", power=3.0, scale=0.1, second_layer="sum"
        ),
        rule=RULES["GD"],
        steps=steps,
        probes=(
            Loss(), TrainAccuracy(), TestAccuracy(), SignalLearning(), NoiseMemorisation(),
        ),
        record=Record(every=max(steps // 20, 1)),
    )  # fmt: skip


def published(steps: int) -> Experiment:
    """Gradient descent at the sizes of Tang et al. (2025)."""
    sizes = {"data.dim": 1000, "data.train": 200, "data.sparsity": 100, "data.noise": 0.1,
             "data.strength": 0.2, "net.width": 20, "net.scale": 0.01}  # fmt: skip
    setting = experiment(steps)
    for path, value in sizes.items():
        setting = setting.replace(path, value)
    return setting


def sweeps(scale: str) -> dict[str, Sweep]:
    """All sweeps of the study."""
    size = SIZES[scale]
    base, seeds = experiment(size.steps, size.dim), range(100, 100 + size.seeds)
    convex = base.replace("net", Linear(scale=0.1)).replace("record.every", size.steps)
    slow = {
        "GD": WeightDecay(rate=0.5, decay=0.05),
        "Adam": WeightDecay(rate=0.05, decay=0.05, optimiser="adam",
                            options={"cosine_steps": size.steps}),
    }  # fmt: skip
    both = {"GD": WeightDecay(rate=0.5, decay=1e-5),
            "Adam": WeightDecay(rate=5e-5, decay=1e-5, optimiser="adam")}  # fmt: skip
    return {
        "published": arms(published(size.published_steps), seeds[: size.fewer], rule=both),
        "decay": arms(base, seeds, {"rule.decay": DECAYS}, rule=RULES),
        "strength": arms(base.replace("record.every", size.steps), seeds,
                         {"data.strength": STRENGTHS}, rule=RULES),
        "convex": arms(convex, seeds, rule=slow),
    }  # fmt: skip
