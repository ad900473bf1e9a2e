"""How the claims of section E.5, the effect of inputs, are checked.

A part is learnt *better* if it is so in every seed and by a mean difference whose 95 % interval
leaves out 0; *similar* means within 5 points. Accuracies are by the teacher's labels, at the end.
"""

from functools import partial

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, judged, mean
from learnscope.papers.input_structure.real_checks import better
from learnscope.papers.input_structure.real_sizes import FOUND, GAUSSIAN

SIMILAR, EVEN = 0.05, 0.2


def _end(data: xr.Dataset, **where: object) -> xr.Dataset:
    return data.isel(step=-1).sel(where)


def real_above_other(data: xr.Dataset, other: str = GAUSSIAN, at: float | None = None) -> Finding:
    """The images' part is above the other part at the end."""
    one = _end(data, other=other) if at is None else _end(data, other=other, share=at)
    words, good = better(one.real_accuracy, one.other_accuracy)
    text = (
        f"images {mean(one.real_accuracy)}, {other} {mean(one.other_accuracy)} (a constant answer "
        f"{mean(one.commonest_label)}); {words}; teacher right on {mean(one.teacher_accuracy)} of "
        "the images"
    )
    return judged(text, good, "the images' part is not learnt better")


def faster(data: xr.Dataset) -> Finding:
    """The images' part reaches nine tenths of its gain first."""
    one = data.sel(other=GAUSSIAN, share=0.5)

    def gained(values: xr.DataArray) -> xr.DataArray:
        first = values.isel(step=0)
        return (values - first) / (values.isel(step=-1) - first)

    when = [(gained(v) >= 0.9).idxmax("step") for v in (one.real_accuracy, one.other_accuracy)]
    _, good = better(when[1], when[0])
    text = f"90 % of the final gain after {mean(when[0])} steps on images, {mean(when[1])} on " \
           "Gaussian inputs"  # fmt: skip
    return judged(text, good, "the Gaussian part is not slower")


def all_shares(data: xr.Dataset) -> Finding:
    parts, good = [], True
    for alpha in (0.25, 0.5, 0.75):
        one = _end(data, other=GAUSSIAN, share=alpha)
        _, above = better(one.real_accuracy, one.other_accuracy)
        parts.append(
            f"α = {alpha:g}: images {mean(one.real_accuracy)}, Gaussian {mean(one.other_accuracy)}"
        )
        good = good and above
    return judged("; ".join(parts), good, "not at every α")


def _whole(data: xr.Dataset, mixed: dict[str, object], alone: dict[str, object]) -> Finding:
    """The whole mixture below images alone."""
    mixture, images = _end(data, **mixed).mixture_accuracy, _end(data, **alone).real_accuracy
    words, good = better(images, mixture)
    measured = f"mixture {mean(mixture)}, images alone {mean(images)}; {words}"
    return judged(measured, good, "the mixture is not learnt worse")


def _similar(data: xr.Dataset, mixed: dict[str, object], alone: dict[str, object]) -> Finding:
    """The images' part as accurate as images alone."""
    part, images = (_end(data, **arm).real_accuracy for arm in (mixed, alone))
    apart = np.asarray(images - part, float)
    measured = f"in the mixture {mean(part)}, alone {mean(images)}"
    return judged(measured, abs(apart.mean()) <= SIMILAR, "more than 5 points apart")


_MNIST = {"mixed": {"other": GAUSSIAN, "share": 0.5}, "alone": {"other": GAUSSIAN, "share": 0.0}}
_COLOUR = {"mixed": {"other": GAUSSIAN}, "alone": {"other": "none"}}
mnist_whole, colour_whole = partial(_whole, **_MNIST), partial(_whole, **_COLOUR)
mnist_similar, colour_similar = partial(_similar, **_MNIST), partial(_similar, **_COLOUR)


def wider_apart(narrow: xr.Dataset, wide: xr.Dataset) -> Finding:
    """FC(50) separates the parts more than FC(9)."""
    both = []
    for one in (_end(narrow, other=GAUSSIAN, share=0.5), _end(wide, other=GAUSSIAN)):
        both.append(one.real_accuracy - one.other_accuracy)
    words, good = better(both[1], both[0])
    last = _end(wide, other=GAUSSIAN)
    text = (
        f"m = 50: images {mean(last.real_accuracy)}, Gaussian {mean(last.other_accuracy)}; parts "
        f"apart by {mean(both[1])}, with m = 9 by {mean(both[0])}; {words}"
    )
    return judged(text, good, "not more apart")


def images_help(data: xr.Dataset) -> Finding:
    """Other images: their part lies between the Gaussian part and the original images."""
    last, parts, good = _end(data), [], True
    gaussian = last.sel(other=GAUSSIAN).other_accuracy
    parts.append(f"Gaussian part {mean(gaussian)}")
    for name in data.other.values:
        if name in (GAUSSIAN, "none"):
            continue
        one = last.sel(other=name)
        words, above = better(one.other_accuracy, gaussian)
        _, below = better(one.real_accuracy, one.other_accuracy)
        parts.append(
            f"with {name}: its part {mean(one.other_accuracy)} (a constant answer "
            f"{mean(one.commonest_label)}; above the Gaussian one: {words}), images "
            f"{mean(one.real_accuracy)}"
        )
        good = good and above and below
    why = "an interval of a difference holds 0: not surely above the Gaussian part, or below images"
    return judged("; ".join(parts), good, why)


def balanced(data: xr.Dataset) -> Finding:
    """The share of the commonest label on other inputs, without and with the regulariser."""
    parts, good = [], True
    last = data.commonest_label.isel(step=-1)
    for name in data.other.values:
        without, with_it = (last.sel(other=name, weight=w) for w in (0.0, 0.5))
        words, less = better(without, with_it)
        parts.append(f"{name}: {mean(without)} without, {mean(with_it)} with ({words})")
        good = good and float(with_it.mean()) <= EVEN and less
    return judged("share of the commonest label, " + "; ".join(parts), good,
                  "a label stays above 20 %, or is not surely rarer than without R")  # fmt: skip


def _losses(data: xr.Dataset, labels: str) -> xr.DataArray:
    """Final test loss by width, on the inputs of that arm."""
    last = data.isel(step=-1).sel(labels=labels)
    return last.test_loss if labels == "images" else last.other_loss


def _by_width(loss: xr.DataArray) -> str:
    return ", ".join(f"{int(w)}: {mean(loss.sel(width=w))}" for w in loss.width.values)


def second_descent(data: xr.Dataset) -> Finding:
    """A minimum, then a peak, then a fall."""
    loss = _losses(data, "images")
    middle = loss.mean("seed").values
    if middle.size < 3:
        return Finding(_by_width(loss), "differs", "fewer than three widths were run")
    peak = int(middle[1:-1].argmax()) + 1
    low = int(middle[: peak + 1].argmin())
    widths = loss.width.values
    rises = better(loss.isel(width=peak), loss.isel(width=low))[1]
    falls = better(loss.isel(width=peak), loss.isel(width=-1))[1]
    text = (
        f"minimum at FC({int(widths[low])}), peak at FC({int(widths[peak])}); loss by width "
        f"{_by_width(loss)}"
    )
    why = "the rise after the minimum, or the fall after the peak, is not sure in these seeds"
    return judged(text, rises and falls and low < peak, why)


def _minimum(data: xr.Dataset, labels: str) -> tuple[np.ndarray, str]:
    """The width of the least loss in each seed."""
    loss = _losses(data, labels)
    best = loss.width.values[loss.transpose("seed", "width").values.argmin(1)]
    text = f"{labels}: minimum at {', '.join(str(int(w)) for w in best)} (loss {_by_width(loss)})"
    return best, text


def teacher_size(data: xr.Dataset) -> Finding:
    """The minimum is at the width of the grid nearest to the paper's."""
    best, text = _minimum(data, "images")
    widths = data.width.values
    nearest = widths[np.abs(widths - FOUND).argmin()]
    return judged(text, bool((best == nearest).all()), "the minimum lies at another width")


def same_minimum(data: xr.Dataset) -> Finding:
    first = next(str(name) for name in data.labels.values if str(name) != "images")
    (one, words), (two, others) = (_minimum(data, name) for name in ("images", first))
    widths = list(data.width.values)
    apart = [abs(widths.index(a) - widths.index(b)) for a, b in zip(one, two, strict=True)]
    return judged(f"{words}; {others}", max(apart) <= 1, "minima more than one width apart")


def grows_with_teacher(data: xr.Dataset) -> Finding:
    names = [str(name) for name in data.labels.values if str(name) != "images"]
    minima = [_minimum(data, name) for name in names]
    text = "; ".join(words for _, words in minima)
    if len(minima) < 2:
        return Finding(text, "differs", "only one size of teacher was run")
    good = bool((minima[-1][0] > minima[0][0]).all())
    return judged(text, good, "the minimum does not move to larger widths")
