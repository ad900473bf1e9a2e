"""Seals of NetCDF files: a digest of all that a dataset holds, as one of its attributes."""

import hashlib
import os
import traceback

import numpy as np
import xarray as xr

from learnscope.errors import BadInput

_NAME = "seal"


def sealed(data: xr.Dataset) -> xr.Dataset:
    """A dataset with its seal."""
    return data.assign_attrs({_NAME: _digest(data)})


def read_netcdf(path: str | os.PathLike[str]) -> xr.Dataset:
    """The dataset of a file. One that learnscope wrote must be as it was written."""
    changed = BadInput(
        f"{path} is not what was written: it is damaged, or another program has changed it "
        "(xarray.open_dataset reads it as it is)."
    )
    try:
        data = xr.open_dataset(path, engine="h5netcdf")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None
    except Exception as error:  # whatever a damaged file makes HDF5 or xarray raise
        _leave(error)
        raise changed from None
    seal = data.attrs.pop(_NAME, None)
    try:
        whole = seal is None or _digest(data) == seal
    except Exception:
        whole = False
    if not whole:
        data.close()
        raise changed
    return data


def _leave(error: Exception) -> None:
    """Mark the file that h5netcdf could not open as closed. Its finaliser would try to flush it,
    fail, and print a traceback."""
    import h5netcdf  # slow

    for frame, _ in traceback.walk_tb(error.__traceback__):
        if isinstance(file := frame.f_locals.get("self"), h5netcdf.File):
            file._closed = True


def _digest(data: xr.Dataset) -> str:
    """Of names, dims, types, values and attributes but the seal."""
    found = hashlib.sha256()

    def add(*words: object) -> None:
        found.update(repr(tuple(map(str, words))).encode("utf-8", "surrogateescape"))

    for name in sorted(map(str, data.variables)):
        variable = data.variables[name]
        values = np.asarray(variable.values)
        text = values.dtype.kind in "OUS"
        add(name, *variable.dims, values.shape, "text" if text else values.dtype.str)
        add(*values.ravel()) if text else found.update(np.ascontiguousarray(values).tobytes())
        add(*(word for item in sorted(variable.attrs.items()) for word in item))
    attributes = {name: value for name, value in data.attrs.items() if name != _NAME}
    add(*(word for item in sorted(attributes.items()) for word in item))
    return found.hexdigest()
