"""ctypes declarations of the library: every function, struct and callback in the table _api.py, which is generated from the headers.

Functions and structs are attributes of this module under their C names.  A call that returns a tutti_err raises Error.
Pointers to values are addresses, handles are c_void_p; the modules above interpret them.

The library is the file that TUTTI_LIBRARY names, or is found in the search path of the loader or beside this package.  It is built for
one MPI, which must be that of mpi4py if mpi4py is used.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
import functools
import operator
import os
import pathlib
import re
import sys
from typing import Any, Dict, Optional

from . import _api
from ._errors import CODES, Error

_SCALARS: Dict[str, Any] = {
    "void": None, "char": ctypes.c_char, "int": ctypes.c_int, "unsigned int": ctypes.c_uint, "size_t": ctypes.c_size_t,
    "double": ctypes.c_double, "float": ctypes.c_float, "unsigned char": ctypes.c_ubyte, "int8_t": ctypes.c_int8,
    "uint8_t": ctypes.c_uint8, "int16_t": ctypes.c_int16, "uint16_t": ctypes.c_uint16, "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
}


def _candidates():
    if os.environ.get("TUTTI_LIBRARY"):
        return [os.environ["TUTTI_LIBRARY"]]
    names = ["libtutti.so.1", "libtutti_openmpi.so.1", "libtutti_mpich.so.1"]
    if "mpi4py.MPI" in sys.modules and "MPICH" in sys.modules["mpi4py.MPI"].Get_library_version():
        names[1:] = names[:0:-1]
    here = pathlib.Path(__file__).resolve()
    folders = [p / "lib" for p in here.parents if (p / "lib").is_dir()]
    return names + [str(f / n) for f in folders for n in names if (f / n).exists()]


def _load() -> ctypes.CDLL:
    tried = []
    for name in _candidates():
        try:
            # RTLD_GLOBAL is necessary because MPI libraries load plugins that use their symbols.
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("cannot load libtutti.so (install it, or set TUTTI_LIBRARY to its path): "
                      + "; ".join(tried))


library = _load()
is_openmpi = hasattr(library, "ompi_mpi_comm_world")
Handle = ctypes.c_void_p if is_openmpi else ctypes.c_int  # the C type of MPI_Comm
for _name in ("MPI_Comm", "MPI_Datatype", "MPI_Info"):
    _SCALARS[_name] = Handle


def mpi_version() -> str:
    """Return the version text of the MPI that the library was built for."""
    text, length = ctypes.create_string_buffer(16384), ctypes.c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    return text.value.decode("utf-8", "replace")


def _same_mpi() -> None:
    """Raise unless mpi4py and the library use the same MPI: two MPI libraries in one process corrupt each other's data."""
    if "mpi4py.MPI" in sys.modules:
        theirs, ours = sys.modules["mpi4py.MPI"].Get_library_version(), mpi_version()
        if theirs.rstrip("\0") != ours:
            def short(text):
                return " ".join(text.split(",")[0].split()[:3])
            raise ImportError(f"mpi4py is built for {short(theirs)}, and this Tutti ({library._name}) for {short(ours)}: "
                              f"set TUTTI_LIBRARY to a library for the same MPI")


_same_mpi()

# ---- types


def _callback(result: str, parameters) -> Any:
    return ctypes.CFUNCTYPE(_type(result), *(_type(p) for p in parameters))


@functools.lru_cache(maxsize=None)
def _type(text: str) -> Any:
    """Return the ctypes type of a C type."""
    if "(*)" in text:
        result, inner = re.fullmatch(r"(.*?)\(\*\)\((.*)\)", text).groups()
        return _callback(result, [p.strip() for p in inner.split(",")])
    text = re.sub(r"\bconst\b\s*", "", text).strip()
    if text in ("char*",):
        return ctypes.c_char_p
    stars = len(text) - len(text.rstrip("*"))
    base = text.rstrip("*")
    if stars == 0:
        if base in _structs:
            return _structs[base]
        if base in _api.ENUMS:
            return ctypes.c_int
        return _SCALARS[_api.ALIASES.get(base, base)]
    if base in _api.CALLBACKS:
        result, parameters = _api.CALLBACKS[base]
        return _callback(result, [p for p, _ in parameters])
    if base in _structs:
        kind = _structs[base]
        for _ in range(stars):
            kind = ctypes.POINTER(kind)
        return kind
    return ctypes.c_void_p


_structs: Dict[str, Any] = {name: type(name, (ctypes.Structure,), {"__doc__": f"The struct {name} of C."})
                            for name in _api.STRUCTS}
for _name, _struct in _structs.items():
    _fields = []
    for _field, _kind, _extents in _api.STRUCTS[_name]:
        _made = _type(_kind)
        for _n in reversed(_extents):
            _made = _made * _n
        _fields.append((_field, _made))
    _struct._fields_ = _fields
globals().update(_structs)

# ---- functions


def last_error(code: int) -> Error:
    """Return the error of the last call of this thread."""
    info = library.tutti_last_error().contents

    def text(raw: bytes) -> str:
        return raw.decode("utf-8", "replace")

    return Error(code, text(info.text), rank=info.rank if info.rank >= 0 else None, file=text(info.path) or None,
                 offset=info.offset if info.offset >= 0 else None, operation=text(info.operation), errno=info.sys_errno,
                 detail=info.detail, message=text(library.tutti_last_message()))


def _check(code, _function, _arguments):
    if code:
        raise last_error(code)
    return code


def _whole(ctype: Any) -> Any:
    """Return a type of arguments that refuses integers out of range, which ctypes would truncate."""
    bits = 8 * ctypes.sizeof(ctype)
    low, high = (0, 1 << bits) if ctype(-1).value > 0 else (-(1 << bits - 1), 1 << bits - 1)

    class Whole:  # pylint: disable=too-few-public-methods
        @staticmethod
        def from_param(value):
            if type(value) is not int:  # pylint: disable=unidiomatic-typecheck
                value = operator.index(value)
            if not low <= value < high:
                raise OverflowError(f"number {value} does not fit in {bits} bits")
            return ctype(value)

    return Whole


_wholes = {t: _whole(t) for t in (ctypes.c_int, ctypes.c_uint, ctypes.c_int64, ctypes.c_uint64, ctypes.c_size_t)}
for _name, (_header, _result, _parameters) in _api.FUNCTIONS.items():
    try:
        _function = getattr(library, _name)
    except AttributeError:  # an older library: functions that need it raise
        continue
    _function.argtypes = [_type(_kind) if _kind in ("MPI_Comm", "MPI_Datatype", "MPI_Info") else
                          _wholes.get(_type(_kind), _type(_kind)) for _kind, _ in _parameters]
    _function.restype = _type(_result)
    if _result == "tutti_err":
        _function.errcheck = _check
    globals()[_name] = _function

if library.tutti_version() // 100 != sum(int(_n) * _f for _n, _f in zip(_api.VERSION.split("."), (100, 1))):
    raise ImportError(f"this package is version {_api.VERSION}, but the library ({library._name}) is version "
                      f"{library.tutti_version_string().decode()}")


def library_version() -> str:
    """Return the version of the library, for example "0.1.0"."""
    return library.tutti_version_string().decode()


def __getattr__(name: str):
    if name in _api.FUNCTIONS:
        raise AttributeError(f"the library ({library._name}) is too old: function {name} does not exist")
    raise AttributeError(name)


# ---- arguments


def refuse(error: BaseException) -> None:
    """Set the error of this rank for the next collective call, which is made with NULL and reports the error on all ranks."""
    code = error.code if isinstance(error, Error) else CODES["TUTTI_ERR_ARG"]
    library.tutti_set_local_error(code, 0, f"{type(error).__name__}: {error}"[:500].encode("utf-8", "replace")
                         if not isinstance(error, Error) else error.text.encode("utf-8", "replace"))


def _sound(value: Any) -> Any:
    """Return an argument that ctypes accepts: a number out of range, a text or a list becomes 0."""
    if isinstance(value, (int, float)) and not -(1 << 31) <= value < 1 << 31 or isinstance(value, (str, list, tuple)):
        return 0
    return value


def together(function: Any, prepare: Any, null: tuple) -> Any:
    """Make a collective call with the arguments that `prepare` returns.

    If `prepare` raises, or an argument has a wrong type, possibly on this rank only, the call is made with the arguments `null`.  It then
    fails on all ranks, so that no rank waits for one that has raised.
    """
    try:
        arguments = prepare()
    except Exception as error:  # pylint: disable=broad-except
        local_error = error
    else:
        try:
            return function(*arguments)
        except ctypes.ArgumentError as error:
            local_error = TypeError(str(error))
    return decline(function, local_error, null)


def decline(function: Any, local_error: BaseException, null: tuple) -> Any:
    """Make a collective call for which this rank has no valid arguments; raise its error."""
    refuse(local_error)
    try:
        function(*(_sound(v) for v in null))
    except Error as error:
        if str(local_error) not in error.message:  # the library reports the invalid placeholder arguments
            error.args = (f"{error.message}: {local_error}",)
        raise error from local_error
    raise local_error


def path_bytes(path: Any) -> bytes:
    """Encode a path for C."""
    raw = os.fsencode(path)
    if b"\0" in raw:
        raise ValueError(f"path {path!r} contains a null byte")
    return raw


def text_bytes(text: Optional[str], what: str = "a name") -> Optional[bytes]:
    """Encode a text in UTF-8 for C; None stays None."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"{what} is {type(text).__name__}: must be str")
    raw = text.encode("utf-8")
    if b"\0" in raw:
        raise ValueError(f"{what} contains a null byte")
    return raw


def sized(struct: Any) -> int:
    return ctypes.sizeof(struct)


def as_dict(struct: Any) -> Dict[str, Any]:
    """Return the values and texts of a struct as a dict."""
    out = {}
    for field, *_ in struct._fields_:
        value = getattr(struct, field)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, ctypes.Array):
            value = list(value)
        if field not in ("reserved", "struct_size"):
            out[field] = value
    return out
