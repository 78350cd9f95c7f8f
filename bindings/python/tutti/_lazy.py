"""Arrays that are read when they are indexed.

A LazyArray has a shape and a type; `a[...]` reads the selected elements, with the indexing rules of NumPy, and returns an
array in native byte order.  Subclasses read a box with strides; this module implements all other indices of NumPy (negative
steps, lists of indices, masks, new axes) with it.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import os
import stat
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._errors import Error, refused

Ranges = Sequence[range]


class LazyArray:
    """An array in a file, with `shape`, `dtype`, `dims` (names of its dimensions) and `chunks` (extents read in one operation, or None)."""

    shape: Tuple[int, ...]
    dtype: np.dtype
    dims: Tuple[str, ...] = ()
    chunks: Optional[Tuple[int, ...]] = None

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def nbytes(self) -> int:
        """Number of bytes in memory."""
        return self.size * self.dtype.itemsize

    def _read(self, ranges: Ranges) -> np.ndarray:
        """Read the elements of a box: a non-empty range with a positive step per dimension."""
        raise NotImplementedError

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-dimensional array has no length")
        return self.shape[0]

    def __array__(self, dtype=None) -> np.ndarray:
        whole = self[...]
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.shape} {self.dtype}>"

    def __getitem__(self, key: Any) -> np.ndarray:
        """Read the elements of a NumPy index."""
        boxes, rest = split_index(key, self.shape)
        if all(boxes):
            box = self._read(boxes)
        else:
            box = np.empty([len(b) for b in boxes], self.dtype)
        if rest is None:
            return box
        if any(k is Ellipsis for k in (key if isinstance(key, tuple) else (key,))):
            rest = (*rest, Ellipsis)  # returns an array of dimension 0 where other indices return a scalar
        return box[rest]


def _keys(key: Any, ndim: int) -> list:
    """Return one entry per dimension and new axis."""
    keys = list(key) if isinstance(key, tuple) else [key]
    taken = 0
    for i, k in enumerate(keys):
        if isinstance(k, (list, np.ndarray)) or (hasattr(k, "__array__") and not np.isscalar(k)):
            keys[i] = k = np.asarray(k)
            if k.size == 0 and k.dtype == float:
                keys[i] = k = k.astype(np.intp)
        if isinstance(k, (bool, np.bool_)):
            raise IndexError("booleans are not supported as indices")
        if k is None or k is Ellipsis:
            continue
        taken += k.ndim if isinstance(k, np.ndarray) and k.dtype == bool else 1
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if taken > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {taken} were indexed")
    at = dots[0] if dots else len(keys)
    keys[at:at + bool(dots)] = [slice(None)] * (ndim - taken)
    return keys


def split_index(key: Any, shape: Tuple[int, ...]) -> Tuple[list, Optional[tuple]]:
    """Return a box that contains all elements of an index, and the index within the box (None: the whole box)."""
    boxes, rest, plain = [], [], True
    for k in _keys(key, len(shape)):
        if k is None:
            rest.append(None)
            plain = False
            continue
        d = len(boxes)
        if isinstance(k, slice):
            r = range(*k.indices(shape[d]))
            boxes.append(r if r.step > 0 else r[::-1])
            rest.append(slice(None) if r.step > 0 else slice(None, None, -1))
            plain &= r.step > 0
            continue
        plain = False
        if isinstance(k, np.ndarray) and k.dtype == bool:
            if k.shape != shape[d:d + k.ndim]:
                raise IndexError(f"boolean index has shape {k.shape}: must be {shape[d:d + k.ndim]}")
            for found in np.nonzero(k):
                boxes.append(_around(found, shape[len(boxes)]))
                rest.append(_within(found, boxes[-1]))
            continue
        if isinstance(k, np.ndarray) and k.ndim:
            if k.dtype.kind not in "iu":
                raise IndexError("arrays used as indices must be of integer (or boolean) type")
            k = k.astype(np.intp)
            if k.size and (k.min() < -shape[d] or k.max() >= shape[d]):
                raise IndexError(f"indices {k.min()} to {k.max()} are out of bounds for axis {d} with size {shape[d]}")
            k = np.where(k < 0, k + shape[d], k)
            boxes.append(_around(k, shape[d]))
            rest.append(_within(k, boxes[-1]))
            continue
        try:
            i = int(k.__index__())
        except (AttributeError, TypeError):
            raise IndexError("only integers, slices (`:`), ellipsis (`...`), None, and integer or boolean "
                             "arrays are valid indices") from None
        if not -shape[d] <= i < shape[d]:
            raise IndexError(f"index {i} is out of bounds for axis {d} with size {shape[d]}")
        i += shape[d] * (i < 0)
        boxes.append(range(i, i + 1))
        rest.append(0)
    return boxes, None if plain else tuple(rest)


def _around(index: np.ndarray, extent: int) -> range:
    return range(int(index.min()), int(index.max()) + 1) if index.size else range(0, min(extent, 0))


def _within(index: np.ndarray, box: range) -> np.ndarray:
    return index - box.start


def slices(ranges: Ranges) -> Tuple[slice, ...]:
    return tuple(slice(r.start, r.stop, r.step) for r in ranges)


def native(values: np.ndarray) -> np.ndarray:
    """Return a packed copy in native byte order."""
    return np.array(values, dtype=values.dtype.newbyteorder("="), order="C", copy=True)


class RawArray(LazyArray):
    """Uncompressed elements in a file: mapped into memory, copied when indexed."""

    def __init__(self, path: os.PathLike, dtype: np.dtype, shape: Sequence[int], offset: int, *,
                 order: str = "C", strides: Optional[Sequence[int]] = None, dims: Sequence[str] = ()) -> None:
        self.path, self._stored, self.offset, self.order = os.fspath(path), np.dtype(dtype), offset, order
        self.dtype, self.shape = self._stored.newbyteorder("="), tuple(int(n) for n in shape)
        self.dims = tuple(dims) or tuple(f"dim_{d}" for d in range(len(self.shape)))
        self._strides = strides
        extent = self.nbytes
        if strides is not None and self.size:
            extent = sum((n - 1) * s for n, s in zip(self.shape, strides)) + self.dtype.itemsize
        self._extent = extent if self.size else 0
        self._map: Optional[np.ndarray] = None

    def check(self) -> None:
        """Raise unless the file has all elements: access beyond the end of a mapped file would raise SIGBUS."""
        status = file_status(self.path)
        if status.st_size < self.offset + self._extent:
            raise refused("FORMAT", f"the file has {status.st_size} bytes, its elements end at "
                          f"{self.offset + self._extent}", file=self.path, offset=status.st_size)

    def memmap(self) -> np.ndarray:
        """Return the elements in the byte order of the file, read-only, without a copy.  The file must not be truncated."""
        self.check()
        if self._map is None:
            self._map = self._open()
        return self._map

    def _open(self) -> np.ndarray:
        if not self.size:
            return np.empty(self.shape, self._stored)
        try:
            raw = np.memmap(self.path, np.uint8, "r", self.offset, (self._extent,))
        except OSError as error:
            raise os_error(error, self.path) from error
        except (ValueError, OverflowError) as error:
            raise refused("FORMAT", f"cannot map the file: {error}", file=self.path) from error
        return np.ndarray(self.shape, self._stored, raw, 0, self._strides, self.order)

    def _read(self, ranges: Ranges) -> np.ndarray:
        return native(self.memmap()[slices(ranges)])


def os_error(error: OSError, path: Any) -> Error:
    """Return the Error of a failed system call."""
    kinds = {FileNotFoundError: "NOT_FOUND", PermissionError: "PERMISSION", IsADirectoryError: "IS_DIRECTORY",
             NotADirectoryError: "NOT_FOUND"}
    return refused(kinds.get(type(error), "OPEN"), error.strerror or str(error), file=os.fspath(path),
                   errno=error.errno or 0)


def file_status(path: Any) -> os.stat_result:
    """Return the status of a regular file; raises for other files."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise os_error(error, path) from error
    if not stat.S_ISREG(status.st_mode):
        raise refused("FORMAT", "the file is not a regular file", file=os.fspath(path))
    return status
