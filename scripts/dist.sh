#!/bin/sh
# dist.sh DIR   makes DIR/tutti-VERSION.tar.gz of what is committed; the same commit gives the same bytes.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/#define TUTTI_VERSION_STRING "\(.*\)"/\1/p' include/tutti/types.h)
mkdir -p "$1"
git diff --quiet HEAD || echo "dist.sh: changes that are not committed are left out" >&2
git archive --format=tar --prefix="tutti-$version/" HEAD | gzip -9n >"$1/tutti-$version.tar.gz"
echo "written: $1/tutti-$version.tar.gz"
