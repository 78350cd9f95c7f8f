"""Read-only access to datasets without MPI and without the library.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import bisect
import collections
import math
import os
import pathlib
import threading
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._dataset_meta import TYPES, Meta, SectionRow, SegmentRow, SpaceRow, VariableRow, dtype_of
from ._dataset_sections import (BLOCK, ChunkedArray, RankedArray, block_sums, data_path, invert, ranked_head,
                                read_bytes, read_trailer, section_sum)
from ._errors import Error, refused
from ._lazy import LazyArray, RawArray, Ranges

Path = Union[str, os.PathLike]


class Segment(Mapping):
    """A segment of a dataset: a mapping from the names of its variables to lazy arrays.

    number     its index in `run.segments`
    kind       "topology" or "state"
    index      its time index
    time       its time
    archived   location of its bytes, or None: not archived
    infos      names and values
    """

    def __init__(self, run: "Run", number: int, row: SegmentRow) -> None:
        self._run, self._row, self.number = run, row, number
        self.kind, self.index, self.time, self.archived = row.kind, row.index, row.time, row.archived

    @property
    def infos(self) -> Dict[str, Any]:
        """The infos of the segment, by name."""
        return dict(self._run._infos.get((0, self._row.id), {}))

    def infos_of(self, variable: str) -> Dict[str, Any]:
        """Return the infos of a variable in this segment."""
        return dict(self._run._infos.get((self._run._variable(variable).id, self._row.id), {}))

    @property
    def topology(self) -> Optional[int]:
        """The number of the topology that the segment refers to (or is), or None."""
        for segment in reversed(self._run.segments[:self.number + 1]):
            if segment.kind == "topology":
                return segment.number
        return None

    def shape(self, space: str) -> Tuple[int, ...]:
        """Return the shape of a space in this segment."""
        return self._run._shape(self._run._space(space).id, self._row.id)

    def ids(self, space: str) -> np.ndarray:
        """Return the ids of a list in the order of positions."""
        return self._run._ids(self._run._space(space), self._row.id)

    def __getitem__(self, name: str) -> LazyArray:
        return self._run._section(self, self._run._variable(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._run._names_in(self._row.id))

    def __len__(self) -> int:
        return len(self._run._names_in(self._row.id))

    def __repr__(self) -> str:
        return f"<Segment {self.number}: {self.kind}, index {self.index}, time {self.time:g}: {', '.join(self)}>"


class Variable(LazyArray):
    """A variable over time: the first dimension is `segments`, the others are those of the space and the item.

    It can be indexed if its shape is the same in all its segments; `at` returns it in one segment.
    """

    def __init__(self, run: "Run", row: VariableRow) -> None:
        self._run, self._row, self._segments = run, row, None
        self.name, self.item, self.components, self.layout = row.name, row.item, row.components, row.layout
        self.units, self.long_name, self.fill, self.compress = row.units, row.long_name, row.fill, row.compress
        self.space = run._spaces_by_id[row.space].name

    @property
    def infos(self) -> Dict[str, Any]:
        """The infos of the variable, by name."""
        return dict(self._run._infos.get((self._row.id, 0), {}))

    @property
    def segments(self) -> List[Segment]:
        """The segments that have the variable."""
        if self._segments is None:
            self._segments = self._run._with_variable(self._row.id)
        return self._segments

    @property
    def times(self) -> np.ndarray:
        """The time of each segment that has the variable."""
        return np.array([s.time for s in self.segments], float)

    @property
    def indices(self) -> np.ndarray:
        """The time index of each segment that has the variable."""
        return np.array([s.index for s in self.segments], np.int64)

    def at(self, segment: Union[int, Segment]) -> LazyArray:
        """Return the array in one segment."""
        if not isinstance(segment, Segment):
            segment = self._run.segments[segment]
        return segment[self.name]

    def shapes(self) -> List[Tuple[int, ...]]:
        """Return the shape in each of `segments`."""
        return [self._run._shape(self._row.space, s._row.id) + self._item for s in self.segments]

    @property
    def _item(self) -> Tuple[int, ...]:
        return (self._row.numbers,) if self._row.numbers > 1 else ()

    @property
    def shape(self) -> Tuple[int, ...]:  # type: ignore[override]
        """The shape: segments, extents of the space, dimensions of an item."""
        shapes = set(self.shapes())
        if len(shapes) > 1:
            raise refused("MISMATCH", f"'{self.name}' has different shapes in different segments: "
                          f"use its method at()", file=str(self._run.path))
        inner = shapes.pop() if shapes else self._run._last_shape(self._row.space) + self._item
        return (len(self.segments), *inner)

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        """The element type in memory."""
        return np.result_type(*{dtype_of(t, "little").newbyteorder("=") for t in
                                self._run._types_of(self._row.id) or {self._row.type}})

    @property
    def dims(self) -> Tuple[str, ...]:  # type: ignore[override]
        """Names of the dimensions."""
        return ("time", *self._run._dims(self._row, len(self.shape) - 1 - len(self._item)))

    @property
    def chunks(self) -> Optional[Tuple[int, ...]]:  # type: ignore[override]
        """Extents of the pieces that are read in one operation, or None."""
        inner = self.segments[0][self.name].chunks if self.compress and self.segments else None
        return (1, *(inner or self.shape[1:]))

    def _read(self, ranges: Ranges) -> np.ndarray:
        out = np.empty([len(r) for r in ranges], self.dtype)
        for i, at in enumerate(ranges[0]):
            out[i] = self.at(self.segments[at])._read(ranges[1:])
        return out

    def __repr__(self) -> str:
        return f"<Variable {self.name} on {self.space}: {self.item}, {self._row.type}, in {len(self.segments)} segments>"


class Run(Mapping):
    """A dataset: a mapping from names to variables.  Made by tutti.open."""

    def __init__(self, path: Path) -> None:
        self.path = pathlib.Path(path)
        self._meta = Meta(self.path)
        try:
            self._load()
        except BaseException:
            self._meta.close()
            raise

    def _load(self) -> None:
        meta = self._meta
        meta.begin()
        try:
            self._generation = meta.generation()
            self._spaces_by_id: Dict[int, SpaceRow] = {s.id: s for s in meta.spaces()}
            self._rows: List[VariableRow] = meta.variables(self._spaces_by_id)
            segments = meta.segments()
            self._sizes = meta.sizes(segments[-1].id if segments else 0)
            self._infos = meta.infos()
        finally:
            meta.end()
        self._by_id = {v.id: v for v in self._rows}
        self._by_name = {v.name: v for v in self._rows}
        self._space_by_name = {s.name: s for s in self._spaces_by_id.values()}
        self.segments: List[Segment] = [Segment(self, n, row) for n, row in enumerate(segments)]
        self._number = {row.id: n for n, row in enumerate(segments)}
        self._lock = threading.Lock()
        self._lists: "collections.OrderedDict[Tuple[int, int], np.ndarray]" = collections.OrderedDict()
        self._arrays: "collections.OrderedDict[Tuple[int, int], LazyArray]" = collections.OrderedDict()

    # ---- contents

    @property
    def infos(self) -> Dict[str, Any]:
        """Infos of the dataset."""
        return dict(self._infos.get((0, 0), {}))

    @property
    def spaces(self) -> Dict[str, str]:
        """Names of spaces, and whether they are a "grid" or a "list"."""
        return {s.name: s.kind for s in self._spaces_by_id.values()}

    @property
    def states(self) -> List[Segment]:
        """All states, in order of time."""
        return [s for s in self.segments if s.kind == "state"]

    @property
    def topologies(self) -> List[Segment]:
        """All topologies, in order of time."""
        return [s for s in self.segments if s.kind == "topology"]

    @property
    def times(self) -> np.ndarray:
        """The times of the states."""
        return np.array([s.time for s in self.states], float)

    def latest(self, kind: str = "state") -> Segment:
        """Return the last segment of a kind."""
        for segment in reversed(self.segments):
            if segment.kind == kind:
                return segment
        raise refused("NOT_FOUND", f"no segment of kind {kind} exists", file=str(self.path))

    def find(self, *, index: Optional[int] = None, time: Optional[float] = None, kind: str = "state") -> Segment:
        """Return the segment with a time index, or the last one with time <= a time."""
        for segment in reversed(self.segments):
            if segment.kind == kind and ((index is not None and segment.index == index) or
                                         (index is None and time is not None and segment.time <= time)):
                return segment
        what = f"index {index}" if index is not None else f"time <= {time}"
        raise refused("NOT_FOUND", f"no {kind} with {what} exists", file=str(self.path))

    def __getitem__(self, name: str) -> Variable:
        if name not in self._by_name:
            raise KeyError(name)
        return Variable(self, self._by_name[name])

    def __iter__(self) -> Iterator[str]:
        return (v.name for v in self._rows if ":" not in v.name)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __repr__(self) -> str:
        lines = [f"<tutti dataset '{self.path}': {len(self.states)} states, {len(self.topologies)} topologies>"]
        for name in self:
            v = self._by_name[name]
            lines.append(f"  {name}: {v.item}, {v.type} on {self._spaces_by_id[v.space].name}"
                         + (f" [{v.units}]" if v.units else ""))
        return "\n".join(lines)

    # ---- refreshing and closing

    def refresh(self) -> bool:
        """Look for new segments; return whether they have changed.  Get variables and segments again afterwards."""
        before = [s._row for s in self.segments]
        self._load()
        return before != [s._row for s in self.segments]

    def close(self) -> None:
        """Release the metadata and the mapped files."""
        self._meta.close()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- internal

    def _variable(self, name: str) -> VariableRow:
        if name not in self._by_name:
            raise KeyError(name)
        return self._by_name[name]

    def _space(self, name: str) -> SpaceRow:
        if name not in self._space_by_name:
            raise KeyError(name)
        return self._space_by_name[name]

    def _size_row(self, space: int, segment: int) -> Tuple[Tuple[int, ...], int, bool]:
        rows = self._sizes.get(space, [])
        at = bisect.bisect_right([r[0] for r in rows], segment) - 1
        if at < 0:
            raise refused("FORMAT", f"the space '{self._spaces_by_id[space].name}' has no size", file=str(self.path))
        return rows[at][1], rows[at][0], rows[at][2]

    def _shape(self, space: int, segment: int) -> Tuple[int, ...]:
        return self._size_row(space, segment)[0]

    def _last_shape(self, space: int) -> Tuple[int, ...]:
        return self._shape(space, 1 << 62) if self._sizes.get(space) else (0,)

    def _dims(self, row: VariableRow, ndim: int) -> Tuple[str, ...]:
        space = self._spaces_by_id[row.space].name
        own = (space,) if ndim == 1 else tuple(f"{space}_{d}" for d in range(ndim))
        return own + ((f"component_{row.numbers}",) if row.numbers > 1 else ())

    def _unchanged(self) -> None:
        if self._meta.generation() != self._generation:
            raise refused("STATE", "segments have been removed since the dataset was opened: call refresh()", file=str(self.path))

    def _names_in(self, segment: int) -> List[str]:
        rows = self._meta.section_rows("segment = ? AND part = 0 ORDER BY variable", segment)
        names = [self._by_id[r.variable].name for r in rows if r.variable in self._by_id]
        return [n for n in names if ":" not in n]

    def _with_variable(self, variable: int) -> List[Segment]:
        rows = self._meta.rows("SELECT segment FROM sections WHERE variable = ? AND part = 0 ORDER BY segment", variable)
        return [self.segments[self._number[s]] for s, in rows if s in self._number]

    def _types_of(self, variable: int) -> List[str]:
        return [self._meta.word(t, "a type", TYPES) for t, in
                self._meta.rows("SELECT DISTINCT type FROM sections WHERE variable = ? AND part = 0", variable)]

    def _place(self, section: SectionRow, number: int) -> str:
        """Return the data file of a section; raises unless the section is within its segment, which must not be archived."""
        row = self.segments[number]._row
        if row.archived is not None:
            raise refused("STATE", f"segment {number} is archived in '{row.archived}': restore it first",
                          file=str(self.path))
        if not row.start <= section.start <= section.start + section.bytes <= row.trailer:
            raise refused("FORMAT", f"section of bytes [{section.start}, {section.start + section.bytes}) is outside "
                          f"segment {number}", file=str(self.path))
        return data_path(self.path, row.file)

    def _find_section(self, segment: int, variable: int, part: int) -> Optional[SectionRow]:
        rows = self._meta.section_rows("segment = ? AND variable = ? AND part = ?", segment, variable, part)
        return rows[0] if rows else None

    def _section(self, segment: Segment, row: VariableRow) -> LazyArray:
        """Return the array of a section; recently used arrays are cached."""
        self._unchanged()
        key = (segment._row.id, row.id)
        with self._lock:
            if key in self._arrays:
                self._arrays.move_to_end(key)
                return self._arrays[key]
        array = self._make_section(segment, row)
        with self._lock:
            self._arrays[key] = array
            while len(self._arrays) > 16:
                self._arrays.popitem(last=False)
        return array

    def _make_section(self, segment: Segment, row: VariableRow) -> LazyArray:
        found = self._find_section(segment._row.id, row.id, 0)
        if found is None:
            raise KeyError(row.name)
        path = self._place(found, segment.number)
        dtype = dtype_of(found.type, row.byte_order)
        space = self._shape(row.space, segment._row.id)
        shape = space + ((row.numbers,) if row.numbers > 1 else ())
        dims = self._dims(row, len(space))
        if row.layout == "ranked":
            return self._ranked(found, row, path, dtype, shape, len(space), dims)
        if row.compress:
            return ChunkedArray(path, found.start, found.bytes, dtype, shape, len(space), row.numbers, dims)
        if math.prod(shape) * dtype.itemsize != found.bytes:
            raise refused("FORMAT", f"'{row.name}' has {found.bytes} bytes in segment {segment.number}: "
                          f"expected {math.prod(shape) * dtype.itemsize} (shape {shape})", file=path, offset=found.start)
        array = RawArray(path, dtype, shape, found.start, dims=dims)
        array.check()
        return array

    def _ranked(self, found: SectionRow, row: VariableRow, path: str, dtype: np.dtype, shape: Tuple[int, ...],
                space_ndim: int, dims: Tuple[str, ...]) -> LazyArray:
        head, entries = ranked_head(path, found.start, found.bytes)
        if head + entries * row.numbers * dtype.itemsize > found.bytes:
            raise refused("FORMAT", f"'{row.name}': {entries} entries do not fit into its section of {found.bytes} bytes",
                          file=path, offset=found.start)
        inner = (row.numbers,) if row.numbers > 1 else ()
        values = RawArray(path, dtype, (entries, *inner), found.start + head)
        values.check()
        size = math.prod(shape[:space_ndim])
        if found.list_segment is None or found.list_part is None:
            raise refused("FORMAT", f"ranked variable '{row.name}' has no list of entries", file=str(self.path))
        key = (found.list_segment, found.list_part)
        return RankedArray(values, lambda: self._list(row.space, key, entries, size), shape, space_ndim, row.fill, dims)

    def _list(self, space: int, key: Tuple[int, int], entries: int, size: int) -> np.ndarray:
        """Return, for each position of a space, its index in a list of entries, or -1."""
        with self._lock:
            found = self._lists.get(key)
        if found is not None and len(found) == size:
            return found
        lists = self._by_name.get(f"{self._spaces_by_id[space].name}:entries")
        section = lists and self._find_section(key[0], lists.id, key[1])
        if not section or key[0] not in self._number:
            raise refused("FORMAT", f"segment with id {key[0]} has no list of entries", file=str(self.path))
        path = self._place(section, self._number[key[0]])
        if section.bytes != 8 * entries:
            raise refused("FORMAT", f"list of {entries} entries has {section.bytes} bytes: expected {8 * entries}", file=path,
                          offset=section.start)
        if size > 1 << 40:
            raise refused("FORMAT", f"a space has {size} entries: at most 2^40 are supported", file=str(self.path))
        out = invert(np.frombuffer(read_bytes(path, section.start, section.bytes), "<i8"), size, path)
        with self._lock:
            self._lists[key] = out
            while len(self._lists) > 4:
                self._lists.popitem(last=False)
        return out

    def _ids(self, space: SpaceRow, segment: int) -> np.ndarray:
        shape, since, has_ids = self._size_row(space.id, segment)
        if not has_ids or since not in self._number:
            return np.arange(math.prod(shape))
        return self.segments[self._number[since]][f"{space.name}:ids"][...]

    # ---- verification

    def verify(self) -> int:
        """Read all data and compare checksums; archived segments are skipped.

        Returns how many bytes were compared (segments that were written without checksums do not count); raises
        tutti.Error (TUTTI_ERR_FORMAT) that names the first damage.
        """
        return sum(self.verify_segment(s) for s in self.segments if s.archived is None)

    def verify_segment(self, segment: Union[int, Segment]) -> int:
        """Verify one segment."""
        if not isinstance(segment, Segment):
            segment = self.segments[segment]
        row = segment._row
        path = data_path(self.path, row.file)
        sections = self._meta.section_rows("segment = ? ORDER BY start", row.id)
        if row.container == "netcdf":
            return sum(self._verify_section(path, segment, s, self._sums(path, segment, s))
                       for s in sections if s.sum is not None)
        told = read_trailer(path, row.start, row.trailer, row.end)
        if told is None:
            return 0
        at = total = 0
        for section in sections:
            sums = self._sums(path, segment, section)
            name = self._name_of(section)
            if at + len(sums) > len(told):
                raise self._differs(path, name, segment.number, section.start, "the trailer has too few checksums")
            for block, (mine, theirs) in enumerate(zip(sums, told[at:])):
                if mine != int(theirs):
                    offset = section.start if block == 0 else (section.start // BLOCK + block) * BLOCK
                    raise self._differs(path, name, segment.number, offset, f"block {block} is damaged")
            at += len(sums)
            total += self._verify_section(path, segment, section, sums)
        if at != len(told):
            raise self._differs(path, "", segment.number, row.trailer, "the trailer has too many checksums")
        return total

    def _name_of(self, section: SectionRow) -> str:
        return self._by_id[section.variable].name if section.variable in self._by_id else "?"

    def _sums(self, path: str, segment: Segment, section: SectionRow) -> List[int]:
        """Return the checksums of the blocks of a section."""
        self._place(section, segment.number)
        return block_sums(path, section.start, section.bytes)

    def _verify_section(self, path: str, segment: Segment, section: SectionRow, sums: List[int]) -> int:
        """Compare the checksum of a section with the metadata; return its size in bytes."""
        if section.sum is not None and section.sum != section_sum(sums):
            raise self._differs(path, self._name_of(section), segment.number, section.start,
                                "its checksum differs from the metadata")
        return section.bytes

    def _differs(self, path: str, name: str, segment: int, offset: int, text: str) -> Error:
        return refused("FORMAT", f"'{name}' in segment {segment}: {text}", file=path, offset=offset)


def open(path: Path) -> Run:  # noqa: A001  # called as tutti.open
    """Open a dataset for reading, without MPI and without the library.

        run = tutti.open("run.tutti")
        run.infos, run.times, list(run)         # contents
        u = run["temperature"]                  # through time: u.shape, u.times, u[-1, 10:20]
        v = run.latest()["temperature"]         # in one segment: v[...] reads it
        run.verify()

    The result has the segments that exist now, also while a program writes; refresh() looks for new ones.
    Raises tutti.Error: TUTTI_ERR_NOT_FOUND, or TUTTI_ERR_FORMAT if the path is not a dataset or is damaged.
    """
    return Run(path)
