"""Communicators: those of mpi4py, integers (Fortran handles), or those of this module if mpi4py is not installed.

    comm = tutti.mpi.world()        # COMM_WORLD of mpi4py if it uses the same MPI, otherwise a Comm

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import atexit
import ctypes
import importlib
import importlib.util
import sys
from typing import Any, List

from . import _c
from ._errors import refused

_lib = _c.library
THREAD_MULTIPLE = 3  # value of MPI_THREAD_MULTIPLE in both MPIs


def _world() -> Any:
    if _c.is_openmpi:
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(_lib, "ompi_mpi_comm_world")))
    return ctypes.c_int(0x44000000)


def _flag(function: str) -> bool:
    flag = ctypes.c_int()
    getattr(_lib, function)(ctypes.byref(flag))
    return bool(flag.value)


def is_active() -> bool:
    """Return whether MPI is initialized and not finalized."""
    return _flag("MPI_Initialized") and not _flag("MPI_Finalized")


def init(level: int = THREAD_MULTIPLE) -> int:
    """Initialize MPI and finalize it at exit, unless it has been initialized; return the thread level."""
    got = ctypes.c_int()
    if _flag("MPI_Initialized"):
        _lib.MPI_Query_thread(ctypes.byref(got))
        return got.value
    _lib.MPI_Init_thread(None, None, ctypes.c_int(level), ctypes.byref(got))
    atexit.register(finalize)
    return got.value


def finalize() -> None:
    """Finalize MPI, if this module initialized it."""
    if is_active():
        _lib.MPI_Finalize()


def _f2c(kind: str, handle: int) -> Any:
    """Convert a Fortran handle to C; in MPICH they are the same number."""
    handle = ctypes.c_int(handle & 0xffffffff).value
    ours = {"Comm": "tutti_comm_f2c", "Type": "tutti_datatype_f2c", "Info": "tutti_info_f2c"}[kind]
    if hasattr(_c, ours):
        return getattr(_c, ours)(handle)
    if not _c.is_openmpi:
        return handle
    function = getattr(_lib, f"MPI_{kind}_f2c")
    function.restype, function.argtypes = _c.Handle, [ctypes.c_int]
    return function(handle)


def _c2f(handle: Any) -> int:
    if not _c.is_openmpi:
        return handle.value
    _lib.MPI_Comm_c2f.argtypes = [_c.Handle]
    return _lib.MPI_Comm_c2f(handle)


class Comm:
    """A communicator given by its Fortran handle, for programs without mpi4py."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._c = _c.Handle(_f2c("Comm", handle))
        self.rank, self.size = self._ask("MPI_Comm_rank"), self._ask("MPI_Comm_size")

    def _ask(self, function: str) -> int:
        value = ctypes.c_int()
        getattr(_lib, function)(self._c, ctypes.byref(value))
        return value.value

    def py2f(self) -> int:
        """Return the Fortran handle, as in mpi4py."""
        return self.handle

    def barrier(self) -> None:
        """Wait for all ranks."""
        _lib.MPI_Barrier(self._c)

    def allgather(self, value: int) -> List[int]:
        """Gather an integer of each rank on all ranks."""
        mine, all_ = ctypes.c_int64(value), (ctypes.c_int64 * self.size)()
        byte = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(_lib, "ompi_mpi_byte"))) if _c.is_openmpi \
            else ctypes.c_int(0x4c00010d)
        _lib.MPI_Allgather(ctypes.byref(mine), ctypes.c_int(8), byte, all_, ctypes.c_int(8), byte, self._c)
        return list(all_)

    def __repr__(self) -> str:
        return f"<Comm: rank {self.rank} of {self.size}>"


def _fitting_mpi4py() -> Any:
    """Return mpi4py.MPI if it uses this MPI, which is checked before the import, since the import initializes MPI."""
    if "mpi4py.MPI" in sys.modules:
        return sys.modules["mpi4py.MPI"]
    try:
        found = importlib.util.find_spec("mpi4py.MPI")
        with open(found.origin, "rb") as f:
            linked = f.read()
    except (ImportError, AttributeError, OSError, TypeError):
        return None
    if (b"libmpich.so" in linked) == _c.is_openmpi:
        return None
    try:
        return importlib.import_module("mpi4py.MPI")
    except ImportError:
        return None


def world() -> Any:
    """Return the communicator of all ranks; initialize MPI if necessary."""
    found = _fitting_mpi4py()
    if found is not None:
        _c._same_mpi()
        return found.COMM_WORLD
    init()
    return Comm(_c2f(_world()))


def handle_of(comm: Any) -> Any:
    """Convert a communicator to C; None is that of all ranks."""
    if not is_active():
        raise refused("STATE", "MPI is not initialized (import mpi4py.MPI or call tutti.mpi.init()), or is already finalized")
    if comm is None:
        return _world()
    if isinstance(comm, Comm):
        return comm._c
    if hasattr(comm, "py2f"):
        _c._same_mpi()
        comm = comm.py2f()
    elif isinstance(comm, bool) or not isinstance(comm, int):
        raise TypeError(f"argument comm is {type(comm).__name__}: must be an mpi4py communicator or a Fortran handle")
    if not -2 ** 31 <= comm < 2 ** 32:
        raise refused("ARG", f"argument comm is {comm}: not a communicator handle")
    handle = _f2c("Comm", comm)
    null = ctypes.addressof(ctypes.c_char.in_dll(_lib, "ompi_mpi_comm_null")) if _c.is_openmpi else 0x04000000
    if handle is None or handle == null:
        raise refused("ARG", "argument comm is not a valid communicator handle")
    return _c.Handle(handle)


def size_of(comm: Any) -> int:
    """Return the number of ranks of a communicator."""
    value = ctypes.c_int()
    _lib.MPI_Comm_size(handle_of(comm), ctypes.byref(value))
    return value.value


def rank_of(comm: Any) -> int:
    """Return the rank of this process in a communicator."""
    value = ctypes.c_int()
    _lib.MPI_Comm_rank(handle_of(comm), ctypes.byref(value))
    return value.value


def info_of(info: Any) -> Any:
    """Convert an MPI_Info of mpi4py or a Fortran handle to C."""
    return _c.Handle(_f2c("Info", info.py2f() if hasattr(info, "py2f") else info))


def datatype_of(datatype: Any) -> Any:
    """Convert an MPI_Datatype of mpi4py or a Fortran handle to C."""
    return _c.Handle(_f2c("Type", datatype.py2f() if hasattr(datatype, "py2f") else datatype))


def abort_on_exception() -> None:
    """End all ranks of the program on an uncaught exception, as `python -m mpi4py` does; otherwise the other ranks would
    wait forever."""
    before = sys.excepthook

    def hook(kind, value, trace):
        before(kind, value, trace)
        if is_active() and not issubclass(kind, (KeyboardInterrupt, SystemExit)):
            sys.stderr.flush()
            _lib.MPI_Abort(_world(), ctypes.c_int(1))

    sys.excepthook = hook
