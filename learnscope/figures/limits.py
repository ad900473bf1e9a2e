"""Runs beside the deterministic limit that they follow."""

from matplotlib.axes import Axes

from learnscope.evidence import experiment_of
from learnscope.figures.panels import Data, Panel, panel
from learnscope.figures.style import COLOURS
from learnscope.theory import limit


@panel
def with_limit(of: str, variable: str, arm: str = "") -> Panel:
    """Every run of a sweep's arm, and the limit from its start (`learnscope.theory.limit`), over
    the time $\\alpha$ = examples / d; on an axis of dimensions or batches, over steps."""

    def draw(axes: Axes, data: Data) -> None:
        runs = data[of]
        experiment = experiment_of(runs, arm)
        path = limit(experiment, runs)
        moved = {coord.attrs.get("field") for coord in runs.coords.values()}
        timed = not moved & {"data.dim", "data.batch"}
        per = experiment.data.space.fresh / float(experiment.data.dim) if timed else 1.0
        for i, (found, label) in enumerate(((runs, "runs"), (path, "limit"))):
            rows = found[variable].transpose("step", ...).values.reshape(found.sizes["step"], -1)
            style = {"color": COLOURS[i], "linewidth": 0.8, "alpha": 0.7, "linestyle": "-:"[i]}
            lines = axes.plot(runs.step * per, rows, **style)
            lines[0].set_label(label)
        axes.set(xlabel="α = examples / d" if timed else "step")

    return draw
