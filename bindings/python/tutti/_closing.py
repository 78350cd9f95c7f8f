"""What objects with a collective close have in common.
SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
import warnings
from typing import Any, TypeVar

from ._errors import refused

Self = TypeVar("Self", bound="Closing")


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
