"""The paper's claims about real images. A draw is a random choice of images; of initial weights and
batches, where all are trained on (Figure 7)."""

from typing import Any

import numpy as np
import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import Null, above, at_least, computed, last, swapped
from learnscope.papers.benign.real import WHOLE

_PAPER = "all images: `learnscope verify benign --scale paper --data DIR`"
_LENET = f"LeNet5, MNIST, laptop: all 60,000 images, half removed, 1500 steps of Adam; {_PAPER}"
_RESNET = f"ResNet(8), CIFAR-10, laptop: 20,000 images, half removed, 3200 steps of Adam; {_PAPER}"
_RATE = "chosen: {}, for every arm; the paper has none"
LEARNT = 0.05  # above the untrained control


def _of(text: str, name: str, **where: str) -> ev.Quantity:
    return computed(text, lambda data: data[name].sel(where, drop=True))


_HALVES, _TWO = (_of(f"cosine of covariances, {pair}", "likeness", pair=pair)
                for pair in ("halves of one", "two classes"))  # fmt: skip
_HIGH, _LOW = (_of(f"share of another class among the 10 nearest, {end} scores", "disagreement",
                   end=end) for end in ("high", "low"))  # fmt: skip
_HARD = above(_HIGH, _LOW) & above(_HIGH, _of("all images", "disagreement_of_all"))


def _pairs(data: xr.Dataset, name: str) -> xr.DataArray:
    """The ratios of different classes, in every draw."""
    values = data[name].values[:, ~np.eye(data.sizes["class"], dtype=bool)]
    return xr.DataArray(values, dims=("seed", "pair"))


_MEDIAN = computed("median Γ", lambda data: _pairs(data, "ratio").median("pair"))
_LEAST = computed("smallest Γ", lambda data: _pairs(data, "ratio").min("pair"))
_MIXED = computed("largest Γ with labels shuffled",
                  lambda data: _pairs(data, "ratio_shuffled").max("pair"))  # fmt: skip
_SHUFFLED = Null("labels shuffled", lambda data: data.assign(ratio=data.ratio_shuffled))


def _without(by: str, when: Any = last) -> ev.Quantity:
    """Accuracy after removal, at every share that was run."""
    accuracy = when("test_accuracy", by=by).map(lambda v: v.dropna("removed", how="all"), "{}")
    return accuracy.named(f"test accuracy without {by} scores")


def _exchanged(data: xr.Dataset) -> xr.Dataset:
    other = {"high": "low", "low": "high"}
    names = [other.get(by, by) for by in map(str, data.by.values)]
    turned = data.test_accuracy.assign_coords(by=names).sel(by=data.by.values)
    return data.assign(test_accuracy=turned)


def _claim(id: str, statement: str, figure: str, reported: str, setting: str, needs: str,
           check: ev.Verb, scope: str, *nulls: Null, **more: Any) -> ev.Claim:  # fmt: skip
    return ev.Claim(id, statement, f"Figure {figure}", reported, setting, needs, check,
                    scope=scope, nulls=nulls, **more)  # fmt: skip


def _hurts(id: str, setting: str, sweep: str, rate: float) -> ev.Claim:
    """Accuracy is higher without low scores than without high ones, where the nets have learnt and
    training is over."""
    high, low = map(_without, ("high", "low"))
    whole, start = _without(WHOLE), _without(WHOLE, ev.first)
    learnt = above(whole.named("accuracy with all images"), start.named("untrained"), by=LEARNT)
    return _claim(id, "Removing high scores hurts more than removing low ones", "7",
                  "significantly larger drop", setting, sweep,
                  ev.converged(above(low, high).given(learnt)),
                  "reading: optimiser, steps and ranking are not in the paper",
                  Null("high and low exchanged", _exchanged), ev.constant(0.1), ev.UNTRAINED,
                  rates=_RATE.format(f"Adam, {rate}"), draws=5)  # fmt: skip


_READING = "reading: hard to classify = other classes among the nearest images"
REAL_CLAIMS: tuple[ev.Claim, ...] = (
    _claim("figure1", "The noise of real classes differs in shape", "1",
           "a picture: heterogeneous shapes", "t-SNE of MNIST, laptop: 600 images", "map",
           above(_HALVES, _TWO),
           "reading: shape = direction of the covariance", swapped("pair"), ev.alike("pair")),
    *(_claim(f"figure5_{tag}", "Images of high scores are atypical and hard to classify", "5",
             "a picture", words, f"scores_{tag}", _HARD, _READING,
             swapped("end"), ev.shuffled("end"))
      for tag, words in (("mnist", "MNIST"), ("cifar", "CIFAR-10"))),
    _claim("figure6", "Real classes have large noise correlation ratios", "6", "a heat map: large",
           "MNIST, laptop: 10,000 images a draw", "classes",
           at_least(_MEDIAN, 2.0) & above(_LEAST, _MIXED),
           "reading: large = median ≥ 2, and all above shuffled labels", _SHUFFLED),
    _hurts("figure7_mnist", _LENET, "pruned_mnist", 0.001),
    _hurts("figure7_mnist_together", f"{_LENET}; classes ranked together", "pruned_together",
           0.001),
    _hurts("figure7_cifar", _RESNET, "pruned_cifar", 0.003),
)  # fmt: skip
