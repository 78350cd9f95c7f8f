"""Datasets: results and checkpoints with metadata, committed atomically and readable on any number of ranks.
<tutti/dataset.h>, <tutti/decomposition.h>

    with tutti.Dataset(comm, "run.tutti", "rw") as d:
        d.grid("grid", (n, n))
        d.variable("temperature", "grid", "f8", units="K")
        rows = d.decomposition("grid", slice=np.s_[lo:hi, :])
        for step in range(steps):
            with d.state(step, step * dt):              # committed at the end of the block
                d.put(rows, temperature=t)

All calls are collective with the same arguments on all ranks, unless documented otherwise; arrays differ between ranks.
To read a dataset without MPI use tutti.open.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import contextlib
import ctypes
import errno
import operator
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _c, mpi
from ._api import NUMBERS
from ._buffers import DTYPES, MAX_DIMS, TYPES, address, counts, fitting, numbers, pointer, type_of
from ._closing import Committing, Freeing, Reporting
from ._errors import CODES, Error, refused
from .array import slice_of
from .file import Request, Stats
from .options import options_pointer
from .replicas import set_choice

_byref = ctypes.byref
ITEMS = {"scalar": "SCALAR", "vector": "VECTOR", "symmetric": "SYM_TENSOR", "tensor": "TENSOR", "values": "VALUES"}
KINDS = {"topology": NUMBERS["TUTTI_TOPOLOGY"], "state": NUMBERS["TUTTI_STATE"]}
CONTAINERS = {"native": NUMBERS["TUTTI_CONTAINER_NATIVE"], "netcdf": NUMBERS["TUTTI_CONTAINER_NETCDF"]}
KIND_NAMES = {v: k for k, v in KINDS.items()}


def _kind(kind: str) -> int:
    if kind not in KINDS:
        raise ValueError(f"unknown kind '{kind}' of segment: must be 'topology' or 'state'")
    return KINDS[kind]


class SegmentInfo(NamedTuple):
    """The description of a segment."""
    number: int
    kind: str
    index: int
    time: float
    topology: Optional[int]
    sections: int
    bytes: int
    archived: Optional[str]


class SpaceInfo(NamedTuple):
    """The definition of a space."""
    name: str
    is_list: bool
    has_ids: bool
    shape: Optional[Tuple[int, ...]]


class VariableInfo(NamedTuple):
    """The definition of a variable."""
    name: str
    space: str
    item: str
    values_per_item: int
    dtype: np.dtype
    layout: str
    units: str
    long_name: str
    fill: float
    compress: int


class SectionInfo(NamedTuple):
    """The location of a variable in a segment."""
    dtype: np.dtype
    bytes: int
    start: int
    file: str
    has_checksums: bool
    raw_bytes: int


def _dtype(kind: int, big: bool = False) -> np.dtype:
    return np.dtype("u1") if kind == TYPES["bytes"] else DTYPES[kind].newbyteorder(">" if big else "=")


class Decomposition(Freeing):
    """The entries of a space that this rank holds.  Made by Dataset.decomposition.

    entries   number of entries
    shape     shape of arrays: the extents of a slice, otherwise (entries,)
    """

    def __init__(self, dataset: "Dataset", space: str, segment: Optional[int], prepare: Any) -> None:
        self._h, self._dataset, self.space = ctypes.c_void_p(), dataset, space
        self._memory: Optional[Tuple[int, int]] = None
        live = dataset._live()
        where = () if segment is None else (segment,)
        function = _c.tutti_decomposition_create if segment is None else _c.tutti_decomposition_create_at
        _c.together(function, lambda: (live, _c.text_bytes(space, "the space"), *where, _byref(prepare(self)),
                                       _byref(self._h)), (live, None, *where, None, _byref(self._h)))

    _what = "the decomposition"

    @property
    def entries(self) -> int:
        """Number of entries that this rank holds."""
        return _c.tutti_decomposition_entries(self._live())

    @property
    def shape(self) -> Tuple[int, ...]:
        """Shape of arrays for the entries: the extents of a slice (or of the array around it), otherwise (entries,)."""
        return self._shape if self._shape is not None else (self.entries,)

    def positions(self) -> np.ndarray:
        """Return the position of each entry in the space."""
        out = np.empty(self.entries, np.int64)
        _c.tutti_decomposition_positions(self._live(), address(out))
        return out

    def _free(self, handle: Any) -> None:
        _c.tutti_decomposition_free(handle)

    def _array(self, name: str, values: Any, numbers_: int, writable: bool) -> np.ndarray:
        """Return a contiguous array for a variable with one item per entry."""
        if not isinstance(values, np.ndarray):
            raise TypeError(f"variable '{name}' is {type(values).__name__}: must be a NumPy array")
        type_of(values.dtype)
        return self._fitting(values, numbers_, f"'{name}'", writable)

    def _fitting(self, values: Any, each: int, what: str, writable: bool) -> np.ndarray:
        """Return the array if it has the shape of the entries; with positions in memory, if it is large enough."""
        if self._memory is None:
            return fitting(values, self.shape, each, what, writable=writable, is_list=self._shape is None)
        low, high = self._memory
        if low < 0:
            raise ValueError(f"memory of {what} contains {low}: positions must be >= 0")
        entries = max(values.size // max(each, 1), high)
        return fitting(values, (entries,), each, what, writable=writable)


_HOW = "a decomposition is by slice, index, ids, index and ids, or n"


def _spec_more(spec: Any, made: Decomposition, keep: List[Any], own: Any, memory: Any, whole: bool, choice: tuple) -> Any:
    owns = numbers(own, np.uint8, "own", spec.n)
    places = numbers(memory, np.int64, "memory", spec.n)
    spec.own, spec.memory, spec.whole = pointer(owns), pointer(places), int(whole)
    if places is not None:
        made._memory = (int(places.min()), int(places.max()) + 1) if len(places) else (0, 0)
    set_choice(spec.choice, *choice)
    keep.extend((owns, places, spec))
    return spec


def _surround(spec: Any, keep: List[Any], ndims: int, extents: Sequence[int], origin: Sequence[int]) -> Tuple[int, ...]:
    """Set slice_memory of a spec: extents of the array in memory, and origin of the slice in it."""
    around = _c.tutti_section()
    for what, field, values in (("extents", around.shape, extents), ("origin", around.lo, origin)):
        if len(values) != ndims:
            raise ValueError(f"slice_memory has {len(values)} {what}: must be {ndims}")
        for i, value in enumerate(values):
            field[i] = operator.index(value)
    spec.slice_memory = ctypes.pointer(around)
    keep.append(around)
    return tuple(around.shape[:ndims])


def spec_of(made: Decomposition, keep: List[Any], *, index: Any, ids: Any, n: Optional[int], own: Any, memory: Any, whole: bool,
            choice: tuple) -> Any:
    """Fill the spec of a decomposition that is not a slice."""
    spec = _c.tutti_decomposition_spec()
    at = numbers(index, np.int64, "index")
    names = numbers(ids, np.int64, "ids", None if at is None else len(at))
    if at is not None or names is not None:
        spec.kind = NUMBERS["TUTTI_BY_BOTH" if at is not None and names is not None else
                            "TUTTI_BY_INDEX" if at is not None else "TUTTI_BY_VALUE"]
        spec.n = len(at if at is not None else names)
    elif n is not None:
        spec.kind, spec.n = NUMBERS["TUTTI_BY_RANK_ORDER"], operator.index(n)
    else:
        raise TypeError(_HOW)
    spec.index, spec.ids = pointer(at), pointer(names)
    keep.extend((at, names))
    return _spec_more(spec, made, keep, own, memory, whole, choice)


def info_to_c(value: Any, keep: List[Any]) -> Tuple[int, int, Optional[int]]:
    """Convert text, a number or a list of numbers to type, count and address; None: count 0."""
    kind, count, at = TYPES["bytes"], 0, None
    if isinstance(value, (str, bytes)):
        raw = value.encode("utf-8") if isinstance(value, str) else value
        keep.append(np.frombuffer(raw + b"\0", np.uint8))
        count, at = len(raw), address(keep[0])
    elif value is not None:
        array = np.ascontiguousarray(value)
        if array.dtype == bool:
            array = array.astype(np.int8)
        array = array.reshape(-1)
        keep.append(array)
        kind, count, at = type_of(array.dtype), array.size, address(array)
    return kind, count, at


def info_of_c(ask: Any) -> Any:
    """Return the value of an info; `ask` fills type, count and, given an address, the value."""
    kind, count = ctypes.c_int(), ctypes.c_int64()
    ask(_byref(kind), _byref(count), None)
    raw = np.empty(max(count.value, 1), _dtype(kind.value))
    ask(_byref(kind), _byref(count), address(raw))
    raw = raw[:count.value]
    if kind.value == TYPES["bytes"]:
        try:
            return raw.tobytes() if 0 in raw else raw.tobytes().decode()
        except UnicodeDecodeError:
            return raw.tobytes()
    return raw[0].item() if len(raw) == 1 else raw


class Dataset(Committing, Reporting):
    """A dataset, open on all ranks of a communicator.

    mode              "r", "r+" (read and write), "rw" (created if missing), "w+" (emptied), "x+" (must not exist), or flags
    level             "durable" (on the device when commit returns) or "visible" (survives a killed program)
    indices_per_file  0: all segments in one data file; n: a new one for every n time indices
    checksums         store checksums of every section
    check_reads       compare checksums at the first get of a section
    lock_timeout      seconds to wait for a program that locks the metadata
    without_locks     continue if the file system has no locks
    io                options of the data files
    ieee              finite values that are too large become infinities instead of an error
    container         format of the data files of a new dataset: "native", or "netcdf", which ncdump and xarray read

    Opening and closing are collective; the garbage collector never closes it.
    """

    def __init__(self, comm: Any, path: Any, mode: Any = "r", *, level: str = "durable", indices_per_file: int = 0,
                 checksums: bool = True, check_reads: bool = False, lock_timeout: float = 5.0, without_locks: bool = False,
                 io: Any = None, ieee: bool = False, container: str = "native") -> None:
        self._h, self.path = ctypes.c_void_p(), path
        self._pending: set = set()
        self._abandoned: List[Any] = []
        self._known: Dict[str, int] = {}
        handle, keep = mpi.handle_of(comm), []

        def prepare():
            options = dataset_options(level=level, indices_per_file=indices_per_file, checksums=checksums,
                                      check_reads=check_reads, lock_timeout=lock_timeout, without_locks=without_locks, io=io, ieee=ieee,
                                      container=container)
            keep.append(options)
            return handle, _c.path_bytes(path), _mode(mode), _byref(options), _byref(self._h)

        _c.together(_c.tutti_dataset_open, prepare, (handle, None, 0, None, _byref(self._h)))

    _what = "the dataset"

    def _where(self) -> str:
        return str(self.path)

    def _close(self, handle: Any) -> None:
        _c.tutti_dataset_close(handle)

    def stats(self) -> Stats:
        """Return statistics of all operations of this rank on the data files since the dataset was opened.  Local."""
        all_ = _c.tutti_stats()
        _c.tutti_dataset_stats_sized(self._live(), _byref(all_), _c.sized(all_))
        return Stats(**_c.as_dict(all_))

    def _set_progress(self, made: Any) -> None:
        _c.tutti_dataset_on_progress(self._live(), made, None)

    def refresh(self) -> bool:
        """Look for new segments; return whether the segments have changed."""
        changed = ctypes.c_int()
        _c.tutti_dataset_refresh(self._live(), _byref(changed))
        self._known.clear()
        return bool(changed.value)

    @property
    def container(self) -> str:
        """Format of the data files: "native" or "netcdf".  Local."""
        number = _c.tutti_dataset_container(self._live())
        return next(name for name, value in CONTAINERS.items() if value == number)

    # ---- spaces and variables

    def grid(self, name: str, shape: Sequence[int]) -> None:
        """Define a row-major grid; its shape is valid until a topology sets another shape."""
        self._shaped(_c.tutti_dataset_grid, name, shape)

    def list(self, name: str) -> None:
        """Define a list of entries; each topology sets their number and ids."""
        _c.together(_c.tutti_dataset_list, lambda: (self._live(), _c.text_bytes(name)), (self._live(), None))

    def resize(self, space: str, shape: Sequence[int]) -> None:
        """Set the size of a space, in a topology segment."""
        self._shaped(_c.tutti_dataset_resize, space, shape)

    def _shaped(self, function: Any, name: str, shape: Sequence[int]) -> None:
        keep = []

        def prepare():
            extents = np.array(counts([shape] if np.ndim(shape) == 0 else shape, "the shape"), np.int64)
            keep.append(extents)
            return self._live(), _c.text_bytes(name), len(extents), address(extents)

        _c.together(function, prepare, (self._live(), None, 0, None))

    def ids(self, space: str, ids: Any) -> None:
        """Set the ids of a list, in a topology segment; those of this rank follow those of lower ranks."""
        keep = []

        def prepare():
            keep.append(numbers(ids, np.int64, "ids"))
            return self._live(), _c.text_bytes(space), len(keep[0]), address(keep[0])

        _c.together(_c.tutti_dataset_ids, prepare, (self._live(), None, 0, None))

    def variable(self, name: str, space: str, dtype: Any = "f8", *, item: str = "scalar", components: int = 0,
                 layout: str = "global", units: Optional[str] = None, long_name: Optional[str] = None, fill: float = 0.0,
                 compress: int = 0) -> None:
        """Define a variable on a space.

        dtype       type in the file, such as "f8", or ">f4" with a byte order.  Default: native byte order; in netCDF files
                    big-endian, which is their only byte order
        item        "scalar", "vector", "symmetric", "tensor" or "values"
        components  number of components of a vector, rows of a tensor, or values
        layout      "global": in the order of the space; "ranked": rank after rank, the fastest to write
        compress    0: no compression; 1 ... 19: level of zstd
        """
        keep = []

        def prepare():
            if item not in ITEMS:
                raise ValueError(f"unknown item '{item}': must be one of {', '.join(ITEMS)}")
            if layout not in ("global", "ranked"):
                raise ValueError(f"unknown layout '{layout}': must be 'global' or 'ranked'")
            spec = _c.tutti_variable_spec()
            kind = np.dtype(dtype)
            spec.space, spec.item = _c.text_bytes(space, "the space"), NUMBERS["TUTTI_" + ITEMS[item]]
            spec.components, spec.type = components, type_of(kind.newbyteorder("="))
            spec.layout = NUMBERS["TUTTI_RANKED" if layout == "ranked" else "TUTTI_GLOBAL"]
            spec.order = NUMBERS[{">": "TUTTI_BIG_ENDIAN", "<": "TUTTI_LITTLE_ENDIAN"}.get(kind.byteorder,
                                                                                       "TUTTI_NATIVE_ENDIAN")]
            spec.units, spec.long_name = _c.text_bytes(units, "units"), _c.text_bytes(long_name, "long_name")
            spec.fill, spec.compress = fill, operator.index(compress)
            keep.append(spec)
            return self._live(), _c.text_bytes(name), _byref(spec)

        _c.together(_c.tutti_dataset_variable, prepare, (self._live(), None, None))
        self._known.clear()

    def put_type(self, variable: str, dtype: Any) -> None:
        """Set the type in the file of sections that are written later."""
        _c.together(_c.tutti_dataset_put_type, lambda: (self._live(), _c.text_bytes(variable), type_of(dtype)),
                    (self._live(), None, 0))

    def _numbers_of(self, variable: str) -> int:
        """Return the number of values per item."""
        if variable not in self._known:
            self._known = {v.name: v.values_per_item for v in self.variables()}
        if variable not in self._known:
            raise refused("NOT_FOUND", f"variable '{variable}' does not exist", file=str(self.path))
        return self._known[variable]

    def decomposition(self, space: str, *, slice: Any = None, index: Any = None, ids: Any = None,  # pylint: disable=redefined-builtin
                      n: Optional[int] = None, own: Any = None, memory: Any = None, whole: bool = False,
                      rule: str = "idg2", seed: int = 0, balance: float = 0.0,
                      segment: Optional[int] = None, slice_memory: Any = None) -> Decomposition:
        """Make a decomposition: the entries of a space that this rank holds, given by one of these arguments:

        slice    a block of a grid (a NumPy index: np.s_[lo:hi, :])
        index    positions of the entries
        ids      ids of the entries; if index is also given, both must agree
        n        the number of entries, which follow those of all lower ranks

        own      whether this rank owns each entry
        memory   the position of each entry in memory
        whole    fail if no rank holds an entry
        segment  number of a segment, whose sizes are used; None: the current sizes
        rule, seed, balance   choice of the rank that writes an entry held by several ranks (see Replicas)
        slice_memory          (extents, origin) of a larger array that contains the slice, for example with ghost cells;
                              arrays for put and get then have its shape
        """
        keep: List[Any] = []

        def prepare(made: Decomposition) -> Any:
            spec = _c.tutti_decomposition_spec()
            made._shape = None
            if slice is None and slice_memory is not None:
                raise TypeError("slice_memory requires slice")
            if slice is None:
                return spec_of(made, keep, index=index, ids=ids, n=n, own=own, memory=memory, whole=whole,
                               choice=(rule, seed, balance))
            if index is not None or ids is not None or n is not None:
                raise TypeError(_HOW)
            shape = self.shape(space, -1 if segment is None else segment)
            spec.kind = NUMBERS["TUTTI_BY_SLICE"]
            spec.slice, made._shape, single = slice_of(slice, shape)
            if slice_memory is None:
                made._shape = tuple(e for e, one in zip(made._shape, single) if not one)
            else:
                made._shape = _surround(spec, keep, len(shape), *slice_memory)
            return _spec_more(spec, made, keep, own, memory, whole, (rule, seed, balance))

        return Decomposition(self, space, segment, prepare)

    # ---- writing

    def begin(self, kind: str, index: int, time: float) -> None:
        """Begin a "topology" or a "state"."""
        _c.together(_c.tutti_dataset_begin, lambda: (self._live(), _kind(kind), index, time), (self._live(), -1, 0, 0.0))

    def begin_also(self, kind: str, index: int, time: float) -> None:
        """Begin another segment of the same commit."""
        _c.together(_c.tutti_dataset_begin_also, lambda: (self._live(), _kind(kind), index, time),
                    (self._live(), -1, 0, 0.0))

    def _moves(self, struct: Any, entries: Any, arrays: Dict[str, Any], writable: bool) -> Tuple[int, Any, List[Any]]:
        made, keep = (struct * max(len(arrays), 1))(), []
        for i, (name, values) in enumerate(arrays.items()):
            of = entries[name] if isinstance(entries, dict) else entries
            if not isinstance(of, Decomposition):
                raise TypeError(f"decomposition of '{name}' is {type(of).__name__}: must be a Decomposition")
            array = of._array(name, values, self._numbers_of(name), writable)
            made[i].variable, made[i].entries = _c.text_bytes(name), of._live()
            made[i].type, made[i].buf = type_of(array.dtype), address(array)
            keep.append((of, array))
        return len(arrays), made, keep

    def put(self, entries: Any, arrays: Optional[Dict[str, np.ndarray]] = None, **named: np.ndarray) -> None:
        """Write variables to the segment in one operation: d.put(rows, temperature=t, pressure=p).

        entries   a decomposition, or a dict of them by variable

        Values in memory may have any type; they are converted to that of the file.
        """
        keep: List[Any] = []
        live = self._live()

        def prepare():
            n, made, kept = self._moves(_c.tutti_put, entries, {**(arrays or {}), **named}, False)
            keep.append(kept)
            return live, n, made

        self._call(_c.together, _c.tutti_dataset_put, prepare, (live, 1, (_c.tutti_put * 1)()))

    def _start(self, function: Any, struct: Any, before: tuple, entries: Any, arrays: Dict[str, Any],
               writable: bool) -> Request:
        live = self._live()

        def prepare():
            n, made, keep = self._moves(struct, entries, arrays, writable)
            return (live, *before, n, made), keep

        return Request._start(self, function, prepare, (live, *before, 1, (struct * 1)()))

    def put_start(self, entries: Any, arrays: Optional[Dict[str, np.ndarray]] = None, **named: np.ndarray) -> Request:
        """Start to write variables without waiting; complete the request before the commit."""
        return self._start(_c.tutti_dataset_put_start, _c.tutti_put, (), entries, {**(arrays or {}), **named}, False)

    def _commit(self, handle: Any) -> None:
        _c.tutti_dataset_commit(handle)

    def _discard(self, handle: Any) -> None:
        _c.tutti_dataset_discard(handle)

    def commit_start(self) -> Request:
        """Start a commit without waiting."""
        request = Request(self, None)
        _c.tutti_dataset_commit_start(self._live(), _byref(request._h))
        return request._started()

    @contextlib.contextmanager
    def _segment(self, kind: str, index: int, time: float) -> Iterator["Dataset"]:
        self.begin(kind, index, time)
        with self._block():
            yield self

    def state(self, index: int, time: float) -> Any:
        """Return a block in which a state is written; it is committed at the end, and discarded on all ranks if a rank raises an
        exception."""
        return self._segment("state", index, time)

    def topology(self, index: int, time: float) -> Any:
        """Return a block in which a topology is written, like `state`."""
        return self._segment("topology", index, time)

    def erase_after(self, segment: int) -> None:
        """Remove all segments after this one (-1: all)."""
        _c.together(_c.tutti_dataset_erase_after, lambda: (self._live(), segment), (self._live(), -2))

    def drop_oldest(self, keep: int) -> None:
        """Remove the oldest data files and keep the last `keep` files."""
        _c.together(_c.tutti_dataset_drop_oldest, lambda: (self._live(), keep), (self._live(), -1))

    # ---- reading

    def __len__(self) -> int:
        """Return the number of segments.  Local."""
        return _c.tutti_dataset_segments(self._live())

    def segment(self, number: int) -> SegmentInfo:
        """Return the description of a segment.  Local."""
        out = _c.tutti_segment()
        _c.tutti_dataset_segment_sized(self._live(), number, _byref(out), _c.sized(out))
        return SegmentInfo(out.number, KIND_NAMES[out.kind], out.index, out.time, None if out.topology < 0 else out.topology,
                           out.sections, out.bytes, None if out.archived is None else out.archived.decode())

    def segments(self) -> List[SegmentInfo]:
        """Return the descriptions of all segments.  Local."""
        return [self.segment(i) for i in range(len(self))]

    def find(self, *, index: Optional[int] = None, time: Optional[float] = None, kind: str = "state") -> int:
        """Return the number of the segment with a time index, or of the last one with time <= a time.  Local."""
        out = ctypes.c_int64()
        if index is not None:
            _c.tutti_dataset_find_index(self._live(), _kind(kind), index, _byref(out))
        else:
            _c.tutti_dataset_find_time(self._live(), _kind(kind), float(time), _byref(out))
        return out.value

    def latest(self, kind: str = "state") -> Optional[int]:
        """Return the number of the last segment of a kind; None if there is none.  Local."""
        out = ctypes.c_int64()
        try:
            _c.tutti_dataset_latest(self._live(), _kind(kind), _byref(out))
        except Error as error:
            if error.code == CODES["TUTTI_ERR_NOT_FOUND"]:
                return None
            raise
        return out.value

    def _room(self, entries: Any, name: str, dtype: Any, more: Tuple[int, ...] = ()) -> np.ndarray:
        if not isinstance(entries, Decomposition):
            raise TypeError(f"argument entries is {type(entries).__name__}: must be a Decomposition")
        n = self._numbers_of(name)
        kind = np.dtype(dtype) if dtype is not None else {v.name: v for v in self.variables()}[name].dtype.newbyteorder("=")
        shape = entries.shape if entries._memory is None else (entries._memory[1],)
        return np.zeros(more + shape + ((n,) if n > 1 else ()), kind)

    def get(self, segment: int, entries: Any, *names: str, dtype: Any = None,
            out: Optional[Dict[str, np.ndarray]] = None) -> Any:
        """Read variables of a segment in one operation: t = d.get(7, rows, "temperature"); several names return a dict.

        dtype   type in memory; None: that of the file
        out     arrays to fill, by name
        """
        keep: List[Any] = []
        live, arrays = self._live(), dict(out or {})

        def prepare():
            for name in names:
                if name not in arrays:
                    of = entries[name] if isinstance(entries, dict) else entries
                    arrays[name] = self._room(of, name, dtype)
            n, made, kept = self._moves(_c.tutti_get, entries, arrays, True)
            keep.append(kept)
            return live, segment, n, made

        self._call(_c.together, _c.tutti_dataset_get, prepare, (live, segment, 1, (_c.tutti_get * 1)()))
        return arrays[names[0]] if len(names) == 1 and not out else arrays

    def get_start(self, segment: int, entries: Any, out: Dict[str, np.ndarray]) -> Request:
        """Start to read variables into arrays by name, without waiting."""
        return self._start(_c.tutti_dataset_get_start, _c.tutti_get, (segment,), entries, out, True)

    def follow(self, first: int, last: int, entries: Decomposition, name: str, dtype: Any = None) -> np.ndarray:
        """Read a variable of all segments from first to last that have it."""
        keep: List[Any] = []
        live, count = self._live(), ctypes.c_int64()

        def prepare():
            most = max(0, min(last, len(self) - 1) - first + 1)
            array = self._room(entries, name, dtype, (most,))
            if entries._memory is not None:
                raise refused("UNSUPPORTED", "follow does not support a decomposition with positions in memory")
            get = _c.tutti_get(_c.text_bytes(name), entries._live(), type_of(array.dtype), address(array))
            keep.extend((array, get))
            return live, first, last, _byref(get), _byref(count)

        self._call(_c.together, _c.tutti_dataset_follow, prepare, (live, first, last, None, _byref(count)))
        return keep[0][:count.value]

    def shape(self, space: str, segment: int = -1) -> Tuple[int, ...]:
        """Return the shape of a space in a segment, or the current one.  Local."""
        ndims, out = ctypes.c_int(), np.zeros(MAX_DIMS, np.int64)
        _c.tutti_dataset_shape(self._live(), _c.text_bytes(space, "the space"), segment, _byref(ndims), address(out))
        return tuple(int(n) for n in out[:ndims.value])

    # ---- infos

    @staticmethod
    def _owner(variable: Optional[str], segment: int) -> Any:
        return ctypes.pointer(_c.tutti_info_owner(_c.text_bytes(variable, "the variable"), segment))

    def set_info(self, name: str, value: Any, *, variable: Optional[str] = None, segment: int = -1) -> None:
        """Set an info of the dataset, a variable or a segment: text, a number, or a list of numbers; None removes it."""
        keep: List[Any] = []

        def prepare():
            return self._live(), self._owner(variable, segment), _c.text_bytes(name), *info_to_c(value, keep)

        _c.together(_c.tutti_dataset_info_set, prepare, (self._live(), None, None, 0, 0, None))

    def info(self, name: str, *, variable: Optional[str] = None, segment: int = -1) -> Any:
        """Return an info: text, bytes that are not UTF-8, a number, or an array.  Raises TUTTI_ERR_NOT_FOUND if it does not exist."""
        live, owner = self._live(), self._owner(variable, segment)

        def ask(kind, count, at):
            _c.together(_c.tutti_dataset_info_get, lambda: (live, owner, _c.text_bytes(name), kind, count, at),
                        (live, None, None, kind, count, None))

        return info_of_c(ask)

    def infos(self, *, variable: Optional[str] = None, segment: int = -1) -> Dict[str, Any]:
        """Return all infos of the dataset, a variable or a segment, by name."""
        out: Dict[str, Any] = {}
        text, owner = ctypes.create_string_buffer(128), self._owner(variable, segment)
        for i in range(1 << 30):
            try:
                _c.tutti_dataset_info_name(self._live(), owner, i, text)
            except Error as error:
                if error.code == CODES["TUTTI_ERR_NOT_FOUND"]:
                    break
                raise
            name = text.value.decode()
            out[name] = self.info(name, variable=variable, segment=segment)
        return out

    # ---- inspection

    def spaces(self) -> List[SpaceInfo]:
        """Return the definitions of all spaces.  Local."""
        out, row = [], _c.tutti_space_row()
        for i in range(_c.tutti_dataset_spaces(self._live())):
            _c.tutti_dataset_space_row_sized(self._live(), i, _byref(row), _c.sized(row))
            out.append(SpaceInfo(row.name.decode(), bool(row.is_list), bool(row.has_ids),
                                 tuple(row.shape[:row.ndims]) if row.ndims else None))
        return out

    def variables(self) -> List[VariableInfo]:
        """Return the definitions of all variables.  Local."""
        out, row = [], _c.tutti_variable_row()
        items = {NUMBERS["TUTTI_" + v]: k for k, v in ITEMS.items()}
        for i in range(_c.tutti_dataset_variables(self._live())):
            _c.tutti_dataset_variable_row_sized(self._live(), i, _byref(row), _c.sized(row))
            s = row.spec
            out.append(VariableInfo(row.name.decode(), s.space.decode(), items[s.item], row.values_per_item,
                                    _dtype(s.type, s.order == NUMBERS["TUTTI_BIG_ENDIAN"]),
                                    "ranked" if s.layout == NUMBERS["TUTTI_RANKED"] else "global",
                                    (s.units or b"").decode(), (s.long_name or b"").decode(), s.fill, s.compress))
        return out

    def section(self, segment: int, variable: str) -> SectionInfo:
        """Return the location of a variable in a segment."""
        row = _c.tutti_section_row()
        _c.together(_c.tutti_dataset_section_row_sized,
                    lambda: (self._live(), segment, _c.text_bytes(variable), _byref(row), _c.sized(row)),
                    (self._live(), segment, None, _byref(row), _c.sized(row)))
        return SectionInfo(_dtype(row.type), row.bytes, row.start, row.file.decode(), bool(row.has_checksums), row.raw_bytes)

    def chunks(self, segment: int, variable: str) -> Dict[str, Any]:
        """Return the chunks of a compressed section: shape, count, raw_bytes, value_bytes."""
        row = _c.tutti_chunks()
        _c.together(_c.tutti_dataset_chunks_sized,
                    lambda: (self._live(), segment, _c.text_bytes(variable), _byref(row), _c.sized(row)),
                    (self._live(), segment, None, _byref(row), _c.sized(row)))
        out = _c.as_dict(row)
        out["shape"] = tuple(out["shape"][:out.pop("ndims")])
        return out

    def chunk_bounds(self, segment: int, variable: str, first: int, n: int) -> np.ndarray:
        """Return the positions of chunks in the data file: chunk first + i is [bounds[i], bounds[i + 1])."""
        keep = []

        def prepare():
            keep.append(np.zeros(operator.index(n) + 1, np.int64))
            return self._live(), segment, _c.text_bytes(variable), first, n, address(keep[0])

        _c.together(_c.tutti_dataset_chunk_bounds, prepare, (self._live(), segment, None, 0, 0, None))
        return keep[0]

    # ---- verification and archives

    def verify(self) -> int:
        """Read all data and compare checksums; return the number of bytes read."""
        out = ctypes.c_int64()
        self._call(_c.tutti_dataset_verify, self._live(), _byref(out))
        return out.value

    def verify_segment(self, segment: int) -> int:
        """Verify one segment; -1: the metadata only."""
        out = ctypes.c_int64()
        self._call(_c.together, _c.tutti_dataset_verify_segment, lambda: (self._live(), segment, _byref(out)),
                   (self._live(), -2, None))
        return out.value

    @staticmethod
    def repair(comm: Any, path: Any, **options: Any) -> Dict[str, Any]:
        """Repair a dataset with damaged or missing metadata; return the report.  Collective."""
        out, handle, keep = _c.tutti_repair_report(), mpi.handle_of(comm), []

        def prepare():
            keep.append(dataset_options(**options))
            return handle, _c.path_bytes(path), _byref(keep[0]), _byref(out), _c.sized(out)

        _c.together(_c.tutti_dataset_repair_sized, prepare, (handle, None, None, None, 0))
        return _c.as_dict(out)

    def archive(self, first: int, last: int, to: Any) -> int:
        """Archive states to a directory; return the number of bytes freed."""
        out = ctypes.c_int64()
        _c.together(_c.tutti_dataset_archive, lambda: (self._live(), first, last, _c.path_bytes(to), _byref(out)),
                    (self._live(), first, last, None, None))
        return out.value

    def restore(self, first: int, last: int, source: Any) -> None:
        """Restore archived states from a directory."""
        _c.together(_c.tutti_dataset_restore, lambda: (self._live(), first, last, _c.path_bytes(source)),
                    (self._live(), first, last, None))

    def archive_stream(self, first: int, last: int, stream: Any, location: Optional[str] = None) -> int:
        """Archive states as a tar archive to a stream of rank 0, which has the methods write and flush.

        location   recorded as the location of the archived states; None: the states are only copied

        An exception of the stream on rank 0 makes the call fail on all ranks.
        """
        freed, (made, errors) = ctypes.c_int64(), _stream(stream, location)
        _with_stream(errors, _c.tutti_dataset_archive_stream, self._live(), first, last, _byref(made), _byref(freed))
        return freed.value

    def restore_stream(self, first: int, last: int, stream: Any) -> None:
        """Restore states from a tar archive, read from a stream of rank 0."""
        made, errors = _stream(stream, None)
        _with_stream(errors, _c.tutti_dataset_restore_stream, self._live(), first, last, _byref(made))

    def __repr__(self) -> str:
        return f"<Dataset '{self.path}': {'open' if self._h else 'closed'}>"


def _mode(mode: Any) -> int:
    words = {"r": "READ", "r+": "READ WRITE", "rw": "READ WRITE CREATE", "w+": "READ WRITE CREATE TRUNCATE",
             "x+": "READ WRITE CREATE EXCLUSIVE"}
    if isinstance(mode, str):
        if mode not in words:
            raise ValueError(f"unknown mode '{mode}': must be one of {', '.join(words)}")
        return sum(NUMBERS["TUTTI_" + w] for w in words[mode].split())
    return mode


def dataset_options(*, level: str = "durable", indices_per_file: int = 0, checksums: bool = True, check_reads: bool = False,
                    lock_timeout: float = 5.0, without_locks: bool = False, io: Any = None, ieee: bool = False,
                    container: str = "native") -> Any:
    """Return the options as a struct of C."""
    out = _c.tutti_dataset_options()
    _c.tutti_dataset_options_init_sized(_byref(out), _c.sized(out))
    if level not in ("durable", "visible"):
        raise ValueError(f"unknown level '{level}': must be 'durable' or 'visible'")
    if container not in CONTAINERS:
        raise ValueError(f"unknown container '{container}': must be one of {', '.join(CONTAINERS)}")
    out.level, out.container = NUMBERS["TUTTI_" + level.upper()], CONTAINERS[container]
    out.indices_per_file, out.checksums, out.check_reads = indices_per_file, int(checksums), int(check_reads)
    out.lock_timeout, out.without_locks, out.ieee = lock_timeout, int(without_locks), int(ieee)
    if io is not None:
        out.io = options_pointer(io)
    return out


def _stream(stream: Any, location: Optional[str]) -> Tuple[Any, List[BaseException]]:
    """Return a tutti_stream for a Python stream, and a list for its exceptions, for which C gets an errno."""
    errors: List[BaseException] = []

    def fails(error: BaseException) -> int:
        errors.append(error)
        return getattr(error, "errno", None) or errno.EIO

    def write(_context, data, n):
        try:
            if n == 0:
                stream.flush()
            else:
                stream.write(ctypes.string_at(data, n))
            return 0
        except BaseException as error:  # pylint: disable=broad-except
            return fails(error)

    def read(_context, data, n, got):
        try:
            piece = stream.read(n)
            if len(piece) > n:
                raise ValueError(f"method read of the stream returned {len(piece)} bytes: at most {n} were requested")
            ctypes.memmove(data, bytes(piece), len(piece))
            ctypes.c_size_t.from_address(got).value = len(piece)
            return 0
        except BaseException as error:  # pylint: disable=broad-except
            return fails(error)

    made = _c.tutti_stream()
    fields = dict((name, kind) for name, kind, *_ in made._fields_)
    made.write, made.read = fields["write"](write), fields["read"](read)
    made.location = _c.text_bytes(location, "location")
    return made, errors


def _with_stream(errors: List[BaseException], function: Any, *arguments: Any) -> None:
    try:
        function(*arguments)
    except Error as error:
        if errors:
            raise error from errors[0]
        raise
