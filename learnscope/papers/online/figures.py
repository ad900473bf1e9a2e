"""The plateau with the limit, deviations over dimensions, wider students, exits over dimensions."""

import numpy as np

from learnscope.evidence import experiment_of
from learnscope.figures import COLOURS, figure, over
from learnscope.papers.online.claims import DEVIATION, ERROR, EXAMPLES
from learnscope.theory import limit


def _plateau(variable, **settings):
    """Runs, and the limit from the start of each, against alpha."""

    def draw(axes, data):
        runs = data["plateau"]
        time = 0.01 * runs.step  # of the experiment
        for i, path in enumerate((runs, limit(experiment_of(runs, ""), runs))):
            rows = path[variable].transpose("step", "seed", ...).values
            lines = axes.plot(time, rows.reshape(len(rows), -1), ("-", "--")[i], color=COLOURS[i],
                              linewidth=0.8, alpha=0.7)  # fmt: skip
            lines[0].set_label(("runs", "limit")[i])
        axes.set(xlabel="α = examples / d", **settings)

    return draw


def _power(axes, dims, middle, form, word, colour):
    """A dashed line of a form through the first point."""
    line = form(dims) * float(middle[0]) / form(dims[0])
    axes.loglog(dims, line, "--", color=colour, linewidth=0.8, label=word)


def _deviations(axes, data):
    over(DEVIATION, "dim", ylabel="deviation of the overlaps", xlabel="dimension d")(axes, data)
    dims = data["deviations"].dim.values.astype(float)
    _power(axes, dims, DEVIATION.read(data).mean("seed"), lambda d: d**-0.5, "d^(-1/2)", "k")


def _exits(axes, data):
    forms = (lambda d: d, "d"), (lambda d: d * np.log(d), "d log d"), (lambda d: d**2, "d²")
    for i, (form, word) in enumerate(forms):
        found = EXAMPLES.read({"": data[f"k{i + 1}"]})
        middle, dims = np.exp(np.log(found).mean("seed")), found.dim.values.astype(float)
        axes.loglog(dims, middle, "o", color=COLOURS[i], label=f"information exponent {i + 1}")
        _power(axes, dims, middle, form, word, COLOURS[i])
    axes.set(xlabel="dimension d", ylabel="examples until the alignment is 0.5")


FIGURES = {
    "plateau": figure("The plateau and specialisation of a soft committee machine", "plateau",
                      [_plateau("generalisation_error", yscale="log", ylabel="error"),
                       _plateau("teacher_overlap", ylabel="overlaps with the teacher")],
                      "A soft committee machine, and its limit from the same start"),
    "deviation": figure("Deviations from the limit", ("deviations", "limit"), [_deviations],
                        "Online learning follows differential equations"),
    "wider": figure("Students wider than their teacher", "wider",
                    [over(ERROR, "width", "layers", label="{} trained", xlabel="hidden units",
                          ylabel="generalisation error at the end")],
                    "Label noise: wider students, one or both layers trained"),
    "exits": figure("Exit times by information exponent", ("k1", "k2", "k3"), [_exits],
                    "Examples until the teacher is found"),
}  # fmt: skip
