"""Methods of a result: `result.learnscope.curves()` and the like."""

from typing import TYPE_CHECKING, Any

import xarray as xr

from learnscope.lab import Experiment
from learnscope.lab.last import after_last_step
from learnscope.lab.origin import origin

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@xr.register_dataset_accessor("learnscope")
class Scope:
    """The usual views of a result of `learnscope.run`, and where it came from.

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.SignalNoise(dim=30, train=4, test=5, signal=1.0, noise=0.5),
    ...     net=ls.nets.PatchCNN(width=2), rule=ls.rules.GradientDescent(rate=0.1), steps=2)
    >>> result = ls.run(experiment, seeds=2, progress=False)
    >>> result.learnscope.experiment == experiment, "step" in result.learnscope.final.dims
    (True, False)
    """

    def __init__(self, data: xr.Dataset):
        self._data = data

    @property
    def experiment(self) -> Experiment:
        """The experiment that was run, with its own values of swept fields."""
        return origin(self._data.attrs).experiment

    @property
    def final(self) -> xr.Dataset:
        """Everything after the last step."""
        return after_last_step(self._data)

    def curves(self, hue: str | None = None) -> "Figure":
        """Every probe against the step: a line per setting, its median and its band over seeds.

        With `hue`, the lines are the values of that axis, and the heading says where they end.
        """
        from learnscope.figures import probe_curves

        return probe_curves(self._data, hue)

    def heat_map(self, of: str | None = None, **axes: Any) -> "Figure":
        """A probe after the last step over two axes, a panel for each value of further categories,
        with the boundary that theory gives for that panel. `axes` are x, y and a measured
        `boundary`."""
        from learnscope.figures import heat_map

        return heat_map(self._data, of, **axes)
