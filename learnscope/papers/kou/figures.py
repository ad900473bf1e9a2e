"""The heat map with its boundaries, the boundary over six decades, and test error on both sides."""

import numpy as np

from learnscope.evidence import experiment_of
from learnscope.figures import COLOURS, boundary_panel, figure, heat, over, predicted, ran
from learnscope.papers.kou.claims import ERROR, RATE, RATIO
from learnscope.papers.kou.experiments import FLIP, PUBLISHED, PUBLISHED_SIGNALS, RATIOS


def _theory(data):
    """n|μ|⁴ = d σ⁴ over the dimension."""
    one = data["diagram"].isel(signal=0, drop=True)
    text = {"experiment": experiment_of(one, "").to_toml()}
    return one.dim.values, predicted(one, text, "data.signal", "dim")


def _found(data):
    return data["boundary"].dim.values, data["boundary"].boundary.values


def _published(axes, data):
    """Our mean and interval over the signal, with the published means as circles."""
    over(ERROR, "signal", "dim", label="d = {}", xlabel="signal |μ|", ylabel="test error")(
        axes, data
    )
    for i, errors in enumerate(PUBLISHED.values()):
        axes.plot(PUBLISHED_SIGNALS, errors, "o", mfc="none", color=COLOURS[i], markersize=7)


def _agreement(data) -> str:
    ours = ERROR.read({"published": data}).mean("seed").transpose("dim", "signal")
    apart = float(abs(ours.values - np.array([*PUBLISHED.values()])).max())
    return (f"All {ours.size} of the authors' cells (circles) are within {apart:.2f} of ours\n"
            f"(theirs: means of 10; ours: {data.sizes['seed']} seeds, 95 %)")  # fmt: skip


_DIM, _AT = "dimension d", "signal |μ| at test accuracy 0.7"
FIGURES = {
    "diagram": figure(
        "Test error over signal and dimension", ("diagram", "boundary"),
        [heat(ERROR.of("diagram"), "dim", "signal", "test error, mean over seeds", vmin=FLIP,
              vmax=0.5, contour=0.3, xlabel="dimension d", ylabel="signal |μ|", xscale="log",
              yscale="log", xlim=(100, 1090), ylim=(1, 10),
              lines={"theory, constant 1: n|μ|⁴ = d σ⁴": _theory,
                     "found by bisection: 0.3": _found})],
        lambda data, found: "Test error falls from 0.5 to the flips' share "
        f"across $|μ| \\sim d^{{{found.attrs['exponent']:.2f}}}$\n({data.test_accuracy.size:,} "
        f"trainings of {ran(data, 'steps')} steps, n = {ran(data, 'data.train')}, "
        f"{100 * FLIP:g} % flips)"),
    "exponent": figure(
        "The boundary and its exponent", ("boundary", "theorem"),
        [boundary_panel("boundary", title="the paper's range (Condition 4.1 fails)", ylabel=_AT,
                        xlabel=_DIM),
         boundary_panel("theorem", title="where Condition 4.1 holds", ylabel=_AT, xlabel=_DIM)],
        lambda small, large: f"The boundary rises as $d^{{{large.attrs['exponent']:.3f}}}$ where "
        f"the theorem holds, and as $d^{{{small.attrs['exponent']:.3f}}}$ in the paper's range; "
        "theory: 1/4",
        size=(9.4, 4.2)),
    "sides": figure(
        "Test error on both sides of the boundary", "sides",
        [over(ERROR, "signal", x=RATIOS, xscale="log", ylim=(0, 0.55), xlabel="n|μ|⁴ / (d σ⁴)",
              ylabel="test error", levels={"flips: no classifier is better": FLIP,
                                           "p + 0.1 of statement 3": FLIP + 0.1})],
        lambda data: "Test error falls to the flips' share across the boundary: Theorem 4.2 at "
        f"d = {ran(data, 'data.dim')}"),
    "proof": figure(
        "The rate of the excess error, and the ratio of coefficients", ("decay", "coefficients"),
        [over(RATE.of("decay"), "signal", xlabel="n|μ|⁴ / (d σ⁴)",
              ylabel="-log of the test error (p = 0)"),
         over(RATIO.of("coefficients"), "dim", xscale="log", yscale="log", ylabel="Σγ / Σρ",
              xlabel="dimension d")],
        "The error's rate, and coefficients that have the ratio |μ|²/(d σ²)",
        size=(8.4, 3.6)),
    "published": figure(
        "The authors' own heat map, and ours in the setting of their code", "published",
        [_published],
        _agreement),
}  # fmt: skip
