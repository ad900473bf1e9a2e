"""The sweeps on images: Figures 1 to 5 of the paper with a deep network and its projection.

The paper (section 8) trains a ResNet-18 with a projection of 512 hidden neurons and 64 outputs by
Adam at rate 0.003, with the augmentation of Ermolov et al. (2021), and names neither batch, epochs,
a decay of the rate nor weight decay (the code it builds on has both, and normalises batches inside
the projection). At `paper` scale that is run on CIFAR-10 with batches of 256 for 200 epochs.

At `laptop` scale CIFAR-10 is 20,000 training images at 16 x 16 pixels in batches of 64, for 3000
steps, and the network a Conv4 of 32 filters with a projection of 128 hidden neurons and 32 outputs.
The rate is the paper's for every arm; nothing is tuned. Sizes and criteria were chosen after trials
at seed 1000, which no sweep uses:

| trial at 16 x 16 | pair loss | mean correlation | probe (untrained) | head's norm |
|---|---|---|---|---|
| no head, 1200 steps | 25.6 to 4.9 | 1.00 | 0.351 (0.320) | |
| head, 3000 steps | 25.6 to 6.4 | 0.47 | 0.372 (0.320) | 2.85, rises |
| head, 6000 steps | 25.6 to 6.4 | 0.43 | 0.397 (0.320) | 3.64, rises |
| head, batches of 32, 3000 steps | 25.6 to 6.5 | 0.56 | 0.352 (0.320) | 3.09, rises |
| head, 16 filters, 4000 steps | 25.5 to 6.0 | 0.59 | 0.352 (0.255) | 3.27, rises |
| head, LeNet5, 3000 steps | 22.3 to 7.4 | 0.46 | 0.326 (0.304) | 3.69, rises |
| head, 16 filters, 32 x 32, 4000 steps | 25.3 to 6.8 | 0.45 | 0.410 (0.367) | 3.19, rises |

What decides whether the head falls is asked of the digits, where training long is cheap: one hidden
layer of 128 neurons. `smoke` is the digits and tiny networks throughout.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from learnscope.evidence import Scale, Sweep, arms
from learnscope.images import Augment, Images
from learnscope.lab import Experiment, Record
from learnscope.nets import AbstractImageNet, Conv4, FullyConnected, Projection, ResNet
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.probes import (
    AbstractProbe,
    FeatureCorrelation,
    HeadOffDiagonal,
    LinearProbe,
    NeuronCorrelation,
    PairLoss,
    PreferredImages,
)
from learnscope.rules import NonContrastive

RATE = 3e-3  # Adam's, for the network and the head
# The heads of Figure 2.
HEADS = {HEAD: "identity", "linear head": "linear", "MLP head": "mlp", BARE: "none"}
BATCH, L2, EMA = "batch norm", "l2", "batch norm, EMA"
WAYS: dict[str, dict[str, Any]] = {
    BATCH: {}, L2: {"normalise": "l2"}, EMA: {"target": "ema"},
    "l2, EMA": {"normalise": "l2", "target": "ema"},
}  # fmt: skip
# Possible causes of the head's fall: decay of the rate, weight decay, normalisation.
CONSTANT, COSINE, DECAY, PLAIN = (
    "constant rate", "rate falls along a cosine", "weight decay", "projection not normalised",
)  # fmt: skip
_PROBES = PairLoss(), LinearProbe(), NeuronCorrelation(), FeatureCorrelation()
PREFERRED = PreferredImages(neurons=8, of="features", steps=30)
WEIGHT_DECAY = 0.1  # AdamW's, per step and unit of rate
# What a laptop runs, in the order of what decides most.
_FEW = {BATCH: (HEAD, BARE, "linear head", "MLP head"), L2: (HEAD,), EMA: (HEAD, BARE)}
SIZES = Scale(
    seeds=(2, 5, 5), short=(40, 2000, 2000), long=(40, 12_000, 12_000), width=(16, 128, 128),
    outputs=(6, 32, 32), test=(100, None, None), records=(4, 20, 20),
    ways=({BATCH: tuple(HEADS)}, _FEW, dict.fromkeys(WAYS, tuple(HEADS))),
    fading=((CONSTANT, PLAIN), (CONSTANT, PLAIN), (CONSTANT, COSINE, DECAY, PLAIN)),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Setting:
    """Data, network and length of training at a scale."""

    data: Images
    net: Projection
    steps: int
    records: int = 10

    def experiment(self, *probes: AbstractProbe, **changes: Any) -> Experiment:
        record = Record(every=max(1, self.steps // self.records))
        return Experiment(self.data, self.net, rule(**changes), self.steps, probes, record)


def _projected(body: AbstractImageNet, width: int, outputs: int, **changes: Any) -> Projection:
    settings: dict[str, Any] = {"normalise": "batch"} | changes
    return Projection(body, width, outputs, **settings)


def digits(size: Any, steps: int, **changes: Any) -> Setting:
    """The bundled digits; a mirrored digit is another one."""
    data = Images(name="digits", batch=128, test=size.test, views=Augment(crop=0.4, flip=0.0))
    body = FullyConnected(width=size.width, activation="relu")
    return Setting(data, _projected(body, size.width, size.outputs, **changes), steps, size.records)


def cifar() -> Setting:
    """CIFAR-10 in small. Pixels are from 0 to 1, which is what jitter of colours means."""
    data = Images(name="cifar10", train=20_000, test=2000, batch=64, views=Augment(), shrink=2)
    return Setting(data, _projected(Conv4(width=32), 128, 32), steps=3000, records=8)


def published() -> Setting:
    """The setting of section 8, for 200 epochs."""
    data = Images(name="cifar10", test=5000, batch=256, views=Augment())
    return Setting(data, _projected(ResNet(filters=64), 512, 64), 200 * 50_000 // 256, 50)


def rule(head: str = "identity", **changes: Any) -> NonContrastive:
    """Section 8: Adam at rate 0.003 for all parameters."""
    settings = {"rate": RATE, "head_rate": RATE, "optimiser": "adam"} | changes
    return NonContrastive(head=head, **settings)


def _digits(of: Setting, seeds: int) -> Sweep:
    """Figures 1 and 5 on the digits: with and without a head, along training. Images that excite
    outputs: most features of one layer are 0 at the start of the search, and have no gradient."""
    base = of.experiment(PairLoss(), NeuronCorrelation(), FeatureCorrelation(), HeadOffDiagonal(),
                         PreferredImages(neurons=12, steps=30))  # fmt: skip
    return arms(base, seeds, method_name={name: rule(HEADS[name]) for name in (HEAD, BARE)})


def _images(of: Setting, ways: Mapping[str, Iterable[str]], seeds: int) -> Sweep:
    """Figures 1 to 5: heads, normalisations and targets, along training."""
    probes = *_PROBES, PREFERRED
    matrices = *probes, HeadOffDiagonal()  # which an MLP has not
    return arms(of.experiment(*probes), seeds, method_name={
        f"{name}, {way}": {"rule": rule(HEADS[name], hidden=of.net.width, **WAYS[way]),
                           "probes": probes if HEADS[name] == "mlp" else matrices}
        for way, names in ways.items() for name in names
    })  # fmt: skip


def _fading(size: Any) -> Sweep:
    """Long training under variants that may decide whether the head falls again."""
    of = digits(size, size.long)
    base = of.experiment(*_PROBES, HeadOffDiagonal())
    options: dict[str, Any] = {
        CONSTANT: rule(), COSINE: rule(options={"cosine_steps": float(of.steps)}),
        DECAY: rule(optimiser="adamw", options={"weight_decay": WEIGHT_DECAY}),
        PLAIN: digits(size, size.long, normalise="none").net,
    }  # fmt: skip
    return arms(base, 2 * size.seeds, method_name={name: options[name] for name in size.fading})


def real_sweeps(scale: str) -> dict[str, Sweep]:
    """The sweeps on images."""
    size, short = SIZES[scale], digits(SIZES[scale], SIZES[scale].short)
    along = {"smoke": short, "laptop": cifar(), "paper": published()}[scale]
    return {
        "images": _images(along, size.ways, size.seeds),
        "digits": _digits(short, 2 * size.seeds), "fading": _fading(size),
    }  # fmt: skip
