"""The paper's figures 1 to 4 in three readings, three that it does not have, and images."""

from typing import Any

import numpy as np
import xarray as xr

from learnscope.evidence import Figure, computed, every
from learnscope.figures import COLOURS, STYLES, figure, heat, ran, steps
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import theory as pegr
from learnscope.papers.pegr.claims import RULES, success
from learnscope.papers.pegr.real_figures import REAL_FIGURES, closing
from learnscope.papers.pegr.rounding import EARLY, EXACT, KINDS, LATE, UNTIL
from learnscope.papers.pegr.theorem_claims import LEMMA_5_5

FLOOR, _NOTE = 1e-6, "below 10⁻⁶ drawn there"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_READINGS = {
    "literal": f"literal reading\n1/m, λ = {ex.WEIGHT:g}",
    "no_mean": f"without 1/m\nλ = {ex.WEIGHT:g}",
    "working": "working setting\n1/m, λ = 2m/(σp² d)",
}


def _finding(variable: str, does: str, most: bool):
    """What the last step of the working setting says of a variable, and what the lines are."""

    def words(literal, no_mean, working) -> str:
        end = working[variable].isel(step=-1).sel(noise=slice(0.5, None)).median("seed")
        own, others = end.sel(rule="PEGR"), end.sel(rule=["FGR", "standard"])
        apart = own / (others.max("rule") if most else others.min("rule"))
        far = f"at least {_power(apart.min())}" if most else f"at most {_power(apart.max())}"
        hidden = any(bool((one[variable] < FLOOR).any()) for one in (literal, no_mean, working))
        return (f"Working setting, σp ≥ 0.5: PEGR {does.format(far)} as the other rules\n"
                f"(median and 10-90 % of {working.sizes['seed']} seeds; dotted: penalty switched "
                f"off{f'; {_NOTE}' * hidden})")  # fmt: skip

    return words


def _ending(variable: str, said: str):
    """Where a variable of the working setting ends: at least with PEGR, at most without it, and at
    most with any rule."""

    def words(literal, no_mean, working) -> str:
        end = working[variable].isel(step=-1).sel(noise=slice(0.5, None)).median("seed")
        own, others = end.sel(rule="PEGR"), end.sel(rule=["FGR", "standard"])
        ends = said.format(
            least=float(own.min()), others=float(others.max()), most=float(end.max())
        )
        return (f"Working setting, σp ≥ 0.5: {ends}\n(median and 10-90 % of "
                f"{working.sizes['seed']} seeds; dotted: penalty switched off)")  # fmt: skip

    return words


def _paper_figure(
    title: str, variable: str, heading: Any, scale: str = "linear", label: str = ""
) -> Figure:
    """One row per reading, one column per rule, one line per noise level."""
    rows = [
        [steps(variable, "noise", of=reading, where={"rule": rule}, label="σp = {}", yscale=scale,
               floor=FLOOR if scale == "log" else None, title=rule,
               marks=() if rule == "standard" else lambda data, of=reading: [closing(data[of])],
               ylabel=f"{words}\n{label}".rstrip() if rule == "PEGR" else "")
         for rule in RULES]
        for reading, words in _READINGS.items()
    ]  # fmt: skip
    return figure(title, tuple(_READINGS), rows, heading, (9.5, 7.8), 4, sharex="row",
                  sharey=True if scale == "linear" else "row")  # fmt: skip


_TIMES = [factor * ex.theorem_closing_time() for factor in (1, 2)]


def _theorem_panel(variable: str, label: str, scale: str = "linear"):
    floor = FLOOR if scale == "log" else None
    return steps(every(variable).of("theorem"), "rule", yscale=scale, floor=floor,
                 ylabel=label, marks=_TIMES, xlabel="step (dotted: T1 and 2 T1)")  # fmt: skip


def _hero(axes, data) -> None:
    """Signal and noise under the penalty and without, each named on its line."""
    lines = {"signal_learning": "signal", "noise_memorisation": "noise"}
    for i, (rule, who) in enumerate(((ex.UNTIL[1], "penalty"), ("standard", "no penalty"))):
        for style, (variable, what) in zip(STYLES, lines.items(), strict=False):
            values = data["theorem"][variable].sel(rule=rule).clip(min=FLOOR)
            low, middle, high = (values.quantile(q, "seed") for q in (0.1, 0.5, 0.9))
            axes.plot(values.step, middle, color=COLOURS[3 * i], linestyle=style)
            axes.fill_between(values.step, low, high, color=COLOURS[3 * i], alpha=0.18, linewidth=0)
            look = {"color": COLOURS[3 * i], "va": "top" if style == "-" else "bottom"}
            axes.annotate(f"{what}, {who}", (values.step[-1], middle[-1]), (4, 0),
                          textcoords="offset points", **look)  # fmt: skip
    axes.axvline(_TIMES[1], color="0.4", linewidth=0.8, linestyle=":")
    axes.set(yscale="log", xlabel="step (dotted: penalty switched off)",
             ylabel=f"max |⟨w, μ⟩| and max ⟨w, ξ⟩ ({_NOTE})")  # fmt: skip


def _hero_words(data: xr.Dataset) -> str:
    end = data.isel(step=-1).test_accuracy.median("seed")
    with_it, without = (float(end.sel(rule=rule)) for rule in (ex.UNTIL[1], "standard"))
    return (f"Test accuracy {with_it:.2f} with the per-example penalty, {without:.2f} without\n"
            f"(d = {ran(data, 'data.dim')}: Condition 3.1 holds; {data.sizes['seed']} seeds, "
            "10-90 %)")  # fmt: skip


_OPEN = {"until": ex.theorem_closing_time(0.5), "rule": [ex.UNTIL[1]]}
_GAMMA = every("gamma", **_OPEN).of("theorem").max("filter")
_RHO = (every("rho_bar", **_OPEN) + every("rho_underbar", **_OPEN)).of("theorem")
_LIMITS = pegr.signal_bounds(*ex.THEOREM_SIZES[1:])
_LOWEST = pegr.noise_bounds(*ex.THEOREM_SIZES, ex.THEOREM_NOISE, ex.THEOREM_SCALE).lower
_BOUNDS = [
    *(steps(ratio.max("noise") if where != "theorem's regime" else ratio, "rule", yscale="log",
            title=f"Lemma 5.5: {where}", levels={"the bound": 1.0}, ylim=(1e-15, 10),
            ylabel="‖∇L‖² / (72 σp² d L)" * (where == "literal reading"))
      for ratio, where in zip(LEMMA_5_5, ("literal reading", "working setting",
                                          "theorem's regime"), strict=True)),
    steps(_GAMMA, "rule", yscale="log", title="Proposition 5.6: largest γ", marks=_TIMES[:1],
          levels={"lower bound, at T1": _LIMITS.lower, "upper bound, up to T1": _LIMITS.upper}),
    *(steps(rho, "rule", title=f"Proposition 5.6: {word} ρ", marks=_TIMES[:1],
            xlabel="step (dotted: T1)", levels={"lower bound": _LOWEST, "upper bound": 0.0})
      for word, rho in (("largest", _RHO.max("filter", "sample")),
                        ("least", _RHO.min("filter", "sample")))),
]  # fmt: skip


def _worst(*datasets: xr.Dataset) -> str:
    names = ("literal", "working", "theorem")
    data: dict[str, xr.Dataset] = dict(zip(names, datasets, strict=True))
    most = max(float(ratio.read(data).max()) for ratio in LEMMA_5_5)
    signal = _GAMMA.read(data).sel(step=_TIMES[0], method="nearest").median()
    return (f"Lemma 5.5 bounds a ratio by 1, and the largest found is {_power(most)}\n"
            f"At T1 the signal's γ is {float(signal):.2g}; Proposition 5.6 bounds it by "
            f"{_LIMITS.lower:.2g} from below")  # fmt: skip


def _rounded(data: xr.Dataset) -> str:
    end = data.noise_memorisation.isel(seed=0, step=-1)
    late, early, single, _ = (_power(end.sel(arithmetic=kind, off=until))
                              for kind in (EXACT, KINDS[0]) for until in UNTIL)  # fmt: skip
    _, double, floor, *_ = (_power(end.sel(arithmetic=kind, off=LATE)) for kind in KINDS)
    return (f"Noise ends at {late} or, with the penalty switched off earlier, at {early}: float32 "
            f"weights show {single} both times\n(one draw, PEGR, d = {ran(data, 'data.dim')}, "
            f"n = {ran(data, 'data.train')}; float64 weights stop at {double}, "
            f"the span in float32 ends at its floor, {floor})")  # fmt: skip


def _power(value: xr.DataArray | float) -> str:
    """A number as a power of ten; as itself, if it is neither small nor large."""
    size = float(value)
    if 0.1 <= abs(size) < 1000:
        return f"{size:.{0 if abs(size) >= 10 else 1}f}"
    factor, _, power = f"{size:.0e}".partition("e")
    return f"{factor}·10{str(int(power)).translate(_RAISED)}"


def _suppressed(until: int, words: str):
    noise = every("noise_memorisation", off=float(until)).of("arithmetic")
    return steps(noise, "arithmetic", yscale="log", marks=[until], ylim=(1e-57, 1e4),
                 title=f"penalty off from step {until}: {words}",
                 ylabel="noise memorised  max ⟨w, ξ⟩",
                 xlabel="step (dotted: penalty off)")  # fmt: skip


def _noises(data) -> np.ndarray:
    noise = data["phase"].noise.values
    return np.geomspace(noise[0], noise[-1], 300)


def _dies_out(data) -> tuple[list[float], np.ndarray]:
    return [pegr.critical_weight(x, ex.DIM, ex.WIDTH, "sum") for x in _noises(data)], _noises(data)


def _overshoots(data) -> tuple[np.ndarray, np.ndarray]:
    return 2 * ex.TRAIN / (ex.RATE * (_noises(data) ** 2 * ex.DIM) ** 2), _noises(data)


FIGURES: dict[str, Figure] = {
    "figure1": _paper_figure("Training loss in three readings", "loss",
                             _ending("loss", "every rule ends with a training loss of at most "
                                     "{most:.2g} nat")),
    "figure2": _paper_figure("Signal learning in three readings", "signal_learning",
                             _finding("signal_learning", "learns {} times as much signal", True),
                             "log", "max |⟨w, μ⟩|"),
    "figure3": _paper_figure("Noise memorisation in three readings", "noise_memorisation",
                             _finding("noise_memorisation", "memorises {} times as much noise",
                                      False), "log", "max ⟨w, ξ⟩"),
    "figure4": _paper_figure("Test accuracy in three readings", "test_accuracy",
                             _ending("test_accuracy", "test accuracy is at least {least:.2f} with "
                                     "PEGR, and at most {others:.2f} without")),
    "theorem": figure(
        "Signal and noise where the theorems' condition holds", "theorem", [_hero], _hero_words,
        (7, 4.4)),
    "theorems": figure(
        "Theorems 3.2 and 3.3 where their condition holds", "theorem",
        [_theorem_panel("loss", "training loss (nat)"),
         _theorem_panel("signal_learning", "signal learning  max |⟨w, μ⟩|", "log"),
         _theorem_panel("noise_memorisation", f"noise memorisation  max ⟨w, ξ⟩\n({_NOTE})", "log"),
         _theorem_panel("test_accuracy", "test accuracy")],
        lambda data: "The penalty finds the signal where Condition 3.1 holds: Theorems 3.2 and 3.3 "
        f"at d = {ran(data, 'data.dim')}, median and 10-90 % of {data.sizes['seed']} seeds",
        (9, 6), 3, sharex=True),
    "arithmetic": figure(
        "What rounding does to suppressed noise", "arithmetic",
        [_suppressed(LATE, "stays suppressed"), _suppressed(EARLY, "grows back")],
        _rounded, (10.5, 4.2), sharey=True),
    "bounds": figure("Lemma 5.5 and Proposition 5.6", ("literal", "working", "theorem"), _BOUNDS,
                     _worst),
    "phase": figure(
        "Success over (weight, noise)", "phase",
        [heat(computed("success", success), "weight", "noise", "share of seeds that succeed",
              vmin=0, vmax=1, xlabel="penalty weight λ", ylabel="noise level σp",
              lines={"λ‖ξ‖² = 1: noise dies out": _dies_out,
                     "λη‖ξ‖⁴/n = 2: a step overshoots": _overshoots},
              levels={"below: no penalty is needed": pegr.critical_noise(1.0, ex.DIM, ex.TRAIN)})],
        lambda data: "PEGR without 1/m: accuracy > 0.99 and loss < 0.05 after "
        f"{ran(data, 'steps')} steps, {data.sizes['seed']} seeds", (7, 5), 2),
    **REAL_FIGURES,
}  # fmt: skip
