"""Python binding of Tutti: read files of Tutti without MPI, or write and read them with all ranks of an MPI program.

Reading without MPI needs only NumPy:

    run = tutti.open("run.tutti")               # a dataset
    a = tutti.open_array("a.tta")               # an array

All other classes need the library (libtutti) and MPI, and are loaded on first use:

    File, Access, Plan, Request                 files, and accesses to their bytes
    Array, Distribution, tiles                  arrays larger than memory
    Replicas, Mesh                              items that several ranks hold, unstructured meshes
    Dataset, Decomposition                      results and checkpoints with metadata
    Exodus, ExodusMesh                          finite-element meshes and results that ParaView reads
    Options, Profile, mpi                       options, machine profiles, MPI without mpi4py

docs/reference/python.md is the reference.
SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._api import VERSION as __version__
from ._api import NUMBERS as _numbers
from ._array_file import open_array
from ._dataset_reader import Run, Segment, Variable, open  # pylint: disable=redefined-builtin
from ._errors import Error
from ._lazy import LazyArray

# constants as in C, without the prefix: tutti.READ, tutti.ERR_FORMAT
globals().update({name[len("TUTTI_"):]: value for name, value in _numbers.items()
                  if not name.startswith(("TUTTI_VERSION", "TUTTI_STORE_"))})

_LATER = {
    "Access": "access", "View": "access", "section": "access",
    "File": "file", "Plan": "file", "Request": "file", "Part": "file", "Stats": "file",
    "Array": "array", "Distribution": "array", "Tile": "array", "Tiles": "array",
    "Replicas": "replicas",
    "Mesh": "mesh", "MeshPart": "mesh",
    "Dataset": "dataset", "Decomposition": "dataset",
    "Exodus": "exodus", "ExodusMesh": "exodus",
    "Options": "options", "Profile": "options",
    "library_version": "_c",
}
_MODULES = ("mpi", "lib", "netcdf", "exodus")

__all__ = ["Error", "LazyArray", "Run", "Segment", "Variable", "open", "open_array", *sorted(_LATER), *_MODULES]

if TYPE_CHECKING:
    from .access import Access, View
    from .array import Array, Distribution, Tile, Tiles
    from .dataset import Dataset, Decomposition
    from .exodus import Exodus, ExodusMesh
    from .file import File, Part, Plan, Request, Stats
    from .mesh import Mesh, MeshPart
    from .options import Options, Profile
    from .replicas import Replicas


def __getattr__(name: str):
    if name in _LATER:
        value = getattr(importlib.import_module("." + _LATER[name], __name__), name)
    elif name in _MODULES:
        value = importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module 'tutti' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_LATER, *_MODULES})
