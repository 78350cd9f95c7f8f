#!/bin/sh
# dist.sh DIR GENERATED   creates DIR/tutti-VERSION.tar.gz from the current commit and the
# generated files of its build, in the directory GENERATED (cmake/TuttiGenerated.cmake).  The archive is
# reproducible: the same commit gives the same bytes.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
mkdir -p "$1"
out=$(realpath "$1")
generated=$(realpath "$2")
cd "$(dirname "$0")/.."
version=$(sed -n 's/#define TUTTI_VERSION_STRING "\(.*\)"/\1/p' include/tutti/types.h)
git diff --quiet HEAD || {
    echo "dist.sh: there are uncommitted changes: the generated files may not match the commit" >&2
    exit 1
}
set --
for kind in completion fortran man python; do
    set -- "$@" --prefix="tutti-$version/generated/$kind/"
    for file in "$generated/$kind"/*; do
        set -- "$@" --add-file="$file"
    done
done
git archive --format=tar "$@" --prefix="tutti-$version/" HEAD >"$out/tutti-$version.tar"
gzip -9nf "$out/tutti-$version.tar"
echo "written: $out/tutti-$version.tar.gz"
