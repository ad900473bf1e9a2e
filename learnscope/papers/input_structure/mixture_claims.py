"""The claims of section E.5 about images: students on mixtures of inputs, and loss against width.

*Similar* is within 5 points. Accuracies on mixtures are by the teacher's labels, at the end.
"""

import functools
import math
import operator
from typing import Any

import numpy as np
import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import (
    Datasets,
    Finding,
    Quantity,
    Unanswered,
    Verb,
    above,
    at_least,
    below,
    last,
    within,
)
from learnscope.papers.input_structure.real import ALONE, FOUND, GAUSSIAN
from learnscope.papers.input_structure.real_claims import PAPER, claim, trained

SIMILAR, EVEN = 0.05, 0.2
_MIXED = "reading: optimiser, weight of R and moments of U are not in the paper"


def _parts(**where) -> tuple[Quantity, Quantity]:
    return last("real_accuracy", **where), last("other_accuracy", **where)


def _speed(variable: str) -> Quantity:
    """The mean over steps of the part of the final gain that is reached."""

    def gained(values: xr.DataArray) -> xr.DataArray:
        start = values.isel(step=0, drop=True)
        return ((values - start) / (values.isel(step=-1, drop=True) - start)).mean("step")

    words = f"mean part of the final gain, {variable.replace('_', ' ')}"
    return ev.every(variable, other=GAUSSIAN).map(gained, words)


def _images_help(*others: str) -> Verb:
    """The part of other images is above the Gaussian part (by itself, and by what it has over the
    best constant answer), and below the original images."""
    constant, gaussian = (last(n, other=GAUSSIAN) for n in ("commonest_label", "other_accuracy"))
    verbs = []
    for other in others:
        images, part = _parts(other=other)
        gain = part - last("commonest_label", other=other)
        verbs += [above(part, gaussian), above(gain, gaussian - constant), above(images, part)]
    return functools.reduce(operator.and_, verbs)


def _on_labels(verb: Verb, teacher: float) -> Verb:
    """A verb on students that have learnt, of teachers that have."""
    return trained(verb.given(at_least(last("teacher_accuracy"), teacher)), "real_accuracy")


def _two_sweeps(verb: Verb, **teachers: float) -> Verb:
    """The same of students in several sweeps."""

    def judge(data: Datasets) -> Finding:
        knows = [at_least(last("teacher_accuracy").of(n), least) for n, least in teachers.items()]
        return trained(verb.given(*knows), "real_accuracy").judge(data)

    return Verb(trained(verb, "real_accuracy").text, judge)


_HALF, _ALONE = {"other": GAUSSIAN}, {"other": ALONE}
_REAL, _PART = _parts(**_HALF)
_WIDE, _WIDE_OTHER = (part.of("mixture_wide") for part in (_REAL, _PART))
_GAP = (_REAL - _PART).of("mixture").named("gap of the parts, MNIST")
_GAP_COLOUR = (_REAL - _PART).of("mixture_cifar10").named("gap of the parts, CIFAR-10")


def _better(sweep: str) -> Verb:
    return above(_REAL.of(sweep), _PART.of(sweep))


_FASTER = above(_speed("real_accuracy"), _speed("other_accuracy"))
_COMMON = last("commonest_label", weight=0.5)
_ONE, _SMALL, _MIDDLE, _LARGE = (last("test_loss", width=width) for width in (1, 2, 4, 200))
MNIST_TEACHER, COLOUR_TEACHER = 0.8, 0.2  # least accuracies of teachers; chance is 0.1


def _best(labels: str) -> Quantity:
    """log of the width of the first local minimum of the loss (the classical regime's), on the
    inputs of that arm."""

    def read(data: xr.Dataset) -> xr.DataArray:
        if labels not in data.labels:
            raise Unanswered(f"the scale that was run has no {labels}")
        name = "test_loss" if labels == "images" else "other_loss"
        loss = data[name].sel(labels=labels, drop=True).isel(step=-1, drop=True)
        loss = loss.transpose("seed", "width").sortby("width")
        rises = loss.values[:, 1:] > loss.values[:, :-1]
        place = rises.argmax(1)
        if not rises.any(1).all() or (place == 0).any():
            text = f"{labels}: {(~rises.any(1)).sum()} of {len(place)} curves never rise"
            raise Unanswered(f"{text}, {(rises.any(1) & (place == 0)).sum()} rise from the start")
        return xr.DataArray(np.log(loss.width.values[place].astype(float)), dims="seed")

    return ev.computed(f"log of the width of the first minimum, {labels}", read)


def _arms(verb: Verb, *labels: str) -> Verb:
    """A verb on some arms of Figure 26, which have learnt; the others need not have."""
    learnt = trained(verb)

    def judge(data: Datasets) -> Finding:
        one = data["capacity"]
        return learnt.judge({"capacity": one.sel(labels=[n for n in labels if n in one.labels])})

    return Verb(learnt.text, judge)


def _on_colour(name: str, words: str, panel: str, other: str) -> list[ev.Claim]:
    images, part = _parts(**_HALF)
    alone = last("real_accuracy", **_ALONE)
    size, main, mixed = _INPUTS[name], f"mixture_{name}", f"mixture_{name}_images"
    setting = f"{words}, {{}} inputs; {_TEACHER} (the paper: ResNet; `--scale paper` runs it)"
    rows = (
        ("real_part", "a student learns the images' part better than the Gaussian part", panel,
         "clearly better", main, above(images, part)),
        ("real_part_faster", "it learns slower on the Gaussian part", panel, "slower", main,
         _FASTER.given(above(part, last("commonest_label", **_HALF)))),
        ("real_part_similar", "it is as accurate on the images' part as trained on images alone",
         panel, "similar", main, within(images, alone, by=SIMILAR)),
        ("mixture_lower", "accuracy on the mixture is lower than that on images alone", panel,
         "lower", main, below(last("mixture_accuracy", **_HALF), alone)),
        ("mixture_images", f"other images ({other}) are learnt better than Gaussian inputs, "
         "though not as well as the original ones", "Figure 23", "between (Tiny ImageNet)", mixed,
         _images_help(other)),
    )  # fmt: skip
    return [
        claim(f"{id}_{name}", f"On {words} {statement}", where, reported,
               setting.format(6000 if needs == mixed else size), needs,
               _on_labels(verb, COLOUR_TEACHER), f"{_MIXED}; FC(9) in place of ResNet")
        for id, statement, where, reported, needs, verb in rows
    ]  # fmt: skip


_INPUTS = {"cifar10": 20_000, "svhn": 6000}
_TEACHER = "teacher and student FC(9) with quadratic activation, α = 0.5"
_MNIST = f"MNIST, 60000 inputs; {_TEACHER}"
_FEWER = f"MNIST, 20000 inputs; {_TEACHER}"
_MANY = "20000 Gaussian inputs, 8000 steps, students FC(3) to FC(200)"
_CIFAR = f"CIFAR-10, 20000 inputs; {_TEACHER} (the paper: ResNet; `--scale paper` runs it)"
_ON_MNIST = f"{_MIXED}; E.5.2 says no significant trend of the same curves"
_ROWS: tuple[Any, ...] = (
    ("mnist_trend", "On MNIST the trend is less significant than on CIFAR-10", "Figure 4a",
     "less significant", f"{_MNIST}; gap of the accuracies of the two parts",
     ("mixture", "mixture_cifar10"),
     _two_sweeps(below(_GAP, _GAP_COLOUR), mixture=MNIST_TEACHER, mixture_cifar10=COLOUR_TEACHER),
     f"{_MIXED}; FC(9) in place of ResNet on CIFAR-10", None),
    ("mnist_no_trend", "On MNIST there is no significant trend", "Figure 22a",
     "no significant trend", f"{_MNIST}; the accuracies of the two parts are within 5 points",
     "mixture", _on_labels(within(_REAL, _PART, by=SIMILAR), MNIST_TEACHER), _MIXED, None),
    ("mnist_part", "With m = 9 the images' part is learnt faster and better than the Gaussian part",
     "E.5.3", "faster and better", _MNIST, "mixture",
     _on_labels(above(_REAL, _PART) & _FASTER, MNIST_TEACHER), _ON_MNIST, None),
    ("mixture_shares", "For every share the images' part is learnt better", "Figure 24",
     "the same trend for α = 0.25, 0.5, 0.75", _CIFAR, ("mixture_shares", "mixture_cifar10"),
     _two_sweeps(_better("mixture_shares") & _better("mixture_cifar10"),
                 mixture_shares=COLOUR_TEACHER, mixture_cifar10=COLOUR_TEACHER),
     f"{_MIXED}; FC(9) in place of ResNet", None),
    ("mixture_wide", "With m = 50 the images' part is learnt faster and better than the Gaussian "
     "part, and the separation is more significant than with m = 9", "Figure 25",
     "more significant", f"{_MNIST}; the student has m = 50", ("mixture", "mixture_wide"),
     _two_sweeps(_better("mixture_wide") & above(_WIDE - _WIDE_OTHER, _GAP)
                 & above(_speed("real_accuracy").of("mixture_wide"),
                         _speed("other_accuracy").of("mixture_wide")),
                 mixture=MNIST_TEACHER, mixture_wide=MNIST_TEACHER), _MIXED, None),
    ("mixture_images", "Other images are learnt better than Gaussian inputs, though not as well as "
     "the original ones", "Figure 23", "between (Tiny ImageNet, on CIFAR-10 and SVHN)",
     f"Omniglot and grey CIFAR-10 in MNIST; {_FEWER}", "mixture_images",
     _on_labels(_images_help("omniglot", "cifar10"), MNIST_TEACHER), _MIXED, None),
    ("balanced_labels", "The regulariser makes all labels equally common on other inputs",
     "E.5.1, eqs. (291) to (293)", "guaranteed", "MNIST, teacher FC(9), weight 0.5, λ = 0.5; "
     "equally: none above 20 % of ten", "balance",
     (ev.at_most(_COMMON, EVEN) & below(_COMMON, last("commonest_label", weight=0.0))).given(
         at_least(last("teacher_accuracy", weight=0.5), MNIST_TEACHER)), _MIXED, None),
    ("double_descent", "The teacher's loss against its width falls, rises and falls again",
     "Figure 26a", "a U and a second descent",
     "MNIST, 2000 images, FC(1), FC(2), FC(4) and FC(200), 4000 steps", "double_descent",
     trained(above(_ONE, _SMALL) & above(_MIDDLE, _SMALL) & above(_MIDDLE, _LARGE)), _MIXED, None),
    ("teacher_size", "Its minimum in the classical regime is at FC(9)", "Figure 26a", "9",
     "MNIST, 20000 images, FC(3) to FC(200), 8000 steps; the first local minimum", "capacity",
     _arms(within(_best("images"), math.log(FOUND), by=math.log(1.5)), "images"), _MIXED, None),
    ("student_minimum", "Students on Gaussian inputs with labels of FC(9) have their minimum at "
     "roughly the same width", "Figure 26b", "roughly 9", _MANY, "capacity",
     _arms(within(_best("teacher FC(9)"), _best("images"), by=math.log(2.5)), "images",
           "teacher FC(9)"), _MIXED, None),
    ("larger_teacher", "The minimum moves to larger widths for larger teachers", "Figure 26c",
     "teachers FC(9), FC(50)", _MANY, "capacity",
     _arms(above(_best("teacher FC(50)"), _best("teacher FC(9)")), "teacher FC(9)",
           "teacher FC(50)"), _MIXED, None),
)  # fmt: skip
# What had been seen of training runs with another seed when the criteria were written.
_SEEN = "added after looking: at trial runs of seed 1000"
_OWN = ("added after looking: only the arms that the row compares must have learnt",)
_FLAGS = {"teacher_size": _OWN, "student_minimum": _OWN, "larger_teacher": _OWN,
          "double_descent": ("added after looking: the widths", f"{_SEEN} (FC(1) above FC(2))"),
          "mnist_part": (_SEEN,), "mixture_wide": (_SEEN,)}  # fmt: skip
_NOT_RUN: tuple[Any, ...] = (
    ("teacher_500", "The minimum moves further for a teacher FC(500)", "Figure 26d",
     "larger still", "MNIST, 60000 inputs", PAPER),
    ("resnet_students", "The same with teachers ResNet(5), ResNet(2) and students ResNet(9), "
     "ResNet(8)", "Figures 22 to 24", "as above", "CIFAR-10, SVHN", PAPER),
    ("tiny_imagenet", "Tiny ImageNet as other inputs", "Figure 23", "between", "CIFAR-10, SVHN",
     f"the set is not at hand, and it {PAPER}"),
)  # fmt: skip
MIXTURE_CLAIMS = (
    *(claim(*row, nulls=nulls, flags=_FLAGS.get(row[0], ())) for *row, nulls in _ROWS),
    *_on_colour("cifar10", "CIFAR-10", "Figures 4b and 22b", "svhn"),
    *_on_colour("svhn", "SVHN", "Figures 4c and 22c", "cifar10"),
    *(ev.Claim(*row, reason=reason, scope="as stated") for *row, reason in _NOT_RUN),
)  # fmt: skip
