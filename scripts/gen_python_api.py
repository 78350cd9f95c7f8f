#!/usr/bin/env python3
"""gen_python_api.py FILE   Write the module tutti._api of the Python binding to FILE, from the public headers.

The table has every function, struct, enumeration, callback and constant of include/tutti/*.h, as tutti_headers.py reads them.  The
binding derives all its ctypes declarations from the table.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import pprint
import re
import sys

from tutti_headers import Everything

TOP = pathlib.Path(__file__).resolve().parent.parent
# Types that only implementations of a store need.
SKIP = {"tutti_store_ops", "tutti_store", "tutti_store_request"}


def parameters(variables):
    """Return (type, name) of each parameter; an array is a pointer."""
    return tuple((v.kind + "*" * bool(v.extent), v.name) for v in variables)


def table_text():
    """Return the text of the module."""
    t = Everything()
    structs = {s.name: s for s in t.structs.values() if s.name not in SKIP}
    version = re.search(r'VERSION_STRING "(.*?)"', (TOP / "include/tutti/types.h").read_text())[1]

    def show(name, what, says):
        text = pprint.pformat(what, width=118, compact=True, sort_dicts=False)
        return f"\n# {says}\n{name} = {text}\n"

    def functions(inline):
        return {f.name: (f.header, f.result.kind, parameters(f.parameters)) + (tuple(f.calls),) * inline
                for f in t.functions.values() if f.inline == inline}

    return ('"""The public interface of Tutti as a table.\n\n'
            "Written by scripts/gen_python_api.py from include/tutti/*.h; do not edit.\n"
            'SPDX-License-Identifier: BSD-3-Clause"""\n\n'
            f'VERSION = "{version}"\n'
            + show("NUMBERS", {**t.macros, **{n: v for n, (_, v) in t.constants.items() if n not in t.macros}},
                   "constants: macros and enumerations")
            + show("ENUMS", t.enums, "enumerations that are types: constant by constant")
            + show("ALIASES", t.aliases, "other names of integer types")
            + show("OPAQUE", sorted(n for n, s in structs.items() if not s.fields), "handles")
            + show("STRUCTS", {n: tuple((f.name, f.kind, (f.extent,) * bool(f.extent)) for f in s.fields)
                               for n, s in structs.items() if s.fields}, "structs: (field, type, extents)")
            + show("CALLBACKS", {n: ("void", parameters(p)) for n, p in t.callbacks.items()},
                   "functions that the library calls: (result, ((type, name), ...))")
            + show("FUNCTIONS", functions(False), "functions: (header, result, ((type, name), ...))")
            + show("INLINE", functions(True), "inline functions of headers, and the functions behind them"))


out = pathlib.Path(sys.argv[1])
out.parent.mkdir(parents=True, exist_ok=True)
out.write_text(table_text(), encoding="ascii")
