"""Accesses: mappings between bytes of a file and bytes of memory.  <tutti/access.h>, <tutti/mpitype.h>

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _c, mpi
from ._buffers import COL_MAJOR, ROW_MAJOR, address, check_room, counts, flat, memory_section, numbers, pointer
from ._errors import refused

_byref = ctypes.byref


class Piece(NamedTuple):
    """A piece that is contiguous in the file and in memory."""
    file: int
    memory: int
    bytes: int


def order_of(order: Any) -> int:
    """Return ROW_MAJOR or COL_MAJOR for "C", "F" or one of these constants."""
    known = {"C": ROW_MAJOR, "F": COL_MAJOR, ROW_MAJOR: ROW_MAJOR, COL_MAJOR: COL_MAJOR}
    if isinstance(order, bool) or order not in known:
        raise ValueError(f"order is {order!r}: must be 'C' or 'F'")
    return known[order]


def section(shape: Sequence[int], lo: Sequence[int], hi: Sequence[int], *, stride: Optional[Sequence[int]] = None,
            element_size: int, offset: int = 0, order: Any = "C") -> Any:
    """Describe a section of an array, for Access.section: lo, lo + stride, ... below hi in each dimension."""
    shape, lo, hi = counts(shape, "the shape"), counts(lo, "lo"), counts(hi, "hi")
    stride = counts(stride, "the stride") if stride is not None else (1,) * len(shape)
    if not len(shape) == len(lo) == len(hi) == len(stride):
        raise ValueError(f"shape, lo, hi and stride have {len(shape)}, {len(lo)}, {len(hi)} and {len(stride)} dimensions: must be equal")
    out = _c.tutti_section()
    out.ndims, out.order, out.element_size, out.offset = len(shape), order_of(order), element_size, offset
    for d, values in enumerate(zip(shape, lo, hi, stride)):
        out.shape[d], out.lo[d], out.hi[d], out.stride[d] = values
    return out


def layout_of(array: np.ndarray) -> Tuple[Tuple[int, ...], Tuple[int, ...], int]:
    """Return the layout of an array in memory: shape, strides in bytes, element size."""
    return array.shape, array.strides, array.dtype.itemsize


class Access:
    """A mapping between bytes of a file and bytes of memory.  Accesses are immutable and need no MPI.

    Made by its class methods; memory is packed by default.  Calling `free` is optional: the access is freed with its last
    reference.
    """

    __slots__ = ("_h", "_bounds", "_owner", "_layout", "__weakref__")

    def __init__(self) -> None:
        raise TypeError("Access cannot be instantiated: use its class methods (contiguous, section, vector, runs, ...)")

    @classmethod
    def _new(cls, function: Any, *arguments: Any) -> "Access":
        self = object.__new__(cls)
        self._h, self._bounds, self._owner, self._layout = ctypes.c_void_p(), None, None, None
        function(*arguments, _byref(self._h))
        return self

    @classmethod
    def _borrow(cls, handle: Optional[int], owner: Any) -> "Access":
        """Return an access that belongs to another object, which it keeps alive."""
        self = object.__new__(cls)
        self._h, self._bounds, self._owner, self._layout = ctypes.c_void_p(handle), None, owner, None
        return self

    @classmethod
    def contiguous(cls, offset: int, bytes: int) -> "Access":  # pylint: disable=redefined-builtin
        """Describe contiguous bytes at an offset."""
        return cls._new(_c.tutti_access_contiguous, offset, bytes)

    @classmethod
    def section(cls, file: Any, memory: Any = None) -> "Access":
        """Describe a section of an array in the file (tutti.section); memory: another section, or None: packed."""
        return cls._new(_c.tutti_access_section, _byref(file), None if memory is None else _byref(memory))

    @classmethod
    def of(cls, array: np.ndarray, shape: Sequence[int], lo: Sequence[int], *, offset: int = 0,
           order: Any = "C") -> "Access":
        """Describe an array in memory, possibly a strided view, as the block at `lo` of a larger array in the file.

        The access is for this array, and for others of the same shape and strides.
        """
        if array.ndim != len(shape) or array.ndim != len(lo):
            raise ValueError(f"array, shape and lo have {array.ndim}, {len(shape)} and {len(lo)} dimensions: must be equal")
        hi = [int(a) + n for a, n in zip(lo, array.shape)]
        file = section(shape, lo, hi, element_size=array.dtype.itemsize, offset=offset, order=order)
        self = cls.section(file, memory_section(array) if array.size else None)
        self._layout = layout_of(array)
        return self

    @classmethod
    def vector(cls, offset: int, count: int, block: int, stride: int) -> "Access":
        """Describe `count` blocks of `block` bytes, `stride` bytes apart."""
        return cls._new(_c.tutti_access_vector, offset, count, block, stride)

    @classmethod
    def runs(cls, offsets: Any, lengths: Any) -> "Access":
        """Describe runs in any order: lengths[i] bytes at offsets[i]."""
        offsets = numbers(offsets, np.int64, "offsets")
        lengths = numbers(lengths, np.int64, "lengths", len(offsets))
        return cls._new(_c.tutti_access_runs, len(offsets), address(offsets), address(lengths))

    @classmethod
    def pieces(cls, file_offsets: Any, memory_offsets: Any, lengths: Any) -> "Access":
        """Describe runs with memory offsets; memory_offsets None: packed."""
        file_offsets = numbers(file_offsets, np.int64, "file_offsets")
        n = len(file_offsets)
        memory_offsets = numbers(memory_offsets, np.int64, "memory_offsets", n)
        lengths = numbers(lengths, np.int64, "lengths", n)
        return cls._new(_c.tutti_access_pieces, n, address(file_offsets), pointer(memory_offsets), address(lengths))

    @classmethod
    def indices(cls, offset: int, item_size: int, index: Any) -> "Access":
        """Describe items of `item_size` bytes at offset + index[i] * item_size, in any order."""
        index = numbers(index, np.int64, "index")
        return cls._new(_c.tutti_access_indices, offset, item_size, len(index), address(index))

    @classmethod
    def concat(cls, parts: Sequence["Access"], memory_offsets: Any = None) -> "Access":
        """Concatenate accesses; the memory of part i starts at memory_offsets[i], or after the previous part."""
        handles = (ctypes.c_void_p * max(len(parts), 1))(*(p._live() for p in parts))
        memory_offsets = numbers(memory_offsets, np.int64, "memory_offsets", len(parts))
        return cls._new(_c.tutti_access_concat, len(parts), handles, pointer(memory_offsets))

    @classmethod
    def parse(cls, data: bytes) -> "Access":
        """Read an access that `serialise` wrote.  Invalid input raises TUTTI_ERR_FORMAT."""
        data = bytes(data)
        return cls._new(_c.tutti_access_parse, data, len(data))

    @classmethod
    def from_view(cls, displacement: int, filetype: Any, bytes_skipped: int, count: int, memtype: Any) -> "Access":
        """Return the access of an MPI-IO view and a buffer; datatypes of mpi4py, or Fortran handles."""
        return cls._new(_c.tutti_access_from_view, displacement, mpi.datatype_of(filetype), bytes_skipped, count,
                        mpi.datatype_of(memtype))

    def tile(self, count: int, file_stride: int, memory_stride: int) -> "Access":
        """Repeat the access `count` times, each copy shifted by the strides."""
        return self._new(_c.tutti_access_tile, self._live(), count, file_stride, memory_stride)

    def join(self, memory: "Access") -> "Access":
        """Return an access with the file side of this access; its memory side is the file side of `memory`."""
        return self._new(_c.tutti_access_join, self._live(), memory._live())

    def clip(self, lo: int, hi: int) -> "Access":
        """Restrict the access to the file bytes in [lo, hi)."""
        return self._new(_c.tutti_access_clip, self._live(), lo, hi)

    def shift(self, file: int = 0, memory: int = 0) -> "Access":
        """Return a copy with shifted offsets."""
        return self._new(_c.tutti_access_shift, self._live(), file, memory)

    def copy(self) -> "Access":
        """Return a copy of the access."""
        return self._new(_c.tutti_access_copy, self._live())

    def free(self) -> None:
        """Free the access; it cannot be used afterwards."""
        if self._owner is None:
            _c.tutti_access_free(_byref(self._h))
        self._h = ctypes.c_void_p()

    def __del__(self) -> None:
        if getattr(self, "_owner", self) is None and self._h and _c is not None:
            _c.tutti_access_free(_byref(self._h))

    def _live(self) -> Any:
        if not self._h:
            raise refused("STATE", "the access has been freed")
        return self._h

    # ---- queries

    @property
    def bytes(self) -> int:
        """Number of different bytes in the file."""
        return _c.tutti_access_bytes(self._live())

    @property
    def repeated(self) -> int:
        """Number of bytes of the repeats: earlier mentions of file bytes that the access mentions again."""
        return _c.tutti_access_repeated(self._live())

    def _two(self, function: Any) -> Tuple[int, int]:
        lo, hi = ctypes.c_int64(), ctypes.c_int64()
        function(self._live(), _byref(lo), _byref(hi))
        return lo.value, hi.value

    @property
    def bounds(self) -> Tuple[int, int]:
        """Bounds [lo, hi) in the file."""
        return self._two(_c.tutti_access_bounds)

    @property
    def memory_bounds(self) -> Tuple[int, int]:
        """Bounds [lo, hi) in memory."""
        if self._bounds is None:
            self._bounds = self._two(_c.tutti_access_memory_bounds)
        return self._bounds

    @property
    def runs_count(self) -> int:
        """Number of contiguous runs in the file."""
        return _c.tutti_access_runs_count(self._live())

    def bytes_in(self, lo: int, hi: int) -> int:
        """Return the number of bytes of the access in the range [lo, hi) of the file."""
        return _c.tutti_access_bytes_in(self._live(), lo, hi)

    @property
    def size(self) -> int:
        """Memory that the description occupies, in bytes."""
        return _c.tutti_access_size(self._live())

    def __hash__(self) -> int:
        return _c.tutti_access_hash(self._live())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Access) and bool(_c.tutti_access_equal(self._live(), other._live()))

    def __iter__(self) -> Iterator[Piece]:
        return self.walk()

    def walk(self, stream: int = 0) -> Iterator[Piece]:
        """Iterate over the pieces in file order, beginning at a stream position."""
        walk, piece = ctypes.c_void_p(), _c.tutti_piece()
        _c.tutti_access_iter_start(self._live(), stream, _byref(walk))
        try:
            while self._h and _c.tutti_access_iter_next(walk, _byref(piece)):
                yield Piece(piece.file, piece.memory, piece.bytes)
        finally:
            _c.tutti_access_iter_free(_byref(walk))

    def seek(self, stream: int) -> Piece:
        """Return the piece at a stream position."""
        piece = _c.tutti_piece()
        _c.tutti_access_seek(self._live(), stream, _byref(piece))
        return Piece(piece.file, piece.memory, piece.bytes)

    def serialise(self) -> bytes:
        """Return a portable serialization."""
        size = _c.tutti_access_serialise(self._live(), None, 0)
        out = ctypes.create_string_buffer(size)
        _c.tutti_access_serialise(self._live(), out, size)
        return out.raw

    def __repr__(self) -> str:
        if not self._h:
            return "<Access: freed>"
        out = ctypes.create_string_buffer(200)
        _c.tutti_access_describe(self._h, out, len(out))
        return f"<Access: {out.value.decode()}>"

    # ---- packing

    def _range(self, start: int, stop: Optional[int]) -> Tuple[int, int]:
        stop = self.bytes if stop is None else stop
        if not 0 <= start <= stop <= self.bytes:
            raise refused("ARG", f"range [{start}, {stop}) is outside the stream of {self.bytes} bytes")
        return start, stop

    def pack(self, user: Any, start: int = 0, stop: Optional[int] = None) -> np.ndarray:
        """Return stream bytes [start, stop) from memory."""
        start, stop = self._range(start, stop)
        array = flat(user, False)
        check_room(*self.memory_bounds, array.nbytes)
        out = np.empty(stop - start, np.uint8)
        _c.tutti_access_pack(self._live(), address(array), start, stop, address(out))
        return out

    def unpack(self, user: Any, packed: Any, start: int = 0) -> None:
        """Copy stream bytes, beginning at `start`, to memory."""
        array, stream = flat(user, True), flat(packed, False)
        start, stop = self._range(start, start + stream.nbytes)
        check_room(*self.memory_bounds, array.nbytes)
        _c.tutti_access_unpack(self._live(), address(array), start, stop, address(stream))


class View:
    """A file tiled with an MPI datatype beginning at a displacement, analysed once for many accesses."""

    def __init__(self, displacement: int, filetype: Any) -> None:
        self._h = ctypes.c_void_p()
        _c.tutti_view_make(displacement, mpi.datatype_of(filetype), _byref(self._h))

    def access(self, bytes_skipped: int, count: int, memtype: Any) -> Access:
        """Return the access of `count` elements of `memtype` after skipping bytes of the view."""
        if not self._h:
            raise refused("STATE", "the view has been freed")
        return Access._new(_c.tutti_view_access, self._h, bytes_skipped, count, mpi.datatype_of(memtype))

    @property
    def bounds(self) -> Tuple[int, int]:
        """Bounds of the first tile, relative to the displacement."""
        if not self._h:
            raise refused("STATE", "the view has been freed")
        lo, hi = ctypes.c_int64(), ctypes.c_int64()
        _c.tutti_view_bounds(self._h, _byref(lo), _byref(hi))
        return lo.value, hi.value

    def free(self) -> None:
        """Free the view; further calls do nothing."""
        _c.tutti_view_free(_byref(self._h))

    def __del__(self) -> None:
        if getattr(self, "_h", None) and _c is not None:
            self.free()
