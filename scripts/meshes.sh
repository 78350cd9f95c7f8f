#!/bin/sh
# meshes.sh DIR [NAME...]   creates the missing device meshes of experiments/meshes in DIR: bjt
# (47 000 nodes), mesa (33 000), fingers (73 000), power (287 000); default: all.
# Exit code 77: gmsh is not installed.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$1
shift
[ $# -gt 0 ] || set -- bjt mesa fingers power
command -v gmsh >/dev/null || {
    echo "meshes.sh: gmsh is not installed (Debian: gmsh)" >&2
    exit 77
}
mkdir -p "$dir"
for name; do
    geo=$top/experiments/meshes/$name.geo
    [ -n "$(find "$dir/$name.msh" -newer "$geo" 2>/dev/null)" ] && continue
    # Write to a unique name first, since several processes may create the mesh at the same time.
    gmsh -3 -algo hxt -nt 1 -format msh41 -bin -v 1 "$geo" -o "$dir/$name.$$.msh" >"$dir/$name.$$.log" 2>&1 || {
        cat "$dir/$name.$$.log" >&2
        exit 1
    }
    rm -f "$dir/$name.$$.log"
    mv "$dir/$name.$$.msh" "$dir/$name.msh"
done
