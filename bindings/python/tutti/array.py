"""Arrays in files, larger than memory.  <tutti/array.h>

Slices are NumPy indices: `a.write(np.s_[rank::4, :], x)`, `x = a.read(np.s_[:10])`.  Reading and writing are collective unless
documented otherwise, and therefore methods: `a[...]` would hide that the call waits for other ranks.  Assignments are
possible in a block that all ranks enter; they are executed together at its end:

    with a.collective():
        a[rank::4, :] = x

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
import operator
import sys
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c, mpi
from ._api import ENUMS, NUMBERS
from ._buffers import DTYPES, MAX_DIMS, TYPES, address, counts, memory_section, numbers, type_of
from ._closing import Closing
from ._errors import CODES, Error, refused
from .access import Access, order_of, section
from .file import File, Request, mode_of
from .options import options_pointer

_byref = ctypes.byref
Key = Any
Slices = Tuple[slice, ...]


def slice_of(key: Key, shape: Sequence[int]) -> Tuple[Any, Tuple[int, ...], Tuple[bool, ...]]:
    """Convert a NumPy index to (slice of C, extents, dimensions that an integer removes)."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    missing = len(shape) - len(keys) + len(dots)
    if missing < 0:
        raise IndexError(f"key has {len(keys) - len(dots)} indices: the array has {len(shape)} dimensions")
    at = dots[0] if dots else len(keys)
    keys[at:at + len(dots)] = [slice(None)] * missing
    out, extents, single = _c.tutti_slice(), [], []
    for d, (k, n) in enumerate(zip(keys, shape)):
        if isinstance(k, slice):
            if k.step is not None and operator.index(k.step) < 1:
                raise ValueError(f"dimension {d}: step is {k.step}: must be >= 1")
            lo, hi, step = k.indices(n)
            if hi <= lo:
                lo = hi = 0
        else:
            if isinstance(k, (bool, np.bool_)):
                raise IndexError("booleans are not supported as indices")
            try:
                lo = operator.index(k)
            except TypeError:
                raise IndexError("an index of an array in a file must consist of integers, slices and '...'") from None
            if not -n <= lo < n:
                raise IndexError(f"index {lo} is out of bounds for dimension {d} with extent {n}")
            lo += n * (lo < 0)
            hi, step = lo + 1, 1
        out.lo[d], out.hi[d], out.stride[d] = lo, hi, step
        extents.append(len(range(lo, hi, step)))
        single.append(not isinstance(k, slice))
    return out, tuple(extents), tuple(single)


def slices_from(s: Any, ndim: int) -> Slices:
    """Convert a slice of C to a NumPy index."""
    return tuple(slice(s.lo[d], s.hi[d], s.stride[d] if s.stride[d] != 1 else None) for d in range(ndim))


def fortran_slice(lower: Sequence[int], upper: Sequence[int], stride: Optional[Sequence[int]] = None) -> Slices:
    """Convert Fortran bounds lower:upper:stride, from 1 and inclusive, to a NumPy index."""
    lower_, upper_ = numbers(lower, np.int64, "lower"), numbers(upper, np.int64, "upper", len(lower))
    stride_ = numbers(stride, np.int64, "stride", len(lower))
    out = _c.tutti_slice()
    _c.tutti_slice_fortran(len(lower_), address(lower_), address(upper_), None if stride_ is None else address(stride_),
                           _byref(out))
    return slices_from(out, len(lower_))


def slice_shape(key: Key, shape: Sequence[int]) -> Tuple[int, ...]:
    """Return the number of elements along each dimension that an index selects from an array of a shape."""
    s, extents, _ = slice_of(key, shape)
    out = np.zeros(MAX_DIMS, np.int64)
    if _c.tutti_slice_count(len(shape), _byref(s), address(out)) == 0:
        return extents
    return tuple(int(n) for n in out[:len(shape)])


class Distribution:
    """An assignment of the elements of an array to ranks.

        Distribution((1000, 600), "none", ("block", ranks))
        Distribution((1000, 600), ("cyclic", 2), ("block-cyclic", 3, 16))
        Distribution((10, 20), ("ragged", [0, 3, 10]), "none")

    One string or tuple for each dimension: "none", ("block", procs), ("cyclic", procs), ("block-cyclic", procs, block),
    ("ragged", bounds).  Ranks form a grid whose last dimension runs fastest.
    """

    _KINDS = {"none": "NONE", "block": "BLOCK", "cyclic": "CYCLIC", "block-cyclic": "BLOCK_CYCLIC", "ragged": "RAGGED"}

    def __init__(self, shape: Sequence[int], *dims: Union[str, tuple]) -> None:
        self._h, self._owner = ctypes.c_void_p(), None
        self.shape = counts(shape, "the shape")
        if len(dims) != len(self.shape):
            raise ValueError(f"distribution has {len(dims)} dimensions, shape has {len(self.shape)}")
        made, keep = (_c.tutti_dist_dim * max(len(dims), 1))(), []
        for d, dim in enumerate(dims):
            word, *more = (dim,) if isinstance(dim, str) else dim
            if word not in self._KINDS:
                raise ValueError(f"dimension {d}: unknown distribution '{word}': must be one of {', '.join(self._KINDS)}")
            made[d].kind = NUMBERS["TUTTI_DIST_" + self._KINDS[word]]
            made[d].procs = 1
            if word == "ragged":
                bounds = numbers(more[0], np.int64, "bounds")
                keep.append(bounds)
                made[d].procs, made[d].bounds = len(bounds) - 1, address(bounds)
            elif word != "none":
                made[d].procs = operator.index(more[0])
                if word == "block-cyclic":
                    made[d].block = operator.index(more[1])
        extents = np.array(self.shape or [0], np.int64)
        _c.tutti_distribution_make(len(self.shape), address(extents), made, _byref(self._h))

    @classmethod
    def _take(cls, handle: Any, shape: Sequence[int], owner: Any = None) -> "Distribution":
        self = object.__new__(cls)
        self._h, self.shape, self._owner = handle, tuple(shape), owner
        return self

    def _live(self) -> Any:
        if self._owner is not None:
            self._owner._live()
        if not self._h:
            raise refused("STATE", "the distribution has been freed")
        return self._h

    @property
    def ranks(self) -> int:
        """Number of ranks of the distribution."""
        return _c.tutti_distribution_ranks(self._live())

    def part(self, rank: int) -> Tuple[int, ...]:
        """Return the shape of the part of a rank."""
        out = np.zeros(MAX_DIMS, np.int64)
        _c.tutti_distribution_part(self._live(), rank, address(out))
        return tuple(int(n) for n in out[:len(self.shape)])

    def local(self, index: Sequence[int]) -> Tuple[int, Tuple[int, ...]]:
        """Return the rank of an element and its index in the part of that rank."""
        index = numbers(index, np.int64, "the index", len(self.shape))
        rank, out = ctypes.c_int(), np.zeros(MAX_DIMS, np.int64)
        _c.tutti_distribution_local(self._live(), address(index), _byref(rank), address(out))
        return rank.value, tuple(int(n) for n in out[:len(self.shape)])

    def global_(self, rank: int, index: Sequence[int]) -> Tuple[int, ...]:
        """Return the global index of an element of the part of a rank."""
        index = numbers(index, np.int64, "the index", len(self.shape))
        out = np.zeros(MAX_DIMS, np.int64)
        _c.tutti_distribution_global(self._live(), rank, address(index), address(out))
        return tuple(int(n) for n in out[:len(self.shape)])

    def indices(self, rank: int) -> Tuple[np.ndarray, ...]:
        """Return the indices of the part of a rank in each dimension: x[np.ix_(*d.indices(rank))] is its part of x."""
        part = self.part(rank)
        out = []
        for d, n in enumerate(part):
            at = [0] * len(part)
            column = np.zeros(n, np.int64)
            for i in range(n if all(part) else 0):  # a part without elements has no indices
                at[d] = i
                column[i] = self.global_(rank, at)[d]
            out.append(column)
        return tuple(out)

    def free(self) -> None:
        """Free the distribution; further calls do nothing."""
        if self._owner is None:
            _c.tutti_distribution_free(_byref(self._h))
        self._h = ctypes.c_void_p()

    def __del__(self) -> None:
        if getattr(self, "_owner", self) is None and self._h and _c is not None:
            _c.tutti_distribution_free(_byref(self._h))


def _spec(shape: Sequence[int], dtype: Any, order: Any, offset: int = 0) -> Any:
    spec = _c.tutti_array_spec()
    shape = counts(shape, "the shape")
    spec.ndims, spec.order, spec.offset = len(shape), order_of(order), offset
    for d, n in enumerate(shape):
        spec.shape[d] = n
    dtype = np.dtype(dtype)
    if dtype.kind == "V" and dtype.fields is None:
        spec.type, spec.element_size = TYPES["bytes"], dtype.itemsize
    else:
        spec.type = type_of(dtype)
    return spec


class ArrayInfo(NamedTuple):
    """The description of an array."""
    shape: Tuple[int, ...]
    dtype: np.dtype
    order: str
    offset: int
    distribution: Optional[Distribution]


def _info(spec: Any, distribution: Optional[Distribution]) -> ArrayInfo:
    shape = tuple(spec.shape[:spec.ndims])
    dtype = DTYPES[spec.type] if spec.type in DTYPES else np.dtype(f"V{spec.element_size}")
    return ArrayInfo(shape, dtype, "CF"[spec.order == NUMBERS["TUTTI_COL_MAJOR"]], spec.offset, distribution)


class Collective:
    """Assignments that all ranks execute together at the end of the block.  Made by Array.collective.

    Each rank may make any number of assignments, or none.  If a rank leaves the block by an exception, nothing is written, and
    all ranks raise an exception.
    """

    def __init__(self, array: "Array") -> None:
        self._array, self._writes = array, []

    def _write(self, key: Key, value: Any) -> None:
        s, values, memory = self._array._memory(key, value, False)
        if values is value or np.may_share_memory(values, value):  # copy, since the caller may change it before the block ends
            values = values.copy(order="C" if self._array.order == "C" else "F")
            memory = None
        self._writes.append((s, values, memory))

    def _parts(self) -> List[Tuple[Access, np.ndarray]]:
        array, made = self._array, []
        for s, values, memory in self._writes:
            if values.size:
                file = section(array.shape, s.lo[:array.ndim], s.hi[:array.ndim], stride=s.stride[:array.ndim],
                               element_size=array.dtype.itemsize, offset=array._offset, order=array.order)
                made.append((Access.section(file, memory), values))
        return made

    def __enter__(self) -> "Collective":
        if self._array._block is not None:
            raise refused("STATE", "a collective block of this array is already active: end it first")
        self._array._block = self
        return self

    def __exit__(self, kind: Any, error: Any, _trace: Any) -> None:
        array = self._array
        array._block = None
        if kind is not None and not isinstance(error, Exception):
            return  # the program is ending
        live, keep = array.file._live(), []

        def prepare():
            if error is not None:
                raise error
            parts = self._parts()
            made = (_c.tutti_part * max(len(parts), 1))()
            for i, (access, values) in enumerate(parts):
                made[i].access, made[i].buf = access._live(), address(values)
            keep.append((parts, made))
            return live, len(parts), made, None

        array._drop_prefetched()
        try:
            _c.together(_c.tutti_file_write_parts, prepare, (live, 1, (_c.tutti_part * 1)(), None))
        except Error as told:
            if error is not None:
                raise error from told
            raise


class Array(Closing):
    """An array in a file, open on all ranks of a communicator.

        with tutti.Array.create(comm, "a.tta", (1000, 600), "f8") as a:
            a.write(np.s_[rank::4, :], x)
        with tutti.Array.open(comm, "a.tta") as a:
            corner = a.read(np.s_[:10, ::3])

    Opening and closing are collective; the garbage collector never closes it.
    """

    def __init__(self) -> None:
        raise TypeError("Array cannot be instantiated: use its class methods (create, open, raw)")

    @classmethod
    def _new(cls, path: Any, function: Any, prepare: Any, null: tuple, comm: Any) -> "Array":
        self = object.__new__(cls)
        self._h, self.path = ctypes.c_void_p(), path
        self._pending: set = set()
        self._abandoned: List[Any] = []
        self._block: Optional[Collective] = None
        self._walks, self._prefetched = 0, False
        self._slices: dict = {}
        self._last_key: Any = None
        self._last_slice: Any = None
        _c.together(function, lambda: (*prepare(), _byref(self._h)), (*null, _byref(self._h)))
        self._rank = mpi.rank_of(comm)
        self._look()
        return self

    def _look(self) -> None:
        self._slices.clear()
        self._last_key = None
        spec = _c.tutti_array_spec()
        _c.tutti_array_describe(self._h, _byref(spec))
        handle = _c.tutti_array_distribution(self._h)
        self._info = _info(spec, None)
        self.dtype, self.order, self._offset = self._info.dtype, self._info.order, self._info.offset
        self.distribution = Distribution._take(ctypes.c_void_p(handle), self._info.shape, self) if handle else None
        self._file = File._borrow(_c.tutti_array_file(self._h), self.path, self)

    @classmethod
    def create(cls, comm: Any, path: Any, shape: Sequence[int], dtype: Any, *, order: Any = "C", options: Any = None,
               distribution: Optional[Distribution] = None) -> "Array":
        """Create an array in a new file; with a distribution, in local placement: one file per rank.  Collective; all arguments must
        be the same on all ranks."""
        handle = mpi.handle_of(comm)

        def prepare():
            spec = _spec(shape, dtype, order)
            more = () if distribution is None else (distribution._live(),)
            return handle, _c.path_bytes(path), _byref(spec), *more, options_pointer(options)

        if distribution is None:
            return cls._new(path, _c.tutti_array_create, prepare, (handle, None, None, None), comm)
        return cls._new(path, _c.tutti_array_create_local, prepare, (handle, None, None, None, None), comm)

    @classmethod
    def open(cls, comm: Any, path: Any, mode: Any = "r", *, shape: Optional[Sequence[int]] = None, dtype: Any = None,
             order: Any = "C", options: Any = None) -> "Array":
        """Open an array with mode "r", "w" or "r+"; shape and dtype, if given, must match.  Collective; all arguments must be the
        same on all ranks."""
        handle = mpi.handle_of(comm)
        flags = {"r": "READ", "w": "WRITE", "r+": "READ WRITE"}

        def prepare():
            if isinstance(mode, str) and mode not in flags:
                raise ValueError(f"unknown mode '{mode}': must be one of {', '.join(flags)}")
            bits = sum(NUMBERS["TUTTI_" + w] for w in flags[mode].split()) if isinstance(mode, str) else mode
            if (shape is None) != (dtype is None):
                raise TypeError("shape and dtype must be given together")
            expect = None if shape is None else ctypes.pointer(_spec(shape, dtype, order))
            return handle, _c.path_bytes(path), bits, expect, options_pointer(options)

        return cls._new(path, _c.tutti_array_open, prepare, (handle, None, 0, None, None), comm)

    @classmethod
    def raw(cls, comm: Any, path: Any, mode: Any, shape: Sequence[int], dtype: Any, *, offset: int = 0, order: Any = "C",
            options: Any = None) -> "Array":
        """Open any file as an array.  Collective; all arguments must be the same on all ranks."""
        handle = mpi.handle_of(comm)

        def prepare():
            spec = _spec(shape, dtype, order, offset)
            return handle, _c.path_bytes(path), mode_of(mode), _byref(spec), options_pointer(options)

        return cls._new(path, _c.tutti_array_open_raw, prepare, (handle, None, 0, None, None), comm)

    @staticmethod
    def inspect(path: Any, options: Any = None) -> ArrayInfo:
        """Describe the array in a file without opening it.  Local."""
        spec, handle = _c.tutti_array_spec(), ctypes.c_void_p()
        _c.tutti_array_inspect(_c.path_bytes(path), options_pointer(options), _byref(spec), _byref(handle))
        info = _info(spec, None)
        return info._replace(distribution=Distribution._take(handle, info.shape) if handle else None)

    _what = "the array"

    def _where(self) -> str:
        return str(self.path)

    def _close(self, handle: Any) -> None:
        _c.tutti_array_close(handle)

    @property
    def shape(self) -> Tuple[int, ...]:
        """Shape of the whole array."""
        return self._info.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._info.shape)

    @property
    def local_shape(self) -> Tuple[int, ...]:
        """Shape that slices refer to: the whole array, or the part of this rank in local placement."""
        return self._info.shape if self.distribution is None else self.distribution.part(self._rank)

    @property
    def file(self) -> File:
        """The file of the array, for statistics and options."""
        self._live()
        return self._file

    # ---- slices

    def _memory(self, key: Key, values: Any, writable: bool) -> Tuple[Any, np.ndarray, Any]:
        """Return (slice of C, array with all dimensions, its section in memory; None: packed in the order of the array)."""
        s, shape, single = self._slice(key)
        order = self.order
        if values is None and writable:
            values = np.empty(shape, self.dtype, order)
        elif not isinstance(values, np.ndarray):
            if writable:
                raise TypeError(f"argument out is {type(values).__name__}: must be a NumPy array")
            values = np.asarray(values)
            if not np.can_cast(values.dtype, self.dtype, "same_kind"):
                raise TypeError(f"values have dtype {values.dtype}: must be convertible to {self.dtype}")
            values = values.astype(self.dtype)
        if values.dtype != self.dtype:
            raise TypeError(f"values have dtype {values.dtype}: must be {self.dtype}")
        if writable and not values.flags.writeable:
            raise ValueError("argument out is read-only: must be writable")
        if values.shape != shape:
            if writable:
                raise ValueError(f"argument out has shape {values.shape}: must be {shape}, the shape of the slice")
            values = np.array(np.broadcast_to(values, shape), order=order)
        if single:
            values = values[tuple(np.newaxis if one else slice(None) for one in single)]
        packed = values.flags.c_contiguous if self.order == "C" else values.flags.f_contiguous
        return s, values, None if packed or not values.size else memory_section(values)

    def _slice(self, key: Key) -> Tuple[Any, Tuple[int, ...], Tuple[bool, ...]]:
        """Return (slice of C, shape of the NumPy array, dimensions removed by an integer or ()); cached for the next call."""
        if key is self._last_key and key is not None:
            return self._last_slice
        try:
            keys = key if isinstance(key, tuple) else (key,)
            name = tuple((k.start, k.stop, k.step) if isinstance(k, slice) else (type(k), k) for k in keys)
            made = self._slices.get(name)
        except TypeError:  # a key that is not hashable is not cached
            return self._slice_made(key)
        if made is None:
            made = self._slice_made(key)
            if len(self._slices) > 64:
                self._slices.clear()
            self._slices[name] = made
        self._last_key, self._last_slice = key, made
        return made

    def _slice_made(self, key: Key) -> Tuple[Any, Tuple[int, ...], Tuple[bool, ...]]:
        s, extents, single = slice_of(key, self.local_shape)
        return s, tuple(n for n, one in zip(extents, single) if not one), single if any(single) else ()

    def _squeeze(self, key: Key, out: np.ndarray) -> np.ndarray:
        single = self._slice(key)[2]
        return out[tuple(0 if one else slice(None) for one in single)] if single else out

    def _move(self, function: Any, key: Key, values: Any, writable: bool) -> np.ndarray:
        live = self._live()
        try:
            s, array, memory = self._memory(key, values, writable)
            at = address(array)
        except Exception as error:  # pylint: disable=broad-except
            return _c.decline(function, error, (live, None, None, None))
        function(live, _byref(s), None if memory is None else _byref(memory), at)
        return array

    def write(self, key: Key, values: Any) -> None:
        """Write a slice of each rank, which may be empty.  Collective.

        `values` may be a strided view, which is not copied; its dtype must be that of the array.
        """
        self._prefetched = False
        self._move(_c.tutti_array_write, key, values, False)

    def read(self, key: Key = Ellipsis, out: Optional[np.ndarray] = None) -> np.ndarray:
        """Read a slice of each rank.  Collective."""
        made = self._move(_c.tutti_array_read, key, out, True)
        return out if out is not None else self._squeeze(key, made)

    def write_independent(self, key: Key, values: Any) -> None:
        """Write a slice by this rank alone.  Local."""
        self._move(_c.tutti_array_write_independent, key, values, False)

    def read_independent(self, key: Key = Ellipsis, out: Optional[np.ndarray] = None) -> np.ndarray:
        """Read a slice by this rank alone.  Local."""
        made = self._move(_c.tutti_array_read_independent, key, out, True)
        return out if out is not None else self._squeeze(key, made)

    def _start(self, function: Any, key: Key, values: Any, writable: bool) -> Request:
        live = self._live()

        def prepare():
            s, array, memory = self._memory(key, values, writable)
            return (live, _byref(s), None if memory is None else _byref(memory), address(array)), (array, s, memory)

        return Request._start(self, function, prepare, (live, None, None, None))

    def write_start(self, key: Key, values: Any) -> Request:
        """Start a collective write: every rank starts the same operations in the same order, without waiting for other ranks."""
        return self._start(_c.tutti_array_write_start, key, values, False)

    def read_start(self, key: Key, out: np.ndarray) -> Request:
        """Start a collective read into an array."""
        if out is None:
            raise TypeError("read_start requires argument out")
        return self._start(_c.tutti_array_read_start, key, out, True)

    def _move_part(self, function: Any, d: Any, values: Any, within: Any, writable: bool) -> np.ndarray:
        live, keep = self._live(), []

        def prepare():
            if not isinstance(d, Distribution):
                raise TypeError(f"argument d is {type(d).__name__}: must be a Distribution")
            shape = d.part(self._rank)
            array = values
            if array is None and writable:
                array = np.empty(shape, self.dtype, self.order)
            if not isinstance(array, np.ndarray) or array.dtype != self.dtype or array.shape != shape:
                given = f"dtype {array.dtype} and shape {array.shape}" if isinstance(array, np.ndarray) else f"type {type(array).__name__}"
                raise ValueError(f"values have {given}: must be an array of dtype {self.dtype} and shape {shape}, the part of this rank")
            if writable and not array.flags.writeable:
                raise ValueError("argument out is read-only: must be writable")
            packed = array.flags.c_contiguous if self.order == "C" else array.flags.f_contiguous
            memory = None if packed or not array.size else memory_section(array)
            s = None if within is None else slice_of(within, self.shape)[0]
            keep.extend((array, memory, s))
            return (live, d._live(), None if s is None else _byref(s), None if memory is None else _byref(memory),
                    address(array))

        _c.together(function, prepare, (live, None, None, None, None))
        return keep[0]

    def write_part(self, d: Distribution, values: np.ndarray, within: Any = None) -> None:
        """Write the part of this rank in a distribution of the array or of the slice `within`.  Collective."""
        self._prefetched = False
        self._move_part(_c.tutti_array_write_part, d, values, within, False)

    def read_part(self, d: Distribution, out: Optional[np.ndarray] = None, within: Any = None) -> np.ndarray:
        """Read the part of this rank in a distribution of the array or of the slice `within`.  Collective."""
        return self._move_part(_c.tutti_array_read_part, d, out, within, True)

    def collective(self) -> Collective:
        """Return a block of assignments `a[...] = x`, which all ranks enter, and which are carried out together at its end."""
        if self.distribution is not None:
            raise refused("UNSUPPORTED", "collective blocks are not supported for arrays in local placement: use Array.write")
        if self._walks:
            raise refused("STATE", "a tile iteration of the array is active: end it first")
        self._live()
        return Collective(self)

    def __setitem__(self, key: Key, values: Any) -> None:
        if self._block is None:
            raise refused("STATE", "assignments are collective: `with a.collective(): a[...] = x` on all ranks, or "
                          "a.write(np.s_[...], x)")
        self._block._write(key, values)

    def __getitem__(self, key: Key) -> np.ndarray:
        raise refused("STATE", "reading is collective: a.read(np.s_[...]) on all ranks, or a.read_independent(np.s_[...])")

    # ---- the complete array

    def fill(self, value: Any) -> None:
        """Set every element.  Collective; `value` must be the same on all ranks."""
        element = []

        def prepare():
            element.append(np.array(value).astype(self.dtype).reshape(()))
            return self._live(), address(element[0])

        _c.together(_c.tutti_array_fill, prepare, (self._live(), None))

    def resize(self, n: int) -> None:
        """Change the extent of the slowest dimension to n.  Collective; `n` must be the same on all ranks."""
        _c.together(_c.tutti_array_resize, lambda: (self._live(), n), (self._live(), -1))
        self._look()

    def sync(self) -> None:
        """Make all written data durable.  Collective."""
        _c.tutti_array_sync(self._live())

    def partitions(self, ranks: int, budget: int) -> int:
        """Return the number of partitions of the slowest dimension that need at most `budget` bytes per rank each."""
        return _c.tutti_array_partitions(self._live(), ranks, budget)

    def partition(self, n: int, k: int) -> Slices:
        """Return partition k of n of the slowest dimension, as an index of the array."""
        return slices_from(_c.tutti_array_partition(self._live(), n, k), self.ndim)

    def copy_to(self, other: "Array", budget: int, progress: Optional[Callable[[int, int, str], None]] = None) -> None:
        """Copy all elements into another array, of any placement and order.  Collective; both arrays must be the same on all ranks."""
        trouble: List[BaseException] = []

        def called(_context, done, total, phase):
            try:
                progress(done, total, phase.decode())
            except BaseException as error:  # pylint: disable=broad-except
                trouble.append(error)

        kind = _c._type("tutti_progress_fn*")
        _c.together(_c.tutti_array_copy,
                    lambda: (self._live(), _array(other)._live(), budget, kind(called) if progress else kind(), None),
                    (self._live(), None, budget, kind(), None))
        if trouble:
            raise trouble[0]

    # ---- prefetching

    def prefetch(self, key: Key) -> None:
        """Start to read a slice; the next read of the same slice uses the data.  Collective."""
        keep = []

        def prepare():
            keep.append(slice_of(key, self.local_shape)[0])
            return self._live(), _byref(keep[0])

        _c.together(_c.tutti_array_prefetch, prepare, (self._live(), None))
        self._prefetched = True

    def prefetch_drop(self) -> None:
        """Drop prefetched slices that have not been read.  Collective."""
        _c.tutti_array_prefetch_drop(self._live())
        self._prefetched = False

    def _drop_prefetched(self) -> None:
        if self._prefetched:
            self.prefetch_drop()

    # ---- tiles

    def tiles(self, to: Optional["Array"] = None, **spec: Any) -> "Tiles":
        """Return an iteration over the array tile by tile; see Tiles."""
        return Tiles(self, to, **spec)

    def __repr__(self) -> str:
        return f"<Array '{self.path}' {self.shape} {self.dtype}: {'open' if self._h else 'closed'}>"


def _array(value: Any) -> Array:
    if not isinstance(value, Array):
        raise TypeError(f"array is {type(value).__name__}: must be an Array")
    return value


class Tile:
    """A tile of an iteration.

    core     bounds of its elements; empty if only other ranks have tiles left
    frame    bounds of the core with its halo
    input    elements of the frame
    output   array to fill with the elements of the core
    """

    core: Slices
    frame: Slices
    input: Optional[np.ndarray]
    output: Optional[np.ndarray]


class Tiles:
    """An iteration over arrays that do not fit into memory.  While a tile is processed, the next is read and the previous one written.

        with old.tiles(new, budget=1 << 26, halo=(1, 1)) as walk:
            for tile in walk:
                tile.output[...] = f(tile.input)

    source, to   the arrays to read and to write; one may be None; if both are the same, it is updated in place
    budget       bytes of memory per rank
    of           the elements of this rank (an index without steps); None: all
    tile         extents of a tile; 0: as large as the budget allows
    halo         number of elements that are also read on both sides, per dimension
    order        order of the tiles: "C" or "F"
    sequential   True: no prefetch, no background writes, no reuse of frames, for comparison
    copy         False: `input` and `output` are in memory of the library and must not be used after the tile

    Collective: all ranks iterate until no rank has tiles left.  If a rank leaves the block by an exception, the iteration ends
    on all ranks.
    """

    def __init__(self, source: Optional[Array], to: Optional[Array], *, budget: int, of: Any = None,
                 tile: Optional[Sequence[int]] = None, halo: Optional[Sequence[int]] = None, order: Any = "C",
                 sequential: bool = False, copy: bool = True) -> None:
        self._h = ctypes.c_void_p()
        self._arrays = [a for a in (source, to) if a is not None]
        if not self._arrays:
            raise TypeError("a tile iteration requires an array to read or to write")
        self._source, self._to, self._copy = source, to, copy
        self._ndim, self._last, self._tile = self._arrays[0].ndim, None, Tile()
        speaker, keep = _array(self._arrays[0]), []

        def prepare():
            spec = _c.tutti_tiles_spec()
            spec.budget, spec.order, spec.sequential = operator.index(budget), order_of(order), int(sequential)
            for name, given in (("tile", tile), ("halo", halo)):
                for d, n in enumerate(counts(given, name) if given is not None else ()):
                    if d >= self._ndim:
                        raise ValueError(f"{name} has more dimensions than the array, which has {self._ndim}")
                    getattr(spec, name)[d] = n
            if of is not None:
                s = slice_of(of, speaker.local_shape)[0]
                keep.append(s)
                spec.region = ctypes.pointer(s)
            keep.append(spec)
            return (None if source is None else _array(source)._live(), None if to is None else _array(to)._live(),
                    _byref(spec), _byref(self._h))

        first = None if source is None else speaker._live()
        second = None if to is None else (_array(to)._live() if source is None else None)
        _c.together(_c.tutti_tiles_begin, prepare, (first, second, None, _byref(self._h)))
        for array in self._arrays:
            array._walks += 1

    def _live(self) -> Any:
        if not self._h:
            raise refused("STATE", "the tile iteration has ended")
        return self._h

    def _leave(self) -> None:
        """Finish the previous tile: copy its output to memory of the library."""
        if self._last is None:
            return
        tile, library_out = self._last
        if self._copy:
            if library_out is not None:
                library_out[...] = tile.output
        else:
            mine = [a for a in (tile.input, tile.output) if a is not None and a.size]
            tile.input = tile.output = None
            while mine:
                if sys.getrefcount(mine[-1]) > 2:
                    raise refused("STATE", "an array of the previous tile is still referenced: its memory belongs to the library "
                                  "(delete it, or pass copy=True)")
                mine.pop()
        self._last = None

    def __iter__(self) -> Iterator[Tile]:
        return self

    def __next__(self) -> Tile:
        live = self._live()
        self._leave()
        raw = _c.tutti_tile()
        _c.tutti_tiles_next(live, _byref(raw))
        if not raw.more:
            raise StopIteration
        tile = self._tile if self._copy else Tile()
        tile.core, tile.frame = slices_from(raw.core, self._ndim), slices_from(raw.frame, self._ndim)
        inside = self._view(raw, "in", self._source, False)
        outside = self._view(raw, "out", self._to, True)
        if self._copy:
            tile.input = None if inside is None else inside.copy(order="K")
            fresh = self._source is not self._to
            tile.output = None if outside is None else np.empty_like(outside) if fresh else outside.copy(order="K")
        else:
            tile.input, tile.output = inside, outside
        self._last = (tile, outside if self._copy else None)
        return tile

    def _view(self, raw: Any, field: str, array: Optional[Array], writable: bool) -> Optional[np.ndarray]:
        at = getattr(raw, field)
        if array is None:
            return None
        shape = tuple(getattr(raw, field + "_shape")[:self._ndim])
        n = int(np.prod(shape, dtype=np.int64)) * array.dtype.itemsize
        if not at or n == 0:
            return np.empty([0 if not at else e for e in shape], array.dtype)
        made = np.frombuffer((ctypes.c_char * n).from_address(at), array.dtype)
        made = np.ndarray(shape, array.dtype, made, order=array.order)
        made.flags.writeable = writable
        return made

    def stats(self) -> dict:
        """Return statistics of the iteration so far."""
        out = _c.tutti_tiles_stats()
        _c.tutti_tiles_stats_sized(self._live(), _byref(out), _c.sized(out))
        return _c.as_dict(out)

    def end(self) -> None:
        """End the iteration, also before the last tile.  Collective."""
        if not self._h:
            return
        self._last = None
        for attempt in range(3):
            try:
                _c.tutti_tiles_end(_byref(self._h))
                break
            except Error as error:
                # Other ranks have called next: they got an error, and also end the iteration.
                if error.code != CODES["TUTTI_ERR_MISMATCH"] or not self._h or attempt == 2:
                    self._ended()
                    raise
        self._ended()

    def _ended(self) -> None:
        if not self._h:
            for array in self._arrays:
                array._walks -= 1
            self._arrays = []

    def __enter__(self) -> "Tiles":
        return self

    def __exit__(self, kind: Any, error: Any, _trace: Any) -> None:
        if kind is None:
            self.end()
            return
        try:
            self.end()
        except Error as told:
            raise error from told


assert set(ENUMS["tutti_dist_kind"]) == {"TUTTI_DIST_" + k for k in Distribution._KINDS.values()}
