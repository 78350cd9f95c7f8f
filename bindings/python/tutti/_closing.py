"""What objects have in common that are freed locally; that have a collective close; that report progress; whose data is committed
block by block.
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
    """A handle `_h` that is freed locally, when nobody uses it any more, or with the block of a with statement."""
    _h: Any
    _what = ""  # "the mesh"

    def _free(self, handle: Any) -> None:
        """Free it in C."""
        raise NotImplementedError

    def _live(self) -> Any:
        if not self._h:
            raise refused("STATE", f"{self._what} has been freed")
        return self._h

    def free(self) -> None:
        """Local."""
        self._free(ctypes.byref(self._h))

    def __enter__(self: Freed) -> Freed:
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "_h", None) and mpi is not None and mpi.is_active():
            self.free()


class Closing:
    """A handle `_h` with requests that were abandoned; ends with close, or with the block of a with statement."""
    _h: Any
    _abandoned: Any
    _what = ""  # "the dataset"

    def _where(self) -> str:
        """The path, for messages."""
        raise NotImplementedError

    def _close(self, handle: Any) -> None:
        """Close it in C."""
        raise NotImplementedError

    def _live(self) -> Any:
        if not self._h:
            raise refused("STATE", f"{self._what} has been closed", file=self._where())
        return self._h

    def close(self) -> None:
        """Collective.  What was not committed is discarded; walks over tiles must have ended."""
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
    """A progress callback, which may raise."""
    _progress: Any = None
    _trouble: Optional[BaseException] = None

    def _live(self) -> Any:
        raise NotImplementedError

    def _set_progress(self, made: Any) -> None:
        """Install it in C."""
        raise NotImplementedError

    def on_progress(self, fn: Optional[Callable[[int, int, str], None]]) -> None:
        """Call fn(done, total, phase) now and then during operations; None: not any more.

        It must call nothing of Tutti.  What it raises is raised on this rank by the call that was under way, once the
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
        """A call during which a callback may have raised: that is raised afterwards."""
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
    """What is begun is committed or discarded, as a block of a with statement ends."""
    _pending: set
    _begun = False  # a success of all ranks changes it, so it is the same on all of them

    def _commit(self, handle: Any) -> None:
        raise NotImplementedError

    def _discard(self, handle: Any) -> None:
        raise NotImplementedError

    def commit(self) -> None:
        """All that has begun becomes part of the file, or, after an error, nothing."""
        self._commit(self._live())
        self._begun = False

    def discard(self) -> None:
        """Give up what has begun."""
        self._discard(self._live())
        self._begun = False

    @contextlib.contextmanager
    def _block(self: Self) -> Iterator[Self]:
        """The rest of a block, once it has begun: committed at the end, if nobody did; discarded on all ranks if one leaves it by an
        exception."""
        self._begun = True
        try:
            yield self
            if self._begun:
                self.commit()
        except Exception as error:
            self._give_up(error)
            raise

    def _give_up(self, error: Exception) -> None:
        """After an exception of this rank, or of another: nothing of the block stays, and nobody waits.

        Other ranks may be in any other call, which may be refused besides: whatever it is, all ranks are told that calls differ, and
        the others come here, too.  Any other outcome is that of all ranks' discard.
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
