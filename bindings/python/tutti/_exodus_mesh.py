"""Meshes of Exodus files: conversion between NumPy arrays and structs of C.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _c
from ._api import NUMBERS
from ._buffers import DTYPES, TYPES, address, fitting, numbers, pointer, type_of, view_of

KINDS = {name: NUMBERS["TUTTI_EXODUS_" + name.upper().replace(" ", "_")] for name in (
    "global", "nodal", "element block", "edge block", "face block", "node set", "side set", "element set", "edge set",
    "face set", "node map", "element map", "edge map", "face map")}
BLOCKS = {"blocks": "element block", "edge_blocks": "edge block", "face_blocks": "face block"}
SETS = {"node_sets": "node set", "side_sets": "side set", "element_sets": "element set", "edge_sets": "edge set",
        "face_sets": "face set"}
_LISTED = ("nsided", "nfaced")


def kind_of(kind: Any) -> int:
    """Return the number of a kind: "element block", "element_block", or the number itself."""
    if isinstance(kind, str):
        word = kind.replace("_", " ")
        if word not in KINDS:
            raise ValueError(f"unknown kind '{kind}': must be one of {', '.join(KINDS)}")
        return KINDS[word]
    return kind


class ExodusMesh(SimpleNamespace):
    """The mesh of a rank.  Arrays may be None if the rank has no such entries.

    node_ids          [nodes]             coordinates       [nodes, dims], or one array for each of the dims
    own               [nodes] or None     node_attributes   [nodes, attributes]
    blocks, edge_blocks, face_blocks      one dict per block in the order of definition, or a dict of such dicts by id:
                      ids [n], nodes [n, nodes of an entry] (indices into the nodes, from 0), edges and faces likewise,
                      attributes [n, attributes]; nsided and nfaced: start [n + 1], index of the first node of each entry
    node_sets, side_sets, element_sets, edge_sets, face_sets      the same form:
                      members [n] indices, sides [n] from 1 (side sets), factors, attributes [n, attributes]
    """

    def __init__(self, **fields: Any) -> None:
        known = ("node_ids", "coordinates", "own", "node_attributes", *BLOCKS, *SETS)
        for name in fields:
            if name not in known:
                raise TypeError(f"unknown field '{name}' of a mesh")
        super().__init__(**{name: fields.get(name) for name in known})


def _reals(values: Any, n: int, each: int, what: str) -> Optional[np.ndarray]:
    """Convert [n, each] values to C."""
    if values is None:
        return None
    return fitting(np.ascontiguousarray(values, np.float64), (n,), each, what)


def _places(values: Any, what: str, each: int = 1, n: Optional[int] = None) -> Optional[np.ndarray]:
    """Convert [n, each] integers to C; n None: as many as there are."""
    if values is None:
        return None
    array = np.ascontiguousarray(values)
    if n is None:
        n = -(-array.size // max(each, 1))
    return numbers(fitting(array, (n,), each, what).reshape(-1), np.int64, what)


def _dicts(given: Any, entities: List[Any], what: str) -> List[Dict[str, Any]]:
    """Return a dict per entity, from a list or from a dict by id."""
    if given is None:
        return [{}] * len(entities)
    if isinstance(given, dict):
        more = given.keys() - {e.id for e in entities}
        if more:
            raise ValueError(f"{what} contains undefined ids {sorted(more)}")
        return [given.get(e.id) or {} for e in entities]
    if len(given) != len(entities):
        raise ValueError(f"{what} has {len(given)} entries: {len(entities)} are defined")
    return [d or {} for d in given]


def _only(given: Dict[str, Any], names: Tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in names:
            raise TypeError(f"unknown field '{name}' of {what}: must be one of {', '.join(names)}")


def _block(out: Any, given: Dict[str, Any], entity: Any, keep: List[Any]) -> None:
    what = f"block {entity.id}"
    _only(given, ("ids", "nodes", "start", "edges", "faces", "attributes"), what)
    each = entity.nodes or _c.tutti_exodus_topology_nodes(_c.text_bytes(entity.topology))
    listed = entity.topology.lower() in _LISTED
    nodes = _places(given.get("nodes"), f"nodes of {what}", 1 if listed else max(each, 1))
    start = _places(given.get("start"), f"start of {what}")
    if listed:
        n = 0 if start is None else max(len(start) - 1, 0)
        if n and (start[0] != 0 or nodes is None or start[-1] != len(nodes)):
            raise ValueError(f"start of {what} runs from {start[0]} to {start[-1]}: "
                             f"must run from 0 to {0 if nodes is None else len(nodes)}, the length of nodes")
        if n and (np.diff(start) < 0).any():
            raise ValueError(f"start of {what} decreases after entry {int(np.argmax(np.diff(start) < 0))}: must not decrease")
    else:
        n = 0 if nodes is None or not each else len(nodes) // each
        if nodes is not None and not each:
            raise ValueError(f"number of nodes per entry of {what} is unknown: define it with nodes=")
    arrays = (numbers(given.get("ids"), np.int64, f"ids of {what}", n), nodes, start,
              _places(given.get("edges"), f"edges of {what}", entity.edges, n),
              _places(given.get("faces"), f"faces of {what}", entity.faces, n),
              _reals(given.get("attributes"), n, entity.attributes, f"attributes of {what}"))
    keep.append(arrays)
    out.n = n
    out.ids, out.nodes, out.start, out.edges, out.faces, out.attributes = (pointer(a) for a in arrays)


class _Sides:
    """The elements of this rank; nodes(members, sides) returns the number of nodes of sides of these."""

    def __init__(self, blocks: List[Any], counts: List[int], dims: int) -> None:
        self._blocks, self._dims = blocks, dims
        self._ends, self._known = np.cumsum(counts), {}

    def nodes(self, members: np.ndarray, sides: np.ndarray) -> int:
        total = 0
        which = np.searchsorted(self._ends, members, side="right")
        for block, side in zip(which.tolist(), sides.tolist()):
            if (block, side) not in self._known:
                self._known[block, side] = self._one(block, side)
            total += self._known[block, side]
        return total

    def _one(self, block: int, side: int) -> int:
        if block >= len(self._blocks):
            return 0  # the element does not exist, which the library reports
        entity = self._blocks[block]
        topology = entity.topology.lower()
        if topology == "nsided":
            return 2
        nodes = entity.nodes or _c.tutti_exodus_topology_nodes(_c.text_bytes(topology))
        return _c.tutti_exodus_side_nodes(_c.text_bytes(topology), nodes, self._dims, side, None)


def _set(out: Any, given: Dict[str, Any], entity: Any, of_sides: Optional[_Sides], keep: List[Any]) -> None:
    what = f"set {entity.id}"
    _only(given, ("members", "sides", "factors", "attributes"), what)
    members = _places(given.get("members"), f"members of {what}")
    n = 0 if members is None else len(members)
    sides = numbers(given.get("sides"), np.intc, f"sides of {what}", n)
    factors = given.get("factors")
    if factors is not None:
        count = n if of_sides is None else of_sides.nodes(members, sides) if n and sides is not None else 0
        factors = _reals(factors, count, 1, f"factors of {what}")
    arrays = (members, sides, factors, _reals(given.get("attributes"), n, entity.attributes, f"attributes of {what}"))
    keep.append(arrays)
    out.n = n
    out.members, out.sides, out.factors, out.attributes = (pointer(a) for a in arrays)


def _coordinates(out: Any, given: Any, dims: int, keep: List[Any]) -> int:
    """Set the coordinates; return the number of nodes."""
    if given is None:
        return 0
    if isinstance(given, np.ndarray) or np.ndim(given[0]) == 0 or not isinstance(given, (list, tuple)):
        given = np.asarray(given)
        if given.ndim == 1 and dims == 1:
            given = given[:, None]
        if given.ndim != 2 or given.shape[1] != dims:
            raise ValueError(f"coordinates have shape {given.shape}: must be (nodes, {dims})")
        given = [given[:, k] for k in range(dims)]
    if len(given) != dims:
        raise ValueError(f"coordinates have {len(given)} dimensions: must be {dims}")
    kind = np.float32 if all(np.asarray(c).dtype == np.float32 for c in given) else np.float64
    n = len(given[0])
    for k, values in enumerate(given):
        made = numbers(values, kind, "coordinates", n)
        keep.append(made)
        out.coordinates[k] = address(made)
    out.type = type_of(kind)
    return n


def to_c(mesh: ExodusMesh, entities: Any, parameters: Any, keep: List[Any]) -> Tuple[Any, Dict[Tuple[int, int], int]]:
    """Return the struct of a mesh, and the numbers of entries of this rank by (kind, id); `entities` returns those of a kind."""
    out, counts = _c.tutti_exodus_mesh(), {}
    out.nodes = n = _coordinates(out, mesh.coordinates, parameters.dims, keep)
    arrays = (numbers(mesh.node_ids, np.int64, "node_ids", n), numbers(mesh.own, np.uint8, "own", n),
              _reals(mesh.node_attributes, n, parameters.node_attributes, "node_attributes"))
    keep.append(arrays)
    out.node_ids, out.own, out.node_attributes = (pointer(a) for a in arrays)
    counts[KINDS["nodal"], 0] = n
    for name, kind in {**BLOCKS, **SETS}.items():
        rows = entities(kind)
        given = _dicts(getattr(mesh, name), rows, name)
        if not rows:
            continue
        made = ((_c.tutti_exodus_elements if name in BLOCKS else _c.tutti_exodus_members) * len(rows))()
        keep.append(made)
        if name == "blocks":
            blocks = made
        sides = _Sides(entities("element block"), [b.n for b in blocks] if entities("element block") else [],
                       parameters.dims) if name == "side_sets" else None
        for i, row in enumerate(rows):
            if name in BLOCKS:
                _block(made[i], given[i], row, keep)
            else:
                _set(made[i], given[i], row, sides, keep)
            counts[KINDS[kind], row.id] = made[i].n
        setattr(out, name, made)
    return out, counts


def _copy(at: Any, shape: Any, dtype: Any) -> Optional[np.ndarray]:
    return None if not at else view_of(at, shape, dtype, None).copy()


def _rows(at: Any, n: int, each: int, dtype: Any) -> Optional[np.ndarray]:
    return _copy(at, (n, each), dtype) if each else None


def _some_rows(at: Any, n: int, each: int, dtype: Any) -> Optional[np.ndarray]:
    """Return n rows as _rows does; if n is 0, return an array without rows instead of None."""
    return np.empty((0, each), dtype) if each and not n else _rows(at, n, each, dtype)


def _block_of(e: Any, row: Any) -> Dict[str, Any]:
    listed = row.topology.lower() in _LISTED
    start = view_of(e.start, e.n + 1, np.int64, None).copy() if listed and e.start else None
    nodes = view_of(e.nodes, int(start[-1]) if start is not None else 0, np.int64, None).copy() if listed else \
        view_of(e.nodes, (e.n, row.nodes), np.int64, None).copy()
    return {"ids": np.empty(0, np.int64) if not e.n else _copy(e.ids, e.n, np.int64), "nodes": nodes, "start": start,
            "edges": _some_rows(e.edges, e.n, row.edges, np.int64), "faces": _some_rows(e.faces, e.n, row.faces, np.int64),
            "attributes": _some_rows(e.attributes, e.n, row.attributes, np.float64)}


def _set_of(s: Any, row: Any, of_sides: Optional[_Sides]) -> Dict[str, Any]:
    members, sides = view_of(s.members, s.n, np.int64, None).copy(), _copy(s.sides, s.n, np.intc)
    if sides is None and of_sides is not None:
        sides = np.empty(0, np.intc)
    count = s.n if of_sides is None else of_sides.nodes(members, sides) if s.n and s.factors else 0
    return {"members": members, "sides": sides,
            "factors": view_of(s.factors, count, np.float64, None).copy() if s.factors or row.factors else None,
            "attributes": _some_rows(s.attributes, s.n, row.attributes, np.float64)}


def from_c(mesh: Any, entities: Any, parameters: Any) -> Tuple[ExodusMesh, Dict[Tuple[int, int], int]]:
    """Return a copy of a mesh of the library, and the numbers of its entries by (kind, id)."""
    n, dims = mesh.nodes, parameters.dims
    counts = {(KINDS["nodal"], 0): n}
    dtype = DTYPES[mesh.type or TYPES["float64"]]
    xyz = np.empty((n, dims), dtype, order="F")
    for k in range(dims):
        xyz[:, k] = view_of(mesh.coordinates[k], n, dtype, None)
    out = ExodusMesh(node_ids=np.empty(0, np.int64) if not n else _copy(mesh.node_ids, n, np.int64), coordinates=xyz,
                     own=_copy(mesh.own, n, np.uint8),
                     node_attributes=_some_rows(mesh.node_attributes, n, parameters.node_attributes, np.float64))
    sides = None
    for name, kind in {**BLOCKS, **SETS}.items():
        rows, at, made = entities(kind), getattr(mesh, name), []
        if name == "side_sets":
            blocks = entities("element block")
            sides = _Sides(blocks, [mesh.blocks[i].n for i in range(len(blocks))], dims)
        for i, row in enumerate(rows):
            made.append(_block_of(at[i], row) if name in BLOCKS else
                        _set_of(at[i], row, sides if name == "side_sets" else None))
            counts[KINDS[kind], row.id] = at[i].n
        setattr(out, name, made)
    return out, counts


def texts(values: Any, keep: List[Any], what: str = "a name") -> Any:
    """Return the address of texts as a `const char *const *`."""
    made = (ctypes.c_char_p * max(len(values), 1))(*(_c.text_bytes(v, what) for v in values))
    keep.append(made)
    return ctypes.addressof(made)
