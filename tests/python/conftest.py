"""Fixtures of the tests for pytest: one process, with MPI if available.

    TUTTI_BUILD_DIR=build/mpich pytest tests/python      (default: build/openmpi)

SPDX-License-Identifier: BSD-3-Clause"""
import importlib.metadata
import os
import pathlib
import sys
import time

import numpy as np
import pytest

# xarray finds the engine only in an installed package
collect_ignore = [] if any(e.name == "tutti" for e in importlib.metadata.entry_points().get("xarray.backends", ())) else [
    "test_xarray.py"]
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("TUTTI_BUILD_DIR", HERE.parent.parent / "build/openmpi")).resolve()
sys.path[:0] = [str(BUILD / "python"), str(HERE)]
os.environ.setdefault("TUTTI_LIBRARY", str(BUILD / "libtutti.so"))


@pytest.fixture(scope="session")
def comm():
    import tutti
    return tutti.mpi.world()


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "file")


@pytest.fixture
def rng():
    seed = int(os.environ.get("TUTTI_TEST_SEED") or time.time_ns() % 1000000)
    print(f"TUTTI_TEST_SEED={seed}")
    return np.random.default_rng(seed)
