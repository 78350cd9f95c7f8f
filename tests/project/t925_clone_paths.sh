#!/bin/sh
# TEST ranks=0 timeout=600 builds=openmpi cores=2 tier=full
# Clones in a directory with a space and a non-ASCII letter, in a directory whose path is longer than 120 characters, and in
# a directory behind a symbolic link: build and tests as in t924, and `make test` with the tests of some modules.
# SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/project/clone.sh
. "$(dirname "$0")/clone.sh"
mkdir -p "$TUTTI_TEST_DIR/real"
ln -s real "$TUTTI_TEST_DIR/link"
for place in ${TUTTI_TEST_PLACES:-space long link}; do
    case $place in
    space) place='a spacé' ;;
    long) place=$(printf '%0120d' 0) ;;
    esac
    dir=$TUTTI_TEST_DIR/$place/tutti
    clone_tree "$dir"
    clone_try "$dir" t910 t917 t923
    (cd "$dir" && TUTTI_NO_INSTALL=1 TIER=quick make test BUILDS=openmpi \
        CTESTFLAGS="-R 'openmpi[.](store|comm|exchange|array|mpiio[.]t80)'") >"$TUTTI_TEST_DIR/log" 2>&1 || {
        echo "$place: make test fails:"
        tail -n 60 "$TUTTI_TEST_DIR/log"
        exit 1
    }
    rm -rf "$dir"
done
