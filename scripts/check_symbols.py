#!/usr/bin/env python3
"""check_symbols.py BUILD_DIR   Check the names of global symbols.

  - libtutti.so exports exactly what include/tutti declares with TUTTI_API
  - other global names of the library begin with tutti__
  - libtutti-mpiio.so exports names of MPI in pairs (PMPI_x, MPI_x): all file functions of its MPI except
    those that use the native handle; other names must be listed in mpiio.map
  - no library calls getenv; secure_getenv ignores the environment of set-user-id programs

SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import subprocess
import sys

top = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1])


def declared():
    """Return the names of functions and variables that the headers mark with TUTTI_API."""
    names = set()
    for header in sorted((top / "include/tutti").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
        for found in re.finditer(r"\bTUTTI_API\b([^;{]*)", text):
            name = re.search(r"(\w+)\s*\(", found[1]) or re.search(r"(\w+)\s*(?:\[.*)?$", found[1])
            names.add(name[1])
    return names


def symbols(*command):
    """Return the names of the defined global symbols, as nm lists them."""
    out = subprocess.run(["nm", *command], check=True, capture_output=True, text=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {row[-1].split("@")[0] for row in rows if len(row) == 3 and row[1] in "TDBRVWGC"}


def interposed(library):
    """Return the errors in the names of libtutti-mpiio.so."""
    names = symbols("-D", "--defined-only", str(library))
    needs = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    mpi = re.search(r"libmpi(?:ch)?\.so\S* => (\S+)", needs)[1]
    native = {"MPI_File_" + end for end in ("c2f", "f2c", "create_errhandler", "get_errhandler",
                                            "set_errhandler", "call_errhandler")}
    files = {name for name in symbols("-D", "--defined-only", mpi) if name.startswith("MPI_File_")}
    listed = set(re.findall(r"\b(\w+);", (top / "mpiio/mpiio.map").read_text(encoding="utf-8")))
    found = [f"{name} is exported by libtutti-mpiio.so" for name in sorted(names - listed)
             if not name.startswith(("MPI_", "PMPI_"))]
    names = {name for name in names if "MPI_" in name}
    names.discard("MPI_Comm_set_attr")  # exported under one of the two names only, see mpiio/names.c
    found += [f"libtutti-mpiio.so has P{name} or {name}, but not both" for name in
              sorted({n.removeprefix("P") for n in names}) if not {name, "P" + name} <= names]
    return found + [f"libtutti-mpiio.so has no {name}" for name in sorted(files - native - names)]


public = declared()
exported = symbols("-D", "--defined-only", str(build / "libtutti.so")) - {"TUTTI_1"}
ours = symbols("-g", "--defined-only", str(build / "libtutti_internal.a"))

wrong = [f"{name} is declared TUTTI_API, but libtutti.so does not export it"
         for name in sorted(public - exported)]
wrong += [f"{name} is exported by libtutti.so, but no public header declares it"
          for name in sorted(exported - public)]
wrong += [f"{name} is not public and should be called tutti__something"
          for name in sorted(ours - public) if not name.startswith("tutti__")]
wrong += interposed(build / "libtutti-mpiio.so")
for library in ("libtutti.so", "libtutti-mpiio.so"):
    needs = subprocess.run(["nm", "-D", "--undefined-only", str(build / library)], check=True,
                           capture_output=True, text=True).stdout
    wrong += [f"{library} calls getenv, not secure_getenv"] * bool(re.search(r"\bgetenv\b", needs))
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(1 if wrong else 0)
