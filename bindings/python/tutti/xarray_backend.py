"""xarray engine for files of Tutti: xr.open_dataset(path, engine="tutti").

    run.tutti        a dataset: variables with time as their first dimension, as `tutti export --zarr` shows them
    a.tta            an array: the variable "array"
    out.e            a netCDF file in a classic format, as Exodus files are

Values are read when they are used.  With chunks={} (and dask) a chunk is a step of a variable, or a chunk of a
compressed variable.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import os
import re
import warnings
from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from . import netcdf
from ._array_file import MAGIC, open_array
from ._dataset_reader import Run, Segment, Variable
from ._errors import Error, refused
from ._lazy import LazyArray, Ranges, file_status


class LazyBackendArray(BackendArray):
    """Adapter of a LazyArray to xarray."""

    def __init__(self, array: LazyArray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.ndarray:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._outer)

    def _outer(self, key: Tuple[Any, ...]) -> np.ndarray:
        """Apply outer indexing: each list selects along its own dimension."""
        lists = [d for d, k in enumerate(key) if isinstance(k, np.ndarray)]
        if not lists:
            return self.array[key]
        box, rest = [], []
        for d, k in enumerate(key):
            if not isinstance(k, np.ndarray):
                box.append(k)
                continue
            k = np.where(k < 0, k + self.shape[d], k)
            low = int(k.min()) if k.size else 0
            box.append(slice(low, int(k.max()) + 1 if k.size else 0))
            rest.append(k - low)
        values = self.array[tuple(box)]
        axes = [d for d, k in enumerate(key) if not isinstance(k, (int, np.integer))]
        for axis, d in enumerate(axes):
            if d in lists:
                values = np.take(values, rest[lists.index(d)], axis)
        return values


class Steps(LazyArray):
    """A variable in some of its segments, all of one shape."""

    def __init__(self, variable: Variable, segments: List[Segment], with_time: bool) -> None:
        first = variable.at(segments[0])
        self._variable, self._segments, self._with_time = variable, segments, with_time
        self.shape = ((len(segments),) if with_time else ()) + first.shape
        self.dtype = variable.dtype
        inner = first.chunks or first.shape
        self.chunks = ((1,) if with_time else ()) + inner

    def _read(self, ranges: Ranges) -> np.ndarray:
        if not self._with_time:
            return self._variable.at(self._segments[0])._read(ranges)
        out = np.empty([len(r) for r in ranges], self.dtype)
        for i, at in enumerate(ranges[0]):
            out[i] = self._variable.at(self._segments[at])._read(ranges[1:])
        return out


def _variable_of(dims: Iterable[str], array: LazyArray, attributes: Dict[str, Any]) -> xr.Variable:
    encoding = {}
    dims = tuple(dims)
    if array.chunks and all(array.shape):
        encoding["preferred_chunks"] = dict(zip(dims, array.chunks))
    return xr.Variable(dims, indexing.LazilyIndexedArray(LazyBackendArray(array)), attributes, encoding)


def _attribute(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _steps(run: Run, names: Iterable[str], topology: Optional[int]) -> Dict[str, List[Segment]]:
    """Select the segments of each variable.

    Archived segments are skipped.  If the size of a space changes, the segments of one topology are selected.
    """
    here: Dict[str, List[Tuple[Segment, Tuple[int, ...]]]] = {}
    for name in names:
        variable = run[name]
        here[name] = [(s, shape) for s, shape in zip(variable.segments, variable.shapes())
                      if s.archived is None and topology in (None, s.topology)]
        archived = sum(s.archived is not None for s in variable.segments)
        if archived:
            warnings.warn(f"'{name}': {archived} segments are archived, and left out")
    for space in run.spaces:
        on = [n for n in here if run[n].space == space]
        sizes = {s.shape(space) for n in on for s, _ in here[n]}
        if len(sizes) > 1:
            last = max((s for n in on for s, _ in here[n]), key=lambda s: s.number).topology
            warnings.warn(f"the space '{space}' changes its size: only topology {last} is shown; open with topology=...")
            for n in on:
                here[n] = [(s, shape) for s, shape in here[n] if s.topology == last]
    return {n: [s for s, _ in steps] for n, steps in here.items() if steps}


def open_run(path: str, topology: Optional[int] = None, drop: Iterable[str] = ()) -> xr.Dataset:
    """Convert a dataset to an xarray dataset."""
    run = Run(path)
    names = []
    for name in run:
        if re.fullmatch(r"(time|index)(_\d+)?", name):
            warnings.warn(f"'{name}' is left out: an axis is called so")
        elif name not in drop:
            names.append(name)
    shown = _steps(run, names, topology)
    axes: List[List[Segment]] = []
    fixed = {name for name, steps in shown.items() if len(steps) == 1 and steps[0].kind == "topology"}
    for steps in sorted((s for n, s in shown.items() if n not in fixed), key=len, reverse=True):
        if steps not in axes:
            axes.append(steps)
    variables: Dict[str, xr.Variable] = {}
    coordinates: Dict[str, xr.Variable] = {}
    for n, steps in enumerate(axes):
        tail = f"_{n}" if n else ""
        coordinates["time" + tail] = xr.Variable("time" + tail, [s.time for s in steps])
        coordinates["index" + tail] = xr.Variable("time" + tail, np.array([s.index for s in steps], np.int64))
    for name, steps in shown.items():
        variable = run[name]
        array = Steps(variable, steps, name not in fixed)
        inner = variable.at(steps[0]).dims
        axis = () if name in fixed else ("time" + (f"_{axes.index(steps)}" if axes.index(steps) else ""),)
        attributes = {k: _attribute(v) for k, v in variable.infos.items()}
        attributes.update({k: v for k, v in (("units", variable.units), ("long_name", variable.long_name)) if v})
        variables[name] = _variable_of((*axis, *inner), array, attributes)
    data = xr.Dataset(variables, coordinates, {k: _attribute(v) for k, v in run.infos.items()})
    data.set_close(run.close)
    return data


def open_netcdf(path: str, drop: Iterable[str] = ()) -> xr.Dataset:
    """Convert a netCDF file; variables of Exodus files get their names as `long_name`."""
    f = netcdf.open(path)
    names = _exodus_names(f)
    variables = {}
    for name, variable in f.items():
        if name in drop:
            continue
        attributes = dict(variable.attributes)
        if name in names:
            attributes.setdefault("long_name", names[name])
        if variable.ndim and variable.shape and len(variable.dims) != len(set(variable.dims)):
            warnings.warn(f"'{name}' is left out: it has a dimension twice")
            continue
        variables[name] = _variable_of(variable.dims, variable, attributes)
    return xr.Dataset(variables, attrs=f.attributes)


def _exodus_names(f: netcdf.File) -> Dict[str, str]:
    """Map vals_nod_var1 to its name in name_nod_var, and likewise for elements and sets."""
    out = {}
    for kind in ("nod", "elem", "glo", "edge", "face", "nset", "sset", "elset"):
        key = f"name_{kind}_var"
        if key not in f or f[key].dtype.kind != "S" or f[key].ndim != 2:
            continue
        for n, text in enumerate(netcdf.text(f[key])):
            for name in f:
                if re.fullmatch(rf"vals_{kind}_var{n + 1}(eb\d+|es\d+|ns\d+|ss\d+|ed\d+|fa\d+)?", name):
                    out[name] = text
    return out


def kind_of(path: Any) -> Optional[str]:
    """Return the kind of a path: dataset, array or netcdf."""
    if not isinstance(path, (str, os.PathLike)):
        return None
    if os.path.isdir(path):
        return "dataset" if os.path.exists(os.path.join(path, "metadata.sqlite")) else None
    try:
        file_status(path)
        with open(path, "rb") as f:
            start = f.read(8)
    except (OSError, Error):
        return None
    if start == MAGIC:
        return "array"
    return "netcdf" if start[:3] == b"CDF" and start[3:4] in (b"\1", b"\2", b"\5") else None


class TuttiBackend(BackendEntrypoint):
    """The engine "tutti"."""

    description = "Datasets and arrays of Tutti, and netCDF files in the classic formats (Exodus)"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "topology")

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None,
                     topology: Optional[int] = None) -> xr.Dataset:
        """Open a dataset; see the module."""
        drop = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        kind = kind_of(filename_or_obj)
        path = os.fspath(filename_or_obj) if isinstance(filename_or_obj, (str, os.PathLike)) else ""
        if kind == "dataset":
            return open_run(path, topology, drop)
        if kind == "array":
            array = open_array(path)
            return xr.Dataset({} if "array" in drop else {"array": _variable_of(array.dims, array, {})})
        if kind == "netcdf":
            return open_netcdf(path, drop)
        if path and not os.path.exists(path):
            raise refused("NOT_FOUND", "the file or directory does not exist", file=path)
        raise refused("FORMAT", "the file is not a dataset, an array file or a classic netCDF file", file=path or None)

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether the path looks like a dataset, an array file or a netCDF classic file."""
        kind = kind_of(filename_or_obj)
        return kind in ("dataset", "array") or (
            kind == "netcdf" and os.fspath(filename_or_obj).endswith((".e", ".exo", ".ex2")))
