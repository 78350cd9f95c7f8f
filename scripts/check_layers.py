#!/usr/bin/env python3
"""Check includes: each directory is a module, and a module uses only the modules before it.

  - a file of src/MODULE includes files of its own module and of modules before it in MODULES
  - the modules after collective include no header of the engine except LAYER, directly or through other
    headers; the sources of the module LAYER_MODULE, which serves these modules, may include the others
  - the modules of PURE do not include mpi.h, directly or through other headers
  - the command, the drop-in library and the examples include only public headers and those of SHARED;
    experiments also include headers of the command
  - a public header includes public headers only
  - no two sources of src/ have the same name

SPDX-License-Identifier: BSD-3-Clause"""
import functools
import pathlib
import re
import sys

MODULES = ["base", "comm", "access", "cdf", "plan", "mpitype", "exchange", "store", "file", "direct", "twophase",
         "engine", "collective", "layer", "decomposition", "array", "replicas", "mesh", "timestep", "metadata",
         "netcdf", "compression", "segments", "dataset", "archive", "exodus_model", "exodus",
         "nemesis", "exodus_mesh"]
PURE = {"base", "access", "cdf", "plan", "store", "compression"}
ENGINE = {"plan", "exchange", "store", "file", "direct", "twophase", "engine", "collective"}
LAYER = "collective/layer.h"  # the only header of the engine for layers above files
LAYER_MODULE = "layer"
EDGES = ["bindings", "cli", "mpiio", "examples"]
# Private headers that another directory may include: they depend on the C library only, and are also compiled into it.
SHARED = {"base/shared_memory.h": "mpiio"}

top = pathlib.Path(__file__).resolve().parent.parent
src, public = top / "src", top / "include"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
wrong = []


@functools.lru_cache(maxsize=None)
def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def resolve(name, path, *own):
    """Return the file of this tree that `#include "name"` in `path` refers to; None: a system header."""
    for folder in (path.parent, *own, src, public):
        found = folder / name
        if found.is_file():
            return found.resolve()
    return None


def sources(folder):
    return sorted(p for p in folder.rglob("*.[ch]")) if folder.is_dir() else []


def chain_to(path, is_target, seen):
    """Return the chain of includes from `path` to a header for which is_target(name, file) is true, or None."""
    seen.add(path)
    for name in includes(path):
        found = resolve(name, path)
        if is_target(name, found):
            return [path, name]
        if found and found not in seen:
            chain = chain_to(found, is_target, seen)
            if chain:
                return [path] + chain
    return None


def is_mpi(name, _found):
    return name == "mpi.h"


def is_private(_name, found):
    """Return whether the header is private to the engine."""
    if found is None or not found.is_relative_to(src) or found == (src / LAYER).resolve():
        return False
    return found.relative_to(src).parts[0] in ENGINE


def short(path):
    return str(path.relative_to(top)) if isinstance(path, pathlib.Path) else path


def check_module(path):
    module = path.relative_to(src).parts[0]
    if module not in MODULES:
        wrong.append(f"{short(path)}: module '{module}' is not listed in scripts/check_layers.py")
        return
    for name in includes(path):
        found = resolve(name, path)
        if found is None or not found.is_relative_to(src):
            continue
        other = found.relative_to(src).parts[0]
        if other in MODULES and MODULES.index(other) > MODULES.index(module):
            wrong.append(f"{short(path)} includes {name}: '{other}' is below '{module}'")
    if module in PURE:
        refuse(chain_to(path, is_mpi, set()), f"the module '{module}' knows no MPI")
    if MODULES.index(module) > MODULES.index("collective") and module != LAYER_MODULE:
        refuse(chain_to(path, is_private, set()), f"layers use {LAYER} of the engine")


def refuse(chain, why):
    if chain:
        wrong.append(" -> ".join(map(short, chain)) + f": {why}")


def check_public_only(path, own, *also):
    for name in includes(path):
        found = resolve(name, path, own, *also)
        if SHARED.get(name) == own.name:
            continue
        if found and not any(found.is_relative_to(folder) for folder in (public, own, *also)):
            wrong.append(f"{short(path)} includes {name}: only public headers here")


def check_names(paths):
    seen = {}
    for path in paths:
        if path.name in seen:
            wrong.append(f"{short(path)} has the same name as {short(seen[path.name])}")
        seen[path.name] = path


def main():
    for path in sources(src):
        check_module(path)
    check_names(sources(src))
    for path in sources(public):
        check_public_only(path, public)
    for edge in EDGES:
        for path in sources(top / edge):
            check_public_only(path, top / edge)
    # Programs in the subdirectories of experiments/ may include private headers.
    for path in sorted((top / "experiments").glob("*.[ch]")):
        check_public_only(path, top / "experiments", top, top / "cli")
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
