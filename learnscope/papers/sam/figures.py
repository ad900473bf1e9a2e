"""Both phase diagrams and boundaries, test error over dimensions and radii, the early stage."""

from learnscope.evidence import experiment_of
from learnscope.figures import boundary_panel, figure, heat, over, predicted, ran, steps
from learnscope.papers.sam.claims import ERROR, NOISE, SAM, SGD
from learnscope.papers.sam.experiments import EARLY, FLIP, RADII


def _theory(rule):
    """The signal at the theory's boundary, over the dimension."""

    def line(data):
        one = data["diagram"].isel(signal=0, drop=True).drop_vars("rule")
        text = {"experiment": experiment_of(data["diagram"], rule).to_toml()}
        return one.dim.values, predicted(one, text, "data.signal", "dim")

    return line


def _map(quantity, rule, text):
    return heat(quantity, "dim", "signal", "test error, mean over seeds", vmin=FLIP, vmax=0.5,
                contour=0.3, xlabel="dimension d", ylabel="signal |μ|", title=rule,
                lines={text: _theory(rule)})  # fmt: skip


_AT = "signal |μ| at test accuracy 0.7"
_RULES = {"boundary_small": "SGD, rate 100/d", "boundary_sgd": "SGD", "boundary_sam": "SAM"}
FIGURES = {
    "diagram": figure(
        "Test error of SGD and SAM over signal and dimension", "diagram",
        [_map(SGD, "SGD", "theory, constant 1: n|μ|⁴ = d σ⁴"),
         _map(SAM, "SAM", "theory, constant 1: |μ| = σ")],
        lambda data: "SAM is benign for weaker signals: test error after "
        f"{ran(data, 'steps')} steps (n = {ran(data, 'data.train')})", size=(10.4, 4.2)),
    "boundaries": figure(
        "The boundaries of SGD and SAM, and their exponents", tuple(_RULES),
        [boundary_panel(of, title=rule, ylabel=_AT, xlabel="dimension d", ylim=(0.2, 50))
         for of, rule in _RULES.items()],
        "SAM is benign for weaker signals than SGD", size=(13.2, 4.2)),
    "dimension": figure(
        "Test error over the dimension and over the radius", ("dims", "radius"),
        [over(ERROR.of("dims"), "dim", "rule", xscale="log", ylim=(0, 0.55), ylabel="test error",
              xlabel="dimension d", levels={"flips: no classifier is better": FLIP}),
         over(ERROR.of("radius"), "radius", x=RADII, xscale="log", ylim=(0, 0.55),
              ylabel="test error", xlabel="radius / (σ_0 √(Bm))", marks=(1.0,))],
        lambda dims, radius: f"|μ| = {ran(dims, 'data.signal')}; the radius at d = "
        f"{ran(radius, 'data.dim')}", size=(9.4, 4.0)),
    "early": figure(
        "Noise and signal learnt", "early", [
         steps(NOISE, "rule", ylabel="mean noise coefficient", marks=(EARLY,)),
         steps("signal_learning", "rule", ylabel="max |<w, μ>|", marks=(EARLY,))],
        lambda data: "SAM prevents noise learning in the early stages "
        f"(d = {ran(data, 'data.dim')}, |μ| = {ran(data, 'data.signal')})", size=(9.4, 3.8)),
}  # fmt: skip
