"""The exception of this package, with the contents of tutti_error_info.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

from typing import Optional

from ._api import ENUMS

CODES = ENUMS["tutti_err"]
NAMES = {value: name for name, value in CODES.items()}


class Error(RuntimeError):
    """A call failed.  After a collective call all ranks raise it, with the same contents.

    code      one of TUTTI_ERR_*: positive: the call was refused and nothing has changed; negative: it failed while running
    name      name of the code, for example "TUTTI_ERR_NO_SPACE"
    rank      the rank that failed, or None
    file      the file, or None
    offset    position in the file, or None
    message   one line with all of this
    text      the reason only
    errno     errno of the failed system call, or 0
    """

    def __init__(self, code: int, text: str, *, rank: Optional[int] = None, file: Optional[str] = None,
                 offset: Optional[int] = None, operation: str = "", errno: int = 0, detail: int = 0,
                 message: str = "") -> None:
        self.code = code
        self.name = NAMES.get(code, f"code {code}")
        self.rank, self.file, self.offset = rank, file, offset
        self.operation, self.errno, self.detail = operation, errno, detail
        self.text = text
        self.message = message or (f"'{file}': {text}" if file else text)
        super().__init__(self.message)

    def __reduce__(self):
        return _remake, (self.code, self.text, dict(rank=self.rank, file=self.file, offset=self.offset,
                                                    operation=self.operation, errno=self.errno,
                                                    detail=self.detail, message=self.message))


def _remake(code, text, more):
    return Error(code, text, **more)


def refused(what: str, text: str, **more) -> Error:
    """Return an Error with the code of a name without prefix: refused("ARG", "...")."""
    return Error(CODES["TUTTI_ERR_" + what], text, **more)
