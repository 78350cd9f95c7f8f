"""Base classes of objects with a local free, a collective close, a progress callback, or atomic commits.
SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import contextlib
import ctypes
import warnings
import weakref
from typing import Any, Callable, Iterator, Optional, TypeVar

from . import _c, mpi
from ._errors import CODES, Error, refused

Self = TypeVar("Self", bound="Closing")
Freed = TypeVar("Freed", bound="Freeing")


class Freeing:
    """A handle `_h` that is freed locally: by free, at the end of a with block, or by the garbage collector."""
    _h: Any
    _what = ""  # "the mesh"

    def _free(self, handle: Any) -> None:
        """Free the handle in C."""
        raise NotImplementedError

    def _live(self) -> Any:
        if not self._h:
            raise refused("STATE", f"{self._what} has been freed")
        return self._h

    def free(self) -> None:
        """Free the object.  Local."""
        self._free(ctypes.byref(self._h))

    def __enter__(self: Freed) -> Freed:
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "_h", None) and mpi is not None and mpi.is_active():
            self.free()


class Closing:
    """A handle `_h` that is closed by close() or at the end of a with block; `_abandoned` keeps buffers of abandoned requests."""
    _h: Any
    _abandoned: Any
    _what = ""  # "the dataset"

    def _where(self) -> str:
        """Return the path, for messages."""
        raise NotImplementedError

    def _close(self, handle: Any) -> None:
        """Close the handle in C."""
        raise NotImplementedError

    def _live(self) -> Any:
        if not self._h:
            raise refused("STATE", f"{self._what} has been closed", file=self._where())
        return self._h

    def close(self) -> None:
        """Close the object.  Collective.  Uncommitted data is discarded; tile iterations must have ended."""
        if self._h:
            try:
                self._close(ctypes.byref(self._h))
            finally:
                if not self._h:
                    self._abandoned.clear()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_h", None) and warnings is not None:
            warnings.warn(f"{self._what} '{self._where()}' was not closed", ResourceWarning, source=self)


class Reporting:
    """An object with a progress callback, which may raise."""
    _progress: Any = None
    _trouble: Optional[BaseException] = None

    def _live(self) -> Any:
        raise NotImplementedError

    def _set_progress(self, made: Any) -> None:
        """Install the callback in C."""
        raise NotImplementedError

    def on_progress(self, fn: Optional[Callable[[int, int, str], None]]) -> None:
        """Call fn(done, total, phase) during operations; None removes the callback.

        The callback must not call Tutti.  An exception that it raises is raised on this rank by the current call, after the
        operation has ended on all ranks.
        """
        if fn is None:
            self._set_progress(_c._type("tutti_progress_fn*")())
            self._progress = None
            return
        me = weakref.ref(self)

        def called(_context, done, total, phase):
            owner = me()
            try:
                fn(done, total, phase.decode())
            except BaseException as error:  # pylint: disable=broad-except
                if owner is not None and owner._trouble is None:
                    owner._trouble = error

        made = _c._type("tutti_progress_fn*")(called)
        self._set_progress(made)
        self._progress = made

    def _call(self, function: Any, *arguments: Any) -> Any:
        """Make a call, and raise an exception of the callback afterwards."""
        try:
            result = function(*arguments)
        except Error as error:
            trouble, self._trouble = self._trouble, None
            if trouble is not None:
                raise error from trouble
            raise
        if self._trouble is not None:
            trouble, self._trouble = self._trouble, None
            raise trouble
        return result


class Committing(Closing):
    """An object whose segment or step is committed or discarded at the end of a with block."""
    _pending: set
    _begun = False  # the same on all ranks: only a success on all ranks changes it

    def _commit(self, handle: Any) -> None:
        raise NotImplementedError

    def _discard(self, handle: Any) -> None:
        raise NotImplementedError

    def commit(self) -> None:
        """Commit everything that has begun, atomically.  Collective."""
        self._commit(self._live())
        self._begun = False

    def discard(self) -> None:
        """Discard everything that has begun.  Collective."""
        self._discard(self._live())
        self._begun = False

    @contextlib.contextmanager
    def _block(self: Self) -> Iterator[Self]:
        """Run a with block: commit at its end, unless that has been done; discard on all ranks if a rank raises an exception."""
        self._begun = True
        try:
            yield self
            if self._begun:
                self.commit()
        except Exception as error:
            self._give_up(error)
            raise

    def _give_up(self, error: Exception) -> None:
        """Discard the block after an exception of this or another rank, without leaving ranks waiting.

        If other ranks are in another call, all ranks get TUTTI_ERR_MISMATCH, and the other ranks also discard.  Any other result
        is that of the discard on all ranks.
        """
        for request in list(self._pending):
            with contextlib.suppress(Error):
                request.wait()
        while self._begun:
            try:
                self.discard()
            except Error as told:
                if told.code != CODES["TUTTI_ERR_MISMATCH"]:
                    error.__context__ = error.__context__ or told
                    self._begun = False
