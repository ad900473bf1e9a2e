"""The paper's claims about real images. A draw is a random choice of images."""

import numpy as np
import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import Null, above, at_least, computed, last, swapped
from learnscope.papers.benign.real import TOGETHER, WHOLE

_PAPER = "all images: `learnscope verify benign --scale paper --data DIR`"
_LENET = f"LeNet5, MNIST, laptop: 2000 images, 200 steps of Adam; {_PAPER}"
_RESNET = f"ResNet(4), CIFAR-10, laptop: 2000 images, 80 steps of Adam; {_PAPER}"


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


def _without(by: str) -> ev.Quantity:
    """Accuracy after removal, at every share that was run."""
    accuracy = last("test_accuracy", by=by).map(lambda v: v.dropna("removed", how="all"), "{}")
    return accuracy.named(f"test accuracy without {by} scores")


def _exchanged(data: xr.Dataset) -> xr.Dataset:
    other = {"high": "low", "low": "high"}
    words = [str(by).split(", ") for by in data.by.values]
    names = [", ".join(other.get(word, word) for word in each) for each in words]
    turned = data.test_accuracy.assign_coords(by=names).sel(by=data.by.values)
    return data.assign(test_accuracy=turned)


def _claim(id: str, statement: str, figure: str, reported: str, setting: str, needs: str,
           check: ev.Verb, scope: str, *nulls: Null) -> ev.Claim:  # fmt: skip
    return ev.Claim(id, statement, f"Figure {figure}", reported, setting, needs, check,
                    scope=scope, nulls=nulls)  # fmt: skip


def _hurts(id: str, setting: str, sweep: str, ranked: str = "") -> ev.Claim:
    """Accuracy is higher without low scores than without high ones, where the nets have learnt."""
    high, low = (_without(f"{by}{ranked}") for by in ("high", "low"))
    learnt = at_least(_without(WHOLE).named("accuracy with all images"), 0.5)
    return _claim(id, "Removing high scores hurts more than removing low ones", "7",
                  "significantly larger drop", setting, sweep, above(low, high).given(learnt),
                  "reading: optimiser, steps and ranking are not in the paper",
                  Null("high and low exchanged", _exchanged), ev.constant(0.1))  # fmt: skip


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
    _hurts("figure7_mnist", _LENET, "pruned_mnist"),
    _hurts("figure7_mnist_together", f"{_LENET}; classes ranked together", "pruned_mnist",
           f", {TOGETHER}"),
    _hurts("figure7_cifar", _RESNET, "pruned_cifar"),
)  # fmt: skip
