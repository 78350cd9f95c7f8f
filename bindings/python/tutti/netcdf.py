"""netCDF files in the classic formats (CDF-1, CDF-2, CDF-5), Exodus files among them, as lazy arrays.

The reader follows the specification of the format (SciPy does not support CDF-5).  netCDF-4 files (HDF5) need other packages.
Variables are mapped into memory.

    f = tutti.netcdf.open("out.e")
    f.dimensions, f.attributes, list(f)
    f["time_whole"][...]

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import builtins
import math
import os
import struct
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._errors import Error, refused
from ._lazy import LazyArray, RawArray, file_status, os_error

TYPES = {1: ">i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8",
         7: ">u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8"}
DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12
HEAD_LIMIT = 1 << 28
Path = Union[str, os.PathLike]


class _Head:
    """A reader of the values of a header."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data, self.path, self.at = data, path, 4
        self.version = data[3]
        self.wide = self.version == 5

    def wrong(self, text: str) -> Error:
        return refused("FORMAT", text, file=self.path, offset=self.at)

    def take(self, n: int) -> bytes:
        if n < 0 or self.at + n > len(self.data):
            raise self.wrong("the header is truncated")
        self.at += n
        return self.data[self.at - n:self.at]

    def word(self) -> int:
        return struct.unpack(">I", self.take(4))[0]

    def count(self) -> int:
        """Read a non-negative count: 4 bytes, or 8 in CDF-5."""
        value = struct.unpack(">q" if self.wide else ">i", self.take(8 if self.wide else 4))[0]
        if value < 0:
            raise self.wrong("negative count in the header")
        return value

    def offset(self) -> int:
        wide = self.version != 1
        value = struct.unpack(">q" if wide else ">i", self.take(8 if wide else 4))[0]
        if value < 0:
            raise self.wrong("negative offset in the header")
        return value

    def items(self, tag: int) -> int:
        """Read the number of elements of a list; an empty list may lack its tag."""
        found, n = self.word(), self.count()
        if found not in (0, tag) or (found == 0 and n):
            raise self.wrong(f"list has tag {found}: expected {tag}")
        if n > len(self.data):
            raise self.wrong(f"list has {n} elements: more than the header can contain")
        return n

    def name(self) -> str:
        n = self.count()
        raw = self.take(n)
        self.take(-n % 4)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    def attributes(self) -> Dict[str, Any]:
        out: Dict[str, Any] = {}
        for _ in range(self.items(ATTRIBUTES)):
            name, kind, n = self.name(), self.word(), self.count()
            if kind not in TYPES:
                raise self.wrong(f"attribute has unknown type {kind}")
            dtype = np.dtype(TYPES[kind])
            raw = self.take(n * dtype.itemsize)
            self.take(-len(raw) % 4)
            if kind == 2:
                out[name] = raw.rstrip(b"\0").decode("utf-8", "replace")
            else:
                values = np.frombuffer(raw, dtype).astype(dtype.newbyteorder("="))
                out[name] = values[0] if n == 1 else values
        return out


class Variable(RawArray):
    """A variable of a netCDF file: a lazy array with `name`, `dims` and `attributes`."""

    name: str
    attributes: Dict[str, Any]


class File(Mapping):
    """A netCDF file: a mapping from names to variables."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        size = file_status(path).st_size
        try:
            with builtins.open(path, "rb") as f:
                data = f.read(min(size, 1 << 16))
                try:
                    self._parse(data, size)
                except Error:
                    if len(data) == size:
                        raise
                    self._parse(data + f.read(HEAD_LIMIT - len(data)), size)
        except OSError as error:
            raise os_error(error, path) from error

    def _parse(self, data: bytes, size: int) -> None:
        if len(data) < 8 or data[:3] != b"CDF" or data[3] not in (1, 2, 5):
            raise refused("FORMAT", "the file is not a netCDF file in a classic format (CDF-1, CDF-2, CDF-5)", file=self.path)
        head = _Head(data, self.path)
        self.version = head.version
        records = head.take(8 if head.wide else 4)
        streaming = records == b"\xff" * len(records)
        self.records = -1 if streaming else int.from_bytes(records, "big")
        lengths: List[Tuple[str, int]] = [(head.name(), head.count()) for _ in range(head.items(DIMENSIONS))]
        self.attributes = head.attributes()
        self._variables: Dict[str, Variable] = {}
        found = [self._variable(head, lengths) for _ in range(head.items(VARIABLES))]
        self._lay_out(found, lengths, size)

    def _variable(self, head: _Head, lengths: List[Tuple[str, int]]) -> tuple:
        name = head.name()
        ndims = head.count()
        if ndims > 1024:
            raise head.wrong(f"variable '{name}' has {ndims} dimensions: out of range")
        ids = [head.count() if head.wide else head.word() for _ in range(ndims)]
        if any(i >= len(lengths) for i in ids):
            raise head.wrong(f"variable '{name}' has an undefined dimension")
        attributes, kind = head.attributes(), head.word()
        if kind not in TYPES:
            raise head.wrong(f"variable '{name}' has unknown type {kind}")
        head.count()  # vsize is redundant, and wrong for large variables
        begin = head.offset()
        is_record = bool(ids) and lengths[ids[0]][1] == 0
        if any(lengths[i][1] == 0 for i in ids[1:]):
            raise head.wrong(f"the record dimension of variable '{name}' is not its first dimension")
        return name, ids, attributes, np.dtype(TYPES[kind]), begin, is_record

    def _lay_out(self, found: List[tuple], lengths: List[Tuple[str, int]], size: int) -> None:
        inner = {name: math.prod(lengths[i][1] for i in ids[is_record:]) * dtype.itemsize
                 for name, ids, _, dtype, _, is_record in found}
        recorded = [f for f in found if f[5]]
        step = sum(-(-inner[f[0]] // 4) * 4 for f in recorded)
        if len(recorded) == 1:
            step = inner[recorded[0][0]]
        if self.records < 0:
            first = min((f[4] for f in recorded), default=size)
            self.records = max(size - first, 0) // step if step else 0
        self.dimensions = {name: (n or self.records) for name, n in lengths}
        for name, ids, attributes, dtype, begin, is_record in found:
            shape = [lengths[i][1] for i in ids]
            if is_record:
                shape[0] = self.records
            if math.prod(shape) * dtype.itemsize >= 1 << 62 or step >= 1 << 62:
                raise refused("FORMAT", f"variable '{name}' has invalid shape {shape}", file=self.path)
            strides: Optional[List[int]] = None
            if is_record:
                strides = [step]
                for d in range(1, len(ids)):
                    strides.append(math.prod(shape[d + 1:]) * dtype.itemsize)
            variable = Variable(self.path, dtype, shape, begin, strides=strides, dims=[lengths[i][0] for i in ids])
            variable.dims = tuple(lengths[i][0] for i in ids)
            variable.name, variable.attributes = name, attributes
            variable.check()
            self._variables[name] = variable

    def __getitem__(self, name: str) -> Variable:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{k} = {v}" for k, v in self.dimensions.items())
        return f"<netCDF file '{self.path}' (CDF-{self.version}): {sizes}; {len(self)} variables>"


def text(variable: LazyArray) -> List[str]:
    """Return the texts of a character variable, one per row of its last dimension."""
    rows = variable[...]
    rows = rows.reshape(-1, rows.shape[-1]) if rows.ndim else rows.reshape(1, 1)
    return [row.tobytes().split(b"\0")[0].decode("utf-8", "replace").strip() for row in rows]


def open(path: Path) -> File:  # noqa: A001  # tutti.netcdf.open
    """Open a netCDF file in a classic format for reading.  Raises tutti.Error if it has another format or is damaged."""
    return File(path)
