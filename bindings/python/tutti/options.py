"""Options, and profiles of machines.  <tutti/options.h>, <tutti/profile.h>

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, NamedTuple, Optional

from . import _c, mpi
from ._api import NUMBERS
from ._errors import CODES, Error

_byref = ctypes.byref


class OptionRow(NamedTuple):
    """The description of an option."""
    name: str
    type: str
    choices: str
    default: str
    alias: str
    help: str


class Options:
    """All options: defaults, then the environment, then the arguments.

        tutti.Options(method="two-phase", cb_buffer_size="4m", explain=True)

    Options are attributes; values are texts as the environment has them, numbers or booleans.
    """

    __slots__ = ("_struct",)

    def __init__(self, *, environment: bool = True, **values: Any) -> None:
        struct = _c.tutti_options()
        object.__setattr__(self, "_struct", struct)
        if environment:
            _c.tutti_options_init_sized(_byref(struct), _c.sized(struct))
        else:
            _c.tutti_options_defaults_sized(_byref(struct), _c.sized(struct))
        for name, value in values.items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        text = str(int(value)) if isinstance(value, bool) else str(value)
        _c.tutti_options_set(_byref(self._struct), _c.text_bytes(name), _c.text_bytes(text))

    def __getitem__(self, name: str) -> str:
        out = ctypes.create_string_buffer(256)
        _c.tutti_options_get(_byref(self._struct), _c.text_bytes(name), out, len(out))
        return out.value.decode()

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except Error as error:
            if error.code == CODES["TUTTI_ERR_OPTION"]:
                raise AttributeError(f"unknown option '{name}'") from None
            raise

    def update_from_info(self, info: Any) -> "Options":
        """Set options from an MPI_Info of mpi4py; unknown keys are ignored."""
        _c.tutti_options_from_info(_byref(self._struct), mpi.info_of(info))
        return self

    @staticmethod
    def rows() -> Iterator[OptionRow]:
        """Return the table of options."""
        i = 0
        while row := _c.tutti_options_row(i):
            yield OptionRow(*(getattr(row.contents, f).decode() for f in
                              ("name", "type", "choices", "def", "alias", "help")))
            i += 1

    def as_dict(self) -> Dict[str, str]:
        """Return all options as a dict."""
        return {row.name: self[row.name] for row in self.rows()}

    def __repr__(self) -> str:
        changed = ", ".join(f"{r.name}={self[r.name]!r}" for r in self.rows() if self[r.name] != r.default)
        return f"Options({changed})"


def options_pointer(options: Any) -> Any:
    """Convert None, Options or a dict to C."""
    if options is None:
        return None
    if isinstance(options, dict):
        options = Options(**options)
    if not isinstance(options, Options):
        raise TypeError(f"argument options is {type(options).__name__}: must be tutti.Options or a dict")
    return ctypes.pointer(options._struct)


METHODS = {value: name[len("TUTTI_METHOD_"):].lower().replace("_", "-")
           for name, value in NUMBERS.items() if name.startswith("TUTTI_METHOD_")}


class Forecast(NamedTuple):
    """The predicted method and time of a request."""
    method: str
    seconds: float


class Profile:
    """Measured values of a machine and a file system; `tutti tune` measures them.

    type   type of a file system, whose default values are used; None: the default type
    """

    def __init__(self, type: Optional[str] = None) -> None:  # pylint: disable=redefined-builtin
        self._struct = _c.tutti_profile()
        _c.tutti_profile_defaults_sized(_byref(self._struct), _c.text_bytes(type), _c.sized(self._struct))

    @staticmethod
    def _filesystem(where: Any) -> Any:
        found = _c.tutti_filesystem()
        _c.tutti_profile_filesystem(_c.path_bytes(where), _byref(found))
        return found

    @classmethod
    def filesystem(cls, path: Any) -> Dict[str, Any]:
        """Return the file system of a path."""
        return _c.as_dict(cls._filesystem(path))

    @staticmethod
    def path() -> str:
        """Return the path of the profile of the user."""
        out = ctypes.create_string_buffer(4096)
        _c.tutti_profile_path(out, len(out))
        return out.value.decode()

    @classmethod
    def load(cls, where: Any = ".", file: Any = None) -> "Profile":
        """Load the values for the file system of `where` from a profile; default: that of the user."""
        self = cls()
        found = cls._filesystem(where)
        _c.tutti_profile_load_sized(None if file is None else _c.path_bytes(file), _byref(found), _byref(self._struct),
                                    _c.sized(self._struct))
        return self

    def save(self, file: Any, where: Any = ".") -> None:
        """Save the values for the file system of `where` to a profile."""
        found = self._filesystem(where)
        _c.tutti_profile_save_sized(_c.path_bytes(file), _byref(found), _byref(self._struct), _c.sized(self._struct))

    def predict(self, *, is_write: bool, ranks: int, nodes: int = 1, bytes: int, pieces: int,  # pylint: disable=redefined-builtin
                options: Any = None) -> Forecast:
        """Predict the method and the time of a request."""
        forecast = _c.tutti_forecast(int(is_write), ranks, nodes, bytes, pieces)
        method, seconds = ctypes.c_int(), ctypes.c_double()
        options = Options() if options is None else options
        _c.tutti_profile_predict_sized(_byref(self._struct), _c.sized(self._struct), options_pointer(options),
                                       _byref(forecast), _byref(method), _byref(seconds))
        return Forecast(METHODS[method.value], seconds.value)

    @staticmethod
    def rows() -> Iterator[Dict[str, str]]:
        """Return the table of values: section, name, unit, help."""
        i = 0
        while row := _c.tutti_profile_row(i):
            yield {f: getattr(row.contents, f).decode() for f in ("section", "name", "unit", "help")}
            i += 1

    def __getitem__(self, name: str) -> float:
        if name not in {f for f, *_ in self._struct._fields_}:
            raise KeyError(name)
        return getattr(self._struct, name)

    def __setitem__(self, name: str, value: float) -> None:
        if name not in {f for f, *_ in self._struct._fields_}:
            raise KeyError(name)
        setattr(self._struct, name, value)

    def as_dict(self) -> Dict[str, float]:
        """Return all values as a dict."""
        return _c.as_dict(self._struct)
