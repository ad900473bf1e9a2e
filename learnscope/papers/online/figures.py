"""The plateau with the limit, deviations over dimensions, wider students, exits over dimensions."""

import numpy as np

from learnscope.evidence import experiment_of
from learnscope.figures import COLOURS, figure, over
from learnscope.papers.online.claims import DEVIATION, ERROR, EXAMPLES
from learnscope.theory import limit


def _plateau(variable: str, **settings):
    """Runs, and the limit from the start of each, against alpha."""

    def draw(axes, data):
        runs = data["plateau"]
        experiment = experiment_of(runs, "")
        time = experiment.data.batch / float(experiment.data.dim)
        for i, (label, values) in enumerate((("runs", runs), ("limit", limit(experiment, runs)))):
            rows = values[variable].transpose("step", "seed", ...).values
            lines = axes.plot(time * runs.step, rows.reshape(len(rows), -1), color=COLOURS[i],
                              linestyle=("-", "--")[i], linewidth=0.8, alpha=0.7)  # fmt: skip
            lines[0].set_label(label)
        axes.set(xlabel="α = examples / d", **settings)

    return draw


def _deviations(axes, data):
    over(DEVIATION, "dim", xscale="log", yscale="log", ylabel="deviation of the overlaps",
         xlabel="dimension d")(axes, data)  # fmt: skip
    dims = data["deviations"].dim.values.astype(float)
    first = float(DEVIATION.read(data).isel(dim=0).mean())
    axes.plot(dims, first * (dims / dims[0]) ** -0.5, "k:", label="d^(-1/2)")


def _exits(axes, data):
    forms = {"k1": (lambda d: d, "d"), "k2": (lambda d: d * np.log(d), "d log d"),
             "k3": (lambda d: d**2, "d²")}  # fmt: skip
    for i, (name, (form, word)) in enumerate(forms.items()):
        found = EXAMPLES.read({name: data[name]})
        middle, dims = np.exp(np.log(found).mean("seed")), found.dim.values.astype(float)
        axes.loglog(dims, middle, "o", color=COLOURS[i], label=f"information exponent {i + 1}")
        line = form(dims) * float(middle[0]) / form(dims[0])
        axes.loglog(dims, line, "--", color=COLOURS[i], linewidth=0.8, label=word)
    axes.set(xlabel="dimension d", ylabel="examples until alignment 0.5")


FIGURES = {
    "plateau": figure(
        "The plateau and specialisation of a soft committee machine", "plateau",
        [_plateau("generalisation_error", yscale="log", ylabel="generalisation error"),
         _plateau("teacher_overlap", ylabel="overlaps with the teacher")],
        "A soft committee machine, and its limit from the same start"),
    "deviation": figure(
        "Deviations from the limit", ("deviations", "limit"), [_deviations],
        "Online learning follows differential equations"),
    "wider": figure(
        "Students wider than their teacher", "wider",
        [over(ERROR, "width", "layers", label="{} trained", yscale="log",
              xlabel="hidden units of the student", ylabel="generalisation error at the end")],
        "Label noise: wider students, one or both layers trained"),
    "exits": figure(
        "Exit times by information exponent", ("k1", "k2", "k3"), [_exits],
        "Examples until the teacher is found"),
}  # fmt: skip
