"""Values of a result after the last step."""

from typing import TypeVar

import xarray as xr

Values = TypeVar("Values", xr.DataArray, xr.Dataset)


def after_last_step(values: Values) -> Values:
    """What was recorded after each run's own last step, which an axis over `steps` moves; runs with
    fewer steps than others have NaN from there on."""
    if "step" not in values.dims:
        return values
    own = [c for c in values.coords.values() if c.attrs.get("field") == "steps"]
    if own and own[0].dtype.kind in "iuf":  # not a user's labels
        return values.sel(step=own[0].reset_coords(drop=True)).drop_vars("step")
    return values.isel(step=-1, drop=True)
