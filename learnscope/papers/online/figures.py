"""The plateau with the limit, deviations over dimensions, wider students, exits over dimensions."""

import numpy as np

from learnscope.figures import COLOURS, figure, over, with_limit
from learnscope.papers.online.claims import DEVIATION, ERROR, EXAMPLES


def _scaling(*lines, ylabel):
    """Geometric means of a quantity over dimensions, and a form through the first of them."""

    def draw(axes, data):
        for i, (quantity, label, form, word) in enumerate(lines):
            found = quantity.read(data)
            middle, dims = np.exp(np.log(found).mean("seed")).values, found.dim.values.astype(float)
            axes.loglog(dims, middle, "o", color=COLOURS[i], label=label)
            line = form(dims) * middle[0] / form(dims[0])
            axes.loglog(dims, line, "--", color=COLOURS[i], linewidth=0.8, label=word)
        axes.set(xlabel="dimension d", ylabel=ylabel)

    return draw


K, FORMS = (1, 2, 3), ((lambda d: d, "d"), (lambda d: d * np.log(d), "d log d"), (np.square, "d²"))
EXITS = {w: [(EXAMPLES.of(f"{w}{k}"), f"k = {k}", *FORMS[k - 1]) for k in K] for w in ("k", "far")}
FIGURES = {
    "plateau": figure("The plateau and specialisation of a soft committee machine", "plateau",
                      [with_limit("plateau", "generalisation_error", yscale="log", ylim=(3e-7, 1),
                                  ylabel="generalisation error"),
                       with_limit("plateau", "teacher_overlap",
                                  ylabel="overlaps with the teacher")],
                      "Runs of a soft committee machine follow their limit"),
    "deviation": figure("Deviations from the limit", ("deviations", "limit"),
                        [_scaling((DEVIATION, "runs", lambda d: d**-0.5, "d^(-1/2)"),
                                  ylabel="deviation of the overlaps")], "Deviations ~ d^(-1/2)"),
    "wider": figure("Students wider than their teacher", "wider",
                    [over(ERROR, "width", "layers", label="{} trained",
                          ylabel="generalisation error", xlabel="hidden units of the student")],
                    "Wider students are worse only if the first layer is trained alone"),
    "exits": figure("Exits by information exponent", [f"{w}{k}" for w in EXITS for k in K],
                    [_scaling(*EXITS["k"], ylabel="examples until the alignment is 0.5 (runs)"),
                     _scaling(*EXITS["far"], ylabel="the same (diffusion limit)")],
                    "Exit times grow as d, d log d and d² (k = 1, 2, 3)", size=(9.4, 4.2)),
}  # fmt: skip
