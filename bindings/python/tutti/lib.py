"""The C functions of the library, for calls that the classes do not cover: tutti.lib.tutti_file_size(...).

Names, parameters and structs are those of the headers.  A tutti_err that is not TUTTI_OK raises tutti.Error.  Only ctypes checks
the arguments: an invalid address ends the program.

SPDX-License-Identifier: BSD-3-Clause"""
from . import _api, _c


def __getattr__(name: str):
    if name in _api.FUNCTIONS or name in _api.STRUCTS:
        return getattr(_c, name)
    raise AttributeError(name)


def __dir__():
    return sorted({*_api.FUNCTIONS, *_api.STRUCTS})
