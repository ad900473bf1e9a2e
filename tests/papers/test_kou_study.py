"""The phase diagram's study at its smallest scale, and what its claims can say."""

import numpy as np
import xarray as xr

from learnscope.papers import get
from learnscope.papers.kou.claims import error_of, from_published
from learnscope.papers.kou.experiments import PATCHES, RATIOS, published
from tests.papers.test_studies import check_all, judge, smoke

KOU = get("kou")
CLAIM = {claim.id: claim for claim in KOU.claims}
SPREAD = np.linspace(-0.002, 0.002, 12)  # over seeds


def test_figures_are_drawn_and_claims_found():
    check_all(KOU, smoke(KOU))


def line(exponent, error, status="crossed"):
    data = xr.Dataset({"status": ("dim", [status])}, {"dim": [1.0]})
    return data.assign_attrs(exponent=exponent, exponent_error=error, seeds=20)


def test_exponents_are_judged_by_their_error_within_a_tolerance():
    for name in ("paper_exponent", "theorem_exponent"):
        judge(CLAIM[name], line(0.255, 0.002), line(0.27, 0.004), line(0.2, 0.004))
        for open_ in (line(0.25, 0.01), line(np.nan, np.nan), line(0.25, 0.001, "below")):
            found = CLAIM[name].judge({CLAIM[name].needs[0]: open_})
            assert found.verdict == "inconclusive" and found.why


def theirs(shift=0.0, spread=0.05, n=80, factor=1.0, patches="summed"):
    """Runs whose means are the published ones, but for a shift of the error of one way to add
    patches and a factor of the loss."""
    random, (errors, losses) = (
        np.random.default_rng(0),
        (published(of)[::11, ::6] for of in ("errors", "losses")),
    )
    noise = spread * random.normal(size=(*errors.shape, n))
    moved = [errors.values[..., None] + noise + shift * (way == patches) for way in PATCHES]
    loss = [(losses.values[..., None] * (1 + noise)) * factor] * 2
    dims, end = ("patches", "dim", "signal", "seed", "step"), np.zeros(2)
    values = {"test_accuracy": 1 - np.array(moved), "loss": np.array(loss)}
    data = {name: (dims, each[..., None] + end) for name, each in values.items()}
    return xr.Dataset(data, {"patches": list(PATCHES), **errors.coords, "step": [50, 100]})


def test_published_means_have_errors_of_their_own():
    """A mean over 10 repetitions beside ours over n draws, for a cell and for a mean over cells."""
    error, n = error_of(theirs(), "summed"), 80
    for over, cells in (((), 1), (("dim",), 10), (("dim", "signal"), 170)):
        apart = from_published(error, "errors", *over)
        theirs_too = error.var("seed", ddof=1).mean(over) / (10 * cells)
        alone = error.mean(over).var("seed", ddof=1) / n + theirs_too
        np.testing.assert_allclose(apart.var("seed", ddof=1) / n, alone, rtol=1e-6)
        expected = (error.mean("seed") - published("errors")[::11, ::6]).mean(over)
        np.testing.assert_allclose(apart.mean("seed"), expected, atol=1e-12)


def test_the_published_heat_map_can_differ():
    for name, patches in (("published", "summed"), ("published_code", "averaged")):
        shifted = [theirs(shift, patches=patches) for shift in (0.05, -0.05)]
        judge(CLAIM[name], theirs(), *shifted, theirs(factor=1.4), theirs(factor=0.6))


def test_the_heat_map_is_the_one_that_was_published():
    """Some of its cells, as the authors' files have them; a tenth of the labels is flipped."""
    errors, losses = published("errors"), published("losses")
    assert errors.shape == (100, 100) and float(errors.min()) > 0.09 and float(errors.max()) < 0.52
    for dim, some in ((100, (0.498, 0.373, 0.235)), (1090, (0.499, 0.470, 0.372))):
        found = errors.sel(dim=dim, signal=[0.0, 1.1, 2.2])
        np.testing.assert_allclose(found, some, atol=5e-4)
    np.testing.assert_allclose(losses.sel(dim=100, signal=[0.0, 0.1]), (3.11e-3, 5.01e-3))


def sides(errors, loss=0.01):
    dims = ("signal", "seed", "step")
    accuracy = 1 - np.asarray(errors)[:, None, None] + SPREAD[None, :, None]
    losses = np.full((len(RATIOS), len(SPREAD), 1), loss) + SPREAD[None, :, None]
    return xr.Dataset({"test_accuracy": (dims, accuracy), "loss": (dims, losses)},
                      {"signal": np.array(RATIOS), "step": [9]})  # fmt: skip


def test_both_sides_can_fail():
    right, wrong = [0.5, 0.4, 0.3, 0.2, 0.12, 0.1], [0.15] * 6
    judge(CLAIM["training"], sides(right), sides(right, loss=0.5))
    for name in ("benign", "harmful"):
        judge(CLAIM[name], sides(right), sides(wrong))
        # Without a small training loss nothing follows.
        assert CLAIM[name].judge({"sides": sides(right, loss=0.5)}).verdict == "inconclusive"


def test_order_and_transition_can_fail():
    signal, dim = np.linspace(0, 1, 6), np.linspace(0, 1, 5)

    def diagram(error):
        table = 1 - error[:, :, None, None] + SPREAD[None, None, :, None]
        return xr.Dataset({"test_accuracy": (("signal", "dim", "seed", "step"), table)},
                          {"signal": signal, "dim": dim, "step": [9]})  # fmt: skip

    falling = 0.4 - 0.3 * signal[:, None] + 0.04 * dim
    bad = falling[::-1], falling[:, ::-1], 0.3 + 0.1 * (signal[:, None] - 0.5) ** 2 + 0 * dim
    judge(CLAIM["order"], diagram(falling), *map(diagram, bad))
    judge(CLAIM["transition"], diagram(falling), diagram(falling * 0 + 0.3))
