"""Files that all ranks of a communicator read and write together.  <tutti/file.h>, <tutti/parts.h>, <tutti/stats.h>

Collective calls are methods that every rank calls in the same order.  If an argument of one rank is invalid (a wrong type,
a buffer that is too small, a freed access), that rank takes part in the call without data, and all ranks raise the same Error.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
import operator
import warnings
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c, mpi
from ._api import NUMBERS
from ._buffers import address, check_room, flat, type_of
from ._closing import Reporting
from ._errors import Error, refused
from .access import Access, layout_of
from .options import Options, options_pointer

_byref = ctypes.byref
_MODES = {"r": "READ", "r+": "READ WRITE", "w": "WRITE CREATE TRUNCATE", "w+": "READ WRITE CREATE TRUNCATE",
          "x": "WRITE CREATE EXCLUSIVE", "x+": "READ WRITE CREATE EXCLUSIVE", "a": "WRITE CREATE APPEND",
          "a+": "READ WRITE CREATE APPEND", "rw": "READ WRITE CREATE"}

Stats = NamedTuple("Stats", [(name, float if kind == "double" else int)
                             for name, kind, _ in __import__("tutti._api", fromlist=["STRUCTS"]).STRUCTS["tutti_stats"]])
Stats.__doc__ = "Statistics of operations on this rank; the fields of tutti_stats."


def mode_of(mode: Union[str, int]) -> int:
    """Return the flags of a mode: those of Python ("r", "r+", "w", ...), "rw" (created if missing), or flags."""
    if isinstance(mode, str):
        if mode not in _MODES:
            raise ValueError(f"unknown mode '{mode}': must be one of {', '.join(_MODES)}")
        return sum(NUMBERS["TUTTI_" + word] for word in _MODES[mode].split())
    return mode


class Request:
    """A started operation.  `test` returns whether it is complete, `wait` waits for it; both raise its error.

    Its buffer must not be used before completion, and is kept in memory.  As a context manager it waits at the end of the block:

        with f.write_start(access, x):
            compute()
    """

    def __init__(self, owner: Any, keep: Any) -> None:
        self._h, self._owner, self._keep = ctypes.c_void_p(), owner, keep
        self._done, self._error, self.count = False, None, 0
        self._refusal: Optional[Exception] = None  # error of the arguments of this rank
        self._after: Optional[Callable[[], None]] = None

    @classmethod
    def _start(cls, owner: Any, function: Any, prepare: Any, null: tuple, together: Any = _c.together) -> "Request":
        """Start an operation, like _c.together: `prepare` returns the arguments except the last, and objects to keep in
        memory."""
        request = cls(owner, None)

        def arguments():
            given, request._keep = prepare()
            return *given, _byref(request._h)

        try:
            together(function, arguments, (*null, _byref(request._h)))
        except Exception as error:
            if not request._h:
                raise
            request._refusal = error  # other ranks have started the operation: test and wait raise the error on all ranks
        return request._started()

    def _started(self) -> "Request":
        self._owner._pending.add(self)
        return self

    def _finish(self, count: int, error: Optional[Error]) -> None:
        refusal = self._refusal
        if error is not None and refusal is not None:
            if str(refusal) not in error.message:
                error.args = (f"{error.message}: {refusal}",)
            error.__cause__ = refusal
        self._done, self.count, self._error, self._keep = True, count, error or refusal, None
        self._owner._pending.discard(self)
        if self._after and self._error is None:
            self._after()

    @property
    def done(self) -> bool:
        """Whether the operation is complete, as far as `test` and `wait` have found."""
        return self._done

    def _poll(self, function: Any, *arguments: Any) -> bool:
        if self._done:
            return self._outcome()
        done, count = ctypes.c_int(), ctypes.c_int64()
        try:
            function(_byref(self._h), *arguments, _byref(done), _byref(count))
        except Error as error:
            if self._h:
                raise
            self._finish(0, error)
            raise
        if not done.value:
            return False
        self._finish(count.value, None)
        return self._outcome()

    def test(self) -> bool:
        """Return whether the operation is complete.  Never waits."""
        return self._poll(_c.tutti_request_test)

    def wait_for(self, seconds: float) -> bool:
        """Wait at most `seconds` for the operation; return whether it is complete."""
        return self._poll(_c.tutti_request_wait_for, seconds)

    def wait(self) -> int:
        """Wait for the operation; return the number of bytes of this rank."""
        if not self._done:
            count = ctypes.c_int64()
            try:
                _c.tutti_request_wait(_byref(self._h), _byref(count))
            except Error as error:
                if self._h:
                    raise
                self._finish(0, error)
                raise
            self._finish(count.value, None)
        self._outcome()
        return self.count

    def _outcome(self) -> bool:
        if self._error is not None:
            raise self._error
        return True

    def abandon(self) -> None:
        """Release the request; the operation is still carried out, and its buffer is kept until the file is closed."""
        if not self._done:
            _c.tutti_request_abandon(_byref(self._h))
            self._done = True
            self._owner._abandoned.append(self._keep)
            self._owner._pending.discard(self)

    def __enter__(self) -> "Request":
        return self

    def __exit__(self, *_: Any) -> None:
        if not self._done:
            self.wait()

    def __repr__(self) -> str:
        return f"<Request: {'complete' if self._done else 'under way'}>"


class Split:
    """A split operation; it ends at the end of the `with` block, or by a call of `end`."""

    def __init__(self, file: "File", end: Any, keep: Any) -> None:
        self._file, self._end, self._keep = file, end, keep
        self._ended, self.count = False, 0

    def end(self) -> int:
        """End the operation.  Collective.  Returns the number of bytes of this rank."""
        if not self._ended:
            count = ctypes.c_int64()
            self._file._call(self._end, self._file._live(), _byref(count))
            self._ended, self._keep, self.count = True, None, count.value
            self._file._splits.discard(self)
        return self.count

    def __enter__(self) -> "Split":
        return self

    def __exit__(self, *_: Any) -> None:
        self.end()


def buffer_for(layout: Any, room: Tuple[int, int], buf: Any, writable: bool) -> np.ndarray:
    """Return the memory of an access: contiguous and large enough, or with the strides of Access.of."""
    if layout is not None and isinstance(buf, np.ndarray) and layout == layout_of(buf):
        if writable and not buf.flags.writeable:
            raise ValueError("the buffer of a read is read-only: must be writable")
        if not buf.dtype.hasobject:
            return buf
    array = flat(buf, writable)
    check_room(*room, array.nbytes)
    return array


class Part:
    """One of several variables of an operation, with a conversion if its type in the file differs.

    access   in bytes of the file on both sides; memory offsets are scaled if the types differ
    buf      an array
    file     element type in the file, e.g. ">f4"; None: no conversion
    ieee     finite values that are too large become infinities instead of an error
    """

    def __init__(self, access: Access, buf: Any, file: Any = None, *, ieee: bool = False) -> None:
        self.access, self.buf, self.file, self.ieee = access, buf, file, ieee

    def _fill(self, part: Any, writable: bool, with_buffer: bool = True) -> Any:
        """Fill the struct; return the objects to keep in memory."""
        part.access = self.access._live()
        low, high = self.access.memory_bounds
        array = None
        if self.file is not None:
            if self.buf is None:
                raise TypeError("a part with a conversion needs a buffer, which defines the type in memory")
            array = flat(self.buf, writable)
            kind = np.dtype(self.file)
            part.convert.file_type = type_of(kind.newbyteorder("="))
            part.convert.memory_type = type_of(array.dtype)
            part.convert.file_order = NUMBERS["TUTTI_BIG_ENDIAN" if kind.str[0] == ">" else "TUTTI_LITTLE_ENDIAN"]
            part.convert.ieee = int(self.ieee)
            low = low // kind.itemsize * array.dtype.itemsize
            high = -(-high // kind.itemsize) * array.dtype.itemsize
            check_room(low, high, array.nbytes)
        elif with_buffer or self.buf is not None:
            array = buffer_for(self.access._layout, (low, high), self.buf, writable)
        if array is not None:
            part.buf = address(array)
        self._room = (low, high), None if self.file is not None else self.access._layout
        return (self.access, array)


def _parts(parts: Sequence[Part], writable: bool, with_buffers: bool = True) -> Tuple[int, Any, Any]:
    made = (_c.tutti_part * max(len(parts), 1))()
    keep = [p._fill(made[i], writable, with_buffers) for i, p in enumerate(parts)]
    return len(parts), made, keep


def _no_parts() -> Tuple[int, Any]:
    """Return a part without an access, which fails on all ranks."""
    return 1, (_c.tutti_part * 1)()


def _of_access(access: Any, buf: Any, writable: bool) -> Tuple[Any, tuple]:
    """Return a function that returns the arguments of an operation and the objects to keep, and arguments that fail on all ranks."""
    def make():
        if not isinstance(access, Access):
            raise TypeError(f"argument access is {type(access).__name__}: must be an Access")
        handle = access._live()
        array = buffer_for(access._layout, access.memory_bounds, buf, writable)
        return (handle, address(array)), array

    return make, (None, None)


def _of_parts(parts: Sequence[Part], writable: bool) -> Tuple[Any, tuple]:
    """Return the same as _of_access, for parts."""
    def make():
        n, made, keep = _parts(parts, writable)
        return (n, made), keep

    return make, _no_parts()


class Plan:
    """A planned transfer, made once by File.plan_write or plan_read and run many times."""

    def __init__(self, file: "File", is_write: bool) -> None:
        self._h, self._file, self._is_write = ctypes.c_void_p(), file, is_write
        self._rooms: List[Tuple[Tuple[int, int], Any]] = []
        self._keep: Any = None

    def _live(self) -> Any:
        if not self._h:
            raise refused("STATE", "the plan has been freed")
        return self._h

    def _buffer(self, buf: Any, part: int = 0) -> np.ndarray:
        room, layout = self._rooms[part]
        return buffer_for(layout, room, buf, not self._is_write)

    def run(self, buf: Any, displacement: int = 0) -> int:
        """Run the plan with all file offsets shifted by `displacement`; return the number of bytes of this rank.  Collective;
        `displacement` must be the same on all ranks."""
        count = ctypes.c_int64()
        keep = []

        def prepare():
            keep.append(self._buffer(buf))
            return self._live(), address(keep[0]), displacement, _byref(count)

        function = _c.tutti_plan_run_write if self._is_write else _c.tutti_plan_run
        self._file._together(function, prepare, (self._live(), None, 0, None))
        return count.value

    def start(self, buf: Any, displacement: int = 0) -> None:
        """Start the plan; complete it with test or wait.  One operation at a time."""
        keep: List[Any] = []

        def prepare():
            keep.append(self._buffer(buf))
            return self._live(), address(keep[0]), _whole(displacement)

        self._start(_c.tutti_plan_start_write if self._is_write else _c.tutti_plan_start, prepare, (self._live(), None, 0), keep)

    def _start(self, function: Any, prepare: Any, null: tuple, keep: List[Any]) -> None:
        """Start an operation.  Invalid arguments of this rank are reported here, and on the other ranks by test or wait."""
        try:
            arguments = prepare()
        except Exception as error:
            _c.refuse(error)
            try:
                function(*null)
                self.wait()
            except Error as told:
                raise told from error
            raise
        function(*arguments)
        self._keep = keep

    def run_parts(self, bufs: Sequence[Any], displacement: int = 0) -> int:
        """Run the plan with one buffer per part.  Collective."""
        count = ctypes.c_int64()
        keep: List[Any] = []

        def prepare():
            n, pointers = self._pointers(bufs, keep)
            return self._live(), n, pointers, displacement, _byref(count)

        self._file._together(_c.tutti_plan_run_parts, prepare, (self._live(), -1, None, 0, None))
        return count.value

    def start_parts(self, bufs: Sequence[Any], displacement: int = 0) -> None:
        """Start the plan with one buffer per part; complete it with test or wait."""
        keep: List[Any] = []

        def prepare():
            n, pointers = self._pointers(bufs, keep)
            return self._live(), n, pointers, _whole(displacement)

        self._start(_c.tutti_plan_start_parts, prepare, (self._live(), -1, None, 0), keep)

    def _pointers(self, bufs: Sequence[Any], keep: List[Any]) -> Tuple[int, Any]:
        if len(bufs) != len(self._rooms):
            raise ValueError(f"bufs has {len(bufs)} buffers: the plan has {len(self._rooms)} parts")
        keep.extend(self._buffer(b, i) for i, b in enumerate(bufs))
        return len(keep), (ctypes.c_void_p * max(len(keep), 1))(*(address(k) for k in keep))

    def test(self) -> bool:
        """Return whether the started operation is complete.  Never waits."""
        done, count = ctypes.c_int(), ctypes.c_int64()
        _c.tutti_plan_test(self._live(), _byref(done), _byref(count))
        if done.value:
            self._keep = None
        return bool(done.value)

    def wait(self) -> int:
        """Wait for the started operation; return the number of bytes of this rank."""
        count = ctypes.c_int64()
        self._file._call(_c.tutti_plan_wait, self._live(), _byref(count))
        self._keep = None
        return count.value

    @property
    def explanation(self) -> str:
        """Return one line that states what was chosen and why."""
        return _c.tutti_plan_explain(self._live()).decode()

    @property
    def size(self) -> int:
        """Memory that the plan occupies on this rank, in bytes."""
        return _c.tutti_plan_size(self._live())

    def free(self) -> None:
        """Free the plan.  Local.  Closing a file frees its plans."""
        if self._keep is not None:
            self._file._abandoned.append(self._keep)
        _c.tutti_plan_free(_byref(self._h))
        self._file._plans.discard(self)

    def __enter__(self) -> "Plan":
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()


class File(Reporting):
    """A file that all ranks of a communicator have open.

        with tutti.File(comm, "out.dat", "w") as f:
            f.write(access, x)

    Opening is collective; all arguments must be the same on all ranks.  Closing is also collective, and therefore never done by
    the garbage collector: use `with`, or call close().
    """

    def __init__(self, comm: Any, path: Any, mode: Union[str, int] = "r", options: Any = None, *,
                 permissions: Optional[int] = None) -> None:
        self._h = ctypes.c_void_p()
        self._start(path)
        handle = mpi.handle_of(comm)

        def prepare():
            more = () if permissions is None else (permissions,)
            return handle, _c.path_bytes(path), mode_of(mode), *more, options_pointer(options), _byref(self._h)

        if permissions is None:
            _c.together(_c.tutti_file_open, prepare, (handle, None, 0, None, _byref(self._h)))
        else:
            _c.together(_c.tutti_file_open_with, prepare, (handle, None, 0, 0, None, _byref(self._h)))

    def _start(self, path: Any) -> None:
        self.path = path
        self._pending: set = set()
        self._splits: set = set()
        self._abandoned: List[Any] = []
        self._plans: set = set()
        self._borrowed = False

    @classmethod
    def _borrow(cls, handle: int, path: Any, owner: Any) -> "File":
        """Return the file of another object, which closes it."""
        self = object.__new__(cls)
        self._h = ctypes.c_void_p(handle)
        self._start(path)
        self._borrowed, self._of = True, owner
        return self

    def _live(self) -> Any:
        if self._borrowed:
            self._of._live()
        if not self._h:
            raise refused("STATE", "the file has been closed", file=str(self.path))
        return self._h

    def _together(self, function: Any, prepare: Any, null: tuple) -> None:
        self._call(_c.together, function, prepare, null)

    def close(self) -> None:
        """Close the file and free its plans; operations must have ended.  Collective."""
        if self._borrowed:
            raise refused("STATE", "the file belongs to an array: close the array")
        if not self._h:
            return
        for plan in list(self._plans):
            plan.free()
        try:
            _c.tutti_file_close(_byref(self._h))
        finally:
            if not self._h:
                self._abandoned.clear()
                self._progress = None

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return not self._h

    def __enter__(self) -> "File":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_h", None) and not self._borrowed and warnings is not None:
            warnings.warn(f"the file '{self.path}' was not closed", ResourceWarning, source=self)

    @staticmethod
    def delete(path: Any, options: Any = None) -> None:
        """Remove a file.  Local."""
        _c.tutti_file_delete(_c.path_bytes(path), options_pointer(options))

    # ---- size, options and statistics

    def size(self) -> int:
        """Return the size in bytes.  Collective."""
        out = ctypes.c_int64()
        _c.tutti_file_size(self._live(), _byref(out))
        return out.value

    def size_independent(self) -> int:
        """Return the size as this rank sees it now.  Local."""
        out = ctypes.c_int64()
        _c.tutti_file_size_independent(self._live(), _byref(out))
        return out.value

    def resize(self, size: int) -> None:
        """Change the size.  Collective; `size` must be the same on all ranks."""
        _c.together(_c.tutti_file_resize, lambda: (self._live(), _whole(size)), (self._live(), -1))

    def preallocate(self, size: int) -> None:
        """Allocate space for the first `size` bytes.  Collective; `size` must be the same on all ranks."""
        _c.together(_c.tutti_file_preallocate, lambda: (self._live(), _whole(size)), (self._live(), -1))

    def sync(self) -> None:
        """Make all written data durable and visible to all programs.  Collective."""
        self._call(_c.tutti_file_sync, self._live())

    def atomic(self, on: bool) -> None:
        """Switch atomic mode on or off.  Collective; `on` must be the same on all ranks."""
        _c.tutti_file_atomic(self._live(), int(bool(on)))

    def options(self) -> Options:
        """Return the options in use."""
        out = Options(environment=False)
        _c.tutti_file_options_sized(self._live(), _byref(out._struct), _c.sized(out._struct))
        return out

    def change(self, options: Any) -> None:
        """Change options of the open file, from the next operation on.  Collective; the options of rank 0 are used."""
        _c.together(_c.tutti_file_change, lambda: (self._live(), options_pointer(options)), (self._live(), None))

    def stats(self) -> Tuple[Stats, Stats]:
        """Return statistics of this rank: of the last operation, and of all operations since open."""
        last, all_ = _c.tutti_stats(), _c.tutti_stats()
        _c.tutti_file_stats_sized(self._live(), _byref(last), _byref(all_), _c.sized(last))
        return Stats(**_c.as_dict(last)), Stats(**_c.as_dict(all_))

    def explain(self) -> str:
        """Return one line that states how the last collective operation was done and why."""
        return _c.tutti_file_explain(self._live()).decode()

    def _set_progress(self, made: Any) -> None:
        _c.tutti_file_on_progress(self._live(), made, None)

    # ---- one access

    def _move(self, function: Any, make: Any, null: tuple) -> int:
        live, count, keep = self._live(), ctypes.c_int64(), []

        def prepare():
            arguments, kept = make()
            keep.append(kept)
            return (live, *arguments, _byref(count))

        self._together(function, prepare, (live, *null, None))
        return count.value

    def write(self, access: Access, buf: Any) -> int:
        """Write the bytes of an access.  Collective.  Returns the number of bytes of this rank."""
        return self._move(_c.tutti_file_write, *_of_access(access, buf, False))

    def read(self, access: Access, buf: Any) -> int:
        """Read the bytes of an access into a buffer.  Collective.  Returns the number of bytes of this rank before the end of the file."""
        return self._move(_c.tutti_file_read, *_of_access(access, buf, True))

    def write_independent(self, access: Access, buf: Any) -> int:
        """Write the bytes of an access by this rank alone.  Local."""
        return self._move(_c.tutti_file_write_independent, *_of_access(access, buf, False))

    def read_independent(self, access: Access, buf: Any) -> int:
        """Read the bytes of an access by this rank alone.  Local."""
        return self._move(_c.tutti_file_read_independent, *_of_access(access, buf, True))

    def _begin(self, function: Any, end: Any, make: Any, null: tuple) -> Split:
        live, split = self._live(), Split(self, end, None)

        def prepare():
            arguments, split._keep = make()
            return (live, *arguments)

        self._together(function, prepare, (live, *null))
        self._splits.add(split)
        return split

    def write_begin(self, access: Access, buf: Any) -> Split:
        """Begin a split write: `with f.write_begin(a, x): compute()`.  Begin and end are collective."""
        return self._begin(_c.tutti_file_write_begin, _c.tutti_file_write_end, *_of_access(access, buf, False))

    def read_begin(self, access: Access, buf: Any) -> Split:
        """Begin a split read; the buffer is filled after the block."""
        return self._begin(_c.tutti_file_read_begin, _c.tutti_file_read_end, *_of_access(access, buf, True))

    def _start_transfer(self, function: Any, make: Any, null: tuple) -> Request:
        live = self._live()

        def prepare():
            arguments, keep = make()
            return (live, *arguments), keep

        return Request._start(self, function, prepare, (live, *null), self._together)

    def write_start(self, access: Access, buf: Any) -> Request:
        """Start a collective write: every rank starts the same operations in the same order, without waiting for other ranks."""
        return self._start_transfer(_c.tutti_file_write_start, *_of_access(access, buf, False))

    def read_start(self, access: Access, buf: Any) -> Request:
        """Start a collective read."""
        return self._start_transfer(_c.tutti_file_read_start, *_of_access(access, buf, True))

    def write_independent_start(self, access: Access, buf: Any) -> Request:
        """Start a write of this rank alone.  Local."""
        return self._start_transfer(_c.tutti_file_write_independent_start, *_of_access(access, buf, False))

    def read_independent_start(self, access: Access, buf: Any) -> Request:
        """Start a read of this rank alone.  Local."""
        return self._start_transfer(_c.tutti_file_read_independent_start, *_of_access(access, buf, True))

    def _plan(self, function: Any, is_write: bool, make: Any, null: tuple) -> Plan:
        plan = Plan(self, is_write)

        def prepare():
            arguments, plan._rooms = make()
            return (self._live(), *arguments, _byref(plan._h))

        self._together(function, prepare, (self._live(), *null, _byref(plan._h)))
        self._plans.add(plan)
        return plan

    def _plan_access(self, function: Any, is_write: bool, access: Access) -> Plan:
        def make():
            if not isinstance(access, Access):
                raise TypeError(f"argument access is {type(access).__name__}: must be an Access")
            return (access._live(),), [(access.memory_bounds, access._layout)]

        return self._plan(function, is_write, make, (None,))

    def plan_write(self, access: Access) -> Plan:
        """Plan writes of an access.  Collective."""
        return self._plan_access(_c.tutti_plan_write, True, access)

    def plan_read(self, access: Access) -> Plan:
        """Plan reads of an access.  Collective."""
        return self._plan_access(_c.tutti_plan_read, False, access)

    # ---- several parts at once

    def write_parts(self, parts: Sequence[Part]) -> int:
        """Write several variables in one operation.  Collective; ranks may have different numbers of parts."""
        return self._move(_c.tutti_file_write_parts, *_of_parts(parts, False))

    def read_parts(self, parts: Sequence[Part]) -> int:
        """Read several variables in one operation.  Collective."""
        return self._move(_c.tutti_file_read_parts, *_of_parts(parts, True))

    def write_parts_independent(self, parts: Sequence[Part]) -> int:
        """Write several variables by this rank alone.  Local."""
        return self._move(_c.tutti_file_write_parts_independent, *_of_parts(parts, False))

    def read_parts_independent(self, parts: Sequence[Part]) -> int:
        """Read several variables by this rank alone.  Local."""
        return self._move(_c.tutti_file_read_parts_independent, *_of_parts(parts, True))

    def write_parts_begin(self, parts: Sequence[Part]) -> Split:
        """Begin a split write of several variables, like write_begin."""
        return self._begin(_c.tutti_file_write_parts_begin, _c.tutti_file_write_end, *_of_parts(parts, False))

    def read_parts_begin(self, parts: Sequence[Part]) -> Split:
        """Begin a split read of several variables, like read_begin."""
        return self._begin(_c.tutti_file_read_parts_begin, _c.tutti_file_read_end, *_of_parts(parts, True))

    def write_parts_start(self, parts: Sequence[Part]) -> Request:
        """Start a collective write of several variables, like write_start."""
        return self._start_transfer(_c.tutti_file_write_parts_start, *_of_parts(parts, False))

    def read_parts_start(self, parts: Sequence[Part]) -> Request:
        """Start a collective read of several variables, like read_start."""
        return self._start_transfer(_c.tutti_file_read_parts_start, *_of_parts(parts, True))

    def _plan_parts(self, function: Any, is_write: bool, parts: Sequence[Part]) -> Plan:
        def make():
            n, made, _ = _parts(parts, not is_write, False)
            return (n, made), [p._room for p in parts]

        return self._plan(function, is_write, make, _no_parts())

    def plan_write_parts(self, parts: Sequence[Part]) -> Plan:
        """Plan writes of parts.  Collective."""
        return self._plan_parts(_c.tutti_plan_write_parts, True, parts)

    def plan_read_parts(self, parts: Sequence[Part]) -> Plan:
        """Plan reads of parts.  Collective."""
        return self._plan_parts(_c.tutti_plan_read_parts, False, parts)

    def __repr__(self) -> str:
        return f"<File '{self.path}': {'closed' if not self._h else 'open'}>"


def _whole(value: Any) -> int:
    value = operator.index(value)
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError(f"value {value} does not fit in 64 bits")
    return value
