"""The metadata of a dataset (metadata.sqlite), read without the library: docs/reference/format.md, "Datasets".

All values from the database are validated: a damaged database raises Error.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import sqlite3
import struct
import tempfile
import urllib.parse
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._errors import Error, refused
from ._lazy import file_status, os_error

TYPES = ("bytes", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64", "complex128")
TABLES = ("dataset", "files", "spaces", "variables", "segments", "sizes", "sections", "infos")
META, JOURNAL = "metadata.sqlite", "metadata.sqlite-journal"
VERSIONS = (1, 2)
ENDINGS = {"tutti": "tutti", "netcdf": "nc"}  # suffixes of data files, by container


class _Undecoded(bytes):
    """Text of version 1 that is not UTF-8."""


def _text(raw: bytes) -> Any:
    try:
        return _Undecoded(raw) if 0 in raw else raw.decode()
    except UnicodeDecodeError:
        return _Undecoded(raw)

LARGEST = 1 << 62


def netcdf_records(path: pathlib.Path) -> int:
    """Return the number of records in the header of a data file.  If the file cannot be read, return the largest number;
    reading its sections then raises Error."""
    try:
        file_status(path)
        with open(path, "rb") as f:
            head = f.read(12)
    except (Error, OSError):
        return LARGEST
    return int.from_bytes(head[4:], "big") if len(head) == 12 and head[:4] == b"CDF\5" else LARGEST


def dtype_of(name: str, byte_order: str = "little") -> np.dtype:
    return np.dtype("u1" if name == "bytes" else name).newbyteorder("<" if byte_order == "little" else ">")


@dataclass(frozen=True)
class SpaceRow:
    id: int
    name: str
    kind: str


@dataclass(frozen=True)
class VariableRow:
    id: int
    name: str
    space: int
    item: str
    components: int
    type: str
    layout: str
    byte_order: str
    units: Optional[str]
    long_name: Optional[str]
    fill: float
    compress: int

    @property
    def numbers(self) -> int:
        """Number of values per item."""
        n = self.components
        return {"symmetric": n * (n + 1) // 2, "tensor": n * n}.get(self.item, n)


@dataclass(frozen=True)
class SegmentRow:
    id: int
    kind: str
    index: int
    time: float
    file: str
    start: int
    end: int
    trailer: int
    sections: int
    archived: Optional[str]
    container: str


@dataclass(frozen=True)
class SectionRow:
    segment: int
    variable: int
    part: int
    start: int
    bytes: int
    type: str
    sum: Optional[int]
    list_segment: Optional[int]
    list_part: Optional[int]


class Meta:
    """A connection to the database, and the tables read from it."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._copy: Optional[tempfile.TemporaryDirectory] = None
        self._db: Optional[sqlite3.Connection] = None
        file_status(path / META)
        try:
            self._connect(path)
        except sqlite3.OperationalError as error:
            if not self._journal_left():
                raise self.damaged(error) from error
            self._connect_copy()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.damaged(error) from error

    def damaged(self, why: Any) -> Error:
        return refused("FORMAT", f"its metadata cannot be read: {why}", file=str(self.path))

    def _connect(self, folder: pathlib.Path) -> None:
        for end in ("", "-journal", "-wal", "-shm"):
            name = folder / (META + end)
            if name.exists() and not name.is_file():
                raise refused("FORMAT", f"'{name}' is not a regular file", file=str(self.path))
        where = urllib.parse.quote(str((folder / META).absolute()))
        db = sqlite3.connect(f"file:{where}?mode=ro", uri=True, timeout=5, isolation_level=None, check_same_thread=False)
        db.text_factory = _text
        try:
            db.execute("PRAGMA trusted_schema=0")
            db.execute("PRAGMA cell_size_check=1")
            application, = db.execute("PRAGMA application_id").fetchone()
            version, = db.execute("PRAGMA user_version").fetchone()
            tables = {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        except BaseException:
            db.close()
            raise
        self._db = db
        text = None
        if application != 0x54555454:
            text = "is no dataset of Tutti's"
        elif version not in VERSIONS:
            text = f"has format version {version}; this reader supports {VERSIONS[0]} to {VERSIONS[-1]}"
        elif not tables.issuperset(TABLES):
            text = f"its metadata have no table '{sorted(set(TABLES) - tables)[0]}'"
        if text:
            self.close()
            raise refused("FORMAT", text, file=str(self.path))
        self.has_archive = "archived" in tables

    def _journal_left(self) -> bool:
        try:
            return (self.path / JOURNAL).stat().st_size > 0
        except OSError:
            return False

    def _connect_copy(self) -> None:
        """Roll back the journal that a killed writer has left, in a private copy."""
        self._copy = tempfile.TemporaryDirectory(prefix="tutti-")
        try:
            for name in (META, JOURNAL):
                shutil.copyfile(self.path / name, os.path.join(self._copy.name, name))
            with sqlite3.connect(os.path.join(self._copy.name, META)) as db:
                db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            db.close()
            self._connect(pathlib.Path(self._copy.name))
        except OSError as error:
            raise os_error(error, self.path) from error
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.damaged(error) from error

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def rows(self, query: str, *values: Any) -> List[tuple]:
        if self._db is None:
            raise refused("STATE", "the dataset has been closed", file=str(self.path))
        try:
            return self._db.execute(query, values).fetchall()
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            raise self.damaged(error) from error

    # ---- checked values

    def whole(self, value: Any, what: str, least: int = 0, most: int = LARGEST) -> int:
        if not isinstance(value, int) or not least <= value <= most:
            raise self.damaged(f"{what} has invalid value {value!r:.60}")
        return value

    def word(self, value: Any, what: str, choices: Optional[Tuple[str, ...]] = None) -> str:
        if isinstance(value, _Undecoded):
            value = value.decode(errors="backslashreplace")
        if not isinstance(value, str) or (choices and value not in choices):
            raise self.damaged(f"{what} has invalid value {value!r:.60}")
        return value

    def number(self, value: Any, what: str) -> float:
        if not isinstance(value, (int, float)):
            raise self.damaged(f"{what} has invalid value {value!r:.60}")
        return float(value)

    # ---- tables

    def begin(self) -> None:
        """Begin a transaction: all reads until end see the same state."""
        self.rows("BEGIN")

    def end(self) -> None:
        self.rows("COMMIT")

    def generation(self) -> int:
        found = self.rows("SELECT value FROM dataset WHERE key = 'generation'")
        return self.whole(found[0][0] if found else None, "the generation", -LARGEST)

    def spaces(self) -> List[SpaceRow]:
        return [SpaceRow(self.whole(i, "the id of a space"), self.word(name, "the name of a space"),
                         self.word(kind, f"the kind of '{name}'", ("grid", "list")))
                for i, name, kind in self.rows("SELECT id, name, kind FROM spaces ORDER BY id")]

    def variables(self, spaces: Dict[int, SpaceRow]) -> List[VariableRow]:
        out = []
        for row in self.rows("SELECT id, name, space, item, components, type, layout, byte_order, units, long_name,"
                             " fill, compress FROM variables ORDER BY id"):
            name = self.word(row[1], "the name of a variable")
            of = f"of '{name}'"
            if row[2] not in spaces:
                raise self.damaged(f"the space {of} has invalid kind {row[2]!r:.60}")
            if not isinstance(row[10], bytes) or len(row[10]) != 8:
                raise self.damaged(f"the fill value {of} must have 8 bytes")
            out.append(VariableRow(
                self.whole(row[0], f"the id {of}"), name, row[2],
                self.word(row[3], f"the item {of}", ("scalar", "vector", "symmetric", "tensor", "values")),
                self.whole(row[4], f"components {of}", 1, 1 << 20), self.word(row[5], f"the type {of}", TYPES),
                self.word(row[6], f"the layout {of}", ("global", "ranked")),
                self.word(row[7], f"the byte order {of}", ("little", "big")),
                None if row[8] is None else self.word(row[8], f"units {of}"),
                None if row[9] is None else self.word(row[9], f"long_name {of}"),
                struct.unpack("<d", row[10])[0], self.whole(row[11], f"the compression {of}", 0, 100)))
        return out

    def segments(self) -> List[SegmentRow]:
        files = {}
        for i, name, container in self.rows("SELECT id, name, container FROM files"):
            self.word(container, f"the container of the data file {name!r:.60}", tuple(ENDINGS))
            if not isinstance(name, str) or not re.fullmatch(r"data-\d{6,18}\." + ENDINGS[container], name):
                raise self.damaged(f"invalid name {name!r:.60} of a data file with container '{container}'")
            files[i] = name, container
        places = {}
        if self.has_archive:
            places = {segment: self.word(place, "the place of an archive")
                      for segment, place in self.rows("SELECT segment, place FROM archived")}
        out = []
        for i, kind, index, time, file, start, end, trailer, sections in self.rows(
                "SELECT id, kind, time_index, time, file, start, end, trailer, sections FROM segments ORDER BY id"):
            of = f"of segment {i}"
            if file not in files:
                raise self.damaged(f"invalid file {file!r:.60} {of}")
            row = SegmentRow(self.whole(i, "the id of a segment", 1), self.word(kind, f"the kind {of}", ("topology", "state")),
                             self.whole(index, f"the time index {of}", -LARGEST * 2, LARGEST * 2),
                             self.number(time, f"the time {of}"), files[file][0], self.whole(start, f"the start {of}", 4096),
                             self.whole(end, f"the end {of}"), self.whole(trailer, f"the trailer {of}"),
                             self.whole(sections, f"the number of sections {of}"), places.get(i), files[file][1])
            most = row.end - 64 if row.container == "tutti" else row.end
            if not row.start <= row.trailer <= most or (row.container == "netcdf" and row.trailer != row.end):
                raise self.damaged(f"start {row.start}, trailer {row.trailer} and end {row.end} {of} are inconsistent")
            out.append(row)
        return self._counted(out)

    def _counted(self, segments: List[SegmentRow]) -> List[SegmentRow]:
        """Return the segments without those of an unfinished netCDF commit, whose records the headers do not count."""
        found = self.rows("SELECT value FROM dataset WHERE key = 'commit'")
        if not found or not segments or segments[-1].container != "netcdf":
            return segments
        commit = self.whole(found[0][0], "the first segment of the last commit", -LARGEST)
        before = [s for s in segments if commit <= 0 or s.id < commit]
        states: Dict[str, int] = {}
        for number, segment in enumerate(segments):
            if segment.kind == "state" and segment.container == "netcdf":
                states[segment.file] = states.get(segment.file, 0) + 1
                if number >= len(before) and netcdf_records(self.path / segment.file) < states[segment.file]:
                    return before
        return segments

    def sizes(self, last: int) -> Dict[int, List[Tuple[int, Tuple[int, ...], bool]]]:
        """Return a list of (first segment, shape, has ids) per space, in ascending order, up to segment `last`."""
        out: Dict[int, List[Tuple[int, Tuple[int, ...], bool]]] = {}
        for segment, space, shape, ids in self.rows("SELECT segment, space, shape, ids FROM sizes WHERE segment <= ?"
                                                    " ORDER BY segment", last):
            self.whole(segment, "the segment of a size")
            if not isinstance(shape, str) or not re.fullmatch(r"\d{1,19}(,\d{1,19}){0,15}", shape):
                raise self.damaged(f"invalid shape {shape!r:.60}")
            extents = tuple(int(n) for n in shape.split(","))
            if any(n >= LARGEST for n in extents):
                raise self.damaged(f"invalid shape {shape!r:.60}")
            out.setdefault(space, []).append((segment, extents, bool(ids)))
        return out

    def section_rows(self, where: str, *values: Any) -> List[SectionRow]:
        out = []
        for row in self.rows("SELECT segment, variable, part, start, bytes, type, sum, list_segment, list_part"
                             f" FROM sections WHERE {where}", *values):
            of = f"of a section of segment {row[0]!r:.20}"
            lists = tuple(None if v is None else self.whole(v, f"the list {of}") for v in row[7:9])
            out.append(SectionRow(
                self.whole(row[0], f"the segment {of}"), self.whole(row[1], f"the variable {of}"),
                self.whole(row[2], f"the part {of}"), self.whole(row[3], f"the start {of}"),
                self.whole(row[4], f"bytes {of}"), self.word(row[5], f"the type {of}", TYPES),
                None if row[6] is None else self.whole(row[6], f"the sum {of}", -LARGEST * 2, LARGEST * 2), *lists))
        return out

    def infos(self) -> Dict[Tuple[int, int], Dict[str, Any]]:
        """Return the infos, a dict from names to values for each (variable, segment)."""
        out: Dict[Tuple[int, int], Dict[str, Any]] = {}
        for variable, segment, name, kind, count, value in self.rows(
                "SELECT variable, segment, name, type, count, value FROM infos ORDER BY name"):
            name = self.word(name, "the name of an info")
            kind = self.word(kind, f"the type of '{name}'", TYPES)
            out.setdefault((variable, segment), {})[name] = self._info(name, kind, count, value)
        return out

    def _info(self, name: str, kind: str, count: Any, value: Any) -> Any:
        if kind == "bytes":
            if isinstance(value, bytes):
                return bytes(value)
            return self.word(value, f"the info '{name}'")
        if not isinstance(value, bytes) or len(value) != self.whole(count, f"the count of '{name}'") * np.dtype(kind).itemsize:
            raise self.damaged(f"size of info '{name}' does not match {count} values of type {kind}")
        numbers = np.frombuffer(value, kind)
        return numbers[0].item() if len(numbers) == 1 else numbers.copy()
