"""The bytes of a dataset: sections that are raw, ranked or compressed, as lazy arrays; and their checksums.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import collections
import itertools
import math
import os
import struct
import threading
from typing import Callable, List, Optional, Sequence, Tuple

import numpy as np

from . import _parts
from ._errors import Error, refused
from ._lazy import LazyArray, RawArray, Ranges, file_status, os_error, slices

BLOCK = 65536
CHUNK_LIMIT = 256 << 20  # maximum uncompressed size of a chunk in bytes
CACHE_BYTES = 8 << 20  # size of the cache of decompressed chunks, per section


def read_bytes(path: str, offset: int, count: int) -> bytes:
    """Read bytes of a file; raises if it is too short."""
    size = file_status(path).st_size
    if size < offset + count:
        raise refused("FORMAT", f"the file has {size} bytes: bytes [{offset}, {offset + count}) are needed", file=path,
                      offset=offset)
    try:
        with open(path, "rb") as f:
            f.seek(offset)
            data = f.read(count)
    except OSError as error:
        raise os_error(error, path) from error
    if len(data) != count:
        raise refused("FORMAT", "the file was truncated during the read", file=path, offset=offset)
    return data


def fill_of(value: float, dtype: np.dtype):
    """Return the fill value as a value of a type."""
    with np.errstate(all="ignore"):
        if dtype.kind in "iu":
            return dtype.type(int(value)) if math.isfinite(value) and abs(value) < 2 ** 63 else dtype.type(0)
        return dtype.type(value)


class RankedArray(LazyArray):
    """A ranked section, shown in the order of its space."""

    def __init__(self, values: RawArray, sources: Callable[[], np.ndarray], shape: Sequence[int], space_ndim: int,
                 fill: float, dims: Sequence[str]) -> None:
        self._values, self._sources, self._space = values, sources, space_ndim
        self.shape, self.dtype, self.dims = tuple(shape), values.dtype, tuple(dims)
        self._fill = fill_of(fill, self.dtype)

    def _read(self, ranges: Ranges) -> np.ndarray:
        inverse = self._sources().reshape(self.shape[:self._space])
        source = inverse[slices(ranges[:self._space])]
        inner = [len(r) for r in ranges[self._space:]]
        out = np.full([*source.shape, *inner], self._fill, self.dtype)
        there = source >= 0
        if there.any():
            values = self._values.memmap()[source[there]]
            out[there] = values[(slice(None), *slices(ranges[self._space:]))]
        return out


def invert(entries: np.ndarray, size: int, path: str) -> np.ndarray:
    """Return, for each position of a space, its index in a list of entries, or -1."""
    if entries.size and (entries.min() < 0 or entries.max() >= size):
        raise refused("FORMAT", f"list of entries has positions {entries.min()} to {entries.max()}: must be 0 to {size - 1}", file=path)
    out = np.full(size, -1, np.int64)
    out[entries] = np.arange(len(entries))
    return out


def ranked_head(path: str, start: int, length: int) -> Tuple[int, int]:
    """Return (offset of the items, number of entries) of a ranked section."""
    if length < 24:
        raise refused("FORMAT", f"ranked section has {length} bytes: its header needs 24", file=path, offset=start)
    ranks, entries, _ = struct.unpack("<3q", read_bytes(path, start, 24))
    if not 0 <= ranks <= length // 8 - 3 or not 0 <= entries <= length:
        raise refused("FORMAT", f"header of a ranked section of {length} bytes is invalid: {ranks} ranks, {entries} entries", file=path,
                      offset=start)
    counts = struct.unpack(f"<{ranks}q", read_bytes(path, start + 24, 8 * ranks))
    if any(n < 0 for n in counts) or sum(counts) != entries:
        raise refused("FORMAT", "the entries per rank do not add up to the total", file=path, offset=start)
    return -(-(3 + ranks) * 8 // 64) * 64, entries


class ChunkedArray(LazyArray):
    """A compressed section: chunks are read and decompressed on demand; some are cached."""

    def __init__(self, path: str, start: int, length: int, dtype: np.dtype, shape: Sequence[int], space_ndim: int,
                 numbers: int, dims: Sequence[str]) -> None:
        self.path, self._start, self._length, self._stored = path, start, length, dtype
        self.dtype, self.shape, self.dims = dtype.newbyteorder("="), tuple(shape), tuple(dims)
        self._space, self._numbers = space_ndim, numbers
        self._lock = threading.Lock()
        self._cache: "collections.OrderedDict[int, np.ndarray]" = collections.OrderedDict()
        self._head()

    def _wrong(self, text: str) -> Error:
        return refused("FORMAT", f"a compressed section: {text}", file=self.path, offset=self._start)

    def _head(self) -> None:
        if self._length < 64:
            raise self._wrong("no header")
        form, n, raw, number, k, c, *zeros = struct.unpack("<8q", read_bytes(self.path, self._start, 64))
        space = self.shape[:self._space]
        if form != 1 or any(zeros) or number != self.dtype.itemsize or not 0 <= n <= self._length // 8 - 8:
            raise self._wrong("invalid header")
        if not 0 <= k < self._space or c < 1:
            raise self._wrong(f"invalid chunk extent {c} in dimension {k}")
        if math.prod(space) == 0:
            expect = 0
        else:
            expect = math.prod(space[:k]) * -(-space[k] // c)
        entry = self._numbers * self.dtype.itemsize
        if n != expect or (n and raw != c * math.prod(space[k + 1:]) * entry) or raw > CHUNK_LIMIT:
            raise self._wrong(f"{n} chunks of {raw} bytes do not match the space")
        ends = np.frombuffer(read_bytes(self.path, self._start + 64, 8 * n), "<i8")
        self._bounds = np.concatenate([[64 + 8 * n], ends])
        if (np.diff(self._bounds) < 0).any() or (n and self._bounds[-1] != self._length):
            raise self._wrong("chunks are not contiguous")
        self._k, self._c, self._raw, self._n = k, c, raw, n
        whole = self.shape[self._space:]
        self.chunks = (*[1] * k, min(c, max(space[k], 1)), *[max(e, 1) for e in space[k + 1:]], *whole)

    def chunk(self, number: int) -> np.ndarray:
        """Return a decompressed chunk."""
        with self._lock:
            found = self._cache.get(number)
            if found is not None:
                self._cache.move_to_end(number)
                return found
        low, high = int(self._bounds[number]), int(self._bounds[number + 1])
        frame = read_bytes(self.path, self._start + low, high - low)
        try:
            data = _parts.unzstd()(frame, self._raw)
        except ValueError as error:
            raise self._wrong(f"chunk {number}: {error}") from error
        size = self.dtype.itemsize
        plain = np.frombuffer(data, np.uint8).reshape(size, -1).T.copy()
        values = plain.view(self._stored).astype(self.dtype, copy=False)
        values = values.reshape(self._c, *self.shape[self._k + 1:])
        with self._lock:
            self._cache[number] = values
            while len(self._cache) > 1 and len(self._cache) * self._raw > CACHE_BYTES:
                self._cache.popitem(last=False)
        return values

    def _read(self, ranges: Ranges) -> np.ndarray:
        out = np.empty([len(r) for r in ranges], self.dtype)
        k, c = self._k, self._c
        along = np.asarray(ranges[k])
        pieces: List[Tuple[int, np.ndarray]] = [(int(p), np.flatnonzero(along // c == p)) for p in np.unique(along // c)]
        per_row = -(-self.shape[k] // c)
        inner = slices(ranges[k + 1:])
        for at in itertools.product(*(range(len(r)) for r in ranges[:k])):
            row = 0
            for d, i in enumerate(at):
                row = row * self.shape[d] + ranges[d][i]
            for piece, where in pieces:
                values = self.chunk(row * per_row + piece)
                out[(*at, slice(where[0], where[-1] + 1))] = values[(along[where] - piece * c, *inner)]
        return out


# ---- checksums


def block_sums(path: str, start: int, length: int) -> List[int]:
    """Return the checksum of each block: bytes between two multiples of 65536 of the file offset."""
    xxh3 = _parts.xxh3()
    out, at, end = [], start, start + length
    while at < end:
        stop = min(end, (at // (16 * BLOCK) + 1) * 16 * BLOCK)
        data = read_bytes(path, at, stop - at)
        done = 0
        while at < stop:
            step = min(stop, (at // BLOCK + 1) * BLOCK) - at
            out.append(xxh3(data[done:done + step]))
            done += step
            at += step
    return out


def read_trailer(path: str, start: int, trailer: int, end: int) -> Optional[np.ndarray]:
    """Return the checksums of a trailer; None if the segment was written without checksums."""
    foot = read_bytes(path, end - 64, 64)
    magic, version, first, at, sums, rows, told, _ = struct.unpack("<8s7Q", foot)
    if magic != b"TUTTISEG" or version not in (1, 2) or first != start or at != trailer or \
            8 * sums + rows > end - 64 - trailer:
        raise refused("FORMAT", "the trailer of a segment is damaged", file=path, offset=end - 64)
    data = read_bytes(path, trailer, 8 * sums + rows)
    if _parts.xxh3()(data) != told:
        raise refused("FORMAT", "the trailer of a segment is damaged: checksum mismatch", file=path, offset=trailer)
    return np.frombuffer(data, "<u8", sums) if sums else None


def section_sum(sums: Sequence[int]) -> int:
    """Return the checksum of a section from those of its blocks, as a signed integer."""
    value = _parts.xxh3()(struct.pack(f"<{len(sums)}Q", *sums))
    return value - (1 << 64) if value >= 1 << 63 else value


def data_path(folder: os.PathLike, name: str) -> str:
    return os.path.join(os.fspath(folder), name)
