"""Array files (.tta), read without the library: docs/reference/format.md, "Array files".

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import itertools
import os
import struct
from dataclasses import dataclass
from typing import List, Tuple, Union

import numpy as np

from ._errors import refused
from ._lazy import LazyArray, RawArray, Ranges, file_status, os_error

MAGIC = bytes.fromhex("895454410d0a1a0a")
SLOT = 2048
TYPES = ("bytes", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
         "complex64", "complex128", "float16")
GLOBAL, DESCRIPTOR, PART = 0, 1, 2
Path = Union[str, os.PathLike]


@dataclass(frozen=True)
class Dimension:
    """The distribution of one dimension of an array in local placement."""
    kind: int
    ranks: int
    block: int
    extent: int
    bounds: Tuple[int, ...] = ()

    def place(self, index: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return the rank of each index and its position in the part of that rank."""
        if self.kind == 0:
            return np.zeros_like(index), index
        if self.kind == 1:
            block = max(-(-self.extent // self.ranks), 1)
            return index // block, index % block
        if self.kind == 2:
            return index % self.ranks, index // self.ranks
        if self.kind == 3:
            return (index // self.block % self.ranks,
                    index // (self.block * self.ranks) * self.block + index % self.block)
        bounds = np.asarray(self.bounds)
        owner = np.searchsorted(bounds, index, "right") - 1
        return owner, index - bounds[owner]


@dataclass(frozen=True)
class Header:
    """The contents of a valid header of an array file."""
    placement: int
    version: int
    dtype: np.dtype
    order: str
    shape: Tuple[int, ...]
    offset: int
    bytes: int
    id: int
    ranks: int
    rank: int
    dist: Tuple[Tuple[int, int, int], ...]


def fnv(data: bytes) -> int:
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 1099511628211 & 0xffffffffffffffff
    return h


def parse_slot(slot: bytes) -> Header:
    """Parse a header; raises ValueError if it is invalid."""
    if len(slot) < SLOT or slot[:8] != MAGIC:
        raise ValueError("the file is not an array file: wrong signature")
    form, placement, version, kind, order, ends, ndims = struct.unpack_from("<IIQIIII", slot, 8)
    size, offset, length, ident, ranks, rank = struct.unpack_from("<QQQQII", slot, 40)
    if struct.unpack_from("<Q", slot, 2040)[0] != fnv(slot[:2040]):
        raise ValueError("the header is damaged: checksum mismatch")
    if form != 1:
        raise ValueError(f"unknown format version {form}: this reader supports 1")
    extents = struct.unpack_from("<16Q", slot, 80)
    for what, value, low, high in (("placement", placement, GLOBAL, PART), ("order", order, 0, 1), ("byte order", ends, 1, 2),
                                   ("type", kind, 0, len(TYPES) - 1), ("ndims", ndims, 1, 16)):
        if not low <= value <= high:
            raise ValueError(f"invalid header: {what} is {value}: must be {low} to {high}")
    bytes_ = size
    for extent in extents[:ndims]:
        bytes_ *= extent
    if any(extents[ndims:]) or (placement != DESCRIPTOR and bytes_ != length):
        raise ValueError(f"invalid header: array has {length} bytes, but the extents {extents} give {bytes_}")
    if offset < 4096 or offset + max(bytes_, length) >= 1 << 62:
        raise ValueError(f"invalid header: elements start at offset {offset}: must be >= 4096, and end before 2^62")
    if kind:
        dtype = np.dtype(TYPES[kind]).newbyteorder("<" if ends == 1 else ">")
        if dtype.itemsize != size:
            raise ValueError(f"element size {size} does not match type {TYPES[kind]}")
    elif 0 < size < 1 << 31:
        dtype = np.dtype(f"V{size}")
    else:
        raise ValueError(f"element size is {size}: must be 1 to 2^31 - 1")
    dist = tuple(struct.unpack_from("<IIQ", slot, 208 + 16 * d) for d in range(ndims))
    return Header(placement, version, dtype, "FC"[order == 0], tuple(extents[:ndims]), offset, length, ident, ranks,
                  rank, dist)


def read_header(path: Path) -> Header:
    """Read the valid header of an array file with the highest version."""
    file_status(path)
    try:
        with open(path, "rb") as f:
            data = f.read(2 * SLOT)
    except OSError as error:
        raise os_error(error, path) from error
    found: List[Header] = []
    why = ""
    for at in (0, SLOT):
        try:
            found.append(parse_slot(data[at:at + SLOT]))
        except ValueError as error:
            why = why or str(error)
    if not found:
        raise refused("FORMAT", why, file=os.fspath(path))
    return max(found, key=lambda h: h.version)


class LocalArray(LazyArray):
    """An array in local placement, assembled from the parts of all ranks."""

    def __init__(self, path: Path, header: Header, dimensions: Tuple[Dimension, ...]) -> None:
        self.path, self.shape, self.dtype = os.fspath(path), header.shape, header.dtype.newbyteorder("=")
        self.dims = tuple(f"dim_{d}" for d in range(len(self.shape)))
        self.parts, self._id, self._dimensions = header.ranks, header.id, dimensions

    def part(self, rank: int) -> RawArray:
        """Return the part of a rank."""
        path = f"{self.path}.{rank}"
        header = read_header(path)
        if header.placement != PART or header.id != self._id or header.rank != rank or header.ranks != self.parts:
            raise refused("FORMAT", f"file is not part {rank} of '{self.path}'", file=path)
        if header.dtype.newbyteorder("=") != self.dtype:
            raise refused("FORMAT", f"part has dtype {header.dtype}, but '{self.path}' has {self.dtype}", file=path)
        if len(header.shape) != self.ndim:
            raise refused("FORMAT", f"part has {len(header.shape)} dimensions, but '{self.path}' has {self.ndim}", file=path)
        return raw_array(path, header)

    def _read(self, ranges: Ranges) -> np.ndarray:
        out = np.zeros([len(r) for r in ranges], self.dtype)
        places = [dim.place(np.asarray(r)) for dim, r in zip(self._dimensions, ranges)]
        for grid in itertools.product(*(np.unique(owner) for owner, _ in places)):
            at = [np.flatnonzero(owner == p) for (owner, _), p in zip(places, grid)]
            local = [where[i] for (_, where), i in zip(places, at)]
            rank = 0
            for p, dim in zip(grid, self._dimensions):
                rank = rank * dim.ranks + int(p)
            part = self.part(rank)
            if any(i.max() >= n for i, n in zip(local, part.shape)):
                needed = tuple(int(i.max()) + 1 for i in local)
                raise refused("FORMAT", f"part {rank} has shape {part.shape}: must be at least {needed}", file=self.path)
            out[np.ix_(*at)] = part.memmap()[np.ix_(*local)]
        return out


def raw_array(path: Path, header: Header) -> RawArray:
    array = RawArray(path, header.dtype, header.shape, header.offset, order=header.order)
    array.check()
    return array


def _dimensions(path: Path, header: Header) -> Tuple[Dimension, ...]:
    """Read the distribution of a local placement."""
    try:
        with open(path, "rb") as f:
            f.seek(header.offset)
            tail = f.read(min(header.bytes, 1 << 27))
    except OSError as error:
        raise os_error(error, path) from error
    out, at, product = [], 0, 1
    for d, ((kind, ranks, block), extent) in enumerate(zip(header.dist, header.shape)):
        bounds: Tuple[int, ...] = ()
        wrong = kind > 4 or ranks < 1 or (kind == 0 and ranks != 1) or (kind == 3 and block < 1)
        if not wrong and kind == 4:
            if at + 8 * (ranks + 1) > len(tail):
                wrong = True
            else:
                bounds = struct.unpack_from(f"<{ranks + 1}Q", tail, at)
                at += 8 * (ranks + 1)
                wrong = bounds[0] != 0 or bounds[-1] != extent or any(a > b for a, b in zip(bounds, bounds[1:]))
        if wrong:
            raise refused("FORMAT", f"dimension {d} of the header has an invalid distribution", file=os.fspath(path))
        product *= ranks
        out.append(Dimension(kind, ranks, block, extent, bounds))
    if product != header.ranks:
        raise refused("FORMAT", f"distribution has {product} ranks, header has {header.ranks}",
                      file=os.fspath(path))
    return tuple(out)


def open_array(path: Path) -> LazyArray:
    """Open an array file for reading, without MPI and the library; it is indexed like a NumPy array.

        a = tutti.open_array("a.tta")
        a.shape, a.dtype
        corner = a[:10, ::3]            # reads these elements
        view = a.memmap()               # all of them without a copy (not in local placement)

    An array in local placement is opened by its descriptor; its parts are opened as they are needed.
    Raises tutti.Error (TUTTI_ERR_FORMAT) if the file is not an array or is damaged.
    """
    header = read_header(path)
    if header.placement == DESCRIPTOR:
        return LocalArray(path, header, _dimensions(path, header))
    return raw_array(path, header)
