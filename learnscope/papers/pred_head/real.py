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

from learnscope.evidence import Sweep
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


@dataclasses.dataclass(frozen=True)
class Setting:
    """Data, network and length of training at a scale."""

    data: Images
    net: Projection
    steps: int
    records: int = 10


def _projected(body: AbstractImageNet, width: int, outputs: int, **changes: Any) -> Projection:
    settings: dict[str, Any] = {"normalise": "batch"} | changes
    return Projection(body, width, outputs, **settings)


def digits(smoke: bool, steps: int, **changes: Any) -> Setting:
    """The bundled digits; a mirrored digit is another one."""
    data = Images(name="digits", batch=128, test=100 if smoke else None,
                  views=Augment(crop=0.4, flip=0.0))  # fmt: skip
    width, outputs = (16, 6) if smoke else (128, 32)
    body = FullyConnected(width=width, activation="relu")
    return Setting(data, _projected(body, width, outputs, **changes), steps, 4 if smoke else 20)


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


def _experiment(
    of: Setting, probes: tuple[AbstractProbe, ...], record: Record, **changes: Any
) -> Experiment:
    return Experiment(of.data, of.net, rule(**changes), of.steps, probes, record)


def _images(of: Setting, seeds: int) -> Sweep:
    """Figures 1, 3, 4 and 5: with and without a head, along training."""
    probes = (PairLoss(), NeuronCorrelation(), FeatureCorrelation(), HeadOffDiagonal(),
              PreferredImages(neurons=12, steps=30))  # fmt: skip
    record = Record(every=of.steps // of.records)
    arms = {name: _experiment(of, probes, record, head=HEADS[name]) for name in (HEAD, BARE)}
    return Sweep.of(arms, seeds, dim="method_name")


def _heads(of: Setting, ways: Mapping[str, Iterable[str]], seeds: int) -> Sweep:
    """Figure 2: heads, normalisations and targets."""
    probes = (LinearProbe(), NeuronCorrelation(), FeatureCorrelation())
    record = Record(every=of.steps, start=False)
    arms = {
        f"{name}, {way}": _experiment(
            of, probes, record, head=HEADS[name], hidden=of.net.width, **WAYS[way]
        )
        for way, names in ways.items()
        for name in HEADS
        if name in names
    }
    return Sweep.of(arms, seeds, dim="method_name")


def _fading(smoke: bool, seeds: int) -> Sweep:
    """Long training under variants that may decide whether the head falls again."""
    of = digits(smoke, 40 if smoke else 8000)
    plain = digits(smoke, of.steps, normalise="none")
    probes = (PairLoss(), NeuronCorrelation(), HeadOffDiagonal(), LinearProbe())
    record = Record(every=of.steps // of.records)
    options = {
        CONSTANT: {}, COSINE: {"options": {"cosine_steps": float(of.steps)}},
        DECAY: {"optimiser": "adamw", "options": {"weight_decay": WEIGHT_DECAY}}, PLAIN: {},
    }  # fmt: skip
    arms = {
        name: _experiment(plain if name == PLAIN else of, probes, record, **changes)
        for name, changes in options.items()
        if name in (CONSTANT, PLAIN) or not smoke
    }
    return Sweep.of(arms, seeds, dim="method_name")


def real_sweeps(scale: str) -> dict[str, Sweep]:
    """The sweeps on images."""
    smoke, seeds = scale == "smoke", 2 if scale == "smoke" else 3
    if scale == "laptop":
        along = cifar(Conv4(width=8), 800)
        compared = cifar(FullyConnected(width=256, activation="relu"), 300)
    else:
        along = compared = digits(True, 40) if smoke else published()
    # Each arm is a program that takes as long to compile as to run: a laptop runs the main ones.
    few = {BATCH: HEADS, L2: (HEAD, BARE), EMA: (HEAD, BARE)}
    ways = {"smoke": {BATCH: HEADS}, "laptop": few, "paper": dict.fromkeys(WAYS, HEADS)}[scale]
    return {
        "images": _images(along, seeds),
        "digits": _images(digits(smoke, 40 if smoke else 2000), seeds),
        "heads": _heads(compared, ways, seeds),
        "fading": _fading(smoke, seeds),
    }
