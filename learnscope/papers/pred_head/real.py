"""The sweeps on images: Figures 1 to 5 of the paper with a deep network and its projection.

The paper (section 8) trains a ResNet-18 with a projection of 512 hidden neurons and 64 outputs by
Adam at rate 0.003, with the augmentation of Ermolov et al. (2021), and names neither batch, epochs,
a decay of the rate nor weight decay (the code it builds on has both, and normalises batches inside
the projection). At `paper` scale that is run on CIFAR-10 with batches of 256 for 200 epochs.

At `laptop` scale CIFAR-10 is 5,000 training images (of the two batches at hand) in batches of 64;
Figures 1 and 5 and the head's trajectory use a Conv4 of 8 filters, and again the bundled digits
with one hidden layer; Figure 2 with its many arms one hidden layer of 256 neurons on CIFAR-10; and
what decides whether the head falls again is asked of the digits, where training long is cheap.
`smoke` is the digits and tiny networks throughout.
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
WEIGHT_DECAY = 0.1  # AdamW's, per step and unit of rate
# Each arm is a program that takes as long to compile as to run: a laptop runs the main ones.
_FEW = {BATCH: tuple(HEADS), L2: (HEAD, BARE), EMA: (HEAD, BARE)}
SIZES = Scale(
    seeds=(2, 5, 5), short=(40, 2000, 2000), long=(40, 8000, 8000), width=(16, 128, 128),
    outputs=(6, 32, 32), test=(100, None, None), records=(4, 20, 20),
    ways=({BATCH: tuple(HEADS)}, _FEW, dict.fromkeys(WAYS, tuple(HEADS))),
    fading=((CONSTANT, PLAIN), (CONSTANT, COSINE, DECAY, PLAIN), (CONSTANT, COSINE, DECAY, PLAIN)),
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


def cifar(body: AbstractImageNet, steps: int) -> Setting:
    """A part of CIFAR-10. Pixels are from 0 to 1, which is what jitter of colours means."""
    data = Images(name="cifar10", train=5000, test=500, batch=64, views=Augment())
    return Setting(data, _projected(body, 128, 32), steps)


def published() -> Setting:
    """The setting of section 8, for 200 epochs."""
    data = Images(name="cifar10", test=5000, batch=256, views=Augment())
    return Setting(data, _projected(ResNet(filters=64), 512, 64), 200 * 50_000 // 256, 50)


def rule(head: str = "identity", **changes: Any) -> NonContrastive:
    """Section 8: Adam at rate 0.003 for all parameters."""
    settings = {"rate": RATE, "head_rate": RATE, "optimiser": "adam"} | changes
    return NonContrastive(head=head, **settings)


def _images(of: Setting, seeds: int) -> Sweep:
    """Figures 1, 3, 4 and 5: with and without a head, along training."""
    base = of.experiment(PairLoss(), NeuronCorrelation(), FeatureCorrelation(), HeadOffDiagonal(),
                         PreferredImages(neurons=12, steps=30))  # fmt: skip
    return arms(base, seeds, method_name={name: rule(HEADS[name]) for name in (HEAD, BARE)})


def _heads(of: Setting, ways: Mapping[str, Iterable[str]], seeds: int) -> Sweep:
    """Figure 2: heads, normalisations and targets, at the start and in every quarter."""
    of = dataclasses.replace(of, records=4)
    base = of.experiment(PairLoss(), LinearProbe(), NeuronCorrelation(), FeatureCorrelation())
    return arms(base, seeds, method_name={
        f"{name}, {way}": rule(HEADS[name], hidden=of.net.width, **WAYS[way])
        for way, names in ways.items() for name in names
    })  # fmt: skip


def _fading(size: Any) -> Sweep:
    """Long training under variants that may decide whether the head falls again."""
    of = digits(size, size.long)
    base = of.experiment(PairLoss(), NeuronCorrelation(), HeadOffDiagonal(), LinearProbe())
    options: dict[str, Any] = {
        CONSTANT: rule(), COSINE: rule(options={"cosine_steps": float(of.steps)}),
        DECAY: rule(optimiser="adamw", options={"weight_decay": WEIGHT_DECAY}),
        PLAIN: digits(size, size.long, normalise="none").net,
    }  # fmt: skip
    return arms(base, 2 * size.seeds, method_name={name: options[name] for name in size.fading})


def real_sweeps(scale: str) -> dict[str, Sweep]:
    """The sweeps on images."""
    size, short = SIZES[scale], digits(SIZES[scale], SIZES[scale].short)
    along = {"smoke": short, "laptop": cifar(Conv4(width=8), 800), "paper": published()}[scale]
    body = FullyConnected(width=256, activation="relu")
    compared = {"smoke": short, "laptop": cifar(body, 300), "paper": published()}[scale]
    return {
        "images": _images(along, size.seeds), "digits": _images(short, 2 * size.seeds),
        "heads": _heads(compared, size.ways, size.seeds), "fading": _fading(size),
    }  # fmt: skip
