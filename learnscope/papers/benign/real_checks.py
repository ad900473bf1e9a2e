"""How the claims on images are checked: paired by seed (a draw of images), with 95 % intervals."""

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, half_width, is_positive, judged, mean
from learnscope.papers.benign.real import TOGETHER, WHOLE

LITTLE = 0.5  # accuracy below which a net counts as untrained
LARGE = 2.0  # least median ratio; noise of one shape has ratio 1


def shapes_differ(data: xr.Dataset) -> Finding:
    """Covariances of two classes are less alike than those of two halves of one class."""
    parts, good = [], True
    for space in data.space.values:
        one = data.likeness.sel(space=space)
        two, halves = one.sel(pair="two classes"), one.sel(pair="halves of one")
        parts.append(f"in {'the map' if space == 'map' else space}: {mean(two)} between classes, "
                    f"{mean(halves)} between halves of one")  # fmt: skip
        good &= is_positive((halves - two).values)
    return judged(
        f"cosine of covariances {'; '.join(parts)}", good, "classes are as alike as halves"
    )


def high_is_atypical(data: xr.Dataset) -> Finding:
    """Images of high scores disagree with their neighbours more often than those of low scores."""
    high, low = (data.disagreement.sel(end=end).values for end in ("high", "low"))
    far, near = (data.distance.sel(end=end).values for end in ("high", "low"))
    text = (
        f"of the 10 nearest images, another class have {mean(high)} at the highest tenth of the "
        f"scores, {mean(low)} at the lowest and {mean(data.disagreement_of_all)} of all; distance "
        f"to the class mean, in units of that of all: {mean(far)} and {mean(near)} "
        f"({data.attrs['images']} images, {data.sizes['seed']} draws)"
    )
    why = "far from the mean of their class, but no harder to tell by their neighbours than others"
    return judged(text, is_positive(high - low), why)


def ratios_are_large(data: xr.Dataset) -> Finding:
    """All ratios are above 1 (noise of one shape and strength), and the median is above 2."""
    off = ~np.eye(data.sizes["class"], dtype=bool)
    values = data.ratio.values[:, off]
    low, middle = values.min(1), np.median(values, 1)
    at = data.ratio.mean("seed").where(off)
    k, j = np.unravel_index(int(np.nanargmin(at.values)), at.shape)
    text = (
        f"Γ: median {mean(middle)}, smallest {mean(low)} (classes {k}, {j}), largest "
        f"{mean(values.max(1))}; below 1 in {100 * (values < 1).mean():.0f} % of pairs"
    )
    good = bool(low.min() > 1 and middle.min() >= LARGE)
    return judged(text, good, f"not all above 1, or the median is below {LARGE:g}")


def high_hurts_more(data: xr.Dataset, together: bool = False) -> Finding:
    """Accuracy is higher without low scores than without high ones, at every share removed."""
    last = data.test_accuracy.isel(step=-1)
    names = [f"{by}, {TOGETHER}" if together else by for by in ("high", "low")]
    shares = last.sel(by=names[0]).dropna("removed", how="all").removed.values
    whole = last.sel(by=WHOLE, removed=0.0)
    parts, good = [f"nothing removed: {mean(whole)}"], True
    for removed in shares:
        high, low = (last.sel(by=name, removed=removed).values for name in names)
        part = (
            f"{100 * removed:g} %: without high {mean(high)}, without low {mean(low)}, "
            f"difference {np.mean(low - high):+.3f} ± {half_width(low - high):.3f}"
        )
        if not together:
            part += f", at random {mean(last.sel(by='random', removed=removed))}"
        parts.append(part)
        good &= bool(np.all(low > high))
    text = f"{'; '.join(parts)} ({data.sizes['seed']} seeds)"
    why = "not in every seed at every share"
    if float(whole.mean()) < LITTLE:
        why += f"; with all images the nets reach {float(whole.mean()):.2f} in so few steps"
    return judged(text, good, why)
