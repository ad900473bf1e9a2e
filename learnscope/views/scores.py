"""Influence scores in words: a table, a summary, and simpler measures for comparison."""

import csv
import io
import math

import numpy as np

from learnscope.errors import BadInput
from learnscope.images import load_images
from learnscope.tools import Labelled, distance_to_class_mean, nearest_neighbour_disagreement

_NEIGHBOURS = 10
_MOST_LINES = 30  # of a summary


def digits(label: str | None = None) -> Labelled:
    """All of the bundled digits, in the order of the original file."""
    if label is not None:
        raise BadInput("--label is for files: the bundled digits have their labels.")
    images, labels, more_images, more_labels = load_images("digits")
    both = np.concatenate([images, more_images]), np.concatenate([labels, more_labels])
    return Labelled(*both, "digits")


def baseline_columns(data: Labelled) -> dict[str, np.ndarray]:
    """Simpler measures, by name; ten neighbours, or as many as there are."""
    neighbours = min(_NEIGHBOURS, len(data.labels) - 1)
    disagreement = np.full(1, np.nan)
    if neighbours:
        disagreement = nearest_neighbour_disagreement(data.images, data.labels, neighbours)
    distance = distance_to_class_mean(data.images, data.labels)
    return {"distance_to_class_mean": distance, "nearest_neighbour_disagreement": disagreement}


def score_table(
    data: Labelled, scores: np.ndarray, baselines: dict[str, np.ndarray] | None = None
) -> str:
    """Scores as CSV: one line per image, with its rank in its class (1: the most influential)."""
    names = ["index", *(["file"] if data.files else []), "label", "influence", "rank"]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*names, *(baselines or {})])
    rank = _ranks(data.labels, scores)
    for i, label in enumerate(data.labels.tolist()):
        start = [i, data.files[i], label] if data.files else [i, label]
        place = "" if math.isnan(scores[i]) else int(rank[i])
        others = [_cell(values[i]) for values in (baselines or {}).values()]
        lines.writerow([*start, _cell(scores[i]), place, *others])
    return text.getvalue()


def summary(data: Labelled, scores: np.ndarray) -> str:
    """One line per class: how many images, their scores, and the most influential of them."""
    names, of = np.unique(data.labels, return_inverse=True)
    shown = [str(name) for name in names]
    width = min(24, max(5, *(len(name) for name in shown)))
    headings = "  ".join(f"{heading:>10}" for heading in ("mean", "min", "max"))
    lines = [f"{'class':>{width}}  {'images':>7}  {headings}  most influential"]
    members = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
    for name, which in list(zip(shown, members, strict=True))[:_MOST_LINES]:
        some = scores[which]
        start = f"{short(name, width):>{width}}  {len(which):>7}"
        if np.isnan(some).any():
            lines.append(f"{start}  {'-':>10}  {'-':>10}  {'-':>10}  -")
            continue
        best = int(which[np.argmax(some)])
        numbers = "  ".join(f"{v:>10.4g}" for v in (some.mean(), some.min(), some.max()))
        lines.append(f"{start}  {numbers}  {data.files[best] if data.files else best}")
    if len(names) > _MOST_LINES:
        lines.append(f"... and {len(names) - _MOST_LINES} more classes, in the table of scores.")
    small = [len(which) for which in members if len(which) < 3]
    if small:
        have = _count(len(small), "class has", "classes have")
        images = _count(sum(small), "image", "images")
        lines.append(f"warning: {have} fewer than three images ({images}): their score is NaN.")
    return "\n".join(lines)


def short(text: str, most: int = 16) -> str:
    """Words on one line, cut where they are many."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


def _ranks(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """1 for the highest score of a class, and so on; the earlier image first among equals."""
    _, of = np.unique(labels, return_inverse=True)
    order = np.lexsort((-scores, of))
    starts = np.cumsum(np.bincount(of)) - np.bincount(of)
    rank = np.empty(len(scores), np.int64)
    rank[order] = np.arange(len(scores)) - starts[of[order]] + 1
    return rank


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
