#!/bin/sh
# run.sh PROGRAM DIRECTORY   creates a mesh, varies the base voltage, first on 2 ranks and then on 4, and draws a picture.
#
# Without gmsh the mesh consists of bricks.  MPI=mpich: PROGRAM uses MPICH.  Mesh, results and picture are in DIRECTORY.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
program=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
run() {
    "$here/../../../scripts/mpirun.sh" "${MPI:-openmpi}" "$@"
}

mesh=
if command -v gmsh >/dev/null 2>&1; then
    gmsh -3 -nt 1 -v 2 "$here/transistor.geo" -o "$out/transistor.msh"
    mesh="-m $out/transistor.msh"
fi
# shellcheck disable=SC2086 # two words, or none
{
    run 2 "$program" $mesh -o "$out/transistor.out" collector=1 base=0.5:0.65:0.05
    run 4 "$program" $mesh -o "$out/transistor.out" -r -p "$out/transistor.svg" collector=1 base=0.7:0.8:0.05
}
