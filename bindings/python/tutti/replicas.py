"""Items that several ranks hold, and the choice of their writers.  <tutti/replicas.h>

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
from typing import Any, Dict, NamedTuple, Tuple

import numpy as np

from . import _c, mpi
from ._api import NUMBERS
from ._buffers import address, check_room, fitting, flat, numbers, pointer, view_of
from ._closing import Freeing
from .access import Access
from .file import File

_byref = ctypes.byref


class Share(NamedTuple):
    """The items that one rank writes."""
    items: int
    intervals: int
    bytes: int


def rule_of(rule: Any) -> int:
    """Return the rule of a name: "idg2", "idg", "own", "first" or "random"."""
    out = ctypes.c_int()
    _c.tutti_replicas_rule_parse(_c.text_bytes(rule, "the rule"), _byref(out))
    return out.value


def rule_name(rule: int) -> str:
    """Return the name of a rule, for example "idg2"."""
    return _c.tutti_replicas_rule_name(rule).decode()


def set_choice(choice: Any, rule: Any, seed: int, balance: float) -> None:
    """Fill in rule, seed and balance of a tutti_replicas_choice."""
    choice.rule, choice.seed, choice.balance = rule_of(rule), seed, balance


class Replicas(Freeing):
    """An inspector: computes positions and writers of items from the numbers that each rank holds.

        r = tutti.Replicas(comm, node_numbers, own=own, value_bytes=8)
        r.write(f, 0, potential)
        r.read(f, 0, potential)

    numbers         global numbers of the items of this rank, in the order of its memory
    own             for each item, whether this rank owns it; None on all ranks: Tutti chooses the owners
    load            number of values per item: one integer, or one for each item
    value_bytes     size of a value in bytes
    memory_offsets  offset of the values of each item in memory; None: consecutive
    rule, seed, balance  rule for the choice of writers
    items           number of items in the file; 0: unknown, then `read` needs numbers without gaps
    positions       offset of each item in the file in bytes, to read or write only some items of the file

    Collective; value_bytes, rule, seed, balance and items must be the same on all ranks.  `free` is local.
    """

    def __init__(self, comm: Any, numbers: Any, *, own: Any = None, load: Any = 1,  # pylint: disable=redefined-outer-name
                 value_bytes: int = 8, memory_offsets: Any = None, rule: str = "idg2", seed: int = 0,
                 balance: float = 0.0, items: int = 0, positions: Any = None) -> None:
        self._h = ctypes.c_void_p()
        handle, keep = mpi.handle_of(comm), []

        def prepare():
            spec = _c.tutti_replicas_spec()
            held = _numbers(numbers, np.int64, "numbers")
            n = len(held)
            loads = None if np.ndim(load) == 0 else _numbers(load, np.int64, "load", n)
            owns = _numbers(own, np.uint8, "own", n)
            offsets = _numbers(memory_offsets, np.int64, "memory_offsets", n)
            places = _numbers(positions, np.int64, "positions", n)
            keep.extend((held, loads, owns, offsets, places))
            spec.n, spec.numbers, spec.own, spec.loads = n, address(held), pointer(owns), pointer(loads)
            spec.load = int(load) if loads is None else 0
            spec.value_bytes, spec.memory_offsets = value_bytes, pointer(offsets)
            spec.items, spec.positions = items, pointer(places)
            set_choice(spec.choice, rule, seed, balance)
            return handle, _byref(spec), _byref(self._h)

        _c.together(_c.tutti_replicas_create, prepare, (handle, None, _byref(self._h)))
        self._n = len(keep[0])
        # Number of bytes of an item, if all items have the same number and are consecutive in memory.
        self._item = int(load) * value_bytes if np.ndim(load) == 0 and memory_offsets is None else None

    _what = "the inspector"

    @property
    def write_access(self) -> Access:
        """The access of the items that this rank writes, at offset 0 of a file."""
        return Access._borrow(_c.tutti_replicas_write_access(self._live()), self).copy()

    @property
    def read_access(self) -> Access:
        """The access of all items that this rank holds."""
        return Access._borrow(_c.tutti_replicas_read_access(self._live()), self).copy()

    @property
    def positions(self) -> np.ndarray:
        """Position of each item in the file in bytes."""
        return view_of(_c.tutti_replicas_positions(self._live()), self._n, np.int64, self).copy()

    @property
    def writers(self) -> np.ndarray:
        """The rank that writes each item, -1 for items without load."""
        return view_of(_c.tutti_replicas_writers(self._live()), self._n, np.intc, self).copy()

    @property
    def bytes(self) -> int:
        """Number of bytes of all items."""
        return _c.tutti_replicas_bytes(self._live())

    def stats(self) -> Dict[str, Any]:
        """Return statistics of the choice of writers."""
        out = _c.tutti_replicas_stats()
        _c.tutti_replicas_stats_sized(self._live(), _byref(out), _c.sized(out))
        return _c.as_dict(out)

    def share(self, rank: int) -> Share:
        """Return the share of a rank."""
        out = _c.tutti_replicas_share()
        _c.tutti_replicas_share_get(self._live(), rank, _byref(out))
        return Share(out.items, out.intervals, out.bytes)

    def _room(self) -> Tuple[int, int]:
        return self.read_access.memory_bounds

    def _buffer(self, buf: Any, writable: bool) -> np.ndarray:
        array = flat(buf, writable)
        check_room(*self._room(), array.nbytes)
        if self._item is None or array.ndim < 2:
            return array
        each = self._item // array.itemsize if self._item % array.itemsize == 0 else 0
        return fitting(array, (self._n,), each, "the buffer", writable=writable, longer=True)

    def check(self, buf: Any) -> None:
        """Check that all copies are equal.  Collective; raises TUTTI_ERR_MISMATCH on all ranks otherwise."""
        keep = []

        def prepare():
            keep.append(self._buffer(buf, False))
            return self._live(), address(keep[0])

        _c.together(_c.tutti_replicas_check, prepare, (self._live(), None))

    def write(self, file: File, offset: int, buf: Any, *, check: bool = False) -> None:
        """Write all items, each once, beginning at an offset; with `check` copies are compared first.  Collective."""
        keep = []
        flags = NUMBERS["TUTTI_REPLICAS_CHECK"] if check else 0

        def prepare():
            keep.append(self._buffer(buf, False))
            return file._live(), offset, self._live(), address(keep[0]), flags

        _c.together(_c.tutti_replicas_write, prepare, (file._live(), 0, None, None, flags))

    def read(self, file: File, offset: int, buf: Any) -> None:
        """Read all items that this rank holds.  Collective."""
        keep = []

        def prepare():
            keep.append(self._buffer(buf, True))
            return file._live(), offset, self._live(), address(keep[0])

        _c.together(_c.tutti_replicas_read, prepare, (file._live(), 0, None, None))

    def _free(self, handle: Any) -> None:
        _c.tutti_replicas_free(handle)

    @staticmethod
    def choose(start: Any, holders: Any, parts: int, *, numbers: Any = None, load: Any = 1,  # pylint: disable=redefined-outer-name
               value_bytes: int = 8, rule: str = "idg2", seed: int = 0,
               balance: float = 0.0) -> Tuple[np.ndarray, Tuple[Share, ...], Dict[str, Any]]:
        """Choose writers in one process for any number of parts; returns (writer of each item, shares of the parts, statistics).  Local.

        Item i is held by holders[start[i]:start[i + 1]], the first of which is its owner.
        """
        lists, choice = _c.tutti_replicas_lists(), _c.tutti_replicas_choice()
        start = _numbers(start, np.int64, "start")
        holders = _numbers(holders, np.intc, "holders")
        n = len(start) - 1
        if n < 0:
            raise ValueError("start is empty: must have one entry more than items")
        if n and (start[0] != 0 or start[-1] != len(holders)):
            raise ValueError(f"start runs from {start[0]} to {start[-1]}: must run from 0 to {len(holders)}, the number of holders")
        if (np.diff(start) < 0).any():
            raise ValueError(f"start decreases after entry {int(np.argmax(np.diff(start) < 0))}: must not decrease")
        if parts < 1 or parts > 1 << 28:
            raise ValueError(f"parts is {parts}: must be 1 to 2^28")
        loads = None if np.ndim(load) == 0 else _numbers(load, np.int64, "load", n)
        given = _numbers(numbers, np.int64, "numbers", n)
        lists.n, lists.parts, lists.start, lists.holders = n, parts, address(start), address(holders)
        lists.numbers, lists.loads = pointer(given), pointer(loads)
        lists.load, lists.value_bytes = (int(load) if loads is None else 0), value_bytes
        set_choice(choice, rule, seed, balance)
        writers, shares, stats = np.empty(n, np.intc), (_c.tutti_replicas_share * parts)(), _c.tutti_replicas_stats()
        _c.tutti_replicas_choose_sized(_byref(lists), _byref(choice), address(writers), shares, _byref(stats),
                                       _c.sized(stats))
        return writers, tuple(Share(s.items, s.intervals, s.bytes) for s in shares), _c.as_dict(stats)


_numbers = numbers
