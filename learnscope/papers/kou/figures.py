"""The heat map with its boundaries, the boundary over six decades, and test error on both sides."""

from learnscope.evidence import experiment_of, student
from learnscope.figures import COLOURS, boundary_panel, figure, heat, over, predicted, ran
from learnscope.papers.kou.claims import ERROR, RATE, RATIO, error_of, from_published
from learnscope.papers.kou.experiments import AVERAGED, FLIP, PATCHES, RATIOS, SUMMED, published


def _theory(data):
    """n|μ|⁴ = d σ⁴ over the dimension."""
    one = data["diagram"].isel(signal=0, drop=True)
    text = {"experiment": experiment_of(one, "").to_toml()}
    return one.dim.values, predicted(one, text, "data.signal", "dim")


def _found(data):
    return data["boundary"].dim.values, data["boundary"].boundary.values


def _published(axes, data):
    """Our mean and interval over the signal, with the published means as circles."""
    some = data["published"].sel(patches=SUMMED, drop=True)
    dims = some.sizes["dim"]
    some = some.isel(dim=sorted({0, dims // 2, dims - 1}))
    panel = over(ERROR, "signal", "dim", label="d = {}", xlabel="signal |μ|", ylabel="test error")
    panel(axes, {"published": some})
    theirs = published("errors").sel(dim=some.dim, signal=some.signal)
    for colour, errors in zip(COLOURS, theirs, strict=False):
        axes.plot(errors.signal, errors, "o", mfc="none", color=colour, markersize=6)


def _apart(axes, data):
    """Our test error minus the published one, over the signal, with the interval of both errors."""
    for colour, patches in zip(COLOURS[3:], PATCHES, strict=False):
        apart = from_published(error_of(data["published"], patches), "errors", "dim")
        each = [student(values) for values in apart.transpose("signal", "seed").values]
        ends = [[i.middle - i.low for i in each], [i.high - i.middle for i in each]]
        axes.errorbar(apart.signal, [i.middle for i in each], ends, fmt="o-", color=colour,
                      label=f"outputs {patches} over patches")  # fmt: skip
    axes.axhline(0, color="0.4", lw=0.8)
    axes.set(xlabel="signal |μ|", ylabel="ours - published, mean over dimensions")
    axes.legend()


def _agreement(data) -> str:
    mean, most = (
        float(abs(values.mean("seed")).max())
        for values in (from_published(error_of(data, SUMMED), "errors", "dim"),
                       from_published(error_of(data, AVERAGED), "errors", "dim"))
    )  # fmt: skip
    return (f"The authors' test errors (circles) agree with ours to {mean:.3f} if outputs are "
            f"summed over patches;\naveraged, as in their code, they are off by {most:.2f} "
            f"(10 repetitions; ours: {data.sizes['seed']}; 95 %)")  # fmt: skip


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
        "The authors' own heat map, and ours", "published",
        [_published, _apart],
        _agreement, size=(9.4, 4.2)),
}  # fmt: skip
