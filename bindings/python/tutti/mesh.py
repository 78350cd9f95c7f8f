"""Unstructured meshes: reading, numbering, partitioning and distribution by all ranks.  <tutti/mesh.h>

Arrays that a mesh or a part returns are copies: they stay valid when it is renumbered or freed.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from . import _c, mpi
from ._api import NUMBERS
from ._buffers import address, numbers, pointer, view_of
from ._closing import Freeing
from .options import options_pointer

_byref = ctypes.byref
FORMATS = {"native": "NATIVE", "gmsh-4.1": "GMSH_41", "gmsh-4.1-binary": "GMSH_41_BINARY", "gmsh-2.2": "GMSH_22",
           "gmsh-2.2-binary": "GMSH_22_BINARY"}
ORDERS = {"file": "FILE", "curve": "CURVE", "rcm": "RCM"}
BY = {"metis": "METIS", "curve": "BY_CURVE", "rcb": "BY_RCB"}


def _word(word: str, words: Dict[str, str]) -> int:
    if word not in words:
        raise ValueError(f"unknown value '{word}': must be one of {', '.join(words)}")
    return NUMBERS["TUTTI_MESH_" + words[word]]


class Group(NamedTuple):
    """A physical group: a named set of elements."""
    dim: int
    tag: int
    name: str


def type_nodes(kind: int) -> int:
    """Return the number of nodes of an element type."""
    return _c.tutti_mesh_type_nodes(kind)


def type_dim(kind: int) -> int:
    """Return the dimension of an element type."""
    return _c.tutti_mesh_type_dim(kind)


def type_name(kind: int) -> str:
    """Return the name of an element type, for example "tetrahedron"."""
    return _c.tutti_mesh_type_name(kind).decode()


def has_metis() -> bool:
    """Return whether METIS is available."""
    return bool(_c.tutti_mesh_has_metis())


class Mesh(Freeing):
    """A mesh in slices: each rank has some of its nodes and elements.

        mesh = tutti.Mesh.open(comm, "device.msh")
        mesh.renumber("curve")
        part = mesh.part(mesh.partition(comm.size))
    """

    def __init__(self) -> None:
        raise TypeError("Mesh cannot be instantiated: use its class methods (open, make)")

    @classmethod
    def _new(cls, function: Any, prepare: Any, null: tuple) -> "Mesh":
        self = object.__new__(cls)
        self._h = ctypes.c_void_p()
        _c.together(function, lambda: (*prepare(), _byref(self._h)), (*null, _byref(self._h)))
        return self

    @classmethod
    def open(cls, comm: Any, path: Any, options: Any = None) -> "Mesh":
        """Read a mesh from a file: Gmsh formats 4.1 and 2.2, or the native format.  Collective."""
        handle = mpi.handle_of(comm)
        return cls._new(_c.tutti_mesh_open, lambda: (handle, _c.path_bytes(path), options_pointer(options)),
                        (handle, None, None))

    @classmethod
    def make(cls, comm: Any, coordinates: Any, type: Any, start: Any, node: Any, *,  # pylint: disable=redefined-builtin
             tag: Any = None, physical: Any = None, entity: Any = None) -> "Mesh":
        """Make a mesh from the parts of all ranks.  Collective.

        coordinates  [nodes, 3]
        type         [elements], for example tutti.MESH_TRIANGLE
        start        [elements + 1], index in `node` of the first node of each element
        node         node numbers, counted over all ranks
        """
        handle, keep = mpi.handle_of(comm), []

        def prepare():
            view = _c.tutti_mesh_view()
            xyz = np.ascontiguousarray(coordinates, np.float64).reshape(-1, 3)
            types = numbers(type, np.uint8, "type")
            starts = numbers(start, np.int64, "start", len(types) + 1)
            nodes = numbers(node, np.int64, "node", int(starts[-1]))
            if starts[0] != 0:
                raise ValueError(f"start[0] is {starts[0]}: must be 0")
            if (np.diff(starts) < 0).any():
                raise ValueError(f"start decreases after entry {int(np.argmax(np.diff(starts) < 0))}: must not decrease")
            tags = numbers(tag, np.int64, "tag", len(xyz))
            groups = numbers(physical, np.int32, "physical", len(types))
            entities = numbers(entity, np.int32, "entity", len(types))
            keep.extend((xyz, types, starts, nodes, tags, groups, entities))
            view.nodes, view.coordinates, view.tag = len(xyz), address(xyz), pointer(tags)
            view.elements, view.type, view.start, view.node = len(types), address(types), address(starts), address(nodes)
            view.physical, view.entity = pointer(groups), pointer(entities)
            keep.append(view)
            return handle, _byref(view)

        return cls._new(_c.tutti_mesh_make, prepare, (handle, None))

    _what = "the mesh"

    def _free(self, handle: Any) -> None:
        _c.tutti_mesh_free(handle)

    def _raw(self) -> Any:
        view = _c.tutti_mesh_view()
        _c.tutti_mesh_view_sized(self._live(), _byref(view), _c.sized(view))
        return view

    def view(self) -> SimpleNamespace:
        """Return the slice of this rank: nodes, first_node, coordinates, tag, elements, first_element, type, physical, entity, start,
        node, all_nodes, all_elements, membership (further groups of elements: dim, entity, physical, tag)."""
        v = self._raw()
        out = _copies(v, v.nodes, (("tag", np.int64),))
        out.update(_copies(v, v.elements, (("type", np.uint8), ("physical", np.int32), ("entity", np.int32))))
        out["coordinates"] = view_of(v.coordinates, (v.nodes, 3), np.float64, self).copy()
        out["start"] = view_of(v.start, v.elements + 1, np.int64, self).copy()
        out["node"] = view_of(v.node, int(out["start"][-1]) if v.elements else 0, np.int64, self).copy()
        for name in ("nodes", "first_node", "elements", "first_element", "all_nodes", "all_elements"):
            out[name] = getattr(v, name)
        out["membership"] = view_of(v.membership, (v.memberships, 4), np.intc, self).copy()
        return SimpleNamespace(**out)

    def groups(self) -> List[Group]:
        """Return the named physical groups."""
        out = ctypes.POINTER(_c.tutti_mesh_group)()
        n = _c.tutti_mesh_groups(self._live(), _byref(out))
        return [Group(out[i].dim, out[i].tag, out[i].name.decode("utf-8", "replace")) for i in range(n)]

    def set_groups(self, groups: Sequence[Group]) -> None:
        """Replace the named physical groups.  Collective; `groups` must be the same on all ranks."""
        def prepare():
            made = (_c.tutti_mesh_group * max(len(groups), 1))()
            for i, (dim, tag, name) in enumerate(groups):
                made[i].dim, made[i].tag, made[i].name = dim, tag, _c.text_bytes(name)
            return self._live(), len(groups), made

        _c.together(_c.tutti_mesh_set_groups, prepare, (self._live(), -1, None))

    def describe(self) -> Dict[str, Any]:
        """Return counts, extent and the quality of the numbering.  Collective."""
        out = _c.tutti_mesh_info()
        _c.tutti_mesh_describe_sized(self._live(), _byref(out), _c.sized(out))
        return _c.as_dict(out)

    def write(self, path: Any, format: str = "native", options: Any = None) -> None:  # pylint: disable=redefined-builtin
        """Write the mesh to a new file in a format: "native", "gmsh-4.1", "gmsh-4.1-binary", "gmsh-2.2" or "gmsh-2.2-binary".
        Collective."""
        _c.together(_c.tutti_mesh_write,
                    lambda: (self._live(), _c.path_bytes(path), _word(format, FORMATS), options_pointer(options)),
                    (self._live(), None, 0, None))

    def renumber(self, order: str = "curve") -> None:
        """Renumber the nodes in the order "curve", "rcm" or "file".  Collective."""
        _c.together(_c.tutti_mesh_renumber, lambda: (self._live(), _word(order, ORDERS)), (self._live(), -1))

    @property
    def partitioned_by(self) -> str:
        """The partitioner that the last `partition` used: METIS may have been replaced; "" if there was none."""
        used = _c.tutti_mesh_partitioned_by(self._live())
        return next((name for name, value in BY.items() if NUMBERS["TUTTI_MESH_" + value] == used), "")

    def partition(self, parts: int, by: str = "metis", load: Any = None) -> np.ndarray:
        """Return the partition of each node of the slice, by "metis", "curve" or "rcb".  Collective; `parts` and `by` must be the same
        on all ranks."""
        keep = []

        def prepare():
            n = self._raw().nodes
            keep.append(np.zeros(max(n, 1), np.intc))
            keep.append(numbers(load, np.int64, "load", n))
            return self._live(), parts, _word(by, BY), pointer(keep[1]), address(keep[0])

        _c.together(_c.tutti_mesh_partition, prepare, (self._live(), -1, 0, None, None))
        return keep[0][:self._raw().nodes]

    def _of(self, of: Any) -> np.ndarray:
        return numbers(of, np.intc, "the partition", self._raw().nodes)

    def cut(self, parts: int, of: Any, load: Any = None) -> Dict[str, Any]:
        """Return the quality of a partition.  Collective; `parts` must be the same on all ranks."""
        out, keep = _c.tutti_mesh_cut(), []

        def prepare():
            keep.extend((self._of(of), numbers(load, np.int64, "load", self._raw().nodes)))
            return self._live(), parts, address(keep[0]), pointer(keep[1]), _byref(out), _c.sized(out)

        _c.together(_c.tutti_mesh_cut_sized, prepare, (self._live(), -1, None, None, None, 0))
        return _c.as_dict(out)

    def classify(self, of: Any) -> Tuple[np.ndarray, np.ndarray]:
        """Return (start, holder): holder[start[i]:start[i + 1]] are the partitions that hold node i of the slice.  Collective."""
        start, holder, keep = ctypes.c_void_p(), ctypes.c_void_p(), []

        def prepare():
            keep.append(self._of(of))
            return self._live(), address(keep[0]), _byref(start), _byref(holder)

        _c.together(_c.tutti_mesh_classify, prepare, (self._live(), None, None, None))
        try:
            starts = view_of(start.value, self._raw().nodes + 1, np.int64, None).copy()
            return starts, view_of(holder.value, int(starts[-1]), np.intc, None).copy()
        finally:
            _c.tutti_mesh_lists_free(_byref(start), _byref(holder))

    def part(self, of: Any) -> "MeshPart":
        """Distribute the mesh: partition p to rank p.  Collective.  The mesh may be freed afterwards."""
        return MeshPart(self, of)


def _copies(view: Any, n: int, fields: Sequence[Tuple[str, Any]]) -> Dict[str, np.ndarray]:
    return {name: view_of(getattr(view, name), n, dtype, None).copy() for name, dtype in fields}


class MeshPart(Freeing):
    """The part of this rank: a partition and its halo.  The fields of tutti_mesh_part_view are attributes:

    nodes, own_nodes, number, own, owner, coordinates, tag, holder_start, holder, elements, own_elements, element, element_own,
    type, physical, entity, start, node, peer, send_start, send, receive_start, receive, all_nodes, all_elements
    """

    def __init__(self, mesh: Mesh, of: Any) -> None:
        self._h = ctypes.c_void_p()
        keep = []

        def prepare():
            keep.append(mesh._of(of))
            return mesh._live(), address(keep[0]), _byref(self._h)

        _c.together(_c.tutti_mesh_part_make, prepare, (mesh._live(), None, _byref(self._h)))
        self._take()

    def _take(self) -> None:
        v = _c.tutti_mesh_part_view()
        _c.tutti_mesh_part_sized(self._h, _byref(v), _c.sized(v))
        for name in ("nodes", "own_nodes", "elements", "own_elements", "peers", "all_nodes", "all_elements"):
            setattr(self, name, getattr(v, name))
        out = _copies(v, v.nodes, (("number", np.int64), ("own", np.uint8), ("owner", np.intc), ("tag", np.int64)))
        out.update(_copies(v, v.nodes + 1, (("holder_start", np.int64),)))
        out.update(_copies(v, v.elements, (("element", np.int64), ("element_own", np.uint8), ("type", np.uint8),
                                           ("physical", np.int32), ("entity", np.int32))))
        out.update(_copies(v, v.elements + 1, (("start", np.int64),)))
        out.update(_copies(v, v.peers, (("peer", np.intc),)))
        out.update(_copies(v, v.peers + 1, (("send_start", np.int64), ("receive_start", np.int64))))
        out["coordinates"] = view_of(v.coordinates, (v.nodes, 3), np.float64, None).copy()
        out["holder"] = view_of(v.holder, int(out["holder_start"][-1]) if v.nodes else 0, np.intc, None).copy()
        out["node"] = view_of(v.node, int(out["start"][-1]) if v.elements else 0, np.intc, None).copy()
        for name in ("send", "receive"):
            n = int(out[name + "_start"][-1]) if v.peers else 0
            out[name] = view_of(getattr(v, name), n, np.intc, None).copy()
        for name, array in out.items():
            setattr(self, name, array)

    _what = "the part"

    def exchange(self, values: np.ndarray) -> None:
        """Update copies with the values of their owners: values[nodes] or values[nodes, k], float64.  Collective; k must be the same on
        all ranks."""
        per_node = values.shape[1] if isinstance(values, np.ndarray) and values.ndim == 2 else 1

        def prepare():
            if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.ndim not in (1, 2) or \
                    len(values) != self.nodes:
                given = f"{values.dtype} and shape {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
                raise TypeError(f"values have type {given}: must be an array of float64 with {self.nodes} rows")
            if not values.flags.c_contiguous:
                raise ValueError("values are not contiguous: must be in C order")
            if not values.flags.writeable:
                raise ValueError("values are read-only: must be writable")
            return self._live(), address(values), per_node

        _c.together(_c.tutti_mesh_part_exchange, prepare, (self._live(), None, -1))

    def _free(self, handle: Any) -> None:
        _c.tutti_mesh_part_free(handle)
