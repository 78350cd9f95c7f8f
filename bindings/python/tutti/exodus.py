"""Finite-element meshes and results in one shared Exodus II file, which ParaView and VisIt read.
<tutti/exodus.h>

    with tutti.Exodus.create(comm, "out.e") as x:
        x.init(title="rod", dims=3)
        x.define([dict(kind="element block", id=1, topology="HEX8", name="rod")])
        x.variables("nodal", ["temperature"])
        x.put_mesh(node_ids=ids, coordinates=xyz, blocks=[dict(ids=element_ids, nodes=nodes)])
        for step in range(steps):
            with x.step(step * dt):                     # committed at the end of the block
                x.put(temperature=t)

All calls are collective with the same arguments on all ranks, unless documented otherwise; arrays differ between ranks.
Kinds are named as in Exodus: "nodal", "element block", "side set" and so on.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import contextlib
import ctypes
import operator
from collections.abc import MutableMapping
from types import SimpleNamespace
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _c, mpi
from ._api import NUMBERS
from ._buffers import DTYPES, TYPES, address, fitting, numbers, type_of, view_of
from ._closing import Committing, Reporting
from ._errors import CODES, Error, refused
from ._exodus_mesh import KINDS, ExodusMesh, from_c, kind_of, texts, to_c
from .dataset import Decomposition, info_of_c, info_to_c, spec_of
from .file import Request, Stats
from .options import options_pointer
from .replicas import set_choice

_byref = ctypes.byref
property_of = property  # the built-in function, which the method `property` of the class hides
BY = {"order": "BY_ORDER", "metis": "BY_METIS", "curve": "BY_CURVE", "list": "BY_LIST", "root": "ON_ROOT"}
ARRAY_KINDS = ("coordinates", "connectivity", "edges", "faces", "counts", "attributes", "members", "sides", "factors", "ids", "map",
        "order")
_GLOBAL, _NODAL = KINDS["global"], KINDS["nodal"]
_ENTITY = ("kind", "id", "name", "topology", "entries", "nodes", "edges", "faces", "attributes", "factors", "list_length")


class Entity(NamedTuple):
    """The definition of a block, set or map."""
    kind: str
    id: int
    name: str
    topology: str
    entries: int
    nodes: int
    edges: int
    faces: int
    attributes: int
    factors: int
    list_length: int


class QA(NamedTuple):
    """A QA record: a program that processed the file, with its version, and the date and time."""
    program: str
    version: str
    date: str
    time: str


class ArraySize(NamedTuple):
    """The size of an array in the file: entries, values per entry, type."""
    entries: int
    values_per_entry: int
    dtype: np.dtype


class FileOffset(NamedTuple):
    """The offset of values in the file, and their type."""
    offset: int
    dtype: np.dtype


def _text(raw: Optional[bytes]) -> Optional[str]:
    return None if raw is None else raw.decode("utf-8", "replace")


def kind_name(kind: int) -> str:
    """Return the name of a kind, for example "element block"; "" for unknown kinds.  Local."""
    return _text(_c.tutti_exodus_kind_name(kind))


def topology_nodes(topology: str) -> int:
    """Return the number of nodes of an entry with this topology; 0: unknown.  Local."""
    return _c.tutti_exodus_topology_nodes(_c.text_bytes(topology, "the topology"))


def topology_sides(topology: str, nodes: int = 0, *, dims: int) -> int:
    """Return the number of sides of an entry with this topology.  Local."""
    return _c.tutti_exodus_topology_sides(_c.text_bytes(topology, "the topology"), nodes, dims)


def side_nodes(topology: str, side: int, nodes: int = 0, *, dims: int) -> Tuple[int, ...]:
    """Return the nodes (from 0) of an element that belong to a side (from 1).  Local."""
    out = np.zeros(9, np.intc)
    n = _c.tutti_exodus_side_nodes(_c.text_bytes(topology, "the topology"), nodes, dims, side, address(out))
    return tuple(out[:n].tolist())


class _Entries(Decomposition):
    """The entries of nodes, a block or a set that this rank holds."""

    def __init__(self, exodus: "Exodus", kind: Any, id: int, prepare: Any) -> None:  # pylint: disable=super-init-not-called,redefined-builtin
        self._h, self._dataset, self.space = ctypes.c_void_p(), exodus, (kind, id)
        self._memory: Optional[Tuple[int, int]] = None
        live = exodus._live()
        _c.together(_c.tutti_exodus_decomposition, lambda: (live, kind_of(kind), id, _byref(prepare(self)), _byref(self._h)),
                    (live, -1, 0, None, _byref(self._h)))


class Notes(MutableMapping):
    """Notes of the file, which may be set at any time: x.notes["run"] = 7.  Collective."""

    def __init__(self, exodus: "Exodus") -> None:
        self._x = exodus

    def __setitem__(self, name: str, value: Any) -> None:
        live, keep = self._x._live(), []
        _c.together(_c.tutti_exodus_note_set, lambda: (live, _c.text_bytes(name), *info_to_c(value, keep)),
                    (live, None, 0, 0, None))

    def __getitem__(self, name: str) -> Any:
        live = self._x._live()

        def ask(kind, count, at):
            _c.together(_c.tutti_exodus_note_get, lambda: (live, _c.text_bytes(name), kind, count, at),
                        (live, None, kind, count, None))
        try:
            return info_of_c(ask)
        except Error as error:
            if error.code == CODES["TUTTI_ERR_NOT_FOUND"]:
                raise KeyError(name) from None
            raise

    def __delitem__(self, name: str) -> None:
        self[name]  # pylint: disable=pointless-statement # KeyError
        self[name] = None

    def _names(self) -> List[str]:
        out, text = [], ctypes.create_string_buffer(128)
        while True:
            try:
                _c.tutti_exodus_note_name(self._x._live(), len(out), text)
            except Error as error:
                if error.code == CODES["TUTTI_ERR_NOT_FOUND"]:
                    return out
                raise
            out.append(text.value.decode("utf-8", "replace"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


def exodus_options(*, level: str = "durable", real_bytes: int = 8, integer_bytes: int = 0, name_length: int = 32,
                   checksums: bool = True, sidecar: bool = True, check_reads: bool = False, steps_per_file: int = 0,
                   nemesis: bool = False, overwrite: bool = False, alignment: int = 0, lock_timeout: float = 5.0,
                   without_locks: bool = False, rule: str = "idg2", seed: int = 0, balance: float = 0.0,
                   io: Any = None) -> Any:
    """Return the options as a struct of C."""
    out = _c.tutti_exodus_options()
    _c.tutti_exodus_options_init_sized(_byref(out), _c.sized(out))
    if level not in ("durable", "visible"):
        raise ValueError(f"unknown level '{level}': must be 'durable' or 'visible'")
    out.level = NUMBERS["TUTTI_" + level.upper()]
    out.real_bytes, out.integer_bytes, out.name_length = real_bytes, integer_bytes, name_length
    out.checksums, out.sidecar, out.check_reads = int(checksums), int(sidecar), int(check_reads)
    out.steps_per_file, out.nemesis, out.overwrite = steps_per_file, int(nemesis), int(overwrite)
    out.alignment, out.lock_timeout, out.without_locks = alignment, lock_timeout, int(without_locks)
    set_choice(out.choice, rule, seed, balance)
    if io is not None:
        out.io = options_pointer(io)
    return out


class Exodus(Committing, Reporting):
    """An Exodus file, open on all ranks of a communicator: Exodus.create(comm, path), Exodus.open(comm, path, "r").

    Options of both, by name:

    level             "durable" (on the device when a commit returns) or "visible" (survives a killed program)
    real_bytes        8 or 4: coordinates and results in the file
    integer_bytes     8 or 4: integers in the file; 0: 4 if all values fit
    name_length       maximal length of names in bytes
    checksums         store checksums in the sidecar PATH.tutti
    sidecar           False: neither write nor read a sidecar
    check_reads       compare checksums at the first get of a step
    steps_per_file    0: one file; n: a new file after every n steps
    nemesis           put_mesh also writes the partition in Nemesis form
    overwrite         replace an existing file
    alignment         alignment of the first record in bytes; 0: default
    lock_timeout      seconds to wait for a program that locks the sidecar
    without_locks     continue if the file system has no locks
    rule, seed, balance   choice of the rank that writes shared entries (see Replicas)
    io                options of the file

    Opening and closing are collective; the garbage collector never closes it.
    """

    def __init__(self) -> None:
        raise TypeError("Exodus cannot be instantiated: use its class methods (create, open)")

    @classmethod
    def _new(cls, comm: Any, path: Any, function: Any, mode: tuple, options: Dict[str, Any]) -> "Exodus":
        self = object.__new__(cls)
        self._h, self._name, self.notes = ctypes.c_void_p(), path, Notes(self)
        self._pending, self._abandoned = set(), []
        self._counts: Optional[Dict[Tuple[int, int], int]] = None
        handle, keep = mpi.handle_of(comm), []

        def prepare():
            keep.append(exodus_options(**options))
            return (handle, _c.path_bytes(path), *(_mode(m) for m in mode), _byref(keep[0]), _byref(self._h))

        _c.together(function, prepare, (handle, None, *(0 for _ in mode), None, _byref(self._h)))
        return self

    @classmethod
    def create(cls, comm: Any, path: Any, **options: Any) -> "Exodus":
        """Create a file; it appears, with its mesh, when the definitions end."""
        return cls._new(comm, path, _c.tutti_exodus_create, (), options)

    @classmethod
    def open(cls, comm: Any, path: Any, mode: Any = "r", **options: Any) -> "Exodus":
        """Open an existing Exodus file in CDF-1, CDF-2 or CDF-5 format, written by any program.  mode: "r", or "r+" to append steps."""
        return cls._new(comm, path, _c.tutti_exodus_open, (mode,), options)

    _what = "the Exodus file"

    def _where(self) -> str:
        return str(self._name)

    def _close(self, handle: Any) -> None:
        _c.tutti_exodus_close(handle)

    def stats(self) -> Stats:
        """Return statistics of all operations of this rank on the file and on earlier files of its series.  Local."""
        all_ = _c.tutti_stats()
        _c.tutti_exodus_stats_sized(self._live(), _byref(all_), _c.sized(all_))
        return Stats(**_c.as_dict(all_))

    def _set_progress(self, made: Any) -> None:
        _c.tutti_exodus_on_progress(self._live(), made, None)

    def refresh(self) -> bool:
        """Look for new steps; return whether their number has changed."""
        changed = ctypes.c_int()
        _c.tutti_exodus_refresh(self._live(), _byref(changed))
        return bool(changed.value)

    def new_topology(self) -> None:
        """Start a new mesh in the next file of the series.  Entities must be defined again; variables and options are kept."""
        _c.tutti_exodus_new_topology(self._live())
        self._counts = None

    def next_file(self) -> bool:
        """Move to the next file of the series; return False if this is the last."""
        try:
            _c.tutti_exodus_next_file(self._live())
        except Error as error:
            if error.code == CODES["TUTTI_ERR_NOT_FOUND"]:
                return False
            raise
        self._counts = None
        return True

    @property_of
    def path(self) -> str:
        """Path of the current file.  Local."""
        return _text(_c.tutti_exodus_path(self._live()))

    @property_of
    def warning(self) -> str:
        """The reason why the file has no usable checksums, or "".  Local."""
        return _text(_c.tutti_exodus_warning(self._live()))

    @property_of
    def mesh_warning(self) -> str:
        """Data that the last get_mesh ignored, for example distribution factors with a wrong size, or "".  Local."""
        return _text(_c.tutti_exodus_mesh_warning(self._live()))

    # ---- definitions

    def init(self, *, dims: int, title: str = "", coordinate_names: Optional[Sequence[str]] = None, **counts: int) -> None:
        """Define the parameters.  counts: nodes, elements, edges, faces (put_mesh computes them), node_attributes, has_node_ids,
        has_element_ids, has_edge_ids, has_face_ids, has_order."""
        keep: List[Any] = []

        def prepare():
            p = _c.tutti_exodus_parameters()
            p.title, p.dims = _c.text_bytes(title, "the title"), operator.index(dims)
            if coordinate_names is not None:
                if len(coordinate_names) != dims:
                    raise ValueError(f"coordinate_names has {len(coordinate_names)} names: must be {dims}")
                p.coordinate_names = texts(coordinate_names, keep)
            _set_fields(p, counts, ("nodes", "elements", "edges", "faces", "node_attributes", "has_node_ids",
                                    "has_element_ids", "has_edge_ids", "has_face_ids", "has_order"))
            keep.append(p)
            return self._live(), _byref(p)

        _c.together(_c.tutti_exodus_init, prepare, (self._live(), None))

    def define(self, entities: Sequence[Any] = (), **one: Any) -> None:
        """Define blocks, sets and maps: dicts (or Entity) of kind, id, name, topology, entries, nodes, edges, faces, attributes,
        factors, list_length; one of them also as keywords."""
        keep: List[Any] = []

        def prepare():
            rows = [e._asdict() if isinstance(e, Entity) else dict(e) for e in entities] + ([one] if one else [])
            made = (_c.tutti_exodus_entity * max(len(rows), 1))()
            for out, row in zip(made, rows):
                out.kind = operator.index(kind_of(row.pop("kind")))
                out.name = _c.text_bytes(row.pop("name", None))
                out.topology = _c.text_bytes(row.pop("topology", None), "a topology")
                _set_fields(out, row, _ENTITY)
            keep.append(made)
            return self._live(), len(rows), made

        _c.together(_c.tutti_exodus_define, prepare, (self._live(), -1, None))

    def variables(self, kind: Any, names: Sequence[str]) -> None:
        """Define the result variables of a kind, once per kind."""
        keep: List[Any] = []
        _c.together(_c.tutti_exodus_variables,
                    lambda: (self._live(), kind_of(kind), len(_list(names, "names")), texts(names, keep)), (self._live(), -1, -1, None))

    def truth(self, kind: Any, table: Any) -> None:
        """Define which entities have which variables: [entities of the kind, its variables]."""
        keep: List[Any] = []

        def prepare():
            number = kind_of(kind)
            shape = (self.count(number), self.variable_count(number))
            array = np.ascontiguousarray(np.asarray(table) != 0, np.uint8)
            if array.shape != shape:
                raise ValueError(f"table has shape {array.shape}: must be {shape}")
            keep.append(array)
            return self._live(), number, address(array)

        _c.together(_c.tutti_exodus_truth_table, prepare, (self._live(), -1, None))

    def attribute_names(self, kind: Any, id: int, names: Sequence[str]) -> None:  # pylint: disable=redefined-builtin
        """Define the names of the attributes of an entity (nodes: "nodal", 0)."""
        keep: List[Any] = []
        _c.together(_c.tutti_exodus_attribute_names,
                    lambda: (self._live(), kind_of(kind), id, len(_list(names, "names")), texts(names, keep)),
                    (self._live(), -1, 0, -1, None))

    def property(self, kind: Any, name: str, values: Any) -> None:
        """Define a property: an integer for every entity of a kind, in the order of their definition."""
        keep: List[Any] = []

        def prepare():
            keep.append(numbers(values, np.int64, "values", self.count(kind)))
            return self._live(), kind_of(kind), _c.text_bytes(name), address(keep[0])

        _c.together(_c.tutti_exodus_property, prepare, (self._live(), -1, None, None))

    def put_qa(self, records: Sequence[Sequence[str]]) -> None:
        """Write QA records: (program, version, date, time) each."""
        keep: List[Any] = []

        def prepare():
            made = (_c.tutti_exodus_qa * max(len(records), 1))()
            for out, record in zip(made, records):
                out.program, out.version, out.date, out.time = (_c.text_bytes(t, "a text") for t in record)
            keep.append(made)
            return self._live(), len(records), made

        _c.together(_c.tutti_exodus_put_qa, prepare, (self._live(), -1, None))

    def put_info(self, lines: Sequence[str]) -> None:
        """Write info lines, each at most 80 bytes."""
        keep: List[Any] = []
        _c.together(_c.tutti_exodus_put_info, lambda: (self._live(), len(_list(lines, "lines")), texts(lines, keep, "a line")),
                    (self._live(), -1, None))

    def end_definitions(self) -> None:
        """End the definitions without a mesh; write its arrays with put_arrays."""
        _c.tutti_exodus_end_definitions(self._live())

    # ---- meshes

    def put_mesh(self, mesh: Optional[ExodusMesh] = None, **fields: Any) -> None:
        """Write the mesh, given by an ExodusMesh or by its fields, and end the definitions."""
        keep: List[Any] = []

        def prepare():
            if mesh is not None and (fields or not isinstance(mesh, ExodusMesh)):
                raise TypeError("invalid arguments: pass either one ExodusMesh or its fields")
            made, found = to_c(mesh if mesh is not None else ExodusMesh(**fields), self.entities, self._parameters(), keep)
            keep.extend((made, found))
            return self._live(), _byref(made)

        _c.together(_c.tutti_exodus_put_mesh, prepare, (self._live(), None))
        self._counts = keep[-1]

    def get_mesh(self, by: str = "order", halo: int = 0, *, rank: Any = None, first: int = 0) -> ExodusMesh:
        """Read the mesh: the elements of this rank with all their nodes and set members.

        by     "order": of the file, "metis", "curve", "list": given by `rank`, "root": all on rank 0
        halo   layers of elements around own ones, which come first in each block
        rank   the ranks of elements first, first + 1 ... of the file; local to each rank
        """
        keep: List[Any] = []
        out = ctypes.POINTER(_c.tutti_exodus_mesh)()

        def prepare():
            if by not in BY:
                raise ValueError(f"unknown partitioner by='{by}': must be one of {', '.join(BY)}")
            distribution = _c.tutti_exodus_distribution()
            distribution.partitioner, distribution.halo = NUMBERS["TUTTI_EXODUS_" + BY[by]], operator.index(halo)
            ranks = numbers(rank, np.intc, "rank")
            if ranks is not None:
                distribution.first, distribution.n, distribution.rank = operator.index(first), len(ranks), address(ranks)
            keep.extend((distribution, ranks))
            return self._live(), _byref(distribution), _byref(out)

        self._counts = None
        _c.together(_c.tutti_exodus_get_mesh, prepare, (self._live(), None, None))
        mesh, self._counts = from_c(out.contents, self.entities, self._parameters())
        return mesh

    def own_elements(self, kind: Any = "element block", number: int = 0) -> int:
        """Return the number of elements of a block (from 0) that this rank owns; the rest is halo.  Local."""
        return _c.tutti_exodus_own_elements(self._live(), kind_of(kind), number)

    # ---- results

    def begin(self, time: float) -> None:
        """Begin a step; times must increase."""
        _c.together(_c.tutti_exodus_begin, lambda: (self._live(), float(time)), (self._live(), ctypes.c_double(float("nan"))))

    def _commit(self, handle: Any) -> None:
        _c.tutti_exodus_commit(handle)

    def _discard(self, handle: Any) -> None:
        _c.tutti_exodus_discard(handle)

    def commit_start(self) -> Request:
        """Start a commit; until the request is complete, other collective calls on the file fail."""
        request = Request(self, None)
        _c.tutti_exodus_commit_start(self._live(), _byref(request._h))
        return request._started()

    @contextlib.contextmanager
    def step(self, time: float) -> Iterator["Exodus"]:
        """Return a block in which a step is written; it is committed at the end, and discarded on all ranks if a rank raises an
        exception."""
        self.begin(time)
        with self._block():
            yield self

    def erase_after(self, step: int) -> None:
        """Remove all steps after this one (0: all)."""
        _c.together(_c.tutti_exodus_erase_after, lambda: (self._live(), step), (self._live(), -1))

    def _size(self, kind: int, id: int, entries: Any, variable: Optional[str]) -> int:  # pylint: disable=redefined-builtin
        """Return the number of values of a field on this rank."""
        if kind == _GLOBAL:
            return 1 if variable is not None else self.variable_count(kind)
        if entries is not None:
            if not isinstance(entries, Decomposition):
                raise TypeError(f"decomposition of '{variable}' is {type(entries).__name__}: must be made by Exodus.decomposition")
            return entries.entries if entries._memory is None else entries._memory[1]
        if self._counts is None:
            raise refused("STATE", "the file has no mesh on this handle: call put_mesh or get_mesh, or pass entries",
                          file=str(self._name))
        if (kind, id) not in self._counts:
            raise refused("NOT_FOUND", f"{kind_name(kind)} {id} with results does not exist", file=str(self._name))
        return self._counts[kind, id]

    def _field(self, out: Any, key: Any, entries: Any, values: Any, writable: bool) -> np.ndarray:
        """Fill the struct of a field; return the array of its values, which must be kept in memory."""
        kind, id_, variable = _key(key)
        of = entries.get(key) if isinstance(entries, dict) else entries
        if kind == _GLOBAL:
            of = None
        n = self._size(kind, id_, of, variable)
        array = values
        if not isinstance(array, np.ndarray):
            if kind != _GLOBAL:
                raise TypeError(f"variable '{variable}' is {type(values).__name__}: must be a NumPy array")
            array = np.atleast_1d(np.asarray(values, np.float64))
        array = (fitting(array, (n,), 1, f"'{variable}'", writable=writable) if of is None else
                 of._fitting(array, 1, f"'{variable}'", writable))
        out.kind, out.id, out.variable = kind, id_, _c.text_bytes(variable, "the variable")
        out.type, out.buf, out.entries = type_of(array.dtype), address(array), None if of is None else of._live()
        return array

    def _fields(self, arrays: Dict[Any, Any], entries: Any, writable: bool) -> Tuple[int, Any, List[Any]]:
        made, keep = (_c.tutti_exodus_field * max(len(arrays), 1))(), [entries]
        for i, (key, values) in enumerate(arrays.items()):
            keep.append(self._field(made[i], key, entries, values, writable))
        return len(arrays), made, keep

    def put(self, arrays: Optional[Dict[Any, Any]] = None, *, entries: Any = None, **nodal: np.ndarray) -> None:
        """Write fields to the step in one operation: x.put(temperature=t) or x.put({("element block", 1, "stress"): s}).

        arrays    by name (of nodes), by ("global", name), or by (kind, id, name); ("global", None) is all of its variables
        entries   None: those of put_mesh or get_mesh, in their order; or a decomposition, or a dict of them by key
        """
        keep: List[Any] = []
        live = self._live()

        def prepare():
            n, made, kept = self._fields({**(arrays or {}), **nodal}, entries, False)
            keep.append(kept)
            return live, n, made

        self._call(_c.together, _c.tutti_exodus_put, prepare, (live, -1, None))

    def _start(self, function: Any, before: tuple, arrays: Dict[Any, Any], entries: Any, writable: bool) -> Request:
        live = self._live()

        def prepare():
            n, made, keep = self._fields(arrays, entries, writable)
            return (live, *before, n, made), keep

        return Request._start(self, function, prepare, (live, *before, -1, None))

    def put_start(self, arrays: Optional[Dict[Any, Any]] = None, *, entries: Any = None, **nodal: np.ndarray) -> Request:
        """Start to write fields without waiting; complete the request before the commit."""
        return self._start(_c.tutti_exodus_put_start, (), {**(arrays or {}), **nodal}, entries, False)

    @property_of
    def steps(self) -> int:
        """Number of steps; steps count from 1.  Local."""
        return _c.tutti_exodus_steps(self._live())

    def times(self, first: int = 1, n: Optional[int] = None) -> np.ndarray:
        """Return the times of steps first ... first + n - 1; n None: to the last step."""
        keep: List[Any] = []

        def prepare():
            count = max(self.steps - first + 1, 0) if n is None else operator.index(n)
            keep.append(np.zeros(max(count, 0)))
            return self._live(), first, count, address(keep[0])

        _c.together(_c.tutti_exodus_times, prepare, (self._live(), 0, -1, None))
        return keep[0]

    def _room(self, key: Any, entries: Any, dtype: Any, more: Tuple[int, ...] = ()) -> np.ndarray:
        kind, id_, variable = _key(key)
        of = entries.get(key) if isinstance(entries, dict) else entries
        return np.zeros((*more, self._size(kind, id_, of, variable)), dtype)

    def get(self, step: int, *keys: Any, entries: Any = None, dtype: Any = np.float64,
            out: Optional[Dict[Any, np.ndarray]] = None) -> Any:
        """Read fields of a step (from 1) in one operation; keys as for put.  One key returns an array, several a dict."""
        keep: List[Any] = []
        live, arrays = self._live(), dict(out or {})

        def prepare():
            for key in keys:
                if key not in arrays:
                    arrays[key] = self._room(key, entries, dtype)
            n, made, kept = self._fields(arrays, entries, True)
            keep.append(kept)
            return live, step, n, made

        self._call(_c.together, _c.tutti_exodus_get, prepare, (live, 0, -1, None))
        return arrays[keys[0]] if len(keys) == 1 and not out else arrays

    def get_start(self, step: int, out: Dict[Any, np.ndarray], *, entries: Any = None) -> Request:
        """Start to read fields into arrays by key, without waiting."""
        return self._start(_c.tutti_exodus_get_start, (step,), out, entries, True)

    def follow(self, first: int, last: int, key: Any, *, entries: Any = None, dtype: Any = np.float64) -> np.ndarray:
        """Read a field of steps first ... last: [steps, entries]."""
        keep: List[Any] = []
        live = self._live()

        def prepare():
            if entries is not None and entries._memory is not None:
                raise refused("UNSUPPORTED", "follow does not support a decomposition with positions in memory")
            kind, id_, variable = _key(key)
            array = self._room(key, entries, dtype, (max(last - first + 1, 0),))
            field = _c.tutti_exodus_field(kind, id_, _c.text_bytes(variable), type_of(array.dtype), address(array),
                                          None if entries is None else entries._live())
            keep.extend((array, field))
            return live, first, last, _byref(field)

        self._call(_c.together, _c.tutti_exodus_follow, prepare, (live, 0, 0, None))
        return keep[0]

    def decomposition(self, kind: Any = "nodal", id: int = 0, *, index: Any = None, ids: Any = None,  # pylint: disable=redefined-builtin
                      n: Optional[int] = None, own: Any = None, memory: Any = None, whole: bool = False,
                      rule: str = "idg2", seed: int = 0, balance: float = 0.0) -> Decomposition:
        """Make a decomposition of nodes, a block or a set, with the arguments of Dataset.decomposition except slices."""
        keep: List[Any] = []

        def prepare(made: Decomposition) -> Any:
            made._shape = None
            return spec_of(made, keep, index=index, ids=ids, n=n, own=own, memory=memory, whole=whole,
                           choice=(rule, seed, balance))

        return _Entries(self, kind, id, prepare)

    # ---- arrays

    def _array(self, array_kind: str, kind: Any, id_: int, component: int) -> Any:
        if array_kind not in ARRAY_KINDS:
            raise ValueError(f"unknown array_kind '{array_kind}': must be one of {', '.join(ARRAY_KINDS)}")
        out = _c.tutti_exodus_array()
        out.array_kind, out.kind = NUMBERS["TUTTI_EXODUS_" + array_kind.upper()], operator.index(kind_of(kind))
        out.id, out.component = operator.index(id_), operator.index(component)
        return out

    def array_size(self, array_kind: str, kind: Any = "nodal", id: int = 0, component: int = 0) -> ArraySize:  # pylint: disable=redefined-builtin
        """Return the size of an array of the file: "coordinates" (with a component), "connectivity", "edges", "faces", "counts",
        "attributes", "members", "sides", "factors", "ids", "map", "order".  Local."""
        return self._array_size(self._array(array_kind, kind, id, component))

    def _array_size(self, array: Any) -> ArraySize:
        entries, each, kind = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int()
        _c.tutti_exodus_array_size(self._live(), _byref(array), _byref(entries), _byref(each), _byref(kind))
        return ArraySize(entries.value, each.value, DTYPES[kind.value])

    def array_offset(self, array_kind: str, kind: Any = "nodal", id: int = 0, component: int = 0) -> FileOffset:  # pylint: disable=redefined-builtin
        """Return the offset and the type of an array in the file.  Local."""
        at, type_ = ctypes.c_int64(), ctypes.c_int()
        array = self._array(array_kind, kind, id, component)
        _c.tutti_exodus_array_offset(self._live(), _byref(array), _byref(at), _byref(type_))
        return FileOffset(at.value, DTYPES[type_.value].newbyteorder(">"))

    def field_offset(self, step: int, key: Any) -> FileOffset:
        """Return the offset and the type of a field of a step in the file.  Local."""
        at, type_ = ctypes.c_int64(), ctypes.c_int()
        kind, id_, variable = _key(key)
        field = _c.tutti_exodus_field(kind, id_, _c.text_bytes(variable), TYPES["float64"])
        _c.tutti_exodus_field_offset(self._live(), step, _byref(field), _byref(at), _byref(type_))
        return FileOffset(at.value, DTYPES[type_.value].newbyteorder(">"))

    def _pieces(self, pieces: Sequence[Dict[str, Any]], writable: bool) -> Tuple[int, Any, List[np.ndarray], Any]:
        made, arrays, keep = (_c.tutti_exodus_array * max(len(pieces), 1))(), [], []
        for i, piece in enumerate(pieces):
            given = dict(piece)
            made[i] = self._array(given.pop("array_kind"), given.pop("kind", "nodal"), given.pop("id", 0), given.pop("component", 0))
            size = self._array_size(made[i])
            first, n = operator.index(given.pop("first", 0)), given.pop("n", None)
            entries, values, dtype = given.pop("entries", None), given.pop("values", None), given.pop("dtype", None)
            if given:
                raise TypeError(f"unknown key {', '.join(given)} of a piece of an array")
            if values is not None and not writable:
                values = np.ascontiguousarray(values)
            if entries is not None:
                if not isinstance(entries, Decomposition):
                    raise TypeError(f"entries is {type(entries).__name__}: must be a decomposition")
                n = entries.entries if entries._memory is None else entries._memory[1]
            elif n is None:
                n = size.entries - first if values is None else np.size(values) // max(size.values_per_entry, 1)
            n = max(operator.index(n), 0)
            if values is None:
                if not writable:
                    raise TypeError(f"piece {i} ('{piece['array_kind']}') has no key 'values': required for writing")
                values = np.zeros((n, size.values_per_entry) if size.values_per_entry != 1 else n, dtype or size.dtype)
            name = f"the array of {piece['array_kind']}"
            values = (fitting(values, (n,), size.values_per_entry, name, writable=writable) if entries is None else
                      entries._fitting(values, size.values_per_entry, name, writable))
            made[i].first, made[i].n, made[i].type, made[i].buf = first, n, type_of(values.dtype), address(values)
            made[i].entries = None if entries is None else entries._live()
            arrays.append(values)
            keep.append(entries)
        return len(pieces), made, arrays, keep

    def put_arrays(self, pieces: Sequence[Dict[str, Any]]) -> None:
        """Write pieces of arrays as they are in the file, in one operation, after end_definitions and before the first step:
        dicts of array_kind, kind, id, component, first, or entries (a decomposition), and values."""
        keep: List[Any] = []

        def prepare():
            n, made, *kept = self._pieces(pieces, False)
            keep.append(kept)
            return self._live(), n, made

        _c.together(_c.tutti_exodus_put_arrays, prepare, (self._live(), -1, None))

    def get_arrays(self, pieces: Sequence[Dict[str, Any]]) -> List[np.ndarray]:
        """Read pieces of arrays: dicts as for put_arrays with n (None: all after first) and dtype instead of values, or with values to
        fill.  An id map that is not in the file reads as 1, 2, 3 ..."""
        keep: List[Any] = []

        def prepare():
            n, made, *kept = self._pieces(pieces, True)
            keep.extend(kept)
            return self._live(), n, made

        _c.together(_c.tutti_exodus_get_arrays, prepare, (self._live(), -1, None))
        return keep[0]

    # ---- inspection.  Local

    def _parameters(self) -> Any:
        out = _c.tutti_exodus_parameters()
        _c.tutti_exodus_parameters_sized(self._live(), _byref(out), _c.sized(out))
        return out

    def parameters(self) -> Dict[str, Any]:
        """Return the parameters by name: title, dims, coordinate_names, counts and so on."""
        p = self._parameters()
        out = _c.as_dict(p)
        at = ctypes.cast(p.coordinate_names, ctypes.POINTER(ctypes.c_char_p))
        out["coordinate_names"] = [_text(at[i]) for i in range(p.dims)] if at else list("xyz"[:p.dims])
        return out

    def count(self, kind: Any) -> int:
        """Return the number of entities of a kind."""
        return _c.tutti_exodus_entities(self._live(), kind_of(kind))

    def entity(self, kind: Any, number: int) -> Entity:
        """Return the definition of the entity with a number (from 0)."""
        out = _c.tutti_exodus_entity()
        _c.tutti_exodus_entity_sized(self._live(), kind_of(kind), number, _byref(out), _c.sized(out))
        row = [getattr(out, name) for name in _ENTITY]
        row[0], row[2], row[3] = kind_name(out.kind), _text(out.name) or "", _text(out.topology) or ""
        return Entity(*row)

    def entities(self, kind: Any) -> List[Entity]:
        """Return the definitions of all entities of a kind."""
        return [self.entity(kind, i) for i in range(self.count(kind))]

    def find(self, kind: Any, id: int) -> int:  # pylint: disable=redefined-builtin
        """Return the number (from 0) of the entity with an id."""
        out = ctypes.c_int64()
        _c.tutti_exodus_find(self._live(), kind_of(kind), id, _byref(out))
        return out.value

    def variable_count(self, kind: Any) -> int:
        """Return the number of variables of a kind."""
        return _c.tutti_exodus_variable_count(self._live(), kind_of(kind))

    def variable_names(self, kind: Any) -> List[str]:
        """Return the names of the variables of a kind."""
        return [_text(_c.tutti_exodus_variable_name(self._live(), kind_of(kind), i)) for i in
                range(self.variable_count(kind))]

    def has(self, kind: Any, id: int, variable: str) -> bool:  # pylint: disable=redefined-builtin
        """Return whether an entity has a variable."""
        names = self.variable_names(kind)
        return variable in names and bool(_c.tutti_exodus_has(self._live(), kind_of(kind), self.find(kind, id),
                                                              names.index(variable)))

    def _names(self, function: Any, *of: Any) -> List[str]:
        out: List[str] = []
        while (raw := function(self._live(), *of, len(out))) is not None:
            out.append(_text(raw))
        return out

    def attributes(self, kind: Any, id: int = 0) -> List[str]:  # pylint: disable=redefined-builtin
        """Return the names of the attributes of an entity."""
        return self._names(_c.tutti_exodus_attribute_name, kind_of(kind), id)

    def properties(self, kind: Any) -> Dict[str, np.ndarray]:
        """Return the properties of a kind: an integer per entity."""
        out = {}
        for name in self._names(_c.tutti_exodus_property_name, kind_of(kind)):
            out[name] = np.zeros(self.count(kind), np.int64)
            _c.tutti_exodus_property_get(self._live(), kind_of(kind), _c.text_bytes(name), address(out[name]))
        return out

    def qa(self) -> List[QA]:
        """Return the QA records."""
        out, row = [], _c.tutti_exodus_qa()
        for i in range(_c.tutti_exodus_qa_count(self._live())):
            _c.tutti_exodus_qa_get(self._live(), i, _byref(row))
            out.append(QA(*(_text(getattr(row, name)) or "" for name in QA._fields)))
        return out

    def info(self) -> List[str]:
        """Return the info lines."""
        return self._names(_c.tutti_exodus_info_line)

    # ---- checking, Nemesis

    def verify(self) -> int:
        """Read all data and compare checksums; return the number of bytes compared."""
        out = ctypes.c_int64()
        _c.tutti_exodus_verify(self._live(), _byref(out))
        return out.value

    def nemesis(self, processor: int) -> Optional[SimpleNamespace]:
        """Return the Nemesis data of a processor (chosen by each rank; -1: none): the fields of
        tutti_exodus_nemesis, arrays as copies.  Numbers are those of the file, from 1."""
        out = _c.tutti_exodus_nemesis()
        _c.together(_c.tutti_exodus_nemesis_get, lambda: (self._live(), processor, _byref(out)), (self._live(), -2, None))
        if processor < 0:
            return None
        made = {name: getattr(out, name) for name in ("processors", "internal_nodes", "border_nodes", "external_nodes",
                                                      "internal_elements", "border_elements", "node_maps", "element_maps")}

        def take(n, dtype, *names):
            for name in names:
                made[name] = view_of(getattr(out, name), n, dtype, None).copy()

        take(out.internal_nodes + out.border_nodes + out.external_nodes, np.int64, "nodes")
        take(out.internal_elements + out.border_elements, np.int64, "elements")
        for of, maps, more in (("node", out.node_maps, ()), ("element", out.element_maps, ("sides",))):
            take(maps, np.int64, of + "_map_ids")
            take(maps + 1, np.int64, of + "_map_start")
            n = int(made[of + "_map_start"][-1]) if maps else 0
            take(n, np.int64, f"{of}_map_{of}s")
            take(n, np.intc, *(f"{of}_map_{name}" for name in (*more, "processors")))
        return SimpleNamespace(**made)

    def __repr__(self) -> str:
        return f"<Exodus '{self._name}': {'open' if self._h else 'closed'}>"


def _mode(mode: Any) -> int:
    words = {"r": "READ", "r+": "READ WRITE"}
    if isinstance(mode, str):
        if mode not in words:
            raise ValueError(f"unknown mode '{mode}': must be one of {', '.join(words)}")
        return sum(NUMBERS["TUTTI_" + w] for w in words[mode].split())
    return mode


def _list(values: Any, name: str) -> Any:
    if isinstance(values, (str, bytes)):
        raise TypeError(f"argument {name} is {type(values).__name__}: must be a list of str")
    return values


def _key(key: Any) -> Tuple[int, int, Optional[str]]:
    """Return (kind, id, variable) of the key of a field."""
    if isinstance(key, str):
        return _NODAL, 0, key
    if not isinstance(key, tuple) or len(key) not in (2, 3):
        raise TypeError(f"invalid field {key!r}: must be a name, ('global', name) or (kind, id, name)")
    kind = operator.index(kind_of(key[0]))
    if len(key) == 2 and kind not in (_GLOBAL, _NODAL):
        raise TypeError(f"field {key!r} has no id: must be (kind, id, name)")
    if key[-1] is None and kind != _GLOBAL:
        raise TypeError(f"field {key!r} has no name: must be (kind, id, name)")
    return kind, operator.index(key[1]) if len(key) == 3 else 0, key[-1]


def _set_fields(struct: Any, given: Dict[str, Any], names: Sequence[str]) -> None:
    for name, value in given.items():
        if name not in names:
            raise TypeError(f"unknown field '{name}': must be one of {', '.join(names)}")
        number = operator.index(value)
        setattr(struct, name, number)
        if getattr(struct, name) != number:
            raise OverflowError(f"{name} is {number}: does not fit the integer type of the field")
