"""The engine "tutti" of xarray, compared with the readers and NumPy; with dask if it is installed.

SPDX-License-Identifier: BSD-3-Clause"""
import os
import unittest
import warnings

import numpy as np
import xarray as xr

import tutti
from test_reading import DATASETS, golden
from tutti.xarray_backend import TuttiBackend
from writers import NetCDF


def test_golden(path):
    with xr.open_dataset(golden(path), engine="tutti") as d:
        assert d.attrs["title"] == "a tiny dataset" and d.heat.attrs["units"] == "K" and d.heat.attrs["seven"] == 7
        assert d.heat.dims == ("time", "grid_0", "grid_1") and d.flow.dims[-1] == "component_2"
        assert d.time.values.tolist() == [0, 0.5] and d["index"].values.tolist() == [0, 1]
        assert d["count"].dims == ("time_1", "nodes")
        assert d.heat.sel(time=0.5).values[0].tolist() == [1, 1.25, 1.5]
        assert float(d.heat.mean()) == tutti.open(path)["heat"][...].mean()
    with xr.open_dataset(path, drop_variables="heat") as d:  # xarray chooses the engine without the argument `engine`
        assert "heat" not in d and "flow" in d


def test_indexing(rng, path):
    """Test outer and pointwise indices of xarray."""
    d = xr.open_dataset(golden(path), engine="tutti")
    whole = xr.DataArray(tutti.open(path)["flow"][...], dims=d.flow.dims)
    lazy = d.flow.drop_vars(["time", "index"])
    for _ in range(60):
        key = {}
        for dim, n in zip(whole.dims, whole.shape):
            kind = rng.integers(5)
            if kind == 0:
                key[dim] = int(rng.integers(-n, n))
            elif kind == 1:
                key[dim] = rng.integers(-n, n, rng.integers(1, 4))
            elif kind == 2:
                lo, hi = np.sort(rng.integers(0, n + 1, 2))
                key[dim] = slice(int(lo), int(hi), int(rng.integers(1, 3)))
            elif kind == 3:
                key[dim] = xr.DataArray(rng.integers(0, n, 3), dims="points")
        xr.testing.assert_equal(lazy.isel(key).load(), whole.isel(key))


def test_datasets():
    """Compressed and ranked variables of all types equal those of tutti.open; chunk sizes for dask are set."""
    for name in DATASETS:
        run = tutti.open(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d = xr.open_dataset(name, engine="tutti")
            first = xr.open_dataset(name, engine="tutti", topology=run.segments[0].topology)
        assert len(d.data_vars) and len(first.dims)
        for variable, array in d.data_vars.items():
            axis = array.dims[0] if array.dims[0].startswith("time") else None
            last = run[variable].segments[-1] if axis is None else [
                s for s in run[variable].segments if s.index == d["index" + axis[4:]].values[-1]][-1]
            got = array.values if axis is None else array.values[-1]
            np.testing.assert_array_equal(got, last[variable][...])
            assert dict(zip(array.dims, array.shape)).keys() == array.encoding["preferred_chunks"].keys()


def test_dask():
    try:
        import dask  # noqa: F401
    except ImportError:
        raise unittest.SkipTest("python3-dask is not installed") from None
    for name in [n for n in DATASETS if n.endswith("types.tutti")]:
        d = xr.open_dataset(name, engine="tutti", chunks={})
        assert d.smooth.chunks[0] == (1,) * d.sizes[d.smooth.dims[0]] and len(d.smooth.chunks[1]) > 1
        np.testing.assert_allclose(float(d.smooth.sum().compute()), tutti.open(name)["smooth"][...].sum())


def test_array_and_netcdf(path):
    os.makedirs(path)
    names = np.zeros((2, 8), "S1")
    names[0, :4], names[1, :4] = list("heat"), list("flow")
    values = np.arange(12.).reshape(2, 6)
    f = NetCDF(5, {"time_step": 0, "num_nodes": 6, "num_nod_var": 2, "len_name": 8}, {"title": "Exodus"},
               [("time_whole", ["time_step"], {}, np.array([0.5, 1.5])),
                ("name_nod_var", ["num_nod_var", "len_name"], {}, names),
                ("vals_nod_var1", ["time_step", "num_nodes"], {}, values),
                ("vals_nod_var2", ["time_step", "num_nodes"], {}, values * 2)], 2)
    with open(f"{path}/out.e", "wb") as out:
        out.write(f.bytes())
    d = xr.open_dataset(f"{path}/out.e", engine="tutti")
    assert d.vals_nod_var2.attrs["long_name"] == "flow" and d.attrs["title"] == "Exodus"
    np.testing.assert_array_equal(d.vals_nod_var1[1, ::2], values[1, ::2])
    for name in [n for n in os.environ.get("TUTTI_TEST_ARRAYS", "").split(":") if n]:
        np.testing.assert_array_equal(xr.open_dataset(name, engine="tutti").array, np.load(name + ".npy"))
    for wrong in (f"{path}/none", path, __file__):
        assert not TuttiBackend().guess_can_open(wrong)
        try:
            xr.open_dataset(wrong, engine="tutti")
        except tutti.Error:
            continue
        raise AssertionError(f"{wrong} was opened")
