#!/bin/sh
# TEST ranks=0 timeout=300 cores=2 tier=full
# cppcheck reports no defects in the libraries and the command; `make lint` runs it too.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/../.." || exit 1
if ! command -v cppcheck >/dev/null; then
    echo "cppcheck is not installed (Debian: apt-get install cppcheck)"
    exit 77
fi
# Suppressed: all supported compilers keep the sign of a signed value that is shifted right.
cache=$TUTTI_BUILD_DIR/cppcheck
mkdir -p "$cache"
exec cppcheck -j "$(nproc)" --quiet --error-exitcode=1 --inline-suppr --std=c11 --language=c -D_GNU_SOURCE \
    --cppcheck-build-dir="$cache" --enable=warning,performance,portability \
    --suppress=missingIncludeSystem --suppress=shiftTooManyBitsSigned -DTUTTI_HAVE_URING=1 -Iinclude -Isrc -Icli -I. \
    src cli experiments mpiio bindings "$TUTTI_BUILD_DIR/generated/fortran"
