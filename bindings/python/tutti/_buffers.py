"""NumPy arrays as buffers for C: addresses, memory layout, element types.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
import math
import operator
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from . import _c
from ._api import NUMBERS
from ._errors import refused

MAX_DIMS = NUMBERS["TUTTI_MAX_DIMS"]
ROW_MAJOR, COL_MAJOR = NUMBERS["TUTTI_ROW_MAJOR"], NUMBERS["TUTTI_COL_MAJOR"]
_NAMES = ("bytes", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
          "complex64", "complex128", "float16")
TYPES = {name: NUMBERS["TUTTI_" + name.upper()] for name in _NAMES}
DTYPES = {TYPES[name]: np.dtype(name) for name in _NAMES if name != "bytes"}
_BY_DTYPE = {dtype: number for number, dtype in DTYPES.items()}


def type_of(dtype: Any) -> int:
    """Return the element type of a NumPy type (or its name) in native byte order."""
    if isinstance(dtype, str) and dtype == "bytes":
        return TYPES["bytes"]
    dtype = np.dtype(dtype)
    try:
        return _BY_DTYPE[dtype]
    except KeyError:
        raise TypeError(f"unsupported dtype {dtype.str}: must be an integer, floating-point or complex type of up to 16 bytes in "
                        "native byte order") from None


def flat(buffer: Any, writable: bool, what: str = "the buffer") -> np.ndarray:
    """Return contiguous memory as an array; raises if it is not contiguous, or not writable although `writable` is set."""
    if not isinstance(buffer, np.ndarray):
        try:
            buffer = np.frombuffer(buffer, np.uint8)
        except (TypeError, BufferError, ValueError) as error:
            raise TypeError(f"{what} is {type(buffer).__name__}, which does not support the buffer protocol: {error}") from None
    if not (buffer.flags.c_contiguous or buffer.flags.f_contiguous):
        raise ValueError(f"{what} is not contiguous: use numpy.ascontiguousarray, or describe its memory by an access")
    if writable and not buffer.flags.writeable:
        raise ValueError(f"{what} is read-only: must be writable")
    if buffer.dtype.hasobject:
        raise TypeError(f"{what} has dtype {buffer.dtype}: Python objects are not supported")
    return buffer


def fitting(buffer: Any, shape: Sequence[int], each: int, what: str, *, writable: bool = False, is_list: bool = True,
            longer: bool = False) -> np.ndarray:
    """Return a buffer as a contiguous row-major array for entries of a shape, with `each` values per entry; raises if it has another
    shape.

    Dimensions of one element are ignored.  The last dimensions are those of an entry, the others have the shape of the
    entries.  A 1-dimensional array may contain all values.  Entries of a list may have any dimensions.
    is_list  the entries are a list
    longer   an array of a list may have more entries than necessary
    """
    array = flat(buffer, writable, what)
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} is in column-major order: use numpy.ascontiguousarray")
    shape, size = tuple(shape), math.prod(shape) * each
    have = tuple(n for n in array.shape if n != 1)
    if array.size == size and (size == 0 or len(have) <= 1) or longer and len(have) <= 1 and array.size >= size:
        return array
    at, item = len(have), 1
    while at > 0 and item < each:
        at -= 1
        item *= have[at]
    entries, wanted = have[:at], tuple(n for n in shape if n != 1)
    if item == each and (entries == wanted or is_list and math.prod(entries) == math.prod(wanted) or
                         longer and len(entries) == 1 and entries[0] >= math.prod(wanted)):
        return array
    raise ValueError(f"{what} has shape {array.shape}: must be {shape + ((each,) if each > 1 else ())}")


_first_byte = ctypes.c_char.from_buffer
_addressof = ctypes.addressof


def address(array: np.ndarray) -> int:
    """Return the address of the first element."""
    try:
        return _addressof(_first_byte(array))  # faster than __array_interface__
    except (TypeError, ValueError, BufferError):  # read-only, empty or column-major arrays
        return array.__array_interface__["data"][0]


def numbers(values: Any, dtype: Any, what: str, n: Optional[int] = None) -> Optional[np.ndarray]:
    """Return a list as a contiguous array of a dtype, copied if necessary; None stays None."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{what} has {array.ndim} dimensions: must be 1")
    if array.size and np.dtype(dtype).kind in "iu" and array.dtype.kind not in "iub":
        raise TypeError(f"{what} has dtype {array.dtype}: must be an integer type")
    made = np.ascontiguousarray(array, dtype)
    if array.size and array.dtype.kind in "iu" and not np.array_equal(made, array):
        raise OverflowError(f"{what} has values that do not fit {np.dtype(dtype)}")
    if n is not None and len(made) != n:
        raise ValueError(f"{what} has {len(made)} entries: must be {n}")
    return made


def pointer(array: Optional[np.ndarray]) -> Optional[int]:
    """Return the address of an array, None (NULL) for None."""
    return None if array is None else address(array)


def view_of(at: Optional[int], shape: Any, dtype: Any, owner: Any) -> np.ndarray:
    """Return memory of the library as a read-only array, which keeps a reference to `owner`."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    dtype = np.dtype(dtype)
    n = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if not at or n == 0:
        return np.empty(shape, dtype)
    raw = (ctypes.c_char * n).from_address(at)
    raw._owner = owner
    array = np.frombuffer(raw, dtype).reshape(shape)
    array.flags.writeable = False
    return array


def counts(values: Sequence[int], what: str) -> Tuple[int, ...]:
    out = tuple(operator.index(v) for v in values)
    if any(abs(v) >= 1 << 62 for v in out):
        raise OverflowError(f"{what} contains {max(out, key=abs)}: must be below 2^62")
    if len(out) > MAX_DIMS:
        raise ValueError(f"{what} has {len(out)} dimensions: the maximum is {MAX_DIMS}")
    return out


def memory_section(array: np.ndarray) -> Any:
    """Return the memory layout of an array as a section of a larger array; raises if no such array has its strides."""
    for order in (ROW_MAJOR, COL_MAJOR):
        made = _frame(array, order)
        if made is not None:
            return made
    raise ValueError(f"strides {array.strides} cannot be described as a section of an array in row- or column-major order: "
                     "use numpy.ascontiguousarray")


def _frame(array: np.ndarray, order: int) -> Any:
    """Return the enclosing array in an order, with the largest extents that all slower strides allow; None if there is none."""
    dims = list(range(array.ndim))[::-1] if order == ROW_MAJOR else list(range(array.ndim))  # fastest first
    section = _c.tutti_section()
    section.ndims, section.order, section.element_size = array.ndim, order, array.dtype.itemsize
    unit = array.dtype.itemsize
    for at, d in enumerate(dims):
        step = extent = least = 1
        if array.shape[d] > 1:
            stride = array.strides[d]
            if stride < unit or stride % unit:
                return None
            step = stride // unit
            extent = least = (array.shape[d] - 1) * step + 1
            slower = [array.strides[e] for e in dims[at + 1:] if array.shape[e] > 1]
            if slower:
                together = math.gcd(*slower)
                if min(slower) <= 0 or together % unit or together // unit < least:
                    return None
                extent = together // unit
        section.shape[d], section.lo[d], section.hi[d], section.stride[d] = extent, 0, least, step
        unit *= extent
    return section


def check_room(low: int, high: int, nbytes: int, what: str = "the buffer") -> None:
    """Raise unless an access stays within its buffer."""
    if low < 0 or high > nbytes:
        raise refused("ARG", f"{what} has {nbytes} bytes: the access needs bytes [{low}, {high})")
