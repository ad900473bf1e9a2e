"""Heat maps for two sample sizes, three boundaries with exponents, and both sides."""

from learnscope.evidence import experiment_of
from learnscope.figures import boundary_panel, figure, heat, over, predicted, ran
from learnscope.papers.xor.claims import ERROR
from learnscope.papers.xor.experiments import FLIP, RATIOS


def _map(train):
    def theory(data):
        one = data["diagram"].isel(signal=0, drop=True).drop_vars("train")
        text = {"experiment": experiment_of(data["diagram"], train).to_toml()}
        return one.dim.values, predicted(one, text, "data.signal", "dim")

    return heat(ERROR.sel(train=train), "dim", "signal", "test error, mean over seeds", vmin=FLIP,
                vmax=0.5, contour=0.3, xlabel="dimension d", ylabel="signal |u| = |v|",
                title=f"n = {train}",
                lines={"theory, constant 1: n|μ|⁴ = d σ⁴": theory})  # fmt: skip


_AT = "|u| at test accuracy 0.7"
FIGURES = {
    "diagram": figure(
        "Test error over signal, dimension and sample size", "diagram", [_map("20"), _map("80")],
        lambda data: f"XOR data: test error after {ran(data, 'steps')} steps, "
        f"{data.test_accuracy.size:,} trainings ({100 * FLIP:g} % flips)", size=(10.4, 4.2)),
    "exponents": figure(
        "The boundary over dimension, sample size and angle", ("dims", "samples", "angle"),
        [boundary_panel("dims", title="theory: d^(1/4)", ylabel=_AT, xlabel="dimension d"),
         boundary_panel("samples", title="theory: n^(-1/4)", ylabel=_AT, xlabel="samples n"),
         boundary_panel("angle", title="theory: 1/r, r small", ylabel=_AT, xlabel="r = |v|/|u|")],
        "The boundary rises as d^(1/4) and falls as n^(-1/4)", size=(13.2, 4.0)),
    "sides": figure(
        "Test error on both sides of the boundary", "sides",
        [over(ERROR, "signal", x=RATIOS, xscale="log", ylim=(0, 0.55), xlabel="n|μ|⁴ / (d σ⁴)",
              ylabel="test error", levels={"flips: no classifier is better": FLIP})],
        lambda data: "Test error falls to the flips' share across the boundary: Theorem 3.2 at "
        f"d = {ran(data, 'data.dim')}"),
}  # fmt: skip
