#!/usr/bin/env python3
"""Checks who includes whom: folders are the architecture, and a room uses only the rooms above it.

  - a file of src/ROOM includes files of its own room and of rooms before it in ROOMS
  - the rooms after collective include LAYER of the engine and nothing else of it
  - the rooms of PURE never reach mpi.h, not even through another header
  - the edges (the command, the interposer, examples) include public headers only, and SHARED
  - a public header includes public headers only
  - no two sources of src/ have the same name

SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import sys

ROOMS = ["base", "comm", "access", "cdf", "plan", "mpitype", "exchange", "store", "file", "direct", "twophase",
         "engine", "collective", "layer", "array", "replicas", "mesh", "dataset", "exodus"]
PURE = {"base", "access", "cdf", "plan", "store"}
ENGINE = {"store", "file", "direct", "twophase", "engine", "collective"}
LAYER = "collective/layer.h"  # all that the layers above files use of them
EDGES = ["bindings", "cli", "mpiio", "examples"]
SHARED = {"base/shared_memory.h": "mpiio"}  # depends on the C library only and is compiled into the interposer too

top = pathlib.Path(__file__).resolve().parent.parent
src, public = top / "src", top / "include"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
wrong = []


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def resolve(name, path, *own):
    """The file of this tree that `name` in `path` means, or None: a system header."""
    for folder in (path.parent, *own, src, public):
        found = folder / name
        if found.is_file():
            return found.resolve()
    return None


def sources(folder):
    return sorted(p for p in folder.rglob("*.[ch]")) if folder.is_dir() else []


def way_to_mpi(path, seen):
    """The chain of includes from `path` to mpi.h, or None."""
    seen.add(path)
    for name in includes(path):
        if name == "mpi.h":
            return [path, name]
        found = resolve(name, path)
        if found and found not in seen:
            way = way_to_mpi(found, seen)
            if way:
                return [path] + way
    return None


def short(path):
    return str(path.relative_to(top)) if isinstance(path, pathlib.Path) else path


def check_room(path):
    room = path.relative_to(src).parts[0]
    if room not in ROOMS:
        wrong.append(f"{short(path)}: there is no room '{room}' in scripts/check_layers.py")
        return
    for name in includes(path):
        found = resolve(name, path)
        if found is None or not found.is_relative_to(src):
            continue
        other = found.relative_to(src).parts[0]
        if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
            wrong.append(f"{short(path)} includes {name}: '{other}' is below '{room}'")
        if ROOMS.index(room) > ROOMS.index("collective") and other in ENGINE and name != LAYER:
            wrong.append(f"{short(path)} includes {name}: layers use {LAYER} of the engine")
    if room in PURE:
        way = way_to_mpi(path, set())
        if way:
            wrong.append(" -> ".join(map(short, way)) + f": the room '{room}' knows no MPI")


def check_public_only(path, own):
    for name in includes(path):
        found = resolve(name, path, own)
        if SHARED.get(name) == own.name:
            continue
        if found and not (found.is_relative_to(public) or found.is_relative_to(own)):
            wrong.append(f"{short(path)} includes {name}: only public headers here")


def check_names(paths):
    seen = {}
    for path in paths:
        if path.name in seen:
            wrong.append(f"{short(path)} has the same name as {short(seen[path.name])}")
        seen[path.name] = path


def main():
    for path in sources(src):
        check_room(path)
    check_names(sources(src))
    for path in sources(public):
        check_public_only(path, public)
    for edge in EDGES:
        for path in sources(top / edge):
            check_public_only(path, top / edge)
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
